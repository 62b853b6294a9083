"""RecentRows: the last rows of a stream, for trees to be grown on."""

import copy
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from skliquid.arrays import Floats

_FEWEST_PLACES = 1024


class RecentRows:
    """At most ``most`` rows: when it is full, new rows take the places of the oldest.

    ``weights`` has one row for each set of weights, or is None while all rows count the same.

    Examples
    --------
    >>> recent = RecentRows(3)
    >>> for value in range(5):
    ...     recent.append(np.array([[float(value)]]), np.array([value % 2]), None)
    >>> recent.X.ravel().tolist(), recent.y.tolist(), recent.n_seen
    ([3.0, 4.0, 2.0], [1, 0, 0], 5)
    """

    def __init__(self, most: int):
        self.most = most
        self.n_seen = 0
        self._X: Any = None
        self._y: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._weights: Floats | None = None
        self._waiting: list[tuple[NDArray[np.intp], Any]] = []  # sparse rows, and their places

    @property
    def n_kept(self) -> int:
        """How many rows there are."""
        return min(self.n_seen, self.most)

    @property
    def X(self) -> Any:
        """The rows, in the order of their places."""
        self._put_sparse_rows()
        return self._X[: self.n_kept]

    @property
    def y(self) -> NDArray[np.int32]:
        """Their labels."""
        return self._y[: self.n_kept]

    @property
    def weights(self) -> Floats | None:
        """Their weights."""
        return None if self._weights is None else self._weights[:, : self.n_kept]

    def append(self, X: Any, y: NDArray[Any], weights: Floats | None) -> None:
        """Take in more rows."""
        last = slice(max(len(y) - self.most, 0), len(y))
        places = np.arange(self.n_seen + last.start, self.n_seen + last.stop) % self.most
        self.n_seen += len(y)
        if weights is not None and self._weights is None:
            self._weights = np.ones((len(np.atleast_2d(weights)), len(self._y)))
        self._make_room()
        self._y[places] = y[last]
        if self._weights is not None:
            self._weights[:, places] = 1.0 if weights is None else weights[..., last]
        self._put(places, X[last])

    def fill(self, X: Any, y: NDArray[Any], weights: Floats | None, n_seen: int) -> None:
        """Become the rows that are left of ``n_seen``, in the order of their places."""
        self.n_seen, self._X, self._y = n_seen, X.copy(), y.astype(np.int32)
        self._weights = None if weights is None else weights.copy()

    def relabel(self, positions: NDArray[Any]) -> None:
        """Replace each label by its position among more classes."""
        self._y = positions[self._y].astype(np.int32)

    def copy(self) -> "RecentRows":
        """Return a copy to which rows can be appended."""
        return copy.deepcopy(self)

    def _make_room(self) -> None:
        if len(self._y) < self.n_kept:
            n_places = min(max(2 * self.n_kept, _FEWEST_PLACES), self.most)
            self._y = _extended(self._y, n_places)
            if self._weights is not None:
                self._weights = np.ascontiguousarray(_extended(self._weights.T, n_places).T)

    def _put(self, places: NDArray[np.intp], X: Any) -> None:
        if self._X is None:  # the first rows decide whether all are kept sparse
            is_sparse = scipy.sparse.issparse(X)
            none = (0, X.shape[1])
            self._X = (
                scipy.sparse.csr_array(none, dtype=X.dtype)
                if is_sparse
                else np.empty(none, X.dtype)
            )
        if scipy.sparse.issparse(self._X):
            self._waiting.append((places, scipy.sparse.csr_array(X, copy=True)))
            if sum(len(own) for own, _ in self._waiting) >= self.most:
                self._put_sparse_rows()
            return
        new = X.toarray() if hasattr(X, "toarray") else X
        dtype = np.result_type(self._X, new)
        if len(self._X) < len(self._y) or self._X.dtype != dtype:
            self._X = _extended(self._X.astype(dtype, copy=False), len(self._y))
        self._X[places] = new

    def _put_sparse_rows(self) -> None:
        """Put sparse rows that came one by one in their places, which takes a copy of all."""
        if not self._waiting:
            return
        n_before = self._X.shape[0]
        both = scipy.sparse.vstack([self._X, *(X for _, X in self._waiting)], format="csr")
        places = np.concatenate([own for own, _ in self._waiting])
        source = np.arange(self.n_kept)
        source[places] = n_before + np.arange(len(places))  # of two with one place the later
        self._X, self._waiting = both[source], []


def _extended(array: NDArray[Any], n_rows: int) -> NDArray[Any]:
    whole = np.zeros((n_rows, *array.shape[1:]), dtype=array.dtype)
    whole[: len(array)] = array
    return whole
