"""Partitions: the rows of Dask collections, counted and drawn on the workers that hold them."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from skliquid.dask.cluster import Cluster, ClusterError, for_workers
from skliquid.delegation.class_weights import ClassCounts
from skliquid.delegation.drawn_rows import DrawnRows, draw_row_numbers
from skliquid.tables.frames import as_frame, take_rows
from skliquid.validation.input import check_labels, check_sample_weight

drawn_numbers = lru_cache(maxsize=1)(draw_row_numbers)


class Counted(NamedTuple):
    """The rows of a partition, and those with a weight above zero."""

    n_rows: int
    n_used: int
    counts: ClassCounts  # of rows with a weight above zero
    label_type: str


class Problem(NamedTuple):
    """What is wrong with a partition."""

    text: str


class Plan(NamedTuple):
    """Which rows to draw; the lists have one number per partition and one for the end."""

    n_drawn: int | None  # None means all rows
    seed: int
    first_rows: list[int]
    first_used: list[int]  # among rows with a weight above zero
    column_types: dict[Any, str]  # by name; empty for arrays


class Partitions:
    """Rows, labels and weights, as Dask DataFrames and Series or as Dask Arrays."""

    def __init__(self, X: Any, y: Any, weights: Any = None):
        import dask.dataframe as dd

        self.is_frame = isinstance(X, dd.DataFrame)
        if not self.is_frame and not _is_array(X, 2):
            raise TypeError(
                "X must be a Dask DataFrame, or a Dask Array with two dimensions: got "
                f"{type(X).__name__}. Give LiquidEnsembleClassifier data in memory."
            )
        if self.is_frame and np.isscalar(y):
            if y not in X.columns:
                raise ValueError(f"y must be a column of X: got {y!r}. Correct the name.")
            X, y = X.drop(columns=y), X[y]
        self.X = X if self.is_frame else X.rechunk({1: -1})
        self.y = self._with_partitions("y", y)
        self.weights = None
        if weights is not None:
            self.weights = self._with_partitions("sample_weight", weights)

    def _with_partitions(self, name: str, column: Any) -> Any:
        """Return labels or weights in the partitions of the rows."""
        import dask.dataframe as dd

        if self.is_frame and _is_array(column, 1):
            column = dd.from_dask_array(column)
        elif not self.is_frame and isinstance(column, dd.Series):
            column = column.to_dask_array()
        if not (isinstance(column, dd.Series) if self.is_frame else _is_array(column, 1)):
            kind = "Series" if self.is_frame else "Array with one dimension"
            raise TypeError(
                f"{name} must be a Dask {kind}, or y the name of a column: got "
                f"{type(column).__name__}. Convert it, in the partitions of X."
            )
        if not self.is_frame and sum(column.chunks[0]) == sum(self.X.chunks[0]):  # both known
            column = column.rechunk((self.X.chunks[0],))
        if column.npartitions != self.X.npartitions:
            raise ValueError(
                f"{name} must have the partitions of X: got {column.npartitions} for "
                f"{self.X.npartitions}. Repartition it."
            )
        return column

    @property
    def meta(self) -> Any:
        """Rows without rows: their type, and the columns of a frame."""
        return self.X._meta  # noqa: SLF001 (Dask has no public name for it)

    @property
    def column_types(self) -> dict[Any, str]:
        """The types of the columns of a frame, by name."""
        frame = as_frame(self.meta) if self.is_frame else None
        return {} if frame is None else {name: frame.column_type(name) for name in frame.names}

    def count(self, cluster: Cluster) -> list[Counted]:
        """Return the number of rows of each partition, by class."""
        return list(self._each(cluster, _count, (self.y, self.weights)))

    def draw(self, cluster: Cluster, plan: Plan) -> DrawnRows:
        """Return the rows of a plan, without counts."""
        columns = self.X, self.y, self.weights
        parts = list(self._each(cluster, _draw, columns, plan))
        parts = [part for part in parts if len(part.y)]
        X, y, weights, numbers = ([part[k] for part in parts] for k in range(4))
        return DrawnRows(
            _concat(X),
            np.concatenate(y),
            None if self.weights is None else np.concatenate(weights),
            None if plan.n_drawn is None else np.concatenate(numbers),
            None,
            plan.first_rows[-1],
        )

    def score(self, cluster: Cluster, model: Any) -> float:
        """Return the accuracy of a model."""
        columns = self.X, self.y, self.weights
        sums = np.array(list(self._each(cluster, _score, columns, model))).sum(axis=0)
        if not sums[1]:
            raise ValueError("X must hold rows with a weight above zero: there is none. Add some.")
        return float(sums[0] / sums[1])

    def _each(
        self, cluster: Cluster, function: Callable[..., Any], columns: Sequence[Any], *options: Any
    ) -> Iterator[Any]:
        """Yield the results of a function for each partition; errors name the partition."""
        tasks = _tasks(for_workers(function), columns, *options)
        results = cluster.compute(tasks)
        for number in range(len(tasks)):
            try:
                result = next(results)
            except ClusterError:
                raise
            except Exception as error:
                raise _reading_error(number, error) from error
            if isinstance(result, Problem):
                text = f"Partition {number}, counted from 0: {result.text}"
                raise ValueError(text)  # noqa: TRY004 (the data are wrong)
            yield result


def _reading_error(number: int, error: Exception) -> ValueError:
    reason = str(error).strip().partition("\n")[0].rstrip(".")
    return ValueError(
        f"Partitions must be readable: number {number}, counted from 0, is not "
        f"({type(error).__name__}: {reason}). Correct its data, or leave it out."
    )


def _is_array(X: Any, n_dimensions: int) -> bool:
    import dask.array as da

    return isinstance(X, da.Array) and X.ndim == n_dimensions


def _tasks(function: Callable[..., Any], columns: Sequence[Any], *options: Any) -> list[Any]:
    """Return a delayed call per partition, in one task with what makes the partition."""
    import dask
    import dask.array as da
    from dask.delayed import delayed

    given = [column for column in columns if column is not None]
    present, n_parts = [column is not None for column in columns], given[0].npartitions
    numbers = da.arange(n_parts, chunks=1)
    shared = delayed(options, traverse=False)  # or every task would have a copy
    if hasattr(given[0], "map_partitions"):
        mapped = given[0].map_partitions(
            _on_frames,
            *given[1:],
            shared,
            function=function,
            present=present,
            meta=(None, object),
            enforce_metadata=False,
            align_dataframes=False,
        )
        with dask.config.set({"optimization.tune.active": False}):  # it may join partitions
            tasks = list(mapped.to_delayed())
        return tasks if len(tasks) == n_parts else list(mapped.to_delayed(optimize_graph=False))
    dimensions = [(column, "ij"[: column.ndim]) for column in given]
    mapped = da.blockwise(  # type: ignore[no-untyped-call]
        _on_blocks,
        "i",
        *(item for pair in dimensions for item in pair),
        numbers,
        "i",
        shared,
        None,
        function=function,
        present=present,
        dtype=object,
        meta=np.empty(0, dtype=object),
        concatenate=True,
        align_arrays=False,
    )
    return list(mapped.to_delayed().ravel())


def _on_frames(*given: Any, function: Any, present: Any, partition_info: Any = None) -> Any:
    return _call(function, partition_info["number"], given[:-1], present, given[-1])


def _on_blocks(*given: Any, function: Any, present: Any) -> Any:
    return _call(function, int(given[-2][0]), given[:-2], present, given[-1])


def _call(function: Any, number: int, given: Any, present: Any, options: Any) -> Any:
    if len({one.shape[0] for one in given}) > 1:
        lengths = " and ".join(str(one.shape[0]) for one in given)
        return Problem(f"X, y and sample_weight must have as many rows: got {lengths}. Correct it.")
    columns = iter(given)
    return function(number, *(next(columns) if one else None for one in present), *options)


# What runs on workers


def _count(_: int, y: Any, weights: Any) -> Counted | Problem:
    n_rows = len(y)
    if not n_rows:
        return Counted(0, 0, ClassCounts(), "")
    try:
        labels, own = check_labels(y, n_rows), check_sample_weight(weights, n_rows, ())
    except (ValueError, TypeError) as error:
        return Problem(str(error))
    used = labels if own is None else labels[own > 0]
    counts = ClassCounts().plus(used) if len(used) else ClassCounts()
    label_type = "text" if labels.dtype.kind in "OUST" else "number"
    return Counted(n_rows, len(used), counts, label_type)


def _draw(number: int, X: Any, y: Any, weights: Any, plan: Plan) -> DrawnRows | Problem:
    n_rows = len(y)
    if text := _odd_column(X, plan.column_types):
        return Problem(text)
    first, drawn = plan.first_rows[number], np.arange(n_rows)
    own = None if weights is None else np.asarray(weights, dtype=np.float64)
    if plan.n_drawn is not None:
        start, stop = plan.first_used[number : number + 2]
        drawn = drawn_numbers(plan.first_used[-1], plan.n_drawn, plan.seed)
        drawn = drawn[np.searchsorted(drawn, start) : np.searchsorted(drawn, stop)] - start
        drawn = drawn if own is None else np.flatnonzero(own)[drawn]
    labels = check_labels(y, n_rows)[drawn] if n_rows else np.empty(0)
    own = None if own is None else own[drawn]
    return DrawnRows(take_rows(X, drawn), labels, own, first + drawn, None, n_rows)


def _odd_column(X: Any, column_types: dict[Any, str]) -> str:
    """Return what is wrong with a column, or ""."""
    if not column_types:
        return ""
    frame = as_frame(X)
    for name in [*column_types, *frame.names]:
        if name not in column_types or name not in frame.names:
            return (
                f"it must have the columns of the others: {name!r} is "
                f"{'new' if name in frame.names else 'missing'}. Correct it, or leave it out."
            )
    for name, expected in column_types.items():
        found = frame.column_type(name)
        if _kind(found) != _kind(expected) and not X[name].isna().all():
            return (
                f"columns must have the types of the other partitions: {name!r} is of the type "
                f"{found}, and not {expected}. Convert it."
            )
    return ""


def _kind(column_type: str) -> str:
    return {"boolean": "number", "category": "text"}.get(column_type, column_type)


def _score(_: int, X: Any, y: Any, weights: Any, model: Any) -> tuple[float, float]:
    if not len(y):
        return 0.0, 0.0
    own: Any = check_sample_weight(1.0 if weights is None else weights, len(y), ())
    return float(own @ (model.predict(X) == np.asarray(y))), float(own.sum())


def _concat(parts: list[Any]) -> Any:
    """Return rows in one, as Dask joins them."""
    if scipy.sparse.issparse(parts[0]):
        return scipy.sparse.vstack(parts, format="csr")
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    from dask.dataframe.dispatch import concat

    return concat(parts)  # type: ignore[no-untyped-call]
