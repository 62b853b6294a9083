"""Held-out rows: a random share of a file, which is never trained on and scores the model."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_HELD_OUT = 10_000
"""Number of rows above which a share is lowered: more would hardly change the score."""
_SEED = 20_250_101


@dataclass(frozen=True)
class HeldOut:
    """The choice of about ``share`` of the rows of a file.

    It depends on the number of a row alone, so that a training that is resumed makes the same. The
    first row of an increment is never held out, so that each increment has a row to train on.
    """

    share: float
    increment_size: int

    def rows(self, start: int, n_rows: int) -> NDArray[np.bool_]:
        """Return whether each of ``n_rows`` rows is held out, of which the first is ``start``."""
        if not self.share:
            return np.zeros(n_rows, dtype=bool)
        first, offset = divmod(start, self.increment_size)
        n_increments = -(-(offset + n_rows) // self.increment_size)
        masks = [self._increment(first + k) for k in range(n_increments)]
        return np.concatenate([*masks, np.empty(0, dtype=bool)])[offset : offset + n_rows]

    def _increment(self, number: int) -> NDArray[np.bool_]:
        rng = np.random.default_rng([_SEED, number])
        is_held_out: NDArray[np.bool_] = rng.random(self.increment_size) < self.share
        is_held_out[0] = False
        return is_held_out
