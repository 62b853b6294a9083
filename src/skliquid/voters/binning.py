"""Binning: each column in at most 63 bins of about equal size, and one for missing values."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from skliquid import native
from skliquid.delegation.arrays import Floats, compact
from skliquid.validation.limits import check_sparse_cells
from skliquid.voters.one_hot import ColumnTypes, bundle

ROWS_FOR_EDGES = 2_000  # at most, at equal distances
_CELLS_FOR_EDGES = 2**25
_MIN_TIES = 10  # rows with one value that fill a bin of their own
_COLUMNS_AT_ONCE = 256


class BinnedRows(NamedTuple):
    """Rows that trees can be grown on."""

    bins: NDArray[np.uint8]  # one row per column
    edges: Floats  # one row per column
    column_types: ColumnTypes  # see one_hot
    y: NDArray[np.int32]  # classes from 0
    weights: Floats  # one row for each set of weights; none if all rows count the same
    features: NDArray[np.int32] | None = None  # the feature of each bin, if columns have several
    core: Any = native  # grows the trees

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.bins)

    @property
    def n_features(self) -> int:
        """Number of features: one-hot encoded ones share a column."""
        return self.n_columns if self.features is None else int(self.features.max()) + 1

    @classmethod
    def from_rows(
        cls,
        X: Any,
        y: NDArray[Any],
        weights: Floats | None,
        is_categorical: NDArray[np.bool_],
        n_threads: int = 1,
        *,
        shift: float = 0.0,
        core: Any = None,
    ) -> "BinnedRows":
        """Put rows into bins made for them; ``shift`` moves edges by a part of a bin.

        ``core`` grows the trees, if it is not None, in place of the native core.
        """
        edges = edges_of(X, is_categorical, shift)
        bins, column_types = bins_of(X, edges, n_threads), is_categorical.astype(np.uint8)
        bins, edges, column_types, features = bundle(bins, edges, column_types)
        sets = np.empty((0, len(y))) if weights is None else weights.reshape(-1, len(y))
        y, sets = compact(y, np.int32), compact(sets, np.float64)
        return cls(bins, edges, column_types, y, sets, features, core or native)


def edges_of(X: Any, is_categorical: NDArray[np.bool_], shift: float = 0.0) -> Floats:
    """Return the edges between the bins of each column, and infinity behind the last.

    Where a column has at most 63 different values, each has a bin of its own.
    """
    n_rows, n_columns = X.shape
    if scipy.sparse.issparse(X):  # before there are edges of all columns
        check_sparse_cells(n_rows, n_columns)
    n_used = min(ROWS_FOR_EDGES, max(_CELLS_FOR_EDGES // n_columns, 500))
    step = max(-(-n_rows // n_used), 1)
    sample = X[int(shift * step) :: step]
    edges = np.full((n_columns, native.MOST_EDGES), np.inf)
    if is_categorical.any():  # categories are numbers from 0
        between = np.arange(native.MOST_EDGES) + 0.5
        last = np.fmax.reduce(X[:, is_categorical], axis=0)[:, None]
        edges[is_categorical] = np.where(between < last, between, np.inf)
    for start in range(0, n_columns, _COLUMNS_AT_ONCE):
        part = sample[:, start : start + _COLUMNS_AT_ONCE]
        dense = np.asarray(part.toarray() if hasattr(part, "toarray") else part)
        by_column = np.sort(np.ascontiguousarray(dense.T, dtype=np.float64), axis=1)
        for column, values in enumerate(by_column, start):
            if not is_categorical[column]:
                n_known = np.searchsorted(values, np.nan)  # missing values are sorted to the end
                found = _edges_between(values[:n_known], shift)
                edges[column, : len(found)] = found
    return edges


def _edges_between(values: Floats, shift: float = 0.0) -> Floats:
    """Return the edges between sorted values."""
    at = np.flatnonzero(values[1:] > values[:-1])  # the last of equal values
    if len(at) > native.MOST_EDGES:
        counts = np.diff(at, prepend=-1, append=len(values) - 1)
        at = at[_first_of_bins(counts, shift)[1:] - 1]
    low, high = values[at], values[at + 1]
    middle = low / 2 + high / 2  # their sum may be infinite
    return np.asarray(np.where(middle < high, middle, low))


def _first_of_bins(counts: NDArray[np.intp], shift: float) -> NDArray[np.intp]:
    """Return the first value of each bin, from the number of rows with each value.

    A value that would fill a bin has one of its own. The others share the rest of the bins, of
    about equal size. Where too many of these lie between such values, there are fewer.
    """
    n_bins = native.MOST_EDGES + 1
    is_common = counts >= max(counts.sum() / n_bins, _MIN_TIES)
    follows_common = np.append(False, is_common[:-1])
    n_rows = np.where(is_common, 0, counts)
    n_before = np.cumsum(n_rows) - n_rows
    for n_shared in range(n_bins - int(is_common.sum()), 0, -1):
        shared = np.floor(n_before * n_shared / n_rows.sum() + shift)
        is_first = is_common | follows_common | (np.diff(shared, prepend=-1) > 0)
        if is_first.sum() <= n_bins:
            return np.flatnonzero(is_first)
    follows_common[0] = True
    return np.flatnonzero(follows_common)


def bins_of(X: Any, edges: Floats, n_threads: int = 1) -> NDArray[np.uint8]:
    """Return the bin of each number, one row per column: the number of edges below it."""
    if scipy.sparse.issparse(X):
        return _sparse_bins(X, edges)
    bins = np.empty(X.shape[::-1], dtype=np.uint8)
    native.find_bins(compact(X), edges, bins, n_threads)
    return bins


def _sparse_bins(X: Any, edges: Floats) -> NDArray[np.uint8]:
    n_rows, n_columns = X.shape
    check_sparse_cells(n_rows, n_columns)
    by_column = X.tocsc(copy=True)
    by_column.sum_duplicates()
    bins = np.empty((n_columns, n_rows), dtype=np.uint8)
    for column, own in enumerate(bins):
        stored = slice(*by_column.indptr[column : column + 2])
        values = by_column.data[stored]
        found = np.searchsorted(edges[column], values, side="left")
        own[:] = np.searchsorted(edges[column], 0.0, side="left")
        own[by_column.indices[stored]] = np.where(np.isnan(values), native.MISSING_BIN, found)
    return bins
