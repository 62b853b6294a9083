"""Rows: features, labels and weights as one value."""

from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats, RowNumbers, Voters, stacked
from skliquid.delegation.storable import Array, require, storable


@storable
class Rows(NamedTuple):
    """Features, labels and weights of some rows.

    ``sample_weight`` has one weight per row. If each voter has its own sample, it has one row per
    voter, in the order in which the voters are passed.
    """

    X: Any  # array or sparse matrix
    y: Annotated[NDArray[Any], Array("")]  # positions of classes, or labels as given
    sample_weight: Floats | None = None
    numbers: RowNumbers | None = None  # positions in all the data; None if these are all

    def check_stored(self) -> None:
        """Raise unless there are as many labels, weights and numbers as rows."""
        require(self.X.ndim == 2 and self.X.dtype.kind == "f", "rows of numbers")
        parts = [part for part in self[1:] if part is not None]
        is_valid = all(part.shape == (self.X.shape[0],) for part in map(np.asarray, parts))
        require(is_valid, "a label, a weight and a number for each row")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def positions(self) -> RowNumbers:
        """Positions of these rows in all the data."""
        return range(self.n_rows) if self.numbers is None else self.numbers

    @property
    def has_weights_per_voter(self) -> bool:
        """Whether each voter has weights of its own."""
        return self.sample_weight is not None and self.sample_weight.ndim == 2

    def at(self, positions: slice | NDArray[np.intp]) -> "Rows":
        """Return the rows at ``positions``."""
        numbers: Any = self.numbers
        if isinstance(numbers, range) and not isinstance(positions, slice):
            numbers = positions + numbers.start
        elif numbers is not None:
            numbers = numbers[positions]
        weights = None if self.sample_weight is None else self.sample_weight[..., positions]
        return Rows(self.X[positions], self.y[positions], weights, numbers)

    def followed_by(self, more: "Rows") -> "Rows":
        """Return these rows and then ``more``."""
        numbers = None
        if self.numbers is not None and more.numbers is not None:
            numbers = np.concatenate([np.asarray(self.numbers), np.asarray(more.numbers)])
        X, y = stacked([self.X, more.X]), np.concatenate([self.y, more.y])
        return Rows(X, y, _joined_weights(self, more), numbers)

    def has_same_data(self, other: "Rows") -> bool:
        """Return whether features and labels are the same, whatever the weights."""
        X, y = other.X, other.y
        if self.X.shape != X.shape or not np.array_equal(self.y, y):
            return False
        if scipy.sparse.issparse(self.X) and scipy.sparse.issparse(X):
            differences: Any = self.X != X
            return bool(differences.nnz == 0)
        return type(self.X) is type(X) and np.array_equal(self.X, X, equal_nan=True)

    def without_zero_weights(self) -> "Rows":
        """Return the rows with a weight above zero."""
        if self.sample_weight is None or self.sample_weight.all():
            return self
        return self.at(np.flatnonzero(self.sample_weight))

    def repeated(self) -> "Rows":
        """Return each row as often as its weight, for voters that do not accept weights."""
        if self.sample_weight is None:
            return self
        positions = np.repeat(np.arange(self.n_rows), self.sample_weight.astype(np.intp))
        return Rows(self.X[positions], self.y[positions])

    def copied(self) -> "Rows":
        """Return a copy: the caller may overwrite its arrays."""
        weights = None if self.sample_weight is None else self.sample_weight.copy()
        return self._replace(X=self.X.copy(), sample_weight=weights)

    def for_voters(self, positions: Voters | slice) -> "Rows":
        """Return the rows with the weights of the voters at ``positions``."""
        if self.sample_weight is None or not self.has_weights_per_voter:
            return self
        return self._replace(sample_weight=self.sample_weight[positions])

    def for_voter(self, position: int) -> "Rows":
        """Return the rows with one weight per row: those of the voter at ``position``."""
        if self.sample_weight is None or not self.has_weights_per_voter:
            return self
        return self._replace(sample_weight=self.sample_weight[position])

    @property
    def weights_argument(self) -> dict[str, Floats]:
        """``sample_weight`` as a keyword argument of scikit-learn's ``fit``, or nothing."""
        return {} if self.sample_weight is None else {"sample_weight": self.sample_weight}


def _joined_weights(*parts: Rows) -> Floats | None:
    if all(part.sample_weight is None for part in parts):
        return None
    weights = [np.ones(p.n_rows) if p.sample_weight is None else p.sample_weight for p in parts]
    return np.concatenate(weights, axis=-1)
