"""Diversity: how voters are made different, beyond their seeds."""

from typing import Any

from sklearn.base import BaseEstimator

from skliquid.diversity.hyperparameters import DEFAULT_HYPERPARAMETERS


class Diversity(BaseEstimator):
    """Hyperparameters and feature maps that voters do not have in common.

    Parameters
    ----------
    param_distributions : dict, list of dict, "auto" or None, default="auto"
        Hyperparameters that each voter draws for itself, from lists or from distributions with
        ``rvs``, as in ``RandomizedSearchCV``. The search is then part of the training: voters with
        bad hyperparameters delegate, and their votes are kept. ``"auto"``: if the ensemble's
        ``estimator`` is None, ``alpha`` from 1e-6 to 1e-3 and ``eta0`` from 0.05 to 20, both on a
        logarithmic scale, else nothing.
    feature_maps : list of transformers, "fourier", "auto" or None, default="auto"
        Transformers through which voters see the rows, spread evenly over the voters:
        ``RBFSampler`` and ``Nystroem`` make linear voters non-linear. They are fitted, without
        labels, to the rows of ``fit`` or of the first call of ``partial_fit``, and each increment
        is transformed once for all voters of a map. ``"passthrough"`` in the list stands for the
        rows as they are. ``"fourier"``: a third of the voters see the signed logarithm of each
        feature, the others random Fourier features of that, of two bandwidths, which suit scaled
        features. ``"auto"``: ``"fourier"`` if the ensemble's ``estimator`` is None, else None.

    Examples
    --------
    >>> from sklearn.kernel_approximation import RBFSampler
    >>> Diversity(feature_maps=["passthrough", RBFSampler(gamma=0.1)])
    Diversity(feature_maps=['passthrough', RBFSampler(gamma=0.1)])
    """

    def __init__(self, *, param_distributions: Any = "auto", feature_maps: Any = "auto"):
        self.param_distributions = param_distributions
        self.feature_maps = feature_maps

    def resolved(self, *, has_default_estimator: bool) -> "Diversity":
        """Return this diversity with what ``"auto"`` stands for."""
        params, maps = self.param_distributions, self.feature_maps
        if is_auto(params):
            params = DEFAULT_HYPERPARAMETERS if has_default_estimator else None
        if is_auto(maps):
            maps = "fourier" if has_default_estimator else None
        return Diversity(param_distributions=params, feature_maps=maps)


def as_diversity(diversity: Any) -> Any:
    """Return the diversity that "auto" or None stands for, and any other value unchanged."""
    if diversity is None:
        return Diversity(param_distributions=None, feature_maps=None)
    return Diversity() if is_auto(diversity) else diversity


def is_auto(value: Any) -> bool:
    """Return whether ``value`` is the string ``"auto"``, and not an array or another object."""
    return isinstance(value, str) and value == "auto"
