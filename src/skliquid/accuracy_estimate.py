"""Accuracy estimates: how measurements are averaged from one increment to the next."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats, Voters

_EXACT_IN_A_FLOAT = 2**53
_FINEST = 2**256


@dataclass(frozen=True, eq=False)
class AccuracyEstimate:
    r"""Each voter's accuracy averaged over the increments it was measured on: the paper's Q.

    .. math:: q_{t, i} = \frac{1}{t} \sum_{s \leq t} a_{s, i}

    Ties decide who delegates, so equal averages must be equal bits. Sums are therefore kept as
    integers over a common denominator, and divided once. Where increments of many sizes have no
    common denominator below 2**256, that one is taken, and each measurement rounded to it.

    Examples
    --------
    >>> estimate = AccuracyEstimate.empty(2)
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
    def empty(cls, n_voters: int) -> "AccuracyEstimate":
        """Return the estimate before any measurement."""
        zeros = np.zeros(n_voters, dtype=np.int64)
        return cls(np.zeros(n_voters, dtype=object), 1, zeros, zeros)

    def update(self, voters: Voters, accuracy: Floats, n_rows: int) -> "AccuracyEstimate":
        """Return the estimate after ``voters`` had ``accuracy`` on an increment of ``n_rows``."""
        n_correct = np.rint(accuracy * n_rows).astype(np.int64)
        denominator = min(math.lcm(self.denominator, n_rows), _FINEST)
        n_measured, n_answers = self.n_measured.copy(), self.n_answers.copy()
        n_measured[voters] += 1
        n_answers[voters] += n_rows
        largest = denominator * int(n_measured.max())
        dtype = np.int64 if largest < _EXACT_IN_A_FLOAT else object
        numerators = _rescaled(self.numerators.astype(dtype), self.denominator, denominator)
        numerators[voters] += _rescaled(n_correct.astype(dtype), n_rows, denominator)
        return AccuracyEstimate(numerators, denominator, n_measured, n_answers)

    @cached_property
    def mean(self) -> Floats:
        """The average accuracy of each voter; NaN where nothing was measured."""
        is_measured = self.n_measured > 0
        mean = np.full(len(self.numerators), np.nan)
        n_measured = self.n_measured[is_measured].astype(self.numerators.dtype)
        mean[is_measured] = self.numerators[is_measured] / (n_measured * self.denominator)
        return mean


@dataclass(frozen=True, eq=False)
class RecentAccuracy:
    """Each voter's share of correct answers on the rows of the last increments.

    A voter that was not scored in any of these keeps its last average.

    Examples
    --------
    >>> estimate, voters = RecentAccuracy.empty(2, window=2), np.array([0, 1])
    >>> for accuracy in ([0.0, 0.5], [0.5, 0.5], [1.0, 0.5]):
    ...     estimate = estimate.update(voters, np.array(accuracy), n_rows=10)
    >>> estimate.mean.tolist(), estimate.slope.tolist(), estimate.n_answers.tolist()
    ([0.75, 0.5], [0.5, 0.0], [20, 20])
    """

    window: int
    n_correct: NDArray[np.int64]
    n_rows: NDArray[np.int64]
    mean: Floats

    @classmethod
    def empty(cls, n_voters: int, window: int) -> "RecentAccuracy":
        """Return the estimate before any measurement."""
        no_rows = np.zeros((0, n_voters), dtype=np.int64)
        return cls(window, no_rows, no_rows, np.full(n_voters, np.nan))

    @cached_property
    def n_answers(self) -> NDArray[np.int64]:
        """The number of rows behind each voter's average."""
        n_answers: NDArray[np.int64] = self.n_rows.sum(axis=0)
        return n_answers

    @cached_property
    def slope(self) -> Floats | None:
        r"""By how much each voter's accuracy grows per increment, by least squares.

        .. math:: \frac{\sum_s (s - \bar{s}) \, a_{s, i}}{\sum_s (s - \bar{s})^2}

        over the increments s in the window at which voter i was measured; NaN with fewer than two
        measurements, and None where the window is too short for two.
        """
        if self.window < 2:
            return None
        is_measured = self.n_rows > 0
        accuracy = self.n_correct / np.maximum(self.n_rows, 1)
        position = np.arange(len(is_measured))[:, None] * is_measured
        n = np.maximum(is_measured.sum(axis=0), 1)
        centred = (position - position.sum(axis=0) / n) * is_measured
        with np.errstate(invalid="ignore"):
            slope: Floats = (centred * accuracy).sum(axis=0) / (centred**2).sum(axis=0)
        return slope

    def update(self, voters: Voters, accuracy: Floats, n_rows: int) -> "RecentAccuracy":
        """Return the estimate after ``voters`` had ``accuracy`` on an increment of ``n_rows``."""
        latest = np.zeros((2, 1, self.n_rows.shape[1]), dtype=np.int64)
        latest[0, 0, voters], latest[1, 0, voters] = np.rint(accuracy * n_rows), n_rows
        n_correct = np.concatenate([self.n_correct, latest[0]])[-self.window :]
        n_scored = np.concatenate([self.n_rows, latest[1]])[-self.window :]
        n_answers, mean = n_scored.sum(axis=0), self.mean.copy()
        np.divide(n_correct.sum(axis=0), n_answers, out=mean, where=n_answers > 0)
        return RecentAccuracy(self.window, n_correct, n_scored, mean)


@dataclass(frozen=True, eq=False)
class DecayedAccuracy:
    r"""Each voter's share of correct answers, in which older increments count less.

    A row that is s increments old has the weight :math:`\gamma^s`, for a factor :math:`\gamma`.

    Examples
    --------
    >>> estimate, voters = DecayedAccuracy.empty(2, factor=0.5), np.array([0, 1])
    >>> for accuracy in ([0.0, 0.5], [0.6, 0.5]):
    ...     estimate = estimate.update(voters, np.array(accuracy), n_rows=10)
    >>> estimate.mean.tolist(), estimate.n_answers.tolist()
    ([0.4, 0.5], [15, 15])
    """

    factor: float
    n_correct: Floats
    n_rows: Floats
    slope: None = None

    @classmethod
    def empty(cls, n_voters: int, factor: float) -> "DecayedAccuracy":
        """Return the estimate before any measurement."""
        return cls(factor, np.zeros(n_voters), np.zeros(n_voters))

    @cached_property
    def mean(self) -> Floats:
        """The average accuracy of each voter; NaN where nothing was measured."""
        with np.errstate(invalid="ignore"):
            return self.n_correct / self.n_rows

    @cached_property
    def n_answers(self) -> NDArray[np.int64]:
        """The decayed number of rows behind each voter's average."""
        return np.rint(self.n_rows).astype(np.int64)

    def update(self, voters: Voters, accuracy: Floats, n_rows: int) -> "DecayedAccuracy":
        """Return the estimate after ``voters`` had ``accuracy`` on an increment of ``n_rows``."""
        n_correct, n_scored = self.n_correct.copy(), self.n_rows.copy()
        n_correct[voters] = self.factor * n_correct[voters] + np.rint(accuracy * n_rows)
        n_scored[voters] = self.factor * n_scored[voters] + n_rows
        return replace(self, n_correct=n_correct, n_rows=n_scored)


Estimate: TypeAlias = AccuracyEstimate | RecentAccuracy | DecayedAccuracy
"""What is known of each voter's accuracy: the arrays ``mean``, ``n_answers`` and ``slope``."""


def _rescaled(numerators: NDArray[Any], denominator: int, new: int) -> NDArray[Any]:
    """Return numerators over the ``new`` denominator, rounded if need be."""
    if new % denominator == 0:
        return numerators * (new // denominator)
    return (numerators.astype(object) * (2 * new) + denominator) // (2 * denominator)
