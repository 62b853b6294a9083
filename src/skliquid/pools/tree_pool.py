"""TreePool: voters made of trees, grown by one compiled call on rows in shared bins."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats, Voters, Votes
from skliquid.delegation.rows import Rows
from skliquid.delegation.storable import Array, require, storable
from skliquid.delegation.voter_pool import VoterPool, VoterState
from skliquid.pools.predictions import DispatchingPool
from skliquid.pools.sampled_pool import index_weights
from skliquid.voters import CodedCategories, RecentRows, TreeVoter, grow
from skliquid.voters.binning import BinnedRows
from skliquid.voters.growing_rows import GrowingRows

_SHARED = ("categorical_features", "class_weight", "max_rows")
Features = NDArray[np.intp] | None  # the columns that some voters see; None means all


@storable
@dataclass(frozen=True, eq=False)
class TreeState(VoterState):
    """Fitted tree voters, without rows; voters with the same rows share them."""

    fitted: list[TreeVoter]
    rows_of: Annotated[NDArray[np.intp], Array("voters")]
    rows: list[RecentRows]

    shared = ("rows",)

    def check_voter(self, position: int, n_columns: int, n_classes: int) -> None:
        """Raise unless trees and rows are for these columns and classes."""
        voter, rows = self.fitted[position], self.rows[self.rows_of[position]]
        is_valid = voter.n_features_in_ == n_columns and len(voter.classes_) == n_classes
        are_valid = rows.fit_into(n_columns, n_classes)
        require(is_valid and are_valid, "trees and rows for these columns and classes")

    def check_stored(self) -> None:
        """Raise unless each voter has trees of its own, and rows."""
        super().check_stored()
        require(len(set(map(id, self.fitted))) == len(self.fitted), "different voters")
        require(self.rows_of.max(initial=-1) < len(self.rows), "rows of each voter")


class TreePool(DispatchingPool):
    """Voters that are made of trees, as subclasses of :class:`TreeVoter`.

    Their trees have the bits that each voter would have alone. Voters that trained on the same rows
    share them: the rows are kept once, and put into bins once for all trees that are grown.
    """

    name = "trees"

    @classmethod
    def unsupported_parameter(cls, estimator: Any) -> str | None:
        if not (isinstance(estimator, TreeVoter) and estimator.can_be_pooled):
            return f"{type(estimator).__name__}"
        if estimator.class_weight is not None:
            return f"class_weight={estimator.class_weight!r}"
        chosen = estimator.categorical_features
        return None if estimator.sees_coded_rows else f"categorical_features={chosen!r}"

    @classmethod
    def sharing_key(cls, estimator: Any) -> Any:
        return estimator.max_rows

    @classmethod
    def can_share(cls, hyperparameters: Sequence[Mapping[str, Any]]) -> bool:
        return not any(name in drawn for drawn in hyperparameters for name in _SHARED)

    def __init__(
        self,
        voters: Sequence[Any],
        classes: NDArray[Any],
        n_jobs: int | None = None,
        subspaces: NDArray[np.intp] | None = None,
        shared: dict[Any, Any] | None = None,
    ):
        self.n_jobs, self._classes, self._subspaces = n_jobs, classes, subspaces
        self._n_voters, self._max_rows = len(voters), voters[0].max_rows
        self._unfitted = dict(enumerate(voters))
        self._fitted: dict[int, Any] = {}
        self._recent = dict.fromkeys(self._unfitted, RecentRows(self._max_rows))
        self._growing: dict[int, GrowingRows] = {}
        self._grown: set[int] = set()

    def train(self, voters: Voters, rows: Rows) -> int:
        weights, visits = index_weights(rows, voters, self._n_voters).sample_weight, 0
        for recent, members in self._by_rows(voters.tolist()):
            recent.append(rows.X, rows.y, weights)
            due = [self._start(voter, rows.X).take_turn(rows.n_rows) for voter in members]
            self._count_visits(members, [0] * len(members))
            if self.max_passes is not None:
                due = [min(n, self.max_passes) for n in due]
            n_trees = {voter: n for voter, n in zip(members, due, strict=True) if n}
            for features, part in self._by_features(list(n_trees)):
                X, numbers = _select(recent.X, features), [n_trees[voter] for voter in part]
                binned = self._bin(X, recent.y, recent.weights, part)
                found = grow([self._fitted[v] for v in part], binned, numbers, self._n_threads, X)
                visits += self._count_visits(part, found)
        return visits

    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        weights, visits = index_weights(rows, voters, self._n_voters).sample_weight, 0
        nothing = RecentRows(self._max_rows)
        for features, part in self._by_features(voters.tolist()):
            binned = self._bin(_select(rows.X, features), rows.y, weights, part)
            fitted = [self._start_again(voter, rows) for voter in part]
            n_trees = [None if max_passes is None else min(v.n_trees, max_passes) for v in fitted]
            visits += self._count_visits(part, grow(fitted, binned, n_trees, self._n_threads))
            self._recent |= dict.fromkeys(part, nothing)
        return visits

    def can_grow(self, voters: Voters) -> NDArray[np.bool_]:
        return np.array([self._unfitted[voter].can_grow for voter in voters.tolist()], np.bool_)

    def grow(self, voters: Voters, rows: Rows, size: float) -> int:
        visits, nothing = 0, RecentRows(self._max_rows)
        for features, part in self._by_features(voters.tolist()):
            for voter in part:
                if voter not in self._grown:
                    self._start_again(voter, rows)
                    self._recent[voter] = nothing
            self._grown = self._grown.union(part)
            known = (self._growing[voter] for voter in part if voter in self._growing)
            growing = next(known, None)
            if growing is None or growing.given.X is not rows.X:
                own = rows._replace(X=_select(rows.X, features))
                mask = self._mask(part, own.X)
                growing = GrowingRows(rows, own, mask, core=self.core, before=growing)
            self._growing |= dict.fromkeys(part, growing)
            grown = {voter: self._fitted[voter] for voter in part}
            found = growing.grow(grown, self._unfitted, size, self._n_threads)
            visits += self._count_visits(part, found)
        return visits

    def vote(self, voters: Voters, X: Any) -> Votes:
        votes: Votes = self.probabilities(voters, X).argmax(axis=2)
        return votes

    def _predict(self, method: str, voters: Voters, X: Any) -> Floats:
        predictions = np.zeros((len(voters), X.shape[0], len(self._classes)))
        places = {voter: place for place, voter in enumerate(voters.tolist())}
        for features, part in self._by_features(list(places)):
            for cls in dict.fromkeys(type(self._fitted[voter]) for voter in part):
                own = [voter for voter in part if type(self._fitted[voter]) is cls]
                fitted = [self._fitted[voter] for voter in own]
                found = getattr(cls, method)(fitted, _select(X, features), self._n_threads)
                predictions[[places[voter] for voter in own]] = found
        return predictions

    def estimators(self, voters: Voters) -> list[Any]:
        return [self._fitted[voter] for voter in voters.tolist()]

    def keep(self, voters: Voters, *, training_is_over: bool) -> VoterPool:
        kept = voters.tolist()
        self._unfitted = {voter: self._unfitted[voter] for voter in kept}
        self._fitted = {voter: self._fitted[voter] for voter in kept}
        self._recent = {voter: self._recent[voter] for voter in kept}
        self._growing, self._grown = {}, set()
        return self

    def state_of(self, voters: Voters) -> list[VoterState]:
        fitted = self.estimators(voters)
        recent = [self._recent[voter] for voter in voters.tolist()]
        distinct = list({id(rows): rows for rows in recent}.values())
        rows_of = np.array([[rows is r for r in distinct].index(True) for rows in recent])
        return [TreeState(np.arange(len(voters)), fitted, rows_of, distinct)]

    def load_state(self, parts: Sequence[Any]) -> None:
        kept = sorted(voter for part in parts for voter in part.voters.tolist())
        self._unfitted = {voter: self._unfitted[voter] for voter in kept}
        self._fitted, self._recent = {}, {}
        for part in parts:
            states = zip(part.voters.tolist(), part.fitted, part.rows_of.tolist(), strict=True)
            for voter, state, k in states:
                unfitted, fitted = self._unfitted[voter], copy.copy(state)
                is_same = type(state) is type(unfitted)
                require(is_same, f"voters of the class {type(unfitted).__name__}")
                fitted.set_params(**unfitted.get_params()).keep_size_of(state, state.n_seen_)
                self._fitted[voter] = fitted
                self._recent[voter] = part.rows[k]

    @property
    def _n_threads(self) -> int:
        return int(effective_n_jobs(self.n_jobs))

    def _start(self, voter: int, X: Any) -> Any:
        """Return the voter, without trees if it was not trained before."""
        if voter not in self._fitted:
            fitted = copy.copy(self._unfitted[voter])
            n_columns = X.shape[1] if self._subspaces is None else self._subspaces.shape[1]
            fitted.start(self._classes, n_columns)
            self._fitted[voter] = fitted
        return self._fitted[voter]

    def _start_again(self, voter: int, rows: Rows) -> Any:
        """Return the voter without trees, before it is fitted to ``rows``."""
        before = self._fitted.pop(voter, None)
        fitted = self._start(voter, rows.X)
        fitted.n_seen_ = rows.n_rows
        if before is not None:
            fitted.keep_size_of(before, rows.n_rows)
        return fitted

    def _count_visits(self, voters: Sequence[int], visits: Sequence[int]) -> int:
        """Store the sample visits of each voter, and return their sum."""
        for voter, own in zip(voters, visits, strict=True):
            self._fitted[voter].n_visits_ = own
        return sum(visits)

    def _by_rows(self, voters: Sequence[int]) -> Iterator[tuple[RecentRows, list[int]]]:
        """Yield rows with those of ``voters`` that share them; from now on, no others do."""
        for recent in {id(self._recent[voter]): self._recent[voter] for voter in voters}.values():
            members = [voter for voter in voters if self._recent[voter] is recent]
            are_shared = sum(other is recent for other in self._recent.values()) > len(members)
            own = copy.deepcopy(recent) if are_shared else recent
            self._recent |= dict.fromkeys(members, own)
            yield own, members

    def _by_features(self, voters: list[int]) -> list[tuple[Features, list[int]]]:
        """Return groups of voters that see the same features, with these features."""
        if self._subspaces is not None:
            return [(self._subspaces[voter], [voter]) for voter in voters]
        return [(None, voters)] if voters else []

    def _bin(self, X: Any, y: Any, weights: Floats | None, voters: list[int]) -> BinnedRows:
        """Return rows in bins, with the weights of ``voters`` if each has its own."""
        if weights is not None and weights.ndim == 2 and len(weights) > 1:
            weights = weights[voters]
        mask, n_threads = self._mask(voters, X), self._n_threads
        return BinnedRows.from_rows(X, y, weights, mask, n_threads, core=self.core)

    def _mask(self, voters: list[int], X: Any) -> NDArray[np.bool_]:
        """Return which columns ``voters`` see as categorical."""
        chosen = self._unfitted[voters[0]].categorical_features
        is_coded = isinstance(chosen, CodedCategories)
        return chosen.is_categorical if is_coded else np.zeros(X.shape[1], np.bool_)

    def __deepcopy__(self, memo: dict[int, Any]) -> "TreePool":
        twin = copy.copy(self)  # trees are replaced, never changed
        fitted = {voter: copy.copy(own) for voter, own in self._fitted.items()}
        recent = copy.deepcopy(self._recent, memo)
        vars(twin).update(_fitted=fitted, _recent=recent, _growing={})
        return twin


def _select(X: Any, features: Features) -> Any:
    return X if features is None else X[:, features]
