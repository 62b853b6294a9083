"""FourierFeatures: scikit-learn's random Fourier features with compiled cosines."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.kernel_approximation import RBFSampler
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from skliquid import native
from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import Positive, require, storable
from skliquid.validation.data_types import checked_sparse


@storable
class FourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random Fourier features of a Gaussian kernel.

    Directions, offsets and output are those of
    :class:`~sklearn.kernel_approximation.RBFSampler`, except for the last bits: compiled cosines
    take a tenth of the time.

    Parameters
    ----------
    gamma : float or "scale", default=1.0
        The inverse of twice the squared bandwidth.
    n_components : int, default=100
        Number of output features.
    random_state : int, RandomState instance or None, default=None
        Seeds the directions and offsets.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> ours = FourierFeatures(random_state=0).fit_transform(X)
    >>> theirs = RBFSampler(random_state=0).fit_transform(X)
    >>> bool(np.abs(ours - theirs).max() < 1e-15)
    True
    """

    sampler_: RBFSampler
    _n_features_out: Positive

    def __init__(self, *, gamma: Any = 1.0, n_components: int = 100, random_state: Any = None):
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw directions and offsets; of ``X`` the width is used, with "scale" the variance."""
        sampler = RBFSampler(
            gamma=self.gamma, n_components=self.n_components, random_state=self.random_state
        )
        self.sampler_ = sampler.fit(checked_sparse(X))  # which checks rows and parameters
        seen = {"n_features_in_", "feature_names_in_"}
        self.__dict__ |= {name: vars(sampler)[name] for name in seen & vars(sampler).keys()}
        self._n_features_out = self.n_components
        return self

    def transform(self, X: Any) -> Floats:
        """Return the features."""
        check_is_fitted(self)
        accepted: Any = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
        X = validate_data(self, checked_sparse(X), reset=False, **accepted)
        return fourier_waves(self.sampler_, X, compiled=True)

    def check_stored(self) -> None:
        """Raise unless the sampler is for the same columns."""
        is_same = self.sampler_.n_features_in_ == self.n_features_in_
        require(is_same, "a sampler for its own columns")

    def onnx_nodes(self, rows: Any) -> Any:
        """Return the same as a tensor of an ONNX graph; see ``onnx/graph_builder.py``."""
        return fourier_nodes(rows, self.sampler_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def fourier_waves(sampler: RBFSampler, X: Any, *, compiled: bool = False) -> Floats:
    """Return the output of ``sampler.transform`` for validated rows.

    With compiled cosines the last bits differ.
    """
    waves: Floats = X @ sampler.random_weights_
    waves += sampler.random_offset_
    scale = (2.0 / sampler.n_components) ** 0.5
    if compiled and waves.dtype == np.float64 and waves.flags.c_contiguous:
        native.cosines(waves.reshape(-1), scale)
    else:
        np.cos(waves, waves)
        waves *= scale
    return waves


def fourier_nodes(rows: Any, sampler: RBFSampler) -> Any:
    """Return the output of ``sampler.transform`` as a tensor of an ONNX graph.

    It has sines, since more versions of onnxruntime have them in float64 than cosines.
    """
    phases = rows @ sampler.random_weights_ + (sampler.random_offset_ + np.pi / 2)
    n = sampler.n_components
    return phases.op("Sin").divide_columns(np.full(n, (n / 2) ** 0.5))
