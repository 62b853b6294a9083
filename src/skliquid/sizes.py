"""Sizes: how many representatives remain, and how many delegate on the way there."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation_graph import DelegationGraph
from skliquid.estimates import Estimate, confidence_interval
from skliquid.schedules import FixedCount, Schedule, as_schedule, asks_again, n_asked

FEWEST, MOST = 4, 40
"""How many representatives remain with ``n_final="auto"``, at least and at most."""

LEVEL = 0.2
"""A voter is weak if it is below the group at this level, both sides counted: 10 % on one side."""


_ROUNDING = 1e-12


@dataclass(frozen=True)
class Sizes:
    """How many representatives remain: a number, or between two as the data say.

    At each increment as many delegate as ``schedule`` says, until ``most`` are left; or, if that is
    more, as many as are significantly less competent than the group, but not faster than ``more``
    says, and not below ``least``. So delegation ends by itself when no further one is expected to
    help beyond chance. Since voters are compared at each increment, some delegate by chance.
    """

    least: int
    most: int
    schedule: Schedule
    more: Schedule

    @classmethod
    def of(
        cls,
        n_final: int | Literal["auto"],
        delegation_rate: Any,
        *,
        n_voters: int,
        n_increments: int | None,
    ) -> "Sizes":
        """Return the sizes for the parameters of an ensemble."""
        least, most = (n_final, n_final) if n_final != "auto" else (FEWEST, MOST)
        least, most = min(least, n_voters), min(most, n_voters)
        to_most, to_least = (
            as_schedule(delegation_rate, n_voters=n_voters, n_final=n, n_increments=n_increments)
            for n in (most, least)
        )
        return cls(least, most, to_most, to_least)

    def unchanging(self) -> "Sizes":
        """Return the sizes of an ensemble in which nobody delegates."""
        return replace(self, schedule=FixedCount(0), more=FixedCount(0))

    def n_delegators(self, increment: int, graph: DelegationGraph, competence: Estimate) -> int:
        """Return how many representatives are asked to delegate at ``increment``."""
        n = len(graph.representatives)
        n_due = n_asked(self.schedule, increment, n, self.most)
        if self.least == self.most:
            return n_due
        n_allowed = n_asked(self.more, increment, n, self.least)
        n_weak = int(np.sum(are_weak(graph, competence)))
        return max(n_due, min(n_weak, n_allowed))

    def ask_again(self, to_come: range, n_representatives: int) -> bool:
        """Return whether any voter may be asked to delegate in the increments ``to_come``."""
        return asks_again(self.more, to_come, n_representatives, self.least)


def are_weak(graph: DelegationGraph, competence: Estimate) -> NDArray[np.bool_]:
    r"""Return which representatives are significantly less competent than the group.

    .. math:: q_i + z \sigma_i < \sum_j w_j q_j \,/\, \sum_j w_j

    By contribution, the vote of such a voter harms the group more than that of others.
    """
    voters = graph.representatives
    _, high = confidence_interval(competence.mean, competence.n_answers, competence.variance, LEVEL)
    group = np.average(competence.mean[voters], weights=graph.weights[voters])
    return high[voters] < group - _ROUNDING
