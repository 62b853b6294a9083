"""Increments: the parts into which data is cut, between which voters delegate."""

from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats, Labels, RowNumbers, stacked

MOST_INCREMENTS = 50
FEWEST_ROWS = 25


def slices(n_rows: int, size: int | Literal["auto"]) -> list[slice]:
    """Return the slices that cut ``n_rows`` into increments.

    Increments have ``size`` rows, and the last may be shorter. ``"auto"`` makes 50 increments, or
    fewer such that each has 25 rows; their sizes differ by one row at most. So the number of
    increments does not grow with the data, and small data still give increments that are large
    enough to compare voters.

    Examples
    --------
    >>> slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    >>> [cut.stop - cut.start for cut in slices(101, "auto")]
    [26, 25, 25, 25]
    >>> len(slices(10_000_000, "auto"))
    50
    """
    if size == "auto":
        n_parts = min(max(n_rows // FEWEST_ROWS, 1), MOST_INCREMENTS)
        ends = [-(-n_rows * part // n_parts) for part in range(n_parts + 1)]
    else:
        ends = [*range(0, n_rows, size), n_rows]
    return [slice(start, end) for start, end in pairwise(ends)]


class Rows(NamedTuple):
    """Data to learn from, and which rows of the whole they are."""

    rows: RowNumbers
    X: Any
    y: Labels
    sample_weight: Floats | None

    def at(self, positions: slice | NDArray[np.intp]) -> "Rows":
        """Return the data at ``positions``."""
        if isinstance(positions, slice):
            rows: RowNumbers = self.rows[positions]
        elif isinstance(self.rows, range):
            rows = positions + self.rows.start
        else:
            rows = self.rows[positions]
        weights = None if self.sample_weight is None else self.sample_weight[positions]
        return Rows(rows, self.X[positions], self.y[positions], weights)

    def followed_by(self, more: "Rows") -> "Rows":
        """Return both, one after the other."""
        rows = np.concatenate([np.asarray(self.rows), np.asarray(more.rows)])
        X, y = stacked([self.X, more.X]), np.concatenate([self.y, more.y])
        return Rows(rows, X, y, _stacked_weights(self, more))

    def without_zero_weights(self) -> "Rows":
        """Return the data that count."""
        if self.sample_weight is None or self.sample_weight.all():
            return self
        return self.at(np.flatnonzero(self.sample_weight))


def _stacked_weights(*parts: Rows) -> Floats | None:
    if all(part.sample_weight is None for part in parts):
        return None
    return np.concatenate(
        [np.ones(len(p.y)) if p.sample_weight is None else p.sample_weight for p in parts]
    )
