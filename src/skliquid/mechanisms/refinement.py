"""Refinements: what a mechanism may consider beyond gain and weight.

Each is a function of the :class:`Situation` of a delegator and returns a factor for every
candidate, by which its likelihood is multiplied. Zero rules it out; a delegator without a candidate
left stays a representative.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats, Voters


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What is known of voters besides their accuracy.

    Parameters
    ----------
    n_answers : array of int or None
        The number of rows on which each voter's accuracy was measured.
    slope : array of float or None
        By how much its accuracy grows per increment.
    """

    n_answers: NDArray[np.int64] | None = None
    slope: Floats | None = None


class Situation(NamedTuple):
    """A delegator and its candidates.

    Parameters
    ----------
    delegator : int
        The voter that delegates.
    choices : array of int
        Its candidates.
    accuracy : array of float
        The accuracy of every voter.
    weight : array of float
        The weight that the guru of each candidate carries.
    own_weight : float
        The weight that the delegator carries.
    n_voters : int
        The number of voters, which is the sum of all weights.
    knowledge : Knowledge
        What is known of every voter besides its accuracy.

    Examples
    --------
    A refinement by which no representative carries more than a fifth of all votes:

    >>> def capped(situation):
    ...     return situation.weight + situation.own_weight <= 0.2 * situation.n_voters
    """

    delegator: int
    choices: Voters
    accuracy: Floats
    weight: Floats
    own_weight: float
    n_voters: int
    knowledge: Knowledge

    @property
    def gain(self) -> Floats:
        """The accuracy of each candidate minus that of the delegator."""
        return self.accuracy.take(self.choices) - self.accuracy.item(self.delegator)


Refinement: TypeAlias = Callable[[Situation], NDArray[Any]]
