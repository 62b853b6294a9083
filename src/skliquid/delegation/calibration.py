"""Calibration: the temperature of the ensemble's probabilities, from prequential predictions."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats, Labels
from skliquid.delegation.storable import Array, Count, Range, storable
from skliquid.delegation.votes import LEAST_SHARE

POWERS: Floats = 2.0 ** np.arange(-5, 2.01, 0.25)
"""Inverse temperatures at which the log-loss is computed."""

MANY_CLASSES = 256
"""With more classes, computations whose cost grows with the classes use a sample of rows."""

MIN_ROWS = 50
_MEMORY = 0.8
_FLAT = 1e-9  # differences of log-loss per row that are ignored

_Losses = Annotated[Floats, Array(len(POWERS))]
_Weight = Annotated[float, Range(0)]
_PerClass = Annotated[NDArray[np.int64], Array("n_classes")]


@storable
@dataclass(frozen=True, eq=False)
class GroupAnswers:
    """Sums over rows of the group's prequential predictions (made before training on them)."""

    losses: _Losses  # log-loss at each of POWERS
    weight: _Weight  # of the rows
    n_rows: Count
    n_predicted: _PerClass  # rows per predicted class
    n_actual: _PerClass  # rows per class

    @classmethod
    def of(
        cls, shares: Floats, y: Labels, weight: Floats | None, *, is_soft: bool
    ) -> "GroupAnswers":
        """Return the sums for class probabilities ``shares`` and labels ``y``."""
        n_classes = shares.shape[1]
        losses = log_losses(shares, y, weight) if is_soft else np.zeros(len(POWERS))
        return cls(
            losses,
            float(len(y)) if weight is None else float(weight.sum()),
            len(y),
            np.bincount(shares.argmax(axis=1), minlength=n_classes),
            np.bincount(y, minlength=n_classes),
        )

    def __add__(self, other: "GroupAnswers") -> "GroupAnswers":
        return GroupAnswers(
            self.losses + other.losses,
            self.weight + other.weight,
            self.n_rows + other.n_rows,
            self.n_predicted + other.n_predicted,
            self.n_actual + other.n_actual,
        )


def log_losses(shares: Floats, y: Labels, weight: Floats | None) -> Floats:
    r"""Return the log-loss at each inverse temperature of ``POWERS``, summed over rows.

    .. math:: \ell(\beta) = \sum_x \log \sum_c S_c(x)^\beta - \beta \log S_y(x)
    """
    logs = np.log(np.maximum(shares, LEAST_SHARE))
    own = logs[np.arange(len(y)), y][:, None]
    if shares.shape[1] > MANY_CLASSES:
        by_row = _losses_of_many(logs, y)
    elif shares.shape[1] == 2:
        others = (logs - own).sum(axis=1)  # one of two is zero
        by_row = np.logaddexp(0, POWERS[:, None] * others)
    else:
        logs -= own
        by_row = np.stack([np.logaddexp.reduce(power * logs, axis=1) for power in POWERS])
    losses: Floats = (by_row if weight is None else by_row * weight).sum(axis=1)
    return losses


def _losses_of_many(logs: Floats, y: Labels) -> Floats:
    """Return the log-loss at each of ``POWERS``, from four exponentials per number.

    Each power is twice the one four places before it, so its exponentials are squares of those.
    """
    logs -= logs.max(axis=1, keepdims=True)
    sums = np.empty((len(POWERS), len(y)))
    for first in range(4):
        values = np.exp(POWERS[first] * logs)
        for k in range(first, len(POWERS), 4):
            sums[k] = values.sum(axis=1)
            np.multiply(values, values, out=values)
    losses: Floats = np.log(sums) - np.multiply.outer(POWERS, logs[np.arange(len(y)), y])
    return losses


@storable
@dataclass(frozen=True, eq=False)
class Calibration:
    """Log-loss of prequential predictions at several temperatures; older increments count less."""

    losses: _Losses
    weight: _Weight
    n_rows: Count
    sharpens: bool = True
    """Whether calibration may make probabilities more certain; False if a final fit adds trees,
    which already do so."""

    @classmethod
    def empty(cls, *, sharpens: bool = True) -> "Calibration":
        """Return the calibration before any answer."""
        return cls(np.zeros(len(POWERS)), 0.0, 0, sharpens)

    def update(self, answers: GroupAnswers) -> "Calibration":
        """Return the calibration after the answers on one more increment."""
        return replace(
            self,
            losses=_MEMORY * self.losses + answers.losses,
            weight=_MEMORY * self.weight + answers.weight,
            n_rows=self.n_rows + answers.n_rows,
        )

    @property
    def power(self) -> float:
        """The inverse temperature with the lowest log-loss; 1 if rows are few or none is better."""
        return self._best_power if self.sharpens else min(self._best_power, 1.0)

    @property
    def _best_power(self) -> float:
        if self.n_rows < MIN_ROWS or np.ptp(self.losses) <= _FLAT * self.weight:
            return 1.0
        k = int(np.argmin(self.losses))
        if k in (0, len(POWERS) - 1):
            return float(POWERS[k])
        before, least, after = self.losses[k - 1 : k + 2].tolist()  # a parabola through three
        shift = 0.5 * (before - after) / (before - 2 * least + after)
        return float(POWERS[k] * 2.0 ** (0.25 * shift))
