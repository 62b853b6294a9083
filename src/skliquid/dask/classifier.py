"""DaskLiquidEnsembleClassifier: a self-pruning ensemble of rows on a Dask cluster."""

from inspect import Parameter, signature
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError

from skliquid.dask.cluster import Cluster, import_distributed
from skliquid.dask.partitions import Partitions, Plan
from skliquid.delegation.class_weights import ClassCounts
from skliquid.delegation.drawn_rows import DrawnRows
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.supervision import print_line
from skliquid.validation.limits import check_sample_fits

_LOCAL = signature(LiquidEnsembleClassifier).parameters


class DaskLiquidEnsembleClassifier(ClassifierMixin, BaseEstimator):
    """:class:`LiquidEnsembleClassifier` for Dask DataFrames and Arrays of any size.

    The workers count the rows of each class, and draw a random sample of at most ``max_rows`` rows.
    The voters are chosen in this process, and trees grow on the sample on the workers. The ensemble
    has the same bits as one that is fitted to all rows in memory, however many partitions and
    workers there are.

    Parameters
    ----------
    client : distributed.Client or str, default=None
        The cluster, or the address of its scheduler. None means the default client.
    timeout : float, default=60
        Seconds to wait for the scheduler to answer, or for a first worker.
    max_memory : int, default=None
        The most bytes that the sample and the training may take in this process. None means a
        quarter of its main memory, at most 4 GB.
    **parameters
        Those of :class:`LiquidEnsembleClassifier`.

    Attributes
    ----------
    ensemble_ : LiquidEnsembleClassifier
        The fitted ensemble, which needs no cluster. Its attributes are also attributes of this
        object, such as ``classes_``.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from dask.distributed import Client
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skliquid import DaskLiquidEnsembleClassifier
    >>> table = load_breast_cancer(as_frame=True).frame
    >>> rows = dd.from_pandas(table, npartitions=3)
    >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
    >>> on_cluster = DaskLiquidEnsembleClassifier(client=client, random_state=0)
    >>> on_cluster = on_cluster.fit(rows, "target")
    >>> predicted = on_cluster.predict(rows.drop(columns="target"))  # lazily
    >>> bool((predicted.compute() == table["target"]).mean() > 0.95)
    True
    >>> client.close()
    """

    def __init__(
        self,
        client: Any = None,
        *,
        timeout: float = 60,
        max_memory: int | None = None,
        **parameters: Any,
    ):
        self.client = client
        self.timeout = timeout
        self.max_memory = max_memory
        unknown = next((name for name in parameters if name not in _LOCAL), None)
        if unknown is not None:
            raise TypeError(f"DaskLiquidEnsembleClassifier has no parameter {unknown!r}.")
        defaults = {name: parameter.default for name, parameter in _LOCAL.items()}
        self.__dict__ |= defaults | parameters

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None) -> Self:
        """Count and draw rows on the workers, and train on them.

        Parameters
        ----------
        X : dask.dataframe.DataFrame or dask.array.Array
            The rows. Partitions may be empty, or of one class.
        y : dask.dataframe.Series, dask.array.Array or str
            Their labels in the same partitions, or the name of a column of ``X``.
        sample_weight : dask.dataframe.Series or dask.array.Array, default=None
            Weight of each row in training and in competence. Rows of weight zero are left out.
        eval_set : tuple (X, y), default=None
            As in :meth:`LiquidEnsembleClassifier.fit`, in memory.

        Returns
        -------
        self : DaskLiquidEnsembleClassifier
            The fitted ensemble.
        """
        import_distributed()
        ensemble = self._local()
        ensemble.check_parameters()
        rows = Partitions(X, y, sample_weight)
        with Cluster(self.client, timeout=self.timeout) as cluster:
            drawn = ensemble.encode_drawn(_draw(ensemble, rows, cluster, self.max_memory))
            self.ensemble_ = ensemble.fit_drawn(drawn, eval_set=eval_set, core=cluster)
        return self

    def predict(self, X: Any) -> Any:
        """Return the predicted classes, lazily for a Dask collection.

        Parameters
        ----------
        X : dask.dataframe.DataFrame, dask.array.Array, or rows in memory
            The rows.

        Returns
        -------
        y : dask.dataframe.Series, dask.array.Array or ndarray
            A class per row, in the partitions and with the index of ``X``.
        """
        return self._predict(X, "predict")

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, lazily for a Dask collection.

        Parameters
        ----------
        X : dask.dataframe.DataFrame, dask.array.Array, or rows in memory
            The rows.

        Returns
        -------
        probabilities : dask.dataframe.DataFrame, dask.array.Array or ndarray
            One row per row, and one column per class.
        """
        return self._predict(X, "predict_proba")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on rows of a Dask collection, or in memory.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.

        Returns
        -------
        accuracy : float
            The share of rows whose class is predicted, by weight.
        """
        ensemble = self.to_local()
        if not _is_lazy(X):
            return float(ensemble.score(X, y, sample_weight))
        with Cluster(self.client, timeout=self.timeout) as cluster:
            return Partitions(X, y, sample_weight).score(cluster, ensemble)

    def to_local(self) -> LiquidEnsembleClassifier:
        """Return the fitted ensemble, which needs no cluster.

        Returns
        -------
        ensemble : LiquidEnsembleClassifier
            The ensemble; :func:`skliquid.save` stores it.
        """
        return self.ensemble_

    def _predict(self, X: Any, method: str) -> Any:
        """Return predictions, for each partition of a Dask collection when they are needed."""
        ensemble = self.to_local()
        if not _is_lazy(X):
            return getattr(ensemble, method)(X)
        from dask.delayed import delayed

        model, is_class = delayed(ensemble), method == "predict"
        if hasattr(X, "map_partitions"):
            import pandas as pd

            empty: Any = pd.DataFrame(columns=ensemble.classes_, dtype=np.float64)
            if is_class:
                empty = pd.Series(ensemble.classes_[:1]).iloc[:0]
            meta = empty.set_axis(X._meta.index[:0])  # noqa: SLF001 (it has no public name)
            return X.map_partitions(_predict, model, method, empty, meta=meta)
        shape = {"drop_axis": 1} if is_class else {"chunks": (X.chunks[0], (len(self.classes_),))}
        meta = _no_predictions(ensemble, method)
        rows = X.rechunk({1: -1})
        return rows.map_blocks(_predict, model, method, None, **shape, dtype=meta.dtype, meta=meta)

    def _local(self) -> LiquidEnsembleClassifier:
        """Return an ensemble with these parameters."""
        return LiquidEnsembleClassifier(
            **{name: clone(getattr(self, name), safe=False) for name in _LOCAL}
        )

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_"):
            if "ensemble_" not in self.__dict__:
                if name == "ensemble_":
                    raise NotFittedError("This ensemble is not fitted. Call fit first.")
            else:
                return getattr(self.ensemble_, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")

    def __sklearn_is_fitted__(self) -> bool:
        return "ensemble_" in self.__dict__

    def __sklearn_clone__(self) -> Self:
        copied = {name: clone(getattr(self, name), safe=False) for name in _LOCAL}
        copied |= {"timeout": self.timeout, "max_memory": self.max_memory}
        return type(self)(self.client, **copied)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        is_address = isinstance(self.client, str)
        return state | {"client": self.client if is_address else None}  # others cannot be copied


_ours = signature(DaskLiquidEnsembleClassifier.__init__)
_names = [one for one in _ours.parameters.values() if one.kind != Parameter.VAR_KEYWORD]
DaskLiquidEnsembleClassifier.__init__.__signature__ = _ours.replace(  # type: ignore[attr-defined]
    parameters=[*_names, *(one.replace(kind=Parameter.KEYWORD_ONLY) for one in _LOCAL.values())]
)


def _draw(
    ensemble: LiquidEnsembleClassifier, rows: Partitions, cluster: Cluster, max_memory: int | None
) -> DrawnRows:
    """Return the rows that ``fit`` draws of all rows in memory."""
    say = print_line if ensemble.verbose else lambda _: None
    say(f"counting rows of {rows.X.npartitions} partitions")
    counted = rows.count(cluster)
    types = {one.label_type: k for k, one in enumerate(counted) if one.n_rows}
    if len(types) > 1:
        raise ValueError(
            f"y must hold labels of one type: partition {types['text']}, counted from 0, holds "
            f"text, and partition {types['number']} numbers. Convert one."
        )
    n_rows = [0, *np.cumsum([one.n_rows for one in counted]).tolist()]
    n_used = [0, *np.cumsum([one.n_used for one in counted]).tolist()]
    if not n_used[-1]:
        raise ValueError(
            "X must hold rows with a weight above zero: there is none among "
            f"{n_rows[-1]} rows in {len(counted)} partitions. Add some."
        )
    counts = sum((one.counts for one in counted), ClassCounts())
    is_sparse = not rows.is_frame and hasattr(rows.meta, "tocsr")
    limit = ensemble.row_limit(rows.X.shape[1], is_sparse=is_sparse)
    n_drawn = None if limit is None or n_rows[-1] <= limit else limit
    if not is_sparse:
        check_sample_fits(n_drawn or n_rows[-1], rows.X.shape[1], max_memory)
    say(f"drawing {n_drawn or n_rows[-1]} of {n_rows[-1]} rows")
    plan = Plan(n_drawn, ensemble.draw_seed(), n_rows, n_used, rows.column_types)
    drawn = rows.draw(cluster, plan)
    return drawn if n_drawn is None else drawn._replace(counts=counts)


def _is_lazy(X: Any) -> bool:
    import_distributed()
    from dask.base import is_dask_collection

    return bool(is_dask_collection(X))


def _predict(X: Any, model: Any, method: str, empty: Any) -> Any:
    """Return the predictions for a partition, like ``empty`` with the index of the rows."""
    found = getattr(model, method)(X) if X.shape[0] else _no_predictions(model, method)
    if empty is None:
        return found
    options = {} if empty.ndim == 1 else {"columns": empty.columns}
    return type(empty)(found, index=X.index, **options)


def _no_predictions(model: Any, method: str) -> Any:
    return model.classes_[:0] if method == "predict" else np.empty((0, len(model.classes_)))
