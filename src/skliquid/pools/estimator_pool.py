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

from skliquid.arrays import Floats, Voters, Votes
from skliquid.pools.answers import in_one_array, margins_of, probabilities_of, votes_of
from skliquid.pools.capabilities import (
    grows_trees,
    learns_by_increments,
    limited_to,
    n_visits,
    takes_sample_weight,
)
from skliquid.pools.pool import VoterPool
from skliquid.rows import Rows


class EstimatorPool(VoterPool):
    """Voters of any class; without ``partial_fit`` they are refitted on all rows seen so far.

    Threads pay where training takes long and releases Python's lock, as with trees.
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
        self.n_jobs = n_jobs
        self._subspaces = subspaces
        self._n_voters = len(voters)
        self._unfitted = dict(enumerate(voters))
        self._by_increments = {i for i, voter in enumerate(voters) if learns_by_increments(voter)}
        self._fitted: dict[int, Any] = {}
        self._classes = classes
        self._rows_so_far: Rows | None = None
        self._training_is_over = False
        self._n_expected: int | None = None

    def train(self, voters: Voters, rows: Rows) -> int:
        increment = self._indexed_by_voter(voters, rows)
        so_far = self._remember(increment) if self._are_refitted(voters) else increment

        def trained(voter: int) -> tuple[Any, int]:
            unfitted = self._unfitted[voter]
            if voter in self._by_increments:
                fitted = self._fitted.get(voter)
                # not fitted yet, or a dummy from when there was only one class
                estimator = fitted if hasattr(fitted, "partial_fit") else clone(unfitted)
                return _partially_fitted(estimator, self._seen(voter, increment), self._classes)
            return _refitted(unfitted, self._seen(voter, so_far), self._classes, self.max_passes)

        with _on_increment(rows.n_rows):
            return self._replace(voters, trained)

    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        rows = self._indexed_by_voter(voters, rows)
        if self._are_refitted(voters):
            self._remember_all(voters, rows)
        return self._replace(
            voters,
            lambda voter: _refitted(
                self._unfitted[voter], self._seen(voter, rows), self._classes, max_passes
            ),
        )

    def vote(self, voters: Voters, X: Any) -> Votes:
        return self._ask(votes_of, voters, X)

    def probabilities(self, voters: Voters, X: Any) -> Floats:
        return self._ask(probabilities_of, voters, X)

    def margins(self, voters: Voters, X: Any) -> Floats:
        return self._ask(margins_of, voters, X)

    def _ask(self, answer_of: Callable[..., Any], voters: Voters, X: Any) -> NDArray[Any]:
        def answer(voter: int) -> Any:
            # increments may lack a class or variation: a logarithm of zero is no concern then
            with np.errstate(divide="ignore", invalid="ignore"):
                return answer_of(self._fitted[voter], self._features_of(voter, X), self._classes)

        is_increment = X.shape[0] == self._n_expected
        with _on_increment(X.shape[0]) if is_increment else nullcontext():
            return in_one_array(self._for_each(voters, answer))

    def expect(self, rows: Rows) -> None:
        self._n_expected = rows.n_rows

    def estimators(self, voters: Voters) -> list[Any]:
        return [self._fitted[voter] for voter in voters.tolist()]

    def keep(self, voters: Voters, *, training_is_over: bool) -> VoterPool:
        kept, self._n_expected = voters.tolist(), None
        self._unfitted = {voter: self._unfitted[voter] for voter in kept}
        self._fitted = {voter: self._fitted[voter] for voter in kept}
        self._training_is_over = training_is_over
        return self

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | ({"_rows_so_far": None} if self._training_is_over else {})

    def __deepcopy__(self, memo: dict[int, Any]) -> "EstimatorPool":
        twin = copy.copy(self)  # all but the fitted voters is replaced, never changed
        vars(twin).update(_fitted=copy.deepcopy(self._fitted, memo))
        return twin

    def _indexed_by_voter(self, voters: Voters, rows: Rows) -> Rows:
        """Return the rows with weights, if each voter has its own, indexed by voter."""
        if not rows.has_weights_per_voter:
            return rows
        weights = np.zeros((self._n_voters, rows.n_rows))
        weights[voters] = rows.sample_weight
        return rows._replace(sample_weight=weights)

    def _seen(self, voter: int, rows: Rows) -> Rows:
        """Return the features and weights of ``voter``."""
        return rows.for_voter(voter)._replace(X=self._features_of(voter, rows.X))

    def _features_of(self, voter: int, X: Any) -> Any:
        return X if self._subspaces is None else X[:, self._subspaces[voter]]

    def _are_refitted(self, voters: Voters) -> bool:
        return not self._by_increments.issuperset(voters.tolist())

    def _remember(self, increment: Rows) -> Rows:
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

    def _replace(self, voters: Voters, fit: Callable[[int], tuple[Any, int]]) -> int:
        fitted, visits = zip(*self._for_each(voters, fit), strict=True)
        self._fitted.update(zip(voters.tolist(), fitted, strict=True))
        return sum(visits)

    def _for_each(self, voters: Voters, action: Callable[[int], Any]) -> list[Any]:
        def results(part: Voters) -> list[Any]:
            return [action(voter) for voter in part.tolist()]

        n_jobs = min(effective_n_jobs(self.n_jobs), len(voters))
        if n_jobs == 1:
            return results(voters)
        parts = np.array_split(voters, n_jobs)
        at_once = Parallel(n_jobs=n_jobs, require="sharedmem")
        return list(chain.from_iterable(at_once(delayed(results)(part) for part in parts)))


@contextmanager
def _on_increment(n_rows: int) -> Iterator[None]:
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


def _partially_fitted(estimator: Any, rows: Rows, classes: NDArray[Any]) -> tuple[Any, int]:
    """Return ``estimator`` after one pass over an increment, and the visits."""
    rows = rows if takes_sample_weight(estimator) else rows.repeated()
    with np.errstate(divide="ignore", invalid="ignore"):  # as in vote
        estimator.partial_fit(rows.X, classes[rows.y], classes=classes, **rows.weights_argument)
    is_one_pass = not grows_trees(estimator)
    return estimator, rows.n_rows if is_one_pass else n_visits(estimator, rows.n_rows)


def _refitted(
    estimator: Any, rows: Rows, classes: NDArray[Any], max_passes: int | None
) -> tuple[Any, int]:
    """Return a copy of ``estimator``, fitted from scratch, and the visits."""
    rows = rows if takes_sample_weight(estimator) else rows.repeated()
    n_visited = rows.n_rows
    if not learns_by_increments(estimator):  # the others take a step for every row
        rows = rows.without_zero_weights()
    # not every classifier can be fitted to one class
    has_classes = len(np.unique(rows.y)) > 1
    fitted = clone(estimator) if has_classes else DummyClassifier()
    with limited_to(max_passes, fitted):
        fitted.fit(rows.X, classes[rows.y], **rows.weights_argument)
    return fitted, n_visits(fitted, n_visited)
