"""EstimatorPool: voters that are scikit-learn classifiers, one object each."""

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from skliquid.arrays import Floats, Labels, Voters, Votes, stacked
from skliquid.pools.votes import votes_of


class _Rows(NamedTuple):
    """Rows to learn from, with the labels as the user gave them.

    ``sample_weight`` has one number a row, or a row of them for every voter of the pool.
    """

    X: Any
    labels: NDArray[Any]
    sample_weight: Floats | None

    def followed_by(self, more: "_Rows") -> "_Rows":
        X = stacked([self.X, more.X])
        return _Rows(X, np.concatenate([self.labels, more.labels]), _followed_by(self, more))

    def copied(self) -> "_Rows":
        """Return the same in arrays of our own: the caller may use its arrays again."""
        weights = self.sample_weight
        return _Rows(self.X.copy(), self.labels, None if weights is None else weights.copy())

    def seen_by(self, voter: int, subspaces: NDArray[np.intp] | None) -> "_Rows":
        """Return what ``voter`` sees: its features, and its own weights."""
        X = self.X if subspaces is None else self.X[:, subspaces[voter]]
        weights = self.sample_weight
        if weights is not None and weights.ndim == 2:
            weights = weights[voter]
        return self._replace(X=X, sample_weight=weights)

    def that_count(self) -> "_Rows":
        """Return the rows that do not weigh zero."""
        if self.sample_weight is None or self.sample_weight.all():
            return self
        counts = self.sample_weight > 0
        return _Rows(self.X[counts], self.labels[counts], self.sample_weight[counts])

    def repeated(self) -> "_Rows":
        """Return rows as often as they weigh, for voters that know no weights."""
        if self.sample_weight is None:
            return self
        rows = np.repeat(np.arange(len(self.labels)), self.sample_weight.astype(np.intp))
        return _Rows(self.X[rows], self.labels[rows], None)


class EstimatorPool:
    """Voters of any kind; those without ``partial_fit`` are fitted anew on all rows so far.

    Parameters
    ----------
    estimators : list of classifiers
        One for each voter, with parameters and seed set, not fitted.
    classes : array
        All classes, sorted.
    n_jobs : int or None
        Threads, as joblib counts them; they pay where learning takes long and lets go of Python's
        lock, as trees do, not on small increments.
    subspaces : array of int, one row a voter, or None
        The features that each voter looks at; None means all.
    """

    _max_passes: int | None = None

    def __init__(
        self,
        estimators: Sequence[Any],
        classes: NDArray[Any],
        n_jobs: int | None = None,
        subspaces: NDArray[np.intp] | None = None,
    ):
        self.n_jobs = n_jobs
        self._subspaces = subspaces
        self._n_voters = len(estimators)
        self._unfitted = dict(enumerate(estimators))
        self._by_increments = {i for i, e in enumerate(estimators) if learns_by_increments(e)}
        self._fitted: dict[int, Any] = {}
        self._classes = classes
        self._rows_so_far: _Rows | None = None
        self._training_is_over = False

    def hold(self, max_passes: int | None) -> None:
        """Let nobody who is fitted anew on an increment take more passes; None means any."""
        self._max_passes = max_passes

    def train(self, voters: Voters, X: Any, y: Labels, sample_weight: Floats | None = None) -> int:
        """Train ``voters`` on one more increment and return the sample visits it took."""
        increment = self._rows(voters, X, y, sample_weight)
        so_far = self._remember(increment) if self._fits_anew(voters) else increment

        def trained(voter: int) -> tuple[Any, int]:
            unfitted = self._unfitted[voter]
            if voter in self._by_increments:
                fitted = self._fitted.get(voter)
                # nobody yet, or one who stood in while there was one class
                estimator = fitted if hasattr(fitted, "partial_fit") else clone(unfitted)
                return _taught(estimator, increment.seen_by(voter, self._subspaces), self._classes)
            return _fitted_anew(unfitted, so_far.seen_by(voter, self._subspaces), self._max_passes)

        with _few_rows(len(y)):
            return self._replace(voters, trained)

    def accuracy(self, voters: Voters, X: Any, y: Labels) -> Floats:
        """Return the share of rows that each of ``voters`` gets right."""
        with _few_rows(len(y)):
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
        max_passes: int | None = None,
    ) -> int:
        """Fit ``voters`` in full, anew or from where they are; return the sample visits."""
        rows = self._rows(voters, X, y, sample_weight)

        def finished(voter: int) -> tuple[Any, int]:
            seen = rows.seen_by(voter, self._subspaces)
            if warm:
                return _fitted_further(self._fitted[voter], seen, max_passes)
            return _fitted_anew(self._unfitted[voter], seen, max_passes)

        if self._fits_anew(voters):
            self._rows_so_far = None  # so that there is room for the next line
            self._rows_so_far = rows.copied()
        return self._replace(voters, finished)

    def vote(self, voters: Voters, X: Any) -> Votes:
        """Return the vote of each of ``voters`` (rows) on each sample (columns)."""
        rows = _Rows(X, self._classes[:0], None)

        def votes(voter: int) -> Labels:
            seen = rows.seen_by(voter, self._subspaces).X
            # increments may lack a class or variation; the logarithm of a zero is then no concern
            with np.errstate(divide="ignore", invalid="ignore"):
                return votes_of(self._fitted[voter], seen, self._classes)

        return np.stack(self._each(voters, votes))

    def estimators(self, voters: Voters) -> list[Any]:
        """Return ``voters`` as fitted scikit-learn classifiers."""
        return [self._fitted[voter] for voter in voters.tolist()]

    def keep(self, voters: Voters, *, training_is_over: bool) -> None:
        """Forget all other voters; when training is over, copies need not carry its rows."""
        kept = voters.tolist()
        self._unfitted = {voter: self._unfitted[voter] for voter in kept}
        self._fitted = {voter: self._fitted[voter] for voter in kept}
        self._training_is_over = training_is_over

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | ({"_rows_so_far": None} if self._training_is_over else {})

    def __deepcopy__(self, memo: dict[int, Any]) -> "EstimatorPool":
        twin = copy.copy(self)  # all but the fitted voters is replaced, never changed
        twin._fitted = copy.deepcopy(self._fitted, memo)
        return twin

    def _rows(self, voters: Voters, X: Any, y: Labels, sample_weight: Floats | None) -> _Rows:
        if sample_weight is not None and sample_weight.ndim == 2:
            of_all = np.zeros((self._n_voters, len(y)))
            of_all[voters] = sample_weight
            sample_weight = of_all
        return _Rows(X, self._classes[y], sample_weight)

    def _fits_anew(self, voters: Voters) -> bool:
        return not self._by_increments.issuperset(voters.tolist())

    def _remember(self, increment: _Rows) -> _Rows:
        so_far = self._rows_so_far
        if so_far is None and self._training_is_over:
            raise ValueError(
                "estimator must have partial_fit to learn more after fit and a copy: these voters "
                "are fitted anew on all rows, and copies do not carry the rows that fit saw. Fit "
                "on old and new rows together, or call partial_fit from the start."
            )
        if so_far is None:
            self._rows_so_far = increment.copied()
        else:
            self._rows_so_far = so_far.followed_by(increment)
        return self._rows_so_far

    def _replace(self, voters: Voters, fitted: Callable[[int], tuple[Any, int]]) -> int:
        results = self._each(voters, fitted)
        self._fitted.update(
            (voter, estimator)
            for voter, (estimator, _) in zip(voters.tolist(), results, strict=True)
        )
        return sum(visits for _, visits in results)

    def _each(self, voters: Voters, action: Callable[[int], Any]) -> list[Any]:
        n_jobs = min(effective_n_jobs(self.n_jobs), len(voters))
        if n_jobs == 1:
            return _act(action, voters.tolist())
        shares = Parallel(n_jobs=n_jobs, require="sharedmem")(
            delayed(_act)(action, share.tolist()) for share in np.array_split(voters, n_jobs)
        )
        return [result for share in shares for result in share]


def takes_sample_weight(estimator: Any) -> bool:
    """Return whether ``estimator`` can give rows different weights."""
    if has_fit_parameter(estimator, "sample_weight"):
        return True
    is_routed = get_config()["enable_metadata_routing"]  # else requests are there, but not heard
    return is_routed and bool(get_routing_for_object(estimator).consumes("fit", ["sample_weight"]))


def learns_by_increments(estimator: Any) -> bool:
    """Return whether ``estimator`` has a ``partial_fit`` that works with its parameters."""
    if not hasattr(estimator, "partial_fit") or _needs_all_rows(estimator.get_params(deep=False)):
        return False
    params = {name.rsplit("__", 1)[-1]: value for name, value in estimator.get_params().items()}
    return not params.get("early_stopping") and params.get("class_weight") != "balanced"


def _needs_all_rows(params: Mapping[str, Any]) -> bool:
    """Return whether a liquid ensemble with ``params`` must know how many rows there are."""
    has_budget = any(params.get(name) is not None for name in ("max_cost", "max_seconds"))
    return has_budget or isinstance(params.get("max_samples"), Integral)


@contextmanager
def _few_rows(n_rows: int) -> Iterator[None]:
    """Make allowance for increments: no warning of many classes, and a way out of errors."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes")
        try:
            yield
        except Exception as error:
            error.add_note(
                f"A voter said so in training on an increment of {n_rows} rows. If it needs more, "
                "raise increment_size."
            )
            raise


def _act(action: Callable[[int], Any], voters: list[int]) -> list[Any]:
    return [action(voter) for voter in voters]


def _taught(estimator: Any, rows: _Rows, classes: NDArray[Any]) -> tuple[Any, int]:
    """Return ``estimator`` after one pass over an increment, and the visits."""
    rows = rows if takes_sample_weight(estimator) else rows.repeated()
    with np.errstate(divide="ignore", invalid="ignore"):  # as in vote
        estimator.partial_fit(rows.X, rows.labels, classes=classes, **_weights(rows))
    return estimator, len(rows.labels)


def _fitted_anew(estimator: Any, rows: _Rows, max_passes: int | None = None) -> tuple[Any, int]:
    """Return a fresh copy of ``estimator``, fitted, and the visits."""
    rows = rows if takes_sample_weight(estimator) else rows.repeated()
    n_given = len(rows.labels)
    if not learns_by_increments(estimator):  # others take a step for every row
        rows = rows.that_count()
    n_classes = len(np.unique(rows.labels))
    # not every classifier learns from one class, and there is only one thing to say of it
    fresh = clone(estimator) if n_classes > 1 else DummyClassifier()
    with _at_most(max_passes, fresh):
        fresh.fit(rows.X, rows.labels, **_weights(rows))
    return fresh, n_passes(fresh) * n_given


def _fitted_further(estimator: Any, rows: _Rows, max_passes: int | None) -> tuple[Any, int]:
    """Return ``estimator``, fitted from where it is, and the visits."""
    warm_start = estimator.warm_start
    with _at_most(max_passes, estimator):
        estimator.set_params(warm_start=True).fit(rows.X, rows.labels, **_weights(rows))
    return estimator.set_params(warm_start=warm_start), n_passes(estimator) * len(rows.labels)


@contextmanager
def _at_most(max_passes: int | None, estimator: Any) -> Iterator[None]:
    """Hold ``estimator``, if its passes can be limited, to ``max_passes``."""
    counting = _last_step(estimator)
    max_iter = getattr(counting, "max_iter", None)
    if max_passes is None or max_iter is None or max_passes >= most_passes(estimator):
        yield
        return
    counting.set_params(max_iter=max_passes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # there was no time to converge
        yield
    counting.set_params(max_iter=max_iter)


def most_passes(estimator: Any) -> float:
    """Return how often ``estimator`` goes over its training data at the most.

    This is ``max_iter`` where there is one; else, as far as can be told, what it took last.
    """
    max_iter = getattr(_last_step(estimator), "max_iter", None)
    if max_iter is None:
        return n_passes(estimator)
    return max(max_iter, 1) if max_iter >= 0 else np.inf  # SVC's -1 means no limit


def n_passes(estimator: Any) -> int:
    """Return how often ``estimator`` went over its training data: the paper's e.

    This is ``n_iter_`` where there is one (the largest, if there are several; the last step's, in
    a pipeline), else one, as for a tree or a classifier wrapped in another.
    """
    n_iter = getattr(_last_step(estimator), "n_iter_", None)
    return 1 if n_iter is None else max(int(np.max(n_iter)), 1)


def _last_step(estimator: Any) -> Any:
    """Return ``estimator``, or what a pipeline ends with."""
    while hasattr(estimator, "steps"):
        estimator = estimator[-1]
    return estimator


def _weights(rows: _Rows) -> dict[str, Floats]:
    return {} if rows.sample_weight is None else {"sample_weight": rows.sample_weight}


def _followed_by(rows: _Rows, more: _Rows) -> Floats | None:
    if rows.sample_weight is None and more.sample_weight is None:
        return None
    parts = [
        np.ones(len(part.labels)) if part.sample_weight is None else part.sample_weight
        for part in (rows, more)
    ]
    return np.concatenate(parts, axis=-1)
