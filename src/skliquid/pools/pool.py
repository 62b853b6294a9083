"""VoterPool: what training asks of its voters."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from skliquid.arrays import Floats, Voters, Votes
from skliquid.pools.learned import Learned
from skliquid.rows import Rows


class VoterPool(ABC):
    """All voters of an ensemble, or some of them.

    Every method takes the set of voters it is about, so that one pool can loop over them, another
    make one compiled call, a third send them to other machines. Labels and votes are classes as
    positions in the sorted array of classes. Work is returned in sample visits.

    A pool that :mod:`skliquid.pools.choosing` can choose also has a ``name``, and says which voters
    it accepts (``refusal``) and which of them it can hold together (``group_of``). It is made by
    ``Pool(voters, classes, n_jobs, subspaces, shared)``: classifiers that are not fitted, with
    hyperparameters and seeds set; all classes, sorted; threads, as joblib counts them; the features
    that each voter sees, one row per voter, None for all; and a dict that pools of one ensemble
    share.
    """

    name: ClassVar[str]
    pools: Sequence["VoterPool"] = ()  # of which it is made
    n_jobs: int | None = None
    max_passes: int | None = None
    is_fitted = False  # whether voters can be asked before they are trained here

    @classmethod
    def refusal(cls, estimator: Any) -> str | None:
        """Return the parameter that this pool does not support, or None if it accepts."""
        return None

    @classmethod
    def group_of(cls, estimator: Any) -> Any:
        """Return what voters that share one such pool have in common, as a hashable key."""
        return None

    @classmethod
    def holds_together(cls, hyperparameters: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether voters that differ in their ``hyperparameters`` only can share it."""
        return not hyperparameters

    @abstractmethod
    def train(self, voters: Voters, rows: Rows) -> int:
        """Train ``voters`` on one more increment and return the sample visits."""

    @abstractmethod
    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        """Refit ``voters`` from scratch, in at most ``max_passes``; return the sample visits."""

    @abstractmethod
    def vote(self, voters: Voters, X: Any) -> Votes:
        """Return the votes of ``voters`` on ``X``: one row per voter, one column per sample."""

    @abstractmethod
    def probabilities(self, voters: Voters, X: Any) -> Floats:
        """Return class probabilities: one row per voter, sample and class.

        They are those of a voter's ``predict_proba``; without one, its margin through a logistic;
        without both, one for the class that it votes for. See :mod:`skliquid.pools.answers`.
        """

    def margins(self, voters: Voters, X: Any) -> Floats:
        """Return decision functions: one row per voter, sample and class; zero without any."""
        return np.zeros_like(self.probabilities(voters, X))

    def expect(self, rows: Rows) -> None:
        """Prepare for an increment: voters are asked about ``rows`` and trained on them."""

    @abstractmethod
    def estimators(self, voters: Voters) -> list[Any]:
        """Return ``voters`` as fitted scikit-learn classifiers."""

    def keep(self, voters: Voters, *, training_is_over: bool) -> "VoterPool":
        """Drop all other voters, and return the pool to continue with, which may be another.

        When training is over, copies need not carry its rows.
        """
        return self

    def learned(self, voters: Voters) -> list[Learned]:
        """Return what ``voters`` have learned, as data; they are named by their positions."""
        names = sorted({type(estimator).__name__ for estimator in self.estimators(voters)})
        raise NotImplementedError(", ".join(names))

    def restore(self, parts: Sequence[Learned]) -> None:
        """Become a pool of those voters that ``parts`` are about, which have learned this."""
        raise NotImplementedError

    def set_n_jobs(self, n_jobs: int | None) -> None:
        """Set the number of threads, on which no result depends."""
        self.n_jobs = n_jobs
        for pool in self.pools:
            pool.set_n_jobs(n_jobs)

    def limit_passes(self, max_passes: int | None) -> None:
        """Limit the passes of voters that are refitted at each increment; None means no limit."""
        self.max_passes = max_passes
        for pool in self.pools:
            pool.limit_passes(max_passes)
