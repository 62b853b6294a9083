"""Standardizer: features of mean zero and variance one, without missing values."""

from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import Array, storable
from skliquid.validation.data_types import checked_sparse

ROWS = 10_000
"""The most rows that means and deviations are computed from."""

_ACCEPTED: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "ensure_all_finite": "allow-nan",
}


@storable
class Standardizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Standardize columns, as linear voters need it, and replace missing values by zero.

    Binary columns, such as one-hot encoded categories, and sparse rows stay unchanged. Means and
    deviations come from at most 10,000 rows, at equal distances.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, 1.0]])
    >>> Standardizer().fit_transform(X).tolist()
    [[-1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    """

    mean_: Annotated[Floats, Array("n_features")]
    scale_: Annotated[Floats, Array("n_features", low=1e-150)]

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 (as scikit-learn calls it)
        """Compute means and deviations."""
        X = validate_data(self, checked_sparse(X), **_ACCEPTED)
        n_columns = X.shape[1]
        self.mean_, self.scale_ = np.zeros(n_columns), np.ones(n_columns)
        if scipy.sparse.issparse(X):
            return self
        sample = np.asarray(X[:: -(-len(X) // ROWS)], dtype=np.float64)
        is_known = ~np.isnan(sample)
        n_known = np.maximum(is_known.sum(axis=0), 1)
        filled = np.where(is_known, sample, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = filled.sum(axis=0) / n_known
            squares = np.where(is_known, sample - mean, 0.0) ** 2
            deviation = np.sqrt(squares.sum(axis=0) / n_known)
        low = sample.min(axis=0, where=is_known, initial=np.inf)
        high = sample.max(axis=0, where=is_known, initial=-np.inf)
        is_binary = ((filled == 0) | (filled == 1)).all(axis=0)
        is_usual = np.isfinite(deviation) & ~is_binary
        varies = is_usual & (low < high) & (deviation > 0)  # that of equal numbers may be rounded
        self.mean_[is_usual], self.scale_[varies] = mean[is_usual], deviation[varies]
        return self

    def transform(self, X: Any) -> Any:
        """Return standardized rows."""
        check_is_fitted(self)
        return self.standardized(validate_data(self, checked_sparse(X), reset=False, **_ACCEPTED))

    def standardized(self, X: Any) -> Any:
        """Return standardized rows, for rows that were validated."""
        if scipy.sparse.issparse(X):
            sparse: Any = X
            filled = sparse.copy()
            filled.data = np.nan_to_num(filled.data)
            return filled
        with np.errstate(all="ignore"):  # what overflows becomes the largest number
            Z = (X - self.mean_.astype(X.dtype)) / self.scale_.astype(X.dtype)
        return np.nan_to_num(Z, copy=False)

    def onnx_nodes(self, rows: Any) -> Any:
        """Return the same as a tensor of an ONNX graph; see ``onnx/graph_builder.py``."""
        found = (rows - self.mean_).divide_columns(self.scale_)
        largest = np.finfo(np.float64).max
        return found.op("IsNaN").op("Where", 0.0, found).op("Clip", -largest, largest)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
