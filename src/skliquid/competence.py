"""Competence: when a voter's accuracy is measured."""

from collections.abc import Callable
from typing import TypeAlias

from skliquid.arrays import Floats

Train: TypeAlias = Callable[[], int]
Measure: TypeAlias = Callable[[], Floats]
Competence: TypeAlias = Callable[[Train, Measure, bool], tuple[Floats | None, int]]


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
