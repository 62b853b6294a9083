"""Competence: when a voter's accuracy is measured, and how measurements are averaged."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats, Voters

Train: TypeAlias = Callable[[], int]
Measure: TypeAlias = Callable[[], Floats]
Competence: TypeAlias = Callable[[Train, Measure, bool], tuple[Floats | None, int]]

_EXACT_IN_A_FLOAT = 2**53


def after_training(train: Train, measure: Measure, has_trained: bool) -> tuple[Floats | None, int]:
    """Return the accuracy on the increment just trained on, as in the paper, and the cost."""
    cost = train()
    return measure(), cost


def before_training(train: Train, measure: Measure, has_trained: bool) -> tuple[Floats | None, int]:
    """Return the accuracy before training, None at the first increment, and the cost."""
    accuracy = measure() if has_trained else None
    return accuracy, train()


COMPETENCE: dict[str, Competence] = {
    "training": after_training,
    "prequential": before_training,
}


@dataclass(frozen=True, eq=False)
class AccuracyEstimate:
    """Each voter's accuracy averaged over the increments it was measured on: the paper's Q.

    Ties decide who delegates, so equal averages must be equal bits. Sums are therefore kept as
    integers over a common denominator, and divided once.

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

    @classmethod
    def of_nothing(cls, n_voters: int) -> "AccuracyEstimate":
        """Return the estimate before any measurement."""
        nothing = np.zeros(n_voters, dtype=np.int64)
        return cls(np.zeros(n_voters, dtype=object), 1, nothing, nothing)

    def update(self, voters: Voters, accuracy: Floats, n_rows: int) -> "AccuracyEstimate":
        """Return the estimate after ``voters`` had ``accuracy`` on an increment of ``n_rows``."""
        n_correct = np.rint(accuracy * n_rows).astype(np.int64)
        denominator = math.lcm(self.denominator, n_rows)
        n_measured, n_answers = self.n_measured.copy(), self.n_answers.copy()
        n_measured[voters] += 1
        n_answers[voters] += n_rows
        largest = denominator * int(n_measured.max())
        kind = np.int64 if largest < _EXACT_IN_A_FLOAT else object
        numerators = self.numerators.astype(kind) * (denominator // self.denominator)
        numerators[voters] += n_correct.astype(kind) * (denominator // n_rows)
        return AccuracyEstimate(numerators, denominator, n_measured, n_answers)

    @cached_property
    def mean(self) -> Floats:
        """The average of each voter; not a number where nothing was measured."""
        known = self.n_measured > 0
        mean = np.full(len(self.numerators), np.nan)
        n_measured = self.n_measured[known].astype(self.numerators.dtype)
        mean[known] = self.numerators[known] / (n_measured * self.denominator)
        return mean
