"""Revocable delegation: delegators are still scored, and may become representatives again.

Delegators do not train, so their training still costs nothing; they predict the rows of every
increment, which is cheap. This lets an ensemble follow concept drift.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtri

from skliquid.arrays import Floats, Voters
from skliquid.delegation_graph import DelegationGraph
from skliquid.mechanisms.mechanism import Mechanism
from skliquid.mechanisms.named import NAMED, Pair, resolve
from skliquid.mechanisms.refinement import Knowledge
from skliquid.mechanisms.vote_weights import VoteWeights

Return: TypeAlias = Callable[
    [DelegationGraph, Floats, int, Generator, Knowledge], tuple[Voters, Floats]
]
"""``returns(graph, accuracy, n_representatives, rng, knowledge)`` returns the delegators that
become representatives again, and the values by which voters are now compared.
``n_representatives`` is how many the schedule leaves."""

_NOTHING = Knowledge()


def wilson(accuracy: Floats, n: NDArray[np.int64], level: float) -> tuple[Floats, Floats]:
    r"""Return the ends of Wilson's score interval for each accuracy on ``n`` rows.

    .. math::

        \frac{q n + \frac{z^2}{2}}{n + z^2} \pm
        \frac{z \sqrt{q (1 - q) n + \frac{z^2}{4}}}{n + z^2}, \quad
        z = \Phi^{-1}\left(1 - \frac{\text{level}}{2}\right)

    It misses an accuracy about as often as ``level`` says; on no rows it is [0, 1].
    """
    z2 = float(ndtri(1 - level / 2)) ** 2
    with np.errstate(invalid="ignore"):  # at level 1 there is no interval on no rows
        middle = (accuracy * n + z2 / 2) / (n + z2)
        reach = np.sqrt(z2 * (accuracy * (1 - accuracy) * n + z2 / 4)) / (n + z2)
    return middle - reach, middle + reach


@dataclass(frozen=True)
class BetterThanGuru:
    """Delegators return when they are significantly more accurate than their guru.

    Parameters
    ----------
    level : float
        The level of significance: how often Wilson's interval may miss an accuracy.
    """

    level: float = 0.1

    def __post_init__(self) -> None:
        level: object = self.level
        if not isinstance(level, Real) or not 0 < float(level) <= 1:
            raise ValueError(
                f"level must be above 0 and at most 1: got {level!r}. Give one like 0.1."
            )

    def __call__(
        self,
        graph: DelegationGraph,
        accuracy: Floats,
        n_representatives: int,
        rng: Generator,
        knowledge: Knowledge,
    ) -> tuple[Voters, Floats]:
        """Return the delegators whose lower bound is above their guru's upper bound."""
        delegators = np.flatnonzero(graph.weights == 0)
        n_answers = knowledge.n_answers
        if n_answers is None or not len(delegators):
            return delegators[:0], accuracy
        low, high = wilson(accuracy, n_answers, self.level)
        is_better = low[delegators] > high[graph.gurus[delegators]]
        return delegators[is_better], accuracy


@dataclass(frozen=True)
class FastestLearners:
    """The voters that learn fastest are the representatives, ranked again at every increment.

    After "Liquid Ensemble Selection for Continual Learning" (Blair, Armstrong and Larson): voters
    are compared not by their accuracy but by its slope over the last increments. The k voters with
    the largest slopes are active, k being as many as the schedule leaves. A voter that falls behind
    delegates to a faster learner, and takes its vote back when it is among the k again.
    """

    def __call__(
        self,
        graph: DelegationGraph,
        accuracy: Floats,
        n_representatives: int,
        rng: Generator,
        knowledge: Knowledge,
    ) -> tuple[Voters, Floats]:
        """Return the delegators among the fastest learners, and all slopes."""
        slope = knowledge.slope
        if slope is None:
            raise ValueError(
                "memory must be a number of increments, 2 or more, for mechanism "
                "'learning_slopes': a slope needs two measurements, and other averages do not keep "
                "them apart. Set competence=Competence(memory=20)."
            )
        if np.isnan(slope).any():  # fewer than two measurements
            return graph.representatives[:0], np.zeros(len(slope))
        fastest = np.lexsort((rng.random(len(slope)), -slope))[:n_representatives]
        return fastest[graph.weights[fastest] == 0], slope


_BETTER_THAN_GURU = BetterThanGuru()


@dataclass(frozen=True, init=False)
class Revocable:
    """A mechanism whose delegators may return.

    They take their own vote back, and the votes of the voters that delegated to them. As many
    others delegate in their place, if they have a candidate, so that the ensemble does not grow.

    Parameters
    ----------
    mechanism : str, Mechanism or pair of callables
        By which voters delegate.
    returns : callable
        Which delegators return: :class:`BetterThanGuru` or :class:`FastestLearners`.

    Examples
    --------
    >>> Revocable("max", BetterThanGuru(level=0.05)).mechanism == NAMED["max"]
    True
    """

    mechanism: Mechanism
    returns: Return
    is_revocable: ClassVar[bool] = True

    def __init__(
        self, mechanism: str | Mechanism | Pair, returns: Return = _BETTER_THAN_GURU
    ) -> None:
        if not callable(returns) or isinstance(returns, type):
            raise TypeError(
                f"returns must be a function that says which delegators return, got {returns!r}. "
                "Give one like BetterThanGuru()."
            )
        object.__setattr__(self, "mechanism", resolve(mechanism, NAMED))
        object.__setattr__(self, "returns", returns)

    @property
    def is_direct(self) -> bool:
        """Whether no voter ever delegates."""
        return self.mechanism.is_direct

    @property
    def vote_weights(self) -> str | VoteWeights:
        """How much each representative counts when the ensemble votes."""
        return self.mechanism.vote_weights

    def scored(self, graph: DelegationGraph) -> Voters:
        """Return the voters whose accuracy is measured: all of them."""
        return np.arange(graph.n_voters)

    def delegate(
        self,
        graph: DelegationGraph,
        accuracy: Floats,
        n_delegators: int,
        rng: Generator,
        *,
        knowledge: Knowledge = _NOTHING,
    ) -> DelegationGraph:
        """Return the graph after some delegators have returned and other voters have delegated."""
        n_left = len(graph.representatives) - n_delegators
        returning, compared = self.returns(graph, accuracy, n_left, rng, knowledge)
        n_delegators += len(returning)
        return self.mechanism.delegate(
            graph.revoke(returning), compared, n_delegators, rng, knowledge=knowledge
        )
