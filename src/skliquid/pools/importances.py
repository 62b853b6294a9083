"""Feature importances of voters, from their coefficients and splits."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from skliquid.delegation.arrays import Floats
from skliquid.diversity import FourierFeatures


def mean_importances(
    voters: Sequence[Any],
    features: Sequence[NDArray[np.intp]],
    weights: Sequence[int],
    n_features: int,
) -> Floats:
    r"""Return the importances of the features for several voters; they sum to one.

    .. math:: \frac{\sum_i w_i m_{ij}}{\sum_i w_i}

    for the weight :math:`w_i` of voter i and its importance :math:`m_{ij}` of feature j. The
    importances of each voter sum to one.
    """
    total = np.zeros(n_features)
    for voter, seen, weight in zip(voters, features, weights, strict=True):
        own = importances_of(voter)
        if own is None:
            raise AttributeError(
                "feature_importances_ exists only if every representative has importances: "
                f"{voter!r} has neither feature_importances_ nor coefficients of features. Use "
                "sklearn.inspection.permutation_importance."
            )
        total[seen] += weight * own / (own.sum() or 1.0)
    return total / (total.sum() or 1.0)


def importances_of(voter: Any) -> Floats | None:
    r"""Return a voter's importance of each feature, or None if it has none.

    It is ``feature_importances_``, or the mean over classes of :math:`|c_j|` for the coefficients
    :math:`c_j`. A map that changes each feature by itself changes nothing: the importance is that
    of the changed feature. Behind random Fourier features

    .. math:: \sum_k c_k \cos(\omega_k^\top x + b_k)

    it is the root mean square of the derivative, :math:`\sqrt{\frac12 \sum_k c_k^2
    \omega_{jk}^2}`. For coefficients of the features themselves, this derivative is :math:`|c_j|`.
    """
    *maps, last = steps_of(voter)
    if any(not (is_one_to_one(step) or is_fourier(step) or is_view(step)) for step in maps):
        return None
    if hasattr(last, "feature_importances_"):
        own: Floats = np.asarray(last.feature_importances_, dtype=np.float64)
        return None if any(map(is_fourier, maps)) else own
    if not hasattr(last, "coef_"):
        return None
    coef: Any = last.coef_
    coef = coef.toarray() if scipy.sparse.issparse(last.coef_) else np.atleast_2d(coef)
    for step in reversed(maps):
        if is_fourier(step):
            coef = _through_fourier(step, coef)
    sizes: Floats = np.abs(coef).mean(axis=0)
    return maps[0].importances(sizes) if maps and is_view(maps[0]) else sizes


def steps_of(voter: Any) -> list[Any]:
    """Return the feature maps of a voter and its classifier, without pipelines around them."""
    if not isinstance(voter, Pipeline):
        return [voter]
    steps = [step for _, step in voter.steps if step not in (None, "passthrough")]
    return [inner for step in steps for inner in steps_of(step)]


def is_one_to_one(step: Any) -> bool:
    """Return whether a map changes each feature by itself."""
    is_function = isinstance(step, FunctionTransformer) and step.feature_names_out == "one-to-one"
    return is_function or isinstance(step, OneToOneFeatureMixin)


def is_view(step: Any) -> bool:
    """Return whether a map is the numeric view of an encoded table."""
    return hasattr(step, "importances")


def is_fourier(step: Any) -> bool:
    """Return whether a map gives random Fourier features."""
    return isinstance(step, FourierFeatures | RBFSampler)


def _through_fourier(step: Any, coef: Floats) -> Floats:
    """Return root mean square derivatives with respect to the input of random features."""
    sampler = getattr(step, "sampler_", step)
    directions, n_components = sampler.random_weights_, sampler.random_weights_.shape[1]
    derivatives: Floats = np.sqrt(coef**2 @ (directions**2).T / n_components)
    return derivatives
