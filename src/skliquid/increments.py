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


FIRST_ROUND, N_ROUNDS, PER_CLASS = 2_000, 3, 4
"""Rounds for voters made of trees: the first has at most so many rows, and there are three. With
more than 500 classes it has at most four rows per class, so that most classes occur in it."""


def rounds(n_rows: int, *, all_rows: bool, n_classes: int = 2) -> list[slice]:
    """Return few increments, each as long as all before it together.

    Trees are grown again at each increment, and the first needs rows enough to tell them apart. If
    not ``all_rows`` are wanted, because a final fit follows, those beyond the third are left out.

    Examples
    --------
    >>> rounds(1000, all_rows=False)
    [slice(0, 250, None), slice(250, 500, None), slice(500, 1000, None)]
    >>> [cut.stop for cut in rounds(100_000, all_rows=False)]
    [2000, 4000, 8000]
    >>> [cut.stop for cut in rounds(100_000, all_rows=True)]
    [2000, 4000, 8000, 16000, 32000, 64000, 100000]
    >>> [cut.stop for cut in rounds(100_000, all_rows=False, n_classes=1_000)]
    [4000, 8000, 16000]
    """
    most = max(FIRST_ROUND, PER_CLASS * n_classes)
    end = max(min(-(-n_rows // 2 ** (N_ROUNDS - 1)), most), 1)
    ends = [0]
    while ends[-1] < n_rows and (all_rows or len(ends) <= N_ROUNDS):
        ends.append(min(end, n_rows))
        end *= 2
    return [slice(start, stop) for start, stop in pairwise(ends)]
