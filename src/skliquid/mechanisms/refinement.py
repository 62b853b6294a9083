"""Refinements: factors of a mechanism's likelihoods beyond gain and weight.

Each is a function of the :class:`Situation` of a delegator. It returns a factor for the likelihood
of every candidate. Zero rules a candidate out; without candidates a delegator stays a
representative.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.running_averages import RunningAverage


class Knowledge(NamedTuple):
    """Statistics of voters besides their average competence."""

    n_answers: NDArray[np.int64] | None = None  # rows on which each was measured
    slope: Floats | None = None  # growth of each per increment
    variance: Floats | None = None  # of each average; None for accuracies

    @classmethod
    def of(cls, average: RunningAverage) -> "Knowledge":
        """Return the statistics of a running average."""
        return cls(average.n_answers, average.slope, average.variance)


class Situation(NamedTuple):
    """A delegator and its candidates.

    Examples
    --------
    A refinement by which no representative carries more than a fifth of all votes:

    >>> def capped(situation):
    ...     return situation.weight + situation.own_weight <= 0.2 * situation.n_voters
    """

    delegator: int
    choices: Voters  # its candidates
    competence: Floats  # of every voter
    weight: Floats  # that the guru of each candidate carries
    own_weight: float  # that the delegator carries
    knowledge: Knowledge

    @property
    def n_voters(self) -> int:
        """Number of voters, which is the sum of all weights."""
        return len(self.competence)

    @property
    def gain(self) -> Floats:
        """The competence of each candidate minus that of the delegator."""
        return self.competence.take(self.choices) - self.competence.item(self.delegator)


Refinement: TypeAlias = Callable[[Situation], NDArray[Any]]
