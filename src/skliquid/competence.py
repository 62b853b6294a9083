"""Competence: how voters are evaluated, and over which increments this is averaged."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats, Voters

Train: TypeAlias = Callable[[], int]
Measure: TypeAlias = Callable[[], Floats]

_INCREMENTS_REMEMBERED = 20
_EXACT_IN_A_FLOAT = 2**53
_FINEST = 2**256


def after_training(train: Train, measure: Measure, has_trained: bool) -> tuple[Floats | None, int]:
    """Return the accuracy on the increment just trained on, as in the paper, and the cost."""
    cost = train()
    return measure(), cost


def before_training(train: Train, measure: Measure, has_trained: bool) -> tuple[Floats | None, int]:
    """Return the accuracy before training, None at the first increment, and the cost."""
    accuracy = measure() if has_trained else None
    return accuracy, train()


MEASURES = {"prequential": before_training, "training": after_training}


@dataclass(frozen=True)
class Competence:
    """How voters are evaluated.

    Parameters
    ----------
    measured : {"prequential", "training"}
        Where accuracy is measured: on each increment before training on it, which does not favour
        voters that overfit, such as trees, but leaves the first increment without a measurement; or
        on the increment just trained on, as in the paper. Both cost the same.
    memory : int, float, None or "auto"
        Over which increments accuracy is averaged: all (None), as many of the last as an integer
        says, or all with weights that decay by a factor below 1 per increment. ``"auto"``: the last
        20 where delegations are revocable, else all.

    Examples
    --------
    >>> Competence("training", memory=5).estimate(3, is_revocable=False).window
    5
    """

    measured: str = "prequential"
    memory: int | float | Literal["auto"] | None = "auto"

    def __post_init__(self) -> None:
        if self.measured not in tuple(MEASURES):
            raise ValueError(
                f"competence must be measured as one of {', '.join(MEASURES)}: got "
                f"{self.measured!r}. Choose one of these names."
            )
        memory: object = self.memory
        is_count = isinstance(memory, Integral) and int(memory) >= 1
        is_factor = isinstance(memory, float) and 0 < memory < 1
        is_auto = isinstance(memory, str) and memory == "auto"
        if not (is_count or is_factor or is_auto or memory is None):
            raise ValueError(
                "memory must be an integer of 1 or more, a factor between 0 and 1, None or 'auto': "
                f"got {memory!r}. Give a number of increments like 20."
            )

    def __call__(
        self, train: Train, measure: Measure, has_trained: bool
    ) -> tuple[Floats | None, int]:
        """Train and measure; return the accuracy, None if not measured, and the cost."""
        return MEASURES[self.measured](train, measure, has_trained)

    def estimate(self, n_voters: int, *, is_revocable: bool) -> "Estimate":
        """Return the running estimate of each voter's accuracy, before any measurement."""
        memory = self.memory
        if isinstance(memory, str):
            memory = _INCREMENTS_REMEMBERED if is_revocable else None
        if memory is None:
            return AccuracyEstimate.empty(n_voters)
        if isinstance(memory, float):
            return DecayedAccuracy.empty(n_voters, memory)
        return RecentAccuracy.empty(n_voters, memory)


def as_competence(competence: str | Competence) -> Competence:
    """Return the competence that a name or an object stands for."""
    return competence if isinstance(competence, Competence) else Competence(competence)


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

    numerators: NDArray[Any]
    denominator: int
    n_measured: NDArray[np.int64]
    n_answers: NDArray[np.int64]
    slope: None = None

    @classmethod
    def empty(cls, n_voters: int) -> "AccuracyEstimate":
        """Return the estimate before any measurement."""
        zeros = np.zeros(n_voters, dtype=np.int64)
        return cls(zeros, 1, zeros, zeros)

    def update(self, voters: Voters, accuracy: Floats, n_rows: int) -> "AccuracyEstimate":
        """Return the estimate after ``voters`` had ``accuracy`` on an increment of ``n_rows``."""
        denominator = min(math.lcm(self.denominator, n_rows), _FINEST)
        n_measured, n_answers = self.n_measured.copy(), self.n_answers.copy()
        n_measured[voters] += 1
        n_answers[voters] += n_rows
        largest = denominator * int(n_measured.max())
        dtype = np.int64 if largest < _EXACT_IN_A_FLOAT else object
        n_correct = np.rint(accuracy * n_rows).astype(np.int64).astype(dtype)
        numerators = _rescaled(self.numerators.astype(dtype), self.denominator, denominator)
        numerators[voters] += _rescaled(n_correct, n_rows, denominator)
        return AccuracyEstimate(numerators, denominator, n_measured, n_answers)

    @cached_property
    def mean(self) -> Floats:
        """The average accuracy of each voter; NaN where nothing was measured."""
        n_measured = np.maximum(self.n_measured, 1).astype(self.numerators.dtype)
        mean = (self.numerators / (n_measured * self.denominator)).astype(np.float64)
        return np.where(self.n_measured > 0, mean, np.nan)


def _rescaled(numerators: NDArray[Any], denominator: int, new: int) -> NDArray[Any]:
    """Return numerators over the ``new`` denominator, rounded if need be."""
    if new % denominator == 0:
        return numerators * (new // denominator)
    return (numerators.astype(object) * (2 * new) + denominator) // (2 * denominator)


@dataclass(frozen=True, eq=False)
class RecentAccuracy:
    """Each voter's share of correct answers on the rows of the last increments.

    A voter that was not measured at any of these keeps its last average.

    Examples
    --------
    >>> estimate, voters = RecentAccuracy.empty(2, window=2), np.array([0, 1])
    >>> for accuracy in ([0.0, 0.5], [0.5, 0.5], [1.0, 0.5]):
    ...     estimate = estimate.update(voters, np.array(accuracy), n_rows=10)
    >>> estimate.mean.tolist(), estimate.slope.tolist(), estimate.n_answers.tolist()
    ([0.75, 0.5], [0.5, 0.0], [20, 20])
    """

    window: int
    answers: NDArray[np.int64]  # per increment, correct answers and all answers of each voter
    mean: Floats

    @classmethod
    def empty(cls, n_voters: int, window: int) -> "RecentAccuracy":
        """Return the estimate before any measurement."""
        return cls(window, np.zeros((0, 2, n_voters), dtype=np.int64), np.full(n_voters, np.nan))

    def update(self, voters: Voters, accuracy: Floats, n_rows: int) -> "RecentAccuracy":
        """Return the estimate after ``voters`` had ``accuracy`` on an increment of ``n_rows``."""
        latest = np.zeros((1, *self.answers.shape[1:]), dtype=np.int64)
        latest[0, 0, voters], latest[0, 1, voters] = np.rint(accuracy * n_rows), n_rows
        answers = np.concatenate([self.answers, latest])[-self.window :]
        (n_correct, n_answers), mean = answers.sum(axis=0), self.mean.copy()
        np.divide(n_correct, n_answers, out=mean, where=n_answers > 0)
        return RecentAccuracy(self.window, answers, mean)

    @cached_property
    def n_answers(self) -> NDArray[np.int64]:
        """The number of rows behind each voter's average."""
        n_answers: NDArray[np.int64] = self.answers[:, 1].sum(axis=0)
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
        n_correct, n_rows = self.answers[:, 0], self.answers[:, 1]
        is_measured, accuracy = n_rows > 0, n_correct / np.maximum(n_rows, 1)
        position = np.arange(len(is_measured))[:, None] * is_measured
        n = np.maximum(is_measured.sum(axis=0), 1)
        centred = (position - position.sum(axis=0) / n) * is_measured
        with np.errstate(invalid="ignore"):
            slope: Floats = (centred * accuracy).sum(axis=0) / (centred**2).sum(axis=0)
        return slope


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

    def update(self, voters: Voters, accuracy: Floats, n_rows: int) -> "DecayedAccuracy":
        """Return the estimate after ``voters`` had ``accuracy`` on an increment of ``n_rows``."""
        n_correct, n_scored = self.n_correct.copy(), self.n_rows.copy()
        n_correct[voters] = self.factor * n_correct[voters] + np.rint(accuracy * n_rows)
        n_scored[voters] = self.factor * n_scored[voters] + n_rows
        return DecayedAccuracy(self.factor, n_correct, n_scored)

    @cached_property
    def mean(self) -> Floats:
        """The average accuracy of each voter; NaN where nothing was measured."""
        with np.errstate(invalid="ignore"):
            return self.n_correct / self.n_rows

    @cached_property
    def n_answers(self) -> NDArray[np.int64]:
        """The decayed number of rows behind each voter's average."""
        return np.rint(self.n_rows).astype(np.int64)


Estimate: TypeAlias = AccuracyEstimate | RecentAccuracy | DecayedAccuracy
"""What is known of each voter's accuracy: the arrays ``mean``, ``n_answers`` and ``slope``."""
