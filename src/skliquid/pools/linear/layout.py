"""Layout: rows and coefficients in the form that the native core takes."""

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from skliquid import native
from skliquid.delegation.arrays import Floats, compact

MAX_COPIED_NUMBERS = 2**24  # rows with more numbers are not copied to be padded
_WIDTH = 8  # features are padded to a multiple: the core takes that many at once
_CACHE_LINE = 64  # bytes


def padded_width(n_features: int) -> int:
    """Return the number of columns that ``n_features`` take in the core."""
    return -(-n_features // _WIDTH) * _WIDTH


def aligned_zeros(n_rows: int, width: int, dtype: Any) -> NDArray[Any]:
    """Return an array of zeros that begins at a cache line."""
    n_bytes = n_rows * width * np.dtype(dtype).itemsize
    room = np.zeros(n_bytes + _CACHE_LINE, dtype=np.uint8)
    start = -room.ctypes.data % _CACHE_LINE
    rows: NDArray[Any] = room[start : start + n_bytes].view(dtype).reshape(n_rows, width)
    return rows


def core_rows(X: Any, coef: NDArray[Any], *, pad: bool = True) -> tuple[Any, Floats]:
    """Return the rows as the core takes them with ``coef``, and the norm of each."""
    rows: Any = X
    if scipy.sparse.issparse(X):
        csr = rows.tocsr()
        data, indices = compact(csr.data, coef.dtype), compact(csr.indices, np.int32)
        rows = native.SparseRows(data, indices, csr.indptr.astype(np.int64), csr.shape[1])
    elif not pad or X.shape[1] == coef.shape[1] or X.size > MAX_COPIED_NUMBERS:
        rows = compact(X, coef.dtype)
    else:
        rows = aligned_zeros(X.shape[0], coef.shape[1], coef.dtype)
        rows[:, : X.shape[1]] = X
    norms = np.empty(X.shape[0])
    native.row_norms(rows, coef, norms)
    return rows, norms


def stack_subspaces(X: Any, subspaces: NDArray[np.intp]) -> Any:
    """Return the rows once per subspace, one after another, with the features of each."""
    if scipy.sparse.issparse(X):
        csr: Any = X
        seen: list[Any] = [csr[:, subspace] for subspace in subspaces]
        return scipy.sparse.vstack(seen, format="csr")
    n_rows, (n_voters, n_seen) = X.shape[0], subspaces.shape
    columns = X[:, subspaces.ravel()].reshape(n_rows, n_voters, n_seen)
    return columns.transpose(1, 0, 2).reshape(-1, n_seen)


def expand_subspaces(
    coef: NDArray[Any], subspaces: NDArray[np.intp], n_features: int
) -> NDArray[Any]:
    """Return coefficients for all features: zero outside of the subspace of each."""
    expanded = aligned_zeros(len(coef), padded_width(n_features), coef.dtype)
    np.put_along_axis(expanded, subspaces, coef[:, : subspaces.shape[1]], axis=1)
    return expanded


def feature_value_pairs(X: Any) -> list[list[tuple[int, float]]]:
    """Return the rows as the readable loop takes them: pairs of a feature and its value."""
    if not scipy.sparse.issparse(X):
        return [list(enumerate(row.tolist())) for row in X]
    rows: Any = X
    csr = rows.tocsr()
    cuts = zip(csr.indptr[:-1], csr.indptr[1:], strict=True)
    pairs = list(zip(csr.indices.tolist(), csr.data.tolist(), strict=True))
    return [pairs[start:stop] for start, stop in cuts]
