"""Rows, dense or sparse, and coefficients in either precision: numba chooses by type.

``W`` holds coefficients, a row a machine.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from skliquid.pools.linear_kernel.compiling import compiled
from skliquid.pools.linear_kernel.vectors import WIDTH, FourType, as_single

ROUNDING = 2.0**-52
SHORTEST = 1e-145
"""Added to every length: squares of less may be lost, and bounds would then rest on nothing."""


class SparseRows(NamedTuple):
    """Rows of a CSR matrix."""

    data: Any
    indices: Any
    indptr: Any


def dot_in_order(W, m, X, row): ...
def dot_in_any_order(W, m, X, row): ...
def add_row(W, m, X, row, factor): ...
def add_row_to_average(A, m, X, row, factor, pull): ...
def rounded_like(W, value): ...
def rounding_of(W): ...
def is_single(W): ...
def smallest_scale_of(W): ...
def fills_vectors(X): ...


@overload(dot_in_order)
def _(W, m, X, row):
    if isinstance(X, types.Array):

        def dense(W, m, X, row):
            total = 0.0
            for j in range(X.shape[1]):
                total += W[m, j] * X[row, j]
            return total

        return dense

    def sparse(W, m, X, row):
        total, data, indices = 0.0, X.data, X.indices
        for k in places_of(X.indptr, row):
            total += W[m, np.uint32(indices[k])] * data[k]
        return total

    return sparse


@compiled()
def places_of(indptr, row):
    """Return where the numbers of a sparse row are; not below zero, which need not be looked at."""
    return range(np.uint64(indptr[row]), np.uint64(indptr[row + 1]))


@compiled(fastmath={"reassoc", "nsz", "contract"})
def inner(W, m, X, row):
    total = 0.0
    for j in range(X.shape[1]):
        total += W[m, j] * X[row, j]
    return total


@compiled(fastmath={"reassoc", "nsz", "contract"})
def squared_length(W, m):
    total = 0.0
    for j in range(W.shape[1]):
        total += np.float64(W[m, j]) * np.float64(W[m, j])
    return total


@overload(dot_in_any_order)
def _(W, m, X, row):
    if isinstance(X, types.Array):
        return lambda W, m, X, row: inner(W, m, X, row)
    return lambda W, m, X, row: _sparse_inner(W, m, X.data, X.indices, X.indptr, row)


@compiled(fastmath={"reassoc", "nsz", "contract"})
def _sparse_inner(W, m, data, indices, indptr, row):
    total = 0.0
    for k in places_of(indptr, row):
        total += W[m, np.uint32(indices[k])] * data[k]
    return total


@compiled(fastmath={"reassoc"})
def _added(W, m, X, row, factor):
    squares = 0.0
    for j in range(X.shape[1]):
        W[m, j] += np.float64(X[row, j]) * factor
        squares += W[m, j] * W[m, j]  # in single precision this may become infinite, as theirs do
    return squares


@overload(add_row)
def _(W, m, X, row, factor):
    if isinstance(X, types.Array):
        return lambda W, m, X, row, factor: _added(W, m, X, row, factor)

    def sparse(W, m, X, row, factor):
        squares, data, indices = 0.0, X.data, X.indices
        for k in places_of(X.indptr, row):
            j = np.uint32(indices[k])
            W[m, j] += np.float64(data[k]) * factor
            squares += W[m, j] * W[m, j]  # at once: a feature may come twice in a row
        return squares

    return sparse


@overload(add_row_to_average)
def _(A, m, X, row, factor, pull):
    if isinstance(X, types.Array):

        def dense(A, m, X, row, factor, pull):
            for j in range(X.shape[1]):
                A[m, j] += factor * X[row, j] * pull

        return dense

    def sparse(A, m, X, row, factor, pull):
        data, indices = X.data, X.indices
        for k in places_of(X.indptr, row):
            A[m, np.uint32(indices[k])] += factor * data[k] * pull

    return sparse


@overload(rounded_like)
def _(W, value):
    if W.dtype != types.float32:
        return lambda W, value: value
    if isinstance(value, FourType):
        return lambda W, value: as_single(value)
    return lambda W, value: np.float32(value)


@overload(rounding_of)
def _(W):
    rounding = 2.0**-23 if W.dtype == types.float32 else 2.0**-52
    return lambda W: rounding


@overload(is_single)
def _(W):
    is_single = W.dtype == types.float32
    return lambda W: is_single


@overload(smallest_scale_of)
def _(W):
    smallest = 1e-6 if W.dtype == types.float32 else 1e-9
    return lambda W: smallest


@compiled()
def slack_of(W):
    """Return by what part of its length a sum in any order may differ from one in order."""
    return (W.shape[1] + 32) * ROUNDING


@compiled()
def once_rounded(W, score, error):
    """Return how far a score is off once it is rounded, if it is off by ``error`` before."""
    if not is_single(W):
        return error
    return error + (rounded_like(W, score + error) - rounded_like(W, score - error))


@overload(fills_vectors)
def _(X):
    if isinstance(X, types.Array):
        return lambda X: X.shape[1] % WIDTH == 0
    return lambda X: False


@compiled()
def shrink_row(W, m, scale):
    for j in range(W.shape[1]):
        W[m, j] *= rounded_like(W, scale)


@compiled(fastmath={"reassoc", "nsz"})
def all_finite(W, m):
    total = 0.0
    for j in range(W.shape[1]):
        total += 0.0 * W[m, j]  # which is not a number for those that are not finite
    return total == 0.0
