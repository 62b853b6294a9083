"""Increments: the parts into which data is cut, between which voters delegate."""

from itertools import pairwise
from typing import Literal

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
