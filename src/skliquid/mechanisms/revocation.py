"""Revocable delegation: which delegators become representatives again.

Delegators do not train; they only predict the rows of every increment, which is cheap. So the
ensemble can follow concept drift.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.running_averages import confidence_interval
from skliquid.delegation.storable import storable
from skliquid.mechanisms.refinement import Knowledge
from skliquid.validation.checks import check_number

Revocation: TypeAlias = Callable[
    [DelegationGraph, Floats, int, Generator, Knowledge], tuple[Voters, Floats]
]
"""``returns(graph, competence, n_representatives, rng, knowledge)`` returns the delegators that
become representatives again, and the values by which voters are now compared.
``n_representatives`` is the number that the schedule leaves."""


@storable
@dataclass(frozen=True)
class BetterThanGuru:
    """Delegators return when they are significantly more competent than their guru.

    Parameters
    ----------
    level : float
        The level of significance of the confidence intervals, Wilson's for accuracies.
    """

    level: float = 0.1

    def __post_init__(self) -> None:
        rule = "above 0 and at most 1"
        check_number("level", self.level, rule, lambda level: 0 < level <= 1, like=0.1)

    def __call__(
        self,
        graph: DelegationGraph,
        competence: Floats,
        n_representatives: int,
        rng: Generator,
        knowledge: Knowledge,
    ) -> tuple[Voters, Floats]:
        """Return the delegators whose lower bound is above their guru's upper bound."""
        delegators = np.flatnonzero(graph.weights == 0)
        n_answers = knowledge.n_answers
        if n_answers is None or not len(delegators):
            return delegators[:0], competence
        low, high = confidence_interval(competence, n_answers, knowledge.variance, self.level)
        is_better = low[delegators] > high[graph.gurus[delegators]]
        return delegators[is_better], competence


@storable
@dataclass(frozen=True)
class FastestLearners:
    """The voters that learn fastest are the representatives, ranked again at every increment.

    After "Liquid Ensemble Selection for Continual Learning" (Blair, Armstrong and Larson): voters
    are compared not by their competence but by its slope over the last increments. The k voters
    with the largest slopes are active, k being as many as the schedule leaves. A voter that falls
    behind delegates to a faster learner, and takes its vote back when it is among the k again.
    """

    def __call__(
        self,
        graph: DelegationGraph,
        competence: Floats,
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
                "them apart. Set competence=CompetenceMeasure(memory=20)."
            )
        if np.isnan(slope).any():  # fewer than two measurements
            return graph.representatives[:0], np.zeros(len(slope))
        fastest = np.lexsort((rng.random(len(slope)), -slope))[:n_representatives]
        return fastest[graph.weights[fastest] == 0], slope
