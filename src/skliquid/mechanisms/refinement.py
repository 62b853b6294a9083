"""Refinements: what a mechanism may ask of a choice beyond gain and weight.

Each is called with the :class:`Situation` of a delegator and returns a factor for every candidate,
by which its likelihood is multiplied: zero rules it out, and who has nobody left stays a
representative. A plain function will do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from skliquid.arrays import Floats, Voters


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What is known of voters beside their accuracy.

    Parameters
    ----------
    n_answers : array of int or None
        On how many rows each voter's accuracy was measured.
    slope : array of float or None
        By how much its accuracy grows at an increment.
    """

    n_answers: NDArray[np.int64] | None = None
    slope: Floats | None = None


@dataclass(frozen=True, eq=False)
class Situation:
    """A delegator and its candidates."""

    delegator: int
    choices: Voters
    accuracy: Floats
    weight: Floats
    own_weight: float
    n_voters: int
    knowledge: Knowledge


Refinement: TypeAlias = Callable[[Situation], Floats]


@dataclass(frozen=True)
class WeightCap:
    """Nobody carries more than a share of all votes, so that no dictator arises.

    Examples
    --------
    >>> at_most_half = WeightCap(0.5)
    >>> accuracy, weight = np.array([0.4, 0.9, 0.8, 0.7]), np.array([2.0, 1.0, 1.0])
    >>> at_most_half(Situation(0, np.array([1, 2, 3]), accuracy, weight, 1, 5, Knowledge()))
    array([0., 1., 1.])
    """

    share: float = 0.2

    def __post_init__(self) -> None:
        _check_between_0_and_1("share", self.share)

    def __call__(self, situation: Situation) -> Floats:
        """Return one for every candidate that may carry the delegator's votes as well."""
        carried = situation.weight + situation.own_weight
        return (carried <= self.share * situation.n_voters + 1e-9).astype(np.float64)


@dataclass(frozen=True)
class BetterBeyondChance:
    """Only those are chosen who are better by more than luck explains.

    With few rows hardly anyone is; with many, those who differ part. So delegation goes as fast as
    the data allow, and stops by itself when those left are as good as each other.

    Parameters
    ----------
    level : float
        How often one that is not better may be taken for better.
    bound : {"wilson", "hoeffding"}
        How far an accuracy may be from what it estimates: Wilson's interval for a share, or
        Hoeffding's inequality, which holds for any number of rows and asks for more of them.
    """

    level: float = 0.1
    bound: Literal["wilson", "hoeffding"] = "wilson"

    def __post_init__(self) -> None:
        _check_between_0_and_1("level", self.level)
        if self.bound not in BOUNDS:
            raise ValueError(
                f"bound must be one of {', '.join(BOUNDS)}: {self.bound!r} is neither. Choose one."
            )

    def __call__(self, situation: Situation) -> Floats:
        """Return one for every candidate whose worst is better than the delegator's best."""
        n_answers = situation.knowledge.n_answers
        if n_answers is None:
            raise ValueError(
                "knowledge must hold n_answers: chance depends on how many rows were answered. "
                "Give knowledge=Knowledge(n_answers)."
            )
        voters = np.append(situation.choices, situation.delegator)
        low, high = BOUNDS[self.bound](situation.accuracy[voters], n_answers[voters], self.level)
        is_better: Floats = (low[:-1] > high[-1]).astype(np.float64)
        return is_better


def wilson(accuracy: Floats, n: NDArray[np.int64], level: float) -> tuple[Floats, Floats]:
    """Return the ends of Wilson's interval for each accuracy on ``n`` rows: 0 and 1 on none."""
    z2 = float(ndtri(1 - level / 2)) ** 2
    with np.errstate(invalid="ignore"):  # at level 1 there is no interval on no rows
        middle = (accuracy * n + z2 / 2) / (n + z2)
        reach = np.sqrt(z2 * (accuracy * (1 - accuracy) * n + z2 / 4)) / (n + z2)
    return middle - reach, middle + reach


def hoeffding(accuracy: Floats, n: NDArray[np.int64], level: float) -> tuple[Floats, Floats]:
    """Return how low and how high each accuracy on ``n`` rows may be, by Hoeffding's inequality."""
    with np.errstate(divide="ignore"):  # on no rows any accuracy is possible
        reach = np.sqrt(np.log(2 / level) / (2 * n))
    return accuracy - reach, accuracy + reach


BOUNDS = {"wilson": wilson, "hoeffding": hoeffding}


def _check_between_0_and_1(name: str, value: object) -> None:
    if not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise ValueError(f"{name} must be above 0 and at most 1: got {value!r}. Give one like 0.1.")
