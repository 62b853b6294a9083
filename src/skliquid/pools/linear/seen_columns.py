"""Columns: those of wide sparse rows that have occurred, since no others need coefficients."""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

FEWEST_COLUMNS = 4096
"""With fewer columns, each has a coefficient from the start."""


class SeenColumns:
    """Where the columns that have occurred are among the coefficients of a pool.

    The coefficient of a column that never occurred in training is zero. So such columns are left
    out of training and prediction, which changes no bit: zeros add nothing to a sum.

    Examples
    --------
    >>> columns = SeenColumns(5)
    >>> columns.taught(scipy.sparse.csr_array([[0.0, 2.0, 0.0, 0.0, 1.0]])).toarray().tolist()
    [[2.0, 1.0]]
    >>> columns.known(scipy.sparse.csr_array([[3.0, 0.0, 0.0, 0.0, 4.0]])).toarray().tolist()
    [[0.0, 4.0]]
    >>> columns.whole(np.array([[0.5, 0.25]])).tolist()
    [[0.0, 0.5, 0.0, 0.0, 0.25]]
    """

    _last: tuple[Any, Any]  # rows, and those with the columns that have occurred

    def __init__(self, n_columns: int, numbers: Any = ()):
        self.n_columns = n_columns
        self._width = 0
        self.numbers = np.array(numbers, dtype=np.int64)  # of the columns, by their places
        self.forget_rows()

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        """The place of each column, -1 if it has not occurred; made when rows come."""
        places = np.full(self.n_columns, -1, dtype=np.int32)
        places[self.numbers] = np.arange(len(self.numbers))
        return places

    @classmethod
    def suit(cls, X: Any) -> bool:
        """Return whether it pays to tell columns that occur in ``X`` from others."""
        n_columns: int = X.shape[1]
        return scipy.sparse.issparse(X) and n_columns >= FEWEST_COLUMNS

    def taught(self, X: Any) -> Any:
        """Return ``X`` with the columns that have occurred, after those of ``X``, dense or not."""
        if self._last[0] is not X:
            matrix = scipy.sparse.csr_array(X)
            new = np.unique(matrix.indices[self._places[matrix.indices] < 0])
            self._places[new] = np.arange(len(self.numbers), len(self.numbers) + len(new))
            self.numbers = np.concatenate([self.numbers, new])
            self._last = X, self.known(matrix)
        return self._last[1]

    def known(self, X: Any) -> Any:
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

    def whole(self, coef: NDArray[Any]) -> NDArray[Any]:
        """Return coefficients with a column for each that there is."""
        whole = np.zeros((len(coef), self.n_columns), dtype=coef.dtype)
        whole[:, self.numbers] = coef[:, : len(self.numbers)]
        return whole

    def make_room(self, width: int) -> None:
        """Return rows of at least ``width`` columns from now on: there are as many coefficients."""
        if width != self._width:
            self._width = width
            self.forget_rows()

    def forget_rows(self) -> None:
        """Drop the rows that were seen last."""
        self._last = None, None

    def copied(self) -> "SeenColumns":
        """Return a copy that can go its own way."""
        return SeenColumns(self.n_columns, self.numbers)

    def __reduce__(self) -> tuple[Any, ...]:
        return SeenColumns, (self.n_columns, self.numbers)
