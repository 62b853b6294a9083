"""EstimatorPool: voters that are scikit-learn classifiers, one object each."""

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.parallel import Parallel, delayed

from skliquid.delegation.arrays import Voters
from skliquid.delegation.rows import Rows
from skliquid.delegation.voter_pool import VoterPool
from skliquid.pools.capabilities import grows_trees, learns_by_increments, limit_passes, n_visits
from skliquid.pools.predictions import PREDICTIONS, DispatchingPool, stack_predictions
from skliquid.pools.sampled_pool import index_weights
from skliquid.validation.input import takes_sample_weight
from skliquid.voters.growing_rows import GrowingRows


class EstimatorPool(DispatchingPool):
    """Voters of any class; without ``partial_fit`` they are refitted on all rows seen so far.

    Threads pay where training takes long and releases Python's lock, as with trees. The backend
    of joblib may fit voters elsewhere, such as on a Dask cluster.
    """

    name = "estimator"

    def __init__(
        self,
        voters: Sequence[Any],
        classes: NDArray[Any],
        n_jobs: int | None = None,
        subspaces: NDArray[np.intp] | None = None,
        shared: dict[Any, Any] | None = None,
    ):
        self.n_jobs, self._classes, self._subspaces = n_jobs, classes, subspaces
        self._n_voters = len(voters)
        self._unfitted = dict(enumerate(voters))
        self._by_increments = {i for i, voter in enumerate(voters) if learns_by_increments(voter)}
        self._fitted: dict[int, Any] = {}
        self._rows_so_far: Rows | None = None
        self._training_is_over = False
        self._n_expected: int | None = None
        self._growing: dict[int, GrowingRows] = {}
        self._grown: set[int] = set()

    def train(self, voters: Voters, rows: Rows) -> int:
        increment = index_weights(rows, voters, self._n_voters)
        so_far = self._remember(increment) if self._are_refitted(voters) else increment

        def call(voter: int) -> Any:
            unfitted = self._unfitted[voter]
            if voter not in self._by_increments:
                own = self._rows_of(voter, so_far)
                return _refit, self.max_passes, unfitted, self._classes, own
            fitted = self._fitted.get(voter)
            # not fitted yet, or a dummy from when there was only one class
            estimator = fitted if hasattr(fitted, "partial_fit") else clone(unfitted)
            return _partial_fit, estimator, self._classes, self._rows_of(voter, increment)

        with _increment_context(rows.n_rows):
            return self._replace(voters, self._fit_each(voters, call))

    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        rows = index_weights(rows, voters, self._n_voters)
        if self._are_refitted(voters):
            self._remember_all(voters, rows)

        def call(voter: int) -> Any:
            own, unfitted = self._rows_of(voter, rows), self._unfitted[voter]
            before = self._fitted.get(voter)
            if grows_trees(unfitted) and grows_trees(before):
                unfitted = clone(unfitted)
                unfitted.keep_size_of(before, rows.n_rows)
            return _refit, max_passes, unfitted, self._classes, own

        return self._replace(voters, self._fit_each(voters, call))

    def can_grow(self, voters: Voters) -> NDArray[np.bool_]:
        unfitted = (self._unfitted[voter] for voter in voters.tolist())
        return np.array([grows_trees(one) and one.can_grow for one in unfitted], np.bool_)

    def grow(self, voters: Voters, rows: Rows, size: float) -> int:
        def grow_one(voter: int) -> tuple[Any, int]:
            growing, own = self._growing.get(voter), self._rows_of(voter, rows)
            fitted = copy.copy(self._fitted[voter])
            if voter not in self._grown:
                fitted = clone(self._unfitted[voter])
                fitted.start(self._classes, own.X.shape[1])
                fitted.n_seen_ = rows.n_rows
            if growing is None or growing.given.X is not rows.X:
                growing = GrowingRows(rows, own, fitted.is_categorical, before=growing)
                self._growing[voter] = growing
            (fitted.n_visits_,) = growing.grow({voter: fitted}, self._unfitted, size, 1)
            return fitted, fitted.n_visits_

        visits = self._replace(voters, self._for_each(voters, grow_one))
        self._grown = self._grown.union(voters.tolist())
        return visits

    def _predict(self, method: str, voters: Voters, X: Any) -> NDArray[Any]:
        def predict_one(voter: int) -> Any:
            # increments may lack a class or variation: a logarithm of zero is no concern then
            with np.errstate(divide="ignore", invalid="ignore"):
                seen = self._features(voter, X)
                return PREDICTIONS[method](self._fitted[voter], seen, self._classes)

        is_increment = X.shape[0] == self._n_expected
        with _increment_context(X.shape[0]) if is_increment else nullcontext():
            return stack_predictions(self._for_each(voters, predict_one))

    def expect(self, rows: Rows) -> None:
        self._n_expected = rows.n_rows

    def estimators(self, voters: Voters) -> list[Any]:
        return [self._fitted[voter] for voter in voters.tolist()]

    def keep(self, voters: Voters, *, training_is_over: bool) -> VoterPool:
        kept, self._n_expected = voters.tolist(), None
        self._unfitted = {voter: self._unfitted[voter] for voter in kept}
        self._fitted = {voter: self._fitted[voter] for voter in kept}
        self._growing, self._grown = {}, set()
        self._training_is_over = training_is_over
        return self

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | ({"_rows_so_far": None} if self._training_is_over else {})

    def __deepcopy__(self, memo: dict[int, Any]) -> "EstimatorPool":
        twin = copy.copy(self)  # all but the fitted voters is replaced, never changed
        vars(twin).update(_fitted=copy.deepcopy(self._fitted, memo), _growing={})
        return twin

    def _rows_of(self, voter: int, rows: Rows) -> Rows:
        """Return the rows with the features and weights of ``voter``."""
        return rows.for_voter(voter)._replace(X=self._features(voter, rows.X))

    def _features(self, voter: int, X: Any) -> Any:
        return X if self._subspaces is None else X[:, self._subspaces[voter]]

    def _are_refitted(self, voters: Voters) -> bool:
        return not self._by_increments.issuperset(voters.tolist())

    def _remember(self, increment: Rows) -> Rows:
        """Append ``increment`` to the rows seen so far, and return all of them."""
        if self._rows_so_far is not None:
            self._rows_so_far = self._rows_so_far.followed_by(increment)
        elif self._training_is_over:
            raise ValueError(
                "estimator must have partial_fit to continue training after fit and a copy: these "
                "voters are refitted on all rows, and copies do not carry the rows of fit. Fit on "
                "old and new rows together, or call partial_fit from the start."
            )
        else:
            self._rows_so_far = increment.copied()
        return self._rows_so_far

    def _remember_all(self, voters: Voters, rows: Rows) -> None:
        """Keep ``rows`` as those seen so far; voters with their own samples may come in parts."""
        so_far = self._rows_so_far
        if so_far and so_far.has_weights_per_voter and so_far.has_same_data(rows):
            weights: Any = np.array(so_far.sample_weight)
            weights[voters] = rows.for_voters(voters).sample_weight
            self._rows_so_far = so_far._replace(sample_weight=weights)
        else:
            self._rows_so_far = None  # frees memory for the copy
            self._rows_so_far = rows.copied()

    def _replace(self, voters: Voters, results: list[tuple[Any, int]]) -> int:
        """Keep fitted voters, and return the sum of their visits."""
        fitted, visits = zip(*results, strict=True)
        self._fitted.update(zip(voters.tolist(), fitted, strict=True))
        return sum(visits)

    def _fit_each(self, voters: Voters, call: Callable[[int], Any]) -> list[tuple[Any, int]]:
        """Return the results of a function, its arguments and rows, which ``call`` names."""
        calls = ((*own, *rows[:3]) for *own, rows in map(call, voters.tolist()))
        n_jobs = self._n_threads(voters)
        if n_jobs == 1:
            return [function(*arguments) for function, *arguments in calls]
        run = Parallel(n_jobs=n_jobs, prefer="threads")
        return list(run(delayed(function)(*arguments) for function, *arguments in calls))

    def _n_threads(self, voters: Voters) -> int:
        return int(min(effective_n_jobs(self.n_jobs), len(voters)))

    def _for_each(self, voters: Voters, action: Callable[[int], Any]) -> list[Any]:
        def results(part: Voters) -> list[Any]:
            return [action(voter) for voter in part.tolist()]

        n_jobs = self._n_threads(voters)
        if n_jobs == 1:
            return results(voters)
        run = Parallel(n_jobs=n_jobs, require="sharedmem")
        parts = run(delayed(results)(part) for part in np.array_split(voters, n_jobs))
        return list(chain.from_iterable(parts))


@contextmanager
def _increment_context(n_rows: int) -> Iterator[None]:
    """Ignore the warning of many classes in few rows, and add a way out to errors."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes")
        try:
            yield
        except Exception as error:
            error.add_note(
                f"A voter raised this on an increment of {n_rows} rows. If it needs more rows, "
                "raise increment_size."
            )
            raise


# Fitting, perhaps in another process: joblib sends arrays once if they are arguments


def _partial_fit(estimator: Any, classes: NDArray[Any], *arrays: Any) -> tuple[Any, int]:
    """Return ``estimator`` after one pass over an increment, and the visits."""
    rows = Rows(*arrays)
    rows = rows if takes_sample_weight(estimator) else rows.repeated()
    with np.errstate(divide="ignore", invalid="ignore"):  # as in predictions
        estimator.partial_fit(rows.X, classes[rows.y], classes=classes, **rows.weights_argument)
    return estimator, n_visits(estimator, rows.n_rows) if grows_trees(estimator) else rows.n_rows


def _refit(
    max_passes: int | None, estimator: Any, classes: NDArray[Any], *arrays: Any
) -> tuple[Any, int]:
    """Return a copy of ``estimator``, fitted from scratch, and the visits."""
    rows = Rows(*arrays)
    rows = rows if takes_sample_weight(estimator) else rows.repeated()
    n_visited = rows.n_rows
    if not learns_by_increments(estimator):  # the others take a step for every row
        rows = rows.without_zero_weights()
    # not every classifier can be fitted to one class
    has_classes = len(np.unique(rows.y)) > 1
    fitted = clone(estimator) if has_classes else DummyClassifier()
    with limit_passes(fitted, max_passes):
        fitted.fit(rows.X, classes[rows.y], **rows.weights_argument)
    return fitted, n_visits(fitted, n_visited)
