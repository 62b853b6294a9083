"""Competence: how voters are evaluated, and over which increments this is averaged."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, TypeAlias

from skliquid.accuracy_estimate import AccuracyEstimate, DecayedAccuracy, Estimate, RecentAccuracy
from skliquid.arrays import Floats

Train: TypeAlias = Callable[[], int]
Measure: TypeAlias = Callable[[], Floats]

_INCREMENTS_REMEMBERED = 20


def after_training(train: Train, measure: Measure, has_trained: bool) -> tuple[Floats | None, int]:
    """Return the accuracy on the increment just trained on, as in the paper, and the cost."""
    cost = train()
    return measure(), cost


def before_training(train: Train, measure: Measure, has_trained: bool) -> tuple[Floats | None, int]:
    """Return the accuracy before training, None at the first increment, and the cost."""
    accuracy = measure() if has_trained else None
    return accuracy, train()


MEASURES: dict[str, Callable[[Train, Measure, bool], tuple[Floats | None, int]]] = {
    "prequential": before_training,
    "training": after_training,
}


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
        if not _is_memory(self.memory):
            raise ValueError(
                "memory must be an integer of 1 or more, a factor between 0 and 1, None or 'auto': "
                f"got {self.memory!r}. Give a number of increments like 20."
            )

    def __call__(
        self, train: Train, measure: Measure, has_trained: bool
    ) -> tuple[Floats | None, int]:
        """Train and measure; return the accuracy, None if not measured, and the cost."""
        return MEASURES[self.measured](train, measure, has_trained)

    def estimate(self, n_voters: int, *, is_revocable: bool) -> Estimate:
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


def _is_memory(memory: object) -> bool:
    if memory is None or (isinstance(memory, str) and memory == "auto"):
        return True
    if isinstance(memory, float):
        return 0 < memory < 1
    return isinstance(memory, Integral) and int(memory) >= 1
