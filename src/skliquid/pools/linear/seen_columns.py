"""Seen columns: the columns of wide sparse rows that have occurred and need coefficients."""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

MIN_COLUMNS = 4096  # with fewer columns, each has a coefficient from the start


class SeenColumns:
    """Where the columns that have occurred are among the coefficients of a pool.

    The coefficient of a column that never occurred in training is zero. So such columns are left
    out of training and prediction. That changes no bit: zeros add nothing to a sum.

    Examples
    --------
    >>> columns, row = SeenColumns(5), scipy.sparse.csr_array([[0.0, 2.0, 0.0, 0.0, 1.0]])
    >>> columns.add_and_select(row).toarray().tolist()
    [[2.0, 1.0]]
    >>> columns.select(scipy.sparse.csr_array([[3.0, 0.0, 0.0, 0.0, 4.0]])).toarray().tolist()
    [[0.0, 4.0]]
    >>> columns.restore_all(np.array([[0.5, 0.25]])).tolist()
    [[0.0, 0.5, 0.0, 0.0, 0.25]]
    """

    _last: tuple[Any, Any]  # rows, and the same rows with the columns that have occurred

    def __init__(self, n_columns: int, numbers: Any = ()):
        self.n_columns = n_columns
        self._width = 0
        self.numbers = np.array(numbers, dtype=np.int64)  # of the columns, by their places
        self.forget_rows()

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        """The place of each column, -1 if it has not occurred; computed when rows come."""
        places = np.full(self.n_columns, -1, dtype=np.int32)
        places[self.numbers] = np.arange(len(self.numbers))
        return places

    @classmethod
    def suits(cls, X: Any) -> bool:
        """Return whether ``X`` is sparse, and wide enough to leave out unseen columns."""
        n_columns: int = X.shape[1]
        return scipy.sparse.issparse(X) and n_columns >= MIN_COLUMNS

    def add_and_select(self, X: Any) -> Any:
        """Add the columns of ``X``, dense or not; return ``X`` with the columns seen so far."""
        if self._last[0] is not X:
            matrix = scipy.sparse.csr_array(X)
            new = np.unique(matrix.indices[self._places[matrix.indices] < 0])
            self._places[new] = np.arange(len(self.numbers), len(self.numbers) + len(new))
            self.numbers = np.concatenate([self.numbers, new])
            self._last = X, self.select(matrix)
        return self._last[1]

    def select(self, X: Any) -> Any:
        """Return ``X`` with the columns that have occurred in training."""
        if self._last[0] is X:
            return self._last[1]
        matrix = scipy.sparse.csr_array(X)
        places = self._places[matrix.indices]
        is_known, starts, data = places >= 0, matrix.indptr, matrix.data
        if not is_known.all():
            counts = np.concatenate([[0], np.cumsum(is_known)])
            places, data, starts = places[is_known], data[is_known], counts[starts]
        shape = matrix.shape[0], max(len(self.numbers), self._width)
        return scipy.sparse.csr_array((data, places, starts), shape=shape)

    def places_of(self, numbers: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the places of columns that have occurred."""
        order = np.argsort(self.numbers)
        return order[np.searchsorted(self.numbers, numbers, sorter=order)]

    def restore_all(self, coef: NDArray[Any]) -> NDArray[Any]:
        """Return coefficients of all columns: zero for those that have not occurred."""
        restored = np.zeros((len(coef), self.n_columns), dtype=coef.dtype)
        restored[:, self.numbers] = coef[:, : len(self.numbers)]
        return restored

    def make_room(self, width: int) -> None:
        """Return rows of at least ``width`` columns from now on: there are as many coefficients."""
        if width != self._width:
            self._width = width
            self.forget_rows()

    def forget_rows(self) -> None:
        """Drop the rows that were seen last."""
        self._last = None, None

    def __reduce__(self) -> tuple[Any, ...]:
        return SeenColumns, (self.n_columns, self.numbers)
