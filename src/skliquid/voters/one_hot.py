"""One-hot encoded columns, put back into one column of bins.

Trees would have to look at each of them, though at most one is 1 in a row. One column of bins holds
the same, and a split is still on one feature against all others, as trees predict from the rows.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skliquid import native
from skliquid.arrays import Floats

NUMBERS, CATEGORIES, ONES = range(3)
"""What a column of bins holds: numbers, categories, or which of several features is 1."""


def bundled(
    bins: NDArray[np.uint8], edges: Floats, kinds: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], Floats, NDArray[np.uint8], NDArray[np.int32] | None]:
    """Return columns in which neighbours that are never 1 together share one, and their features.

    Examples
    --------
    >>> bins = np.array([[1, 0, 0], [0, 0, 1], [5, 2, 0]], dtype=np.uint8)
    >>> edges = np.full((3, native.MOST_EDGES), np.inf)
    >>> edges[:2, 0], edges[2, :5] = 0.5, np.arange(5)
    >>> bundled(bins, edges, np.zeros(3, dtype=np.uint8))[0].tolist()
    [[1, 0, 2], [5, 2, 0]]
    """
    groups = _groups(bins, edges, kinds)
    if len(groups) == len(bins):
        return bins, edges, kinds, None
    features = np.zeros((len(groups), native.MISSING_BIN + 1), dtype=np.int32)
    first = [group.start for group in groups]
    shared, all_edges, all_kinds = bins[first], edges[first], kinds[first]
    for k, group in enumerate(groups):
        features[k, 0] = group.start
        if len(group) > 1:
            features[k, 1 : len(group) + 1] = group
            numbers = np.arange(1, len(group) + 1, dtype=np.uint8)
            shared[k] = numbers @ bins[group.start : group.stop]
            all_edges[k, : len(group)] = np.arange(len(group)) + 0.5
            all_kinds[k] = ONES
    return shared, all_edges, all_kinds, features


def _groups(bins: NDArray[np.uint8], edges: Floats, kinds: NDArray[np.uint8]) -> list[range]:
    """Return neighbouring columns that can share one, as ranges of columns."""
    is_binary = (edges[:, 0] == 0.5) & np.isinf(edges[:, 1]) & (kinds == NUMBERS)
    ends = [0]
    taken = np.zeros(bins.shape[1], dtype=np.bool_)
    for column, own in enumerate(bins):
        ones = own == 1
        is_new = column > 0 and not (
            is_binary[column]
            and is_binary[column - 1]
            and column - ends[-1] < native.MOST_EDGES
            and own.max() <= 1
            and not np.any(taken & ones)
        )
        if is_new:
            ends.append(column)
            taken = np.zeros_like(taken)
        if is_binary[column] and own.max() <= 1:
            taken |= ones
        else:
            taken[:] = True
    return [range(start, stop) for start, stop in pairwise([*ends, len(bins)])]
