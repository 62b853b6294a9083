"""Sizes: how many representatives remain, and how many delegate at each increment."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.running_averages import RunningAverage, confidence_interval
from skliquid.mechanisms.schedules import FixedCount, Schedule, as_schedule, asks_again, n_asked

LEVEL = 0.2
"""A voter is weak if it is below the group at this two-sided level: 10 % on one side."""

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Sizes:
    """How many representatives remain: ``n_final``, or fewer if weak voters are left.

    At each increment ``schedule`` says how many delegate, until ``n_final`` are left. Below that,
    voters that are significantly less competent than the group delegate too, not faster than
    ``schedule_to_fewest`` and not below ``fewest``. So delegation ends by itself when no further
    one is expected to help beyond chance. Voters are compared at each increment, so some delegate
    by chance.
    """

    fewest: int
    n_final: int
    schedule: Schedule
    schedule_to_fewest: Schedule

    @classmethod
    def of(
        cls,
        n_final: int | tuple[int, int],
        delegation_rate: Any,
        *,
        n_voters: int,
        n_increments: int | None,
    ) -> "Sizes":
        """Return the sizes for a number of representatives, or for a range of it."""
        fewest, most = n_final if isinstance(n_final, tuple) else (n_final, n_final)
        fewest, most = min(fewest, n_voters), min(most, n_voters)
        to_most, to_fewest = (
            as_schedule(delegation_rate, n_voters=n_voters, n_final=n, n_increments=n_increments)
            for n in (most, fewest)
        )
        return cls(fewest, most, to_most, to_fewest)

    def unchanging(self) -> "Sizes":
        """Return the sizes of an ensemble in which nobody delegates."""
        return replace(self, schedule=FixedCount(0), schedule_to_fewest=FixedCount(0))

    def n_delegators(self, increment: int, graph: DelegationGraph, average: RunningAverage) -> int:
        """Return how many representatives are asked to delegate; none before a measurement."""
        if not average.n_answers.any():
            return 0
        n = len(graph.representatives)
        n_due = n_asked(self.schedule, increment, n, self.n_final)
        if self.fewest == self.n_final:
            return n_due
        n_allowed = n_asked(self.schedule_to_fewest, increment, n, self.fewest)
        n_weak = int(np.sum(are_weak(graph, average)))
        return max(n_due, min(n_weak, n_allowed))

    def ask_again(self, remaining: range, n_representatives: int) -> bool:
        """Return whether any voter may be asked to delegate in the ``remaining`` increments."""
        return asks_again(self.schedule_to_fewest, remaining, n_representatives, self.fewest)


def are_weak(graph: DelegationGraph, average: RunningAverage) -> NDArray[np.bool_]:
    r"""Return which representatives are significantly less competent than the group.

    .. math:: q_i + z \sigma_i < \sum_j w_j q_j \,/\, \sum_j w_j

    By contribution, the vote of such a voter harms the group more than that of others.
    """
    voters = graph.representatives
    competence = average.mean
    _, high = confidence_interval(competence, average.n_answers, average.variance, LEVEL)
    group = np.average(competence[voters], weights=graph.weights[voters])
    return high[voters] < group - _ROUNDING
