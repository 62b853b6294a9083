"""Accuracy estimates: how measurements are averaged from one increment to the next."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats, Voters

Memory: TypeAlias = int | float | None

_EXACT_IN_A_FLOAT = 2**53
_FINEST = 2**256


class Estimate(Protocol):
    """What is known of each voter's accuracy."""

    @property
    def mean(self) -> Floats:
        """The average of each voter; not a number where nothing was measured."""
        ...

    @property
    def n_answers(self) -> NDArray[np.int64]:
        """On how many rows each voter's average rests."""
        ...

    @property
    def slope(self) -> Floats | None:
        """By how much each voter gains at an increment, where measurements are kept apart."""
        ...

    def update(self, voters: Voters, accuracy: Floats, n_rows: int) -> Self:
        """Return the estimate after ``voters`` had ``accuracy`` on an increment of ``n_rows``."""
        ...


def estimate_of(n_voters: int, memory: Memory = None) -> Estimate:
    """Return the estimate before any measurement.

    ``memory`` is None for an average of all increments, a whole number for one of as many of the
    last, and a number below one for the factor by which increments lose weight with age.
    """
    if memory is None:
        return AccuracyEstimate.of_nothing(n_voters)
    if isinstance(memory, float):
        return DecayedAccuracy.of_nothing(n_voters, memory)
    return RecentAccuracy.of_nothing(n_voters, memory)


@dataclass(frozen=True, eq=False)
class AccuracyEstimate:
    """Each voter's accuracy averaged over the increments it was measured on: the paper's Q.

    Ties decide who delegates, so equal averages must be equal bits. Sums are therefore kept as
    integers over a common denominator, and divided once. Where increments of many sizes have no
    common denominator below 2**256, that one is taken, and each measurement rounded to it.

    Examples
    --------
    >>> estimate = AccuracyEstimate.of_nothing(2)
    >>> estimate = estimate.update(np.array([0, 1]), np.array([0.5, 1.0]), n_rows=10)
    >>> estimate = estimate.update(np.array([0]), np.array([2 / 3]), n_rows=3)
    >>> estimate.mean.tolist() == [7 / 12, 1.0]
    True
    """

    numerators: NDArray[np.object_]
    denominator: int
    n_measured: NDArray[np.int64]
    n_answers: NDArray[np.int64]
    slope: None = None

    @classmethod
    def of_nothing(cls, n_voters: int) -> "AccuracyEstimate":
        """Return the estimate before any measurement."""
        nothing = np.zeros(n_voters, dtype=np.int64)
        return cls(np.zeros(n_voters, dtype=object), 1, nothing, nothing)

    def update(self, voters: Voters, accuracy: Floats, n_rows: int) -> "AccuracyEstimate":
        """Return the estimate after ``voters`` had ``accuracy`` on an increment of ``n_rows``."""
        n_correct = np.rint(accuracy * n_rows).astype(np.int64)
        denominator = min(math.lcm(self.denominator, n_rows), _FINEST)
        n_measured, n_answers = self.n_measured.copy(), self.n_answers.copy()
        n_measured[voters] += 1
        n_answers[voters] += n_rows
        largest = denominator * int(n_measured.max())
        kind = np.int64 if largest < _EXACT_IN_A_FLOAT else object
        numerators = _rescaled(self.numerators.astype(kind), self.denominator, denominator)
        numerators[voters] += _rescaled(n_correct.astype(kind), n_rows, denominator)
        return AccuracyEstimate(numerators, denominator, n_measured, n_answers)

    @cached_property
    def mean(self) -> Floats:
        """The average of each voter; not a number where nothing was measured."""
        known = self.n_measured > 0
        mean = np.full(len(self.numerators), np.nan)
        n_measured = self.n_measured[known].astype(self.numerators.dtype)
        mean[known] = self.numerators[known] / (n_measured * self.denominator)
        return mean


@dataclass(frozen=True, eq=False)
class RecentAccuracy:
    """Each voter's share of right answers to the rows of the last increments.

    Who was not asked in any of these keeps the average it last had.

    Examples
    --------
    >>> estimate, everyone = RecentAccuracy.of_nothing(2, window=2), np.array([0, 1])
    >>> for accuracy in ([0.0, 0.5], [0.5, 0.5], [1.0, 0.5]):
    ...     estimate = estimate.update(everyone, np.array(accuracy), n_rows=10)
    >>> estimate.mean.tolist(), estimate.slope.tolist(), estimate.n_answers.tolist()
    ([0.75, 0.5], [0.5, 0.0], [20, 20])
    """

    window: int
    n_correct: NDArray[np.int64]
    n_rows: NDArray[np.int64]
    mean: Floats

    @classmethod
    def of_nothing(cls, n_voters: int, window: int) -> "RecentAccuracy":
        """Return the estimate before any measurement."""
        nothing = np.zeros((0, n_voters), dtype=np.int64)
        return cls(window, nothing, nothing, np.full(n_voters, np.nan))

    @cached_property
    def n_answers(self) -> NDArray[np.int64]:
        """On how many rows each voter's average rests."""
        n_answers: NDArray[np.int64] = self.n_rows.sum(axis=0)
        return n_answers

    @cached_property
    def slope(self) -> Floats | None:
        """By how much each voter gains at an increment.

        The slope of the straight line nearest to what was measured; not a number where there are
        fewer than two measurements, and None where there can never be two.
        """
        if self.window < 2:
            return None
        measured = self.n_rows > 0
        accuracy = self.n_correct / np.maximum(self.n_rows, 1)
        place = np.arange(len(measured))[:, None] * measured
        n = np.maximum(measured.sum(axis=0), 1)
        ahead = (place - place.sum(axis=0) / n) * measured
        with np.errstate(invalid="ignore"):
            slope: Floats = (ahead * accuracy).sum(axis=0) / (ahead**2).sum(axis=0)
        return slope

    def update(self, voters: Voters, accuracy: Floats, n_rows: int) -> "RecentAccuracy":
        """Return the estimate after ``voters`` had ``accuracy`` on an increment of ``n_rows``."""
        more = np.zeros((2, 1, self.n_rows.shape[1]), dtype=np.int64)
        more[0, 0, voters], more[1, 0, voters] = np.rint(accuracy * n_rows), n_rows
        n_correct = np.concatenate([self.n_correct, more[0]])[-self.window :]
        asked = np.concatenate([self.n_rows, more[1]])[-self.window :]
        n_answers, mean = asked.sum(axis=0), self.mean.copy()
        np.divide(n_correct.sum(axis=0), n_answers, out=mean, where=n_answers > 0)
        return RecentAccuracy(self.window, n_correct, asked, mean)


@dataclass(frozen=True, eq=False)
class DecayedAccuracy:
    """Each voter's share of right answers, in which rows count less with every later increment.

    Examples
    --------
    >>> estimate, everyone = DecayedAccuracy.of_nothing(2, factor=0.5), np.array([0, 1])
    >>> for accuracy in ([0.0, 0.5], [0.6, 0.5]):
    ...     estimate = estimate.update(everyone, np.array(accuracy), n_rows=10)
    >>> estimate.mean.tolist(), estimate.n_answers.tolist()
    ([0.4, 0.5], [15, 15])
    """

    factor: float
    n_correct: Floats
    n_rows: Floats
    slope: None = None

    @classmethod
    def of_nothing(cls, n_voters: int, factor: float) -> "DecayedAccuracy":
        """Return the estimate before any measurement."""
        return cls(factor, np.zeros(n_voters), np.zeros(n_voters))

    @cached_property
    def mean(self) -> Floats:
        """The average of each voter; not a number where nothing was measured."""
        with np.errstate(invalid="ignore"):
            return self.n_correct / self.n_rows

    @cached_property
    def n_answers(self) -> NDArray[np.int64]:
        """As how many rows of today each voter's average counts."""
        return np.rint(self.n_rows).astype(np.int64)

    def update(self, voters: Voters, accuracy: Floats, n_rows: int) -> "DecayedAccuracy":
        """Return the estimate after ``voters`` had ``accuracy`` on an increment of ``n_rows``."""
        n_correct, asked = self.n_correct.copy(), self.n_rows.copy()
        n_correct[voters] = self.factor * n_correct[voters] + np.rint(accuracy * n_rows)
        asked[voters] = self.factor * asked[voters] + n_rows
        return replace(self, n_correct=n_correct, n_rows=asked)


def _rescaled(numerators: NDArray[Any], of: int, to: int) -> NDArray[Any]:
    """Return numerators over ``to`` instead of ``of``, rounded if need be."""
    if to % of == 0:
        return numerators * (to // of)
    return (numerators.astype(object) * (2 * to) + of) // (2 * of)
