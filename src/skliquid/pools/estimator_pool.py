"""EstimatorPool: voters that are scikit-learn classifiers, one object each."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.parallel import Parallel, delayed

from skliquid.arrays import Floats, Labels, Voters


class _Rows(NamedTuple):
    """Rows to learn from, with the labels as the user gave them."""

    X: Any
    labels: NDArray[Any]
    sample_weight: Floats | None

    def followed_by(self, more: "_Rows") -> "_Rows":
        stack = scipy.sparse.vstack if scipy.sparse.issparse(self.X) else np.concatenate
        X = stack([self.X, more.X])
        sample_weight = _followed_by(self, more)
        return _Rows(X, np.concatenate([self.labels, more.labels]), sample_weight)


class EstimatorPool:
    """Voters of any kind; those without ``partial_fit`` are fitted anew on all rows so far.

    Parameters
    ----------
    estimators : list of classifiers
        One for each voter, with parameters and seed set, not fitted.
    classes : array
        All classes, sorted.
    n_jobs : int or None
        Threads, as joblib counts them.
    """

    def __init__(self, estimators: list[Any], classes: NDArray[Any], n_jobs: int | None = None):
        self._unfitted = estimators
        self._fitted: dict[int, Any] = {}
        self._classes = classes
        self._n_jobs = n_jobs
        self._rows_so_far: _Rows | None = None
        self._is_closed = False

    def train(self, voters: Voters, X: Any, y: Labels, sample_weight: Floats | None = None) -> int:
        """Train ``voters`` on one more increment and return the sample visits it took."""
        increment = _Rows(X, self._classes[y], sample_weight)
        so_far = self._remember(increment) if self._fits_anew(voters) else increment

        def trained(voter: int) -> tuple[Any, int]:
            unfitted = self._unfitted[voter]
            if learns_by_increments(unfitted):
                return _taught(self._fitted.get(voter, unfitted), increment, self._classes)
            return _fitted_anew(unfitted, so_far)

        return self._replace(voters, trained)

    def accuracy(self, voters: Voters, X: Any, y: Labels) -> Floats:
        """Return the share of rows that each of ``voters`` gets right."""
        accuracy: Floats = np.mean(self.vote(voters, X) == y, axis=1)
        return accuracy

    def finish(
        self,
        voters: Voters,
        X: Any,
        y: Labels,
        sample_weight: Floats | None = None,
        *,
        warm: bool = False,
    ) -> int:
        """Fit ``voters`` in full, anew or from where they are; return the sample visits."""
        rows = _Rows(X, self._classes[y], sample_weight)

        def finished(voter: int) -> tuple[Any, int]:
            if warm:
                return _fitted_further(self._fitted[voter], rows)
            return _fitted_anew(self._unfitted[voter], rows)

        if self._fits_anew(voters):
            self._rows_so_far = rows
        return self._replace(voters, finished)

    def vote(self, voters: Voters, X: Any) -> Labels:
        """Return the vote of each of ``voters`` (rows) on each sample (columns)."""
        labels = self._each(voters, lambda voter: _predicted(self._fitted[voter], X))
        return np.searchsorted(self._classes, np.stack(labels))

    def estimators(self, voters: Voters) -> list[Any]:
        """Return ``voters`` as fitted scikit-learn classifiers."""
        return [self._fitted[voter] for voter in voters.tolist()]

    def close(self, voters: Voters) -> None:
        """Keep ``voters`` only: training is over, and copies need not carry its rows."""
        self._fitted = {voter: self._fitted[voter] for voter in voters.tolist()}
        self._is_closed = True

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | ({"_rows_so_far": None} if self._is_closed else {})

    def _fits_anew(self, voters: Voters) -> bool:
        return not all(learns_by_increments(self._unfitted[voter]) for voter in voters)

    def _remember(self, increment: _Rows) -> _Rows:
        so_far = self._rows_so_far
        if so_far is None and self._is_closed:
            raise ValueError(
                "estimator must have partial_fit to learn more after fit and a copy: these voters "
                "are fitted anew on all rows, and copies do not carry the rows that fit saw. Fit "
                "on old and new rows together, or call partial_fit from the start."
            )
        self._rows_so_far = increment if so_far is None else so_far.followed_by(increment)
        return self._rows_so_far

    def _replace(self, voters: Voters, fitted: Callable[[int], tuple[Any, int]]) -> int:
        results = self._each(voters, fitted)
        self._fitted.update(
            (voter, estimator)
            for voter, (estimator, _) in zip(voters.tolist(), results, strict=True)
        )
        return sum(visits for _, visits in results)

    def _each(self, voters: Voters, action: Callable[[int], Any]) -> list[Any]:
        n_jobs = min(effective_n_jobs(self._n_jobs), len(voters))
        if n_jobs == 1:
            return [action(voter) for voter in voters.tolist()]
        shares = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_act)(action, share.tolist()) for share in np.array_split(voters, n_jobs)
        )
        return [result for share in shares for result in share]


def learns_by_increments(estimator: Any) -> bool:
    """Return whether ``estimator`` has a ``partial_fit`` that works with its parameters."""
    return (
        hasattr(estimator, "partial_fit")
        and not getattr(estimator, "early_stopping", False)
        and getattr(estimator, "class_weight", None) != "balanced"
    )


def _act(action: Callable[[int], Any], voters: list[int]) -> list[Any]:
    return [action(voter) for voter in voters]


def _predicted(estimator: Any, X: Any) -> NDArray[Any]:
    """Return the labels that ``estimator`` predicts."""
    # increments may lack a class or variation; the logarithm of a zero is then no concern
    with np.errstate(divide="ignore", invalid="ignore"):
        labels: NDArray[Any] = estimator.predict(X)
    return labels


def _taught(estimator: Any, rows: _Rows, classes: NDArray[Any]) -> tuple[Any, int]:
    """Return ``estimator`` after one pass over an increment, and the visits."""
    with np.errstate(divide="ignore", invalid="ignore"):  # as in _predicted
        estimator.partial_fit(rows.X, rows.labels, classes=classes, **_weights(rows))
    return estimator, len(rows.labels)


def _fitted_anew(estimator: Any, rows: _Rows) -> tuple[Any, int]:
    """Return a fresh copy of ``estimator``, fitted, and the visits."""
    n_classes = len(np.unique(rows.labels))
    # not every classifier learns from one class, and there is only one thing to say of it
    fresh = clone(estimator) if n_classes > 1 else DummyClassifier()
    fresh.fit(rows.X, rows.labels, **_weights(rows))
    return fresh, n_passes(fresh) * len(rows.labels)


def _fitted_further(estimator: Any, rows: _Rows) -> tuple[Any, int]:
    """Return ``estimator``, fitted from where it is, and the visits."""
    warm_start = estimator.warm_start
    estimator.set_params(warm_start=True).fit(rows.X, rows.labels, **_weights(rows))
    return estimator.set_params(warm_start=warm_start), n_passes(estimator) * len(rows.labels)


def n_passes(estimator: Any) -> int:
    """Return how often ``estimator`` went over its training data: the paper's e.

    This is ``n_iter_`` where there is one (the largest, if there are several; the last step's, in
    a pipeline), else one, as for a tree.
    """
    last_step = estimator[-1] if hasattr(estimator, "steps") else estimator
    n_iter = getattr(last_step, "n_iter_", None)
    return 1 if n_iter is None else max(int(np.max(n_iter)), 1)


def _weights(rows: _Rows) -> dict[str, Floats]:
    return {} if rows.sample_weight is None else {"sample_weight": rows.sample_weight}


def _followed_by(rows: _Rows, more: _Rows) -> Floats | None:
    if rows.sample_weight is None and more.sample_weight is None:
        return None
    parts = [
        np.ones(len(part.labels)) if part.sample_weight is None else part.sample_weight
        for part in (rows, more)
    ]
    return np.concatenate(parts)
