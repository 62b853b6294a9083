"""TreePool: voters made of trees, grown by one compiled call on rows in shared bins."""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from skliquid.arrays import Floats, Voters, Votes
from skliquid.pools.learned import Learned
from skliquid.pools.pool import VoterPool
from skliquid.rows import Rows
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier, RecentRows, grow
from skliquid.voters.binning import BinnedRows

KINDS = (RandomizedForestClassifier, BoostedTreesClassifier)
_SHARED = ("categorical_features", "class_weight", "max_rows")
_LEARNED = ("n_grown_", "n_seen_", "n_visits_", "_turns", "trees_")


class TreePool(VoterPool):
    """Voters that are :class:`RandomizedForestClassifier` or :class:`BoostedTreesClassifier`.

    Their trees have the bits that each voter would have alone. Voters that trained on the same rows
    share them: the rows are kept once, and put into bins once for all trees that are grown.
    """

    name = "trees"

    @classmethod
    def refusal(cls, estimator: Any) -> str | None:
        if type(estimator) not in KINDS:
            return f"{type(estimator).__name__}"
        if estimator.class_weight is not None:
            return f"class_weight={estimator.class_weight!r}"
        is_by_type = estimator.categorical_features in (None, "from_dtype")
        return None if is_by_type else f"categorical_features={estimator.categorical_features!r}"

    @classmethod
    def group_of(cls, estimator: Any) -> Any:
        return estimator.max_rows

    @classmethod
    def holds_together(cls, hyperparameters: Sequence[Mapping[str, Any]]) -> bool:
        return not any(name in drawn for drawn in hyperparameters for name in _SHARED)

    def __init__(
        self,
        voters: Sequence[Any],
        classes: NDArray[Any],
        n_jobs: int | None = None,
        subspaces: NDArray[np.intp] | None = None,
        shared: dict[Any, Any] | None = None,
    ):
        for voter in voters:
            voter.check_parameters()
        self.n_jobs, self._classes, self._subspaces = n_jobs, classes, subspaces
        self._n_voters = len(voters)
        self._unfitted = dict(enumerate(voters))
        self._fitted: dict[int, Any] = {}
        nothing = RecentRows(voters[0].max_rows)
        self._recent = dict.fromkeys(self._unfitted, nothing)

    def train(self, voters: Voters, rows: Rows) -> int:
        weights = self._weights_by_voter(voters, rows)
        visits = 0
        for recent, members in self._by_rows(voters.tolist()):
            recent.append(rows.X, rows.y, weights)
            due = [self._begun(voter, rows.X).take_turn(rows.n_rows) for voter in members]
            self._count(members, [0] * len(members))
            if self.max_passes is not None:
                due = [min(n, self.max_passes) for n in due]
            n_trees = {voter: n for voter, n in zip(members, due, strict=True) if n}
            for seen, part in self._by_features(list(n_trees)):
                X = seen(recent.X)
                binned = self._binned(X, recent.y, _of(recent.weights, part))
                numbers: list[int | None] = [n_trees[voter] for voter in part]
                found = grow([self._fitted[v] for v in part], binned, numbers, self._n_threads, X)
                visits += self._count(part, found)
        return visits

    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        weights, visits = self._weights_by_voter(voters, rows), 0
        nothing = RecentRows(self._unfitted[int(voters[0])].max_rows)
        for seen, part in self._by_features(voters.tolist()):
            X = seen(rows.X)
            binned = self._binned(X, rows.y, _of(weights, part))
            for voter in part:
                self._fitted.pop(voter, None)
            fitted = [self._begun(voter, rows.X) for voter in part]
            for voter in fitted:
                voter.n_seen_ = rows.n_rows
            n_trees = [None if max_passes is None else min(v.n_trees, max_passes) for v in fitted]
            visits += self._count(part, grow(fitted, binned, n_trees, self._n_threads))
            self._recent |= dict.fromkeys(part, nothing)
        return visits

    def vote(self, voters: Voters, X: Any) -> Votes:
        votes: Votes = self.probabilities(voters, X).argmax(axis=2)
        return votes

    def probabilities(self, voters: Voters, X: Any) -> Floats:
        return self._ask(voters, X, {kind: kind.probabilities for kind in KINDS})

    def margins(self, voters: Voters, X: Any) -> Floats:
        return self._ask(voters, X, {BoostedTreesClassifier: _margins})

    def _ask(
        self, voters: Voters, X: Any, answer_of: Mapping[Any, Callable[..., Floats]]
    ) -> Floats:
        """Return what voters of some kinds answer, and zeros for the others."""
        answers = np.zeros((len(voters), X.shape[0], len(self._classes)))
        places = {voter: place for place, voter in enumerate(voters.tolist())}
        for seen, part in self._by_features(list(places)):
            for kind, answer in answer_of.items():
                own = [voter for voter in part if type(self._fitted[voter]) is kind]
                if own:
                    asked = [self._fitted[voter] for voter in own]
                    found = answer(asked, seen(X), self._n_threads)
                    answers[[places[voter] for voter in own]] = found
        return answers

    def estimators(self, voters: Voters) -> list[Any]:
        return [self._fitted[voter] for voter in voters.tolist()]

    def keep(self, voters: Voters, *, training_is_over: bool) -> VoterPool:
        kept = voters.tolist()
        self._unfitted = {voter: self._unfitted[voter] for voter in kept}
        self._fitted = {voter: self._fitted[voter] for voter in kept}
        self._recent = {voter: self._recent[voter] for voter in kept}
        return self

    def learned(self, voters: Voters) -> list[Learned]:
        fitted = [self._fitted[voter] for voter in voters.tolist()]
        own: dict[str, Any] = {name: [getattr(f, name) for f in fitted] for name in _LEARNED}
        own["base_scores_"] = [getattr(f, "base_scores_", None) for f in fitted]
        recent = [self._recent[voter] for voter in voters.tolist()]
        distinct = list({id(rows): rows for rows in recent}.values())
        own["rows_of"] = np.array([[rows is r for r in distinct].index(True) for rows in recent])
        return [Learned(self.name, np.arange(len(voters)), own, {"rows": distinct})]

    def restore(self, parts: Sequence[Learned]) -> None:
        kept = sorted(voter for part in parts for voter in part.voters.tolist())
        self._unfitted = {voter: self._unfitted[voter] for voter in kept}
        self._fitted, self._recent = {}, {}
        for part in parts:
            rows_of = part.own["rows_of"].tolist()
            for k, voter in enumerate(part.voters.tolist()):
                fitted = copy.copy(self._unfitted[voter])
                fitted.start(self._classes, part.own["trees_"][k].n_columns)
                names = [*_LEARNED, *({"base_scores_"} & vars(fitted).keys())]
                vars(fitted).update({name: part.own[name][k] for name in names})
                self._fitted[voter] = fitted
                self._recent[voter] = part.shared["rows"][rows_of[k]]

    @property
    def _n_threads(self) -> int:
        return int(effective_n_jobs(self.n_jobs))

    def _begun(self, voter: int, X: Any) -> Any:
        """Return the voter, without trees if it was not trained before."""
        if voter not in self._fitted:
            fitted = copy.copy(self._unfitted[voter])
            n_columns = X.shape[1] if self._subspaces is None else self._subspaces.shape[1]
            fitted.start(self._classes, n_columns)
            self._fitted[voter] = fitted
        return self._fitted[voter]

    def _count(self, voters: Sequence[int], visits: Sequence[int]) -> int:
        """Take note of the sample visits of each voter, and return all together."""
        for voter, own in zip(voters, visits, strict=True):
            self._fitted[voter].n_visits_ = own
        return sum(visits)

    def _by_rows(self, voters: Sequence[int]) -> Iterator[tuple[RecentRows, list[int]]]:
        """Yield rows with those of ``voters`` that share them, and no others from now on."""
        for recent in {id(self._recent[voter]): self._recent[voter] for voter in voters}.values():
            members = [voter for voter in voters if self._recent[voter] is recent]
            are_shared = sum(other is recent for other in self._recent.values()) > len(members)
            own = recent.copy() if are_shared else recent
            self._recent |= dict.fromkeys(members, own)
            yield own, members

    def _by_features(
        self, voters: Sequence[int]
    ) -> Iterator[tuple[Callable[[Any], Any], list[int]]]:
        """Yield what voters see of the rows, with the voters that see it."""
        if not voters:
            return
        if self._subspaces is None:
            yield _all_features, list(voters)
            return
        for voter in voters:
            yield partial(_some_features, self._subspaces[voter]), [voter]

    def _binned(self, X: Any, y: NDArray[Any], weights: Floats | None) -> BinnedRows:
        none = np.zeros(X.shape[1], dtype=np.bool_)
        return BinnedRows.of(X, y, weights, none, self._n_threads)

    def _weights_by_voter(self, voters: Voters, rows: Rows) -> Floats | None:
        """Return the weights, if each voter has its own, indexed by voter."""
        weights = rows.sample_weight
        if weights is None or not rows.has_weights_per_voter:
            return weights
        indexed = np.zeros((self._n_voters, rows.n_rows))
        indexed[voters] = weights
        return indexed

    def __deepcopy__(self, memo: dict[int, Any]) -> "TreePool":
        twin = copy.copy(self)  # trees are replaced, never changed
        fitted = {voter: copy.copy(own) for voter, own in self._fitted.items()}
        vars(twin).update(_fitted=fitted, _recent=copy.deepcopy(self._recent, memo))
        return twin


def _margins(voters: Sequence[Any], X: Any, n_threads: int) -> Floats:
    """Return scores, one for each class."""
    scores = BoostedTreesClassifier.scores(voters, X, n_threads)
    return np.concatenate([-scores, scores], axis=2) if scores.shape[2] == 1 else scores


def _all_features(X: Any) -> Any:
    return X


def _some_features(columns: NDArray[np.intp], X: Any) -> Any:
    return X[:, columns]


def _of(weights: Floats | None, voters: Sequence[int]) -> Floats | None:
    """Return the weights of ``voters``, if each has its own."""
    is_shared = weights is None or weights.ndim == 1 or len(weights) == 1
    return weights if weights is None or is_shared else weights[list(voters)]
