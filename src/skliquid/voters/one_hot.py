"""One-hot encoded columns, put back into one column of bins.

Trees would have to look at each of them, though at most one is 1 in a row. One column of bins holds
the same, and a split is still on one feature against all others, as trees predict from the rows.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skliquid import native
from skliquid.delegation.arrays import Floats

NUMBERS, CATEGORIES, ONE_HOT = range(3)  # numbers, categories, or which of several features is 1
ColumnTypes = NDArray[np.uint8]  # one of these for each column of bins


def bundle(
    bins: NDArray[np.uint8], edges: Floats, column_types: ColumnTypes
) -> tuple[NDArray[np.uint8], Floats, ColumnTypes, NDArray[np.int32] | None]:
    """Return columns in which neighbours that are never 1 together share one, and their features.

    Examples
    --------
    >>> bins = np.array([[1, 0, 0], [0, 0, 1], [5, 2, 0]], dtype=np.uint8)
    >>> edges = np.full((3, native.MOST_EDGES), np.inf)
    >>> edges[:2, 0], edges[2, :5] = 0.5, np.arange(5)
    >>> bundle(bins, edges, np.zeros(3, dtype=np.uint8))[0].tolist()
    [[1, 0, 2], [5, 2, 0]]
    """
    groups = _groups(bins, edges, column_types)
    if len(groups) == len(bins):
        return bins, edges, column_types, None
    features = np.zeros((len(groups), native.MISSING_BIN + 1), dtype=np.int32)
    first = [group.start for group in groups]
    features[:, 0] = first
    bins_of_groups, edges, column_types = bins[first], edges[first], column_types[first]
    for k, group in enumerate(groups):
        if len(group) > 1:
            features[k, 1 : len(group) + 1] = group
            numbers = np.arange(1, len(group) + 1, dtype=np.uint8)
            bins_of_groups[k] = numbers @ bins[group.start : group.stop]
            edges[k, : len(group)] = np.arange(len(group)) + 0.5
            column_types[k] = ONE_HOT
    return bins_of_groups, edges, column_types, features


def _groups(bins: NDArray[np.uint8], edges: Floats, column_types: ColumnTypes) -> list[range]:
    """Return neighbouring columns that can share one, as ranges of columns."""
    is_binary = (edges[:, 0] == 0.5) & np.isinf(edges[:, 1]) & (column_types == NUMBERS)
    starts, taken = [0], np.zeros(bins.shape[1], dtype=np.bool_)
    for column, own in enumerate(bins):
        ones, is_encoded = own == 1, is_binary[column] and own.max() <= 1
        can_share = (
            is_encoded
            and is_binary[column - 1]
            and column - starts[-1] < native.MOST_EDGES
            and not np.any(taken & ones)
        )
        if column > 0 and not can_share:
            starts.append(column)
            taken[:] = False
        taken |= ones | (not is_encoded)
    return [range(start, stop) for start, stop in pairwise([*starts, len(bins)])]
