"""RecentRows: the last rows of a stream, for trees to be grown on."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import Array, Count, Positive, require, storable

_MIN_PLACES = 1024


@dataclass(frozen=True, eq=False)
class StoredRows:
    """The rows that are kept, in the order of their places."""

    max_rows: Positive
    n_seen: Count
    X: Any = None
    y: Annotated[NDArray[np.integer[Any]], Array("n_rows", high=2**31 - 1)] | None = None
    weights: Annotated[Floats, Array("n_sets", "n_rows", low=0)] | None = None


@storable
class RecentRows:
    """At most ``max_rows`` rows: when it is full, new rows take the places of the oldest.

    ``weights`` has one row for each set of weights, or is None while all rows count the same.

    Examples
    --------
    >>> recent = RecentRows(3)
    >>> for value in range(5):
    ...     recent.append(np.array([[float(value)]]), np.array([value % 2]), None)
    >>> recent.X.ravel().tolist(), recent.y.tolist(), recent.n_seen
    ([3.0, 4.0, 2.0], [1, 0, 0], 5)
    """

    stored_as = StoredRows

    def __init__(self, max_rows: int):
        self.max_rows = max_rows
        self.n_seen = 0
        self._X: Any = None
        self._y: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._weights: Floats | None = None
        self._waiting: list[tuple[NDArray[np.intp], Any]] = []  # sparse rows, and their places

    @property
    def n_kept(self) -> int:
        """Number of rows."""
        return min(self.n_seen, self.max_rows)

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
        """Append rows."""
        last = slice(max(len(y) - self.max_rows, 0), len(y))
        places = np.arange(self.n_seen + last.start, self.n_seen + last.stop) % self.max_rows
        self.n_seen += len(y)
        if weights is not None and self._weights is None:
            self._weights = np.ones((len(np.atleast_2d(weights)), len(self._y)))
        if len(self._y) < self.n_kept:
            self._make_room(min(max(2 * self.n_kept, _MIN_PLACES), self.max_rows))
        self._y[places] = y[last]
        if self._weights is not None:
            self._weights[:, places] = 1.0 if weights is None else weights[..., last]
        self._put(places, X[last])

    def to_stored(self) -> StoredRows:
        """Return the rows that are kept."""
        X, y = (self.X, self.y) if self.n_seen else (None, None)
        return StoredRows(self.max_rows, self.n_seen, X, y, self.weights)

    @classmethod
    def from_stored(cls, stored: StoredRows) -> "RecentRows":
        """Return rows as they were stored."""
        recent, X, y = cls(stored.max_rows), stored.X, stored.y
        n_kept = min(stored.n_seen, stored.max_rows)
        has_all = X.shape[0] == len(y) == n_kept > 0 if y is not None else n_kept == 0
        are_numbers = y is None or (X.ndim == 2 and X.dtype.kind == "f")
        require(has_all and are_numbers, f"{n_kept} rows of numbers")
        if y is not None:
            recent.n_seen, recent._X, recent._y = stored.n_seen, X.copy(), y.astype(np.int32)
            recent._weights = None if stored.weights is None else stored.weights.copy()
        return recent

    def fit_into(self, n_columns: int, n_classes: int) -> bool:
        """Return whether the rows have at least these columns, and labels below ``n_classes``."""
        if not self.n_kept:
            return True
        return self._X.shape[1] >= n_columns and bool(self.y.max() < n_classes)

    def relabel(self, positions: NDArray[Any]) -> None:
        """Replace each label by its position among more classes."""
        self._y = positions[self._y].astype(np.int32)

    def _make_room(self, n_places: int) -> None:
        self._y = _extend(self._y, n_places)
        if self._weights is not None:
            self._weights = np.ascontiguousarray(_extend(self._weights.T, n_places).T)

    def _put(self, places: NDArray[np.intp], X: Any) -> None:
        if self._X is None:  # the first rows decide whether all are kept sparse
            none: Any = X[:0]
            self._X = scipy.sparse.csr_array(none) if scipy.sparse.issparse(X) else none.copy()
        if scipy.sparse.issparse(self._X):
            self._waiting.append((places, scipy.sparse.csr_array(X, copy=True)))
            if sum(len(own) for own, _ in self._waiting) >= self.max_rows:
                self._put_sparse_rows()
            return
        new = X.toarray() if hasattr(X, "toarray") else X
        dtype = np.result_type(self._X, new)
        if len(self._X) < len(self._y) or self._X.dtype != dtype:
            self._X = _extend(self._X.astype(dtype, copy=False), len(self._y))
        self._X[places] = new

    def _put_sparse_rows(self) -> None:
        """Put the waiting sparse rows in their places; this copies all rows."""
        if not self._waiting:
            return
        n_before = self._X.shape[0]
        both = scipy.sparse.vstack([self._X, *(X for _, X in self._waiting)], format="csr")
        places = np.concatenate([own for own, _ in self._waiting])
        source = np.arange(self.n_kept)
        source[places] = n_before + np.arange(len(places))  # of two with one place the later
        self._X, self._waiting = both[source], []


def _extend(array: NDArray[Any], n_rows: int) -> NDArray[Any]:
    extended = np.zeros((n_rows, *array.shape[1:]), dtype=array.dtype)
    extended[: len(array)] = array
    return extended
