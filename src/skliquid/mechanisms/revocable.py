"""Delegation that can be taken back: who delegates is scored on, and may come to represent again.

Those who delegate do not train, so their training still costs nothing; they answer the rows of
every increment, which is cheap.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.random import Generator

from skliquid.arrays import Floats, Voters
from skliquid.delegation_graph import DelegationGraph
from skliquid.mechanisms.mechanism import Candidates, Mechanism, OtherRepresentatives
from skliquid.mechanisms.refinement import BOUNDS, BetterBeyondChance, Knowledge

_NOTHING = Knowledge()


class Return(Protocol):
    """Says who comes back, and what counts when others delegate in their place."""

    def __call__(
        self,
        graph: DelegationGraph,
        accuracy: Floats,
        n_representatives: int,
        rng: Generator,
        knowledge: Knowledge,
    ) -> tuple[Voters, Floats]:
        """Return delegators that represent again, and by what all voters are now compared.

        ``n_representatives`` is how many the schedule leaves.
        """
        ...


@dataclass(frozen=True)
class BetterThanGuru:
    """Delegators return when they have become better than their guru, beyond chance.

    Parameters
    ----------
    level : float
        How often one that is not better may be taken for better.
    bound : {"wilson", "hoeffding"}
        How far an accuracy may be from what it estimates; see
        :class:`~skliquid.mechanisms.BetterBeyondChance`.
    """

    level: float = 0.1
    bound: Literal["wilson", "hoeffding"] = "wilson"

    def __post_init__(self) -> None:
        BetterBeyondChance(self.level, self.bound)  # the same rules hold there

    def __call__(
        self,
        graph: DelegationGraph,
        accuracy: Floats,
        n_representatives: int,
        rng: Generator,
        knowledge: Knowledge,
    ) -> tuple[Voters, Floats]:
        """Return the delegators whose worst is better than their guru's best, and accuracy."""
        delegators = np.flatnonzero(graph.weights == 0)
        n_answers = knowledge.n_answers
        if n_answers is None or not len(delegators):
            return delegators[:0], accuracy
        low, high = BOUNDS[self.bound](accuracy, n_answers, self.level)
        is_better = low[delegators] > high[graph.gurus[delegators]]
        return delegators[is_better], accuracy


@dataclass(frozen=True)
class FastestLearners:
    """Those represent who learn fastest, and the order is made anew at every increment.

    After "Liquid Ensemble Selection for Continual Learning" (Blair, Armstrong and Larson): what
    counts is not how accurate a voter is but how fast it gains, as the slope of its accuracy over
    the last increments. The k with the best slopes are active, k being as many as the schedule
    leaves; who falls behind delegates to one that learns faster, and who comes to the front again
    takes its vote back.
    """

    def __call__(
        self,
        graph: DelegationGraph,
        accuracy: Floats,
        n_representatives: int,
        rng: Generator,
        knowledge: Knowledge,
    ) -> tuple[Voters, Floats]:
        """Return the delegators among the fastest learners, and slopes."""
        slope = knowledge.slope
        if slope is None:
            raise ValueError(
                "memory must be a number of increments, 2 at the least, for mechanism "
                "'learning_slopes': a slope needs two measurements, which an average does not keep "
                "apart. Set memory=20."
            )
        if np.isnan(slope).any():  # it takes two measurements
            return graph.representatives[:0], np.zeros(len(slope))
        fastest = np.lexsort((rng.random(len(slope)), -slope))[:n_representatives]
        return fastest[graph.weights[fastest] == 0], slope


@dataclass(frozen=True)
class Revocable:
    """A mechanism whose delegators may return.

    They take their own vote back, and the votes of those who delegated to them. As many others
    delegate in their place, if they have somebody to choose, so that the ensemble does not grow.

    Parameters
    ----------
    mechanism : Mechanism
        By which voters delegate.
    returns : callable
        Who comes back: :class:`BetterThanGuru` or :class:`FastestLearners`.
    """

    mechanism: Mechanism
    returns: Return = BetterThanGuru()

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise TypeError(
                f"mechanism must be a Mechanism that is not revocable yet, got {self.mechanism!r}. "
                "Give one like MECHANISMS['max'] or Mechanism(selection, probability)."
            )
        if not callable(self.returns) or isinstance(self.returns, type):
            raise TypeError(
                f"returns must be a function that says who comes back, got {self.returns!r}. Give "
                "one like BetterThanGuru()."
            )

    @property
    def is_direct(self) -> bool:
        """Whether nobody ever delegates."""
        return self.mechanism.is_direct

    @property
    def is_revocable(self) -> bool:
        """Whether delegations may be taken back."""
        return True

    def scored(self, graph: DelegationGraph) -> Voters:
        """Return whose accuracy is measured: everyone's."""
        return np.arange(graph.n_voters)

    def delegate(
        self,
        graph: DelegationGraph,
        accuracy: Floats,
        n_delegators: int,
        rng: Generator,
        candidates: Candidates = OtherRepresentatives,
        *,
        knowledge: Knowledge = _NOTHING,
    ) -> DelegationGraph:
        """Return the graph after some have returned and others have delegated."""
        n_left = len(graph.representatives) - n_delegators
        returning, measure = self.returns(graph, accuracy, n_left, rng, knowledge)
        return self.mechanism.delegate(
            graph.revoke(returning),
            measure,
            n_delegators + len(returning),
            rng,
            candidates,
            knowledge=knowledge,
        )
