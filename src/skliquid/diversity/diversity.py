"""Diversity: how voters are made different, beyond their seeds."""

from typing import Any

from sklearn.base import BaseEstimator

from skliquid.diversity.feature_maps import SIGNED_LOG
from skliquid.diversity.hyperparameters import (
    DEFAULT_NAMES,
    DefaultsWithout,
    default_hyperparameters,
)


class Diversity(BaseEstimator):
    """Hyperparameters and feature maps that voters do not have in common.

    Parameters
    ----------
    param_distributions : dict, list of dict, "auto" or None, default="auto"
        Hyperparameters that each voter draws for itself, from lists or from distributions with
        ``rvs``, as in ``RandomizedSearchCV``. The search is then part of the training: voters with
        bad hyperparameters delegate, and their votes are kept. For a list of estimators the keys
        of a dict can start with a name: ``"forest__max_features"`` is drawn by the voters of
        ``"forest"`` alone. :class:`~skliquid.diversity.Spread` deals values out evenly.
        ``"auto"``: if the ensemble's ``estimator`` is None, those of
        ``skliquid.diversity.default_hyperparameters``, else nothing.
    feature_maps : list of transformers, dict, "fourier", "auto" or None, default="auto"
        Transformers through which voters see the rows, spread evenly over the voters:
        ``RBFSampler`` and ``Nystroem`` make linear voters non-linear. They are fitted, without
        labels, to the rows of ``fit`` or of the first call of ``partial_fit``, and each increment
        is transformed once for all voters of a map. ``"passthrough"`` in the list stands for the
        rows as they are. ``"fourier"``: a third of the voters see the signed logarithm of each
        standardized feature, the others random Fourier features of that, of two bandwidths; missing
        values are zero after standardization. A dict has such values by the names of estimators;
        voters of other estimators see the rows as they are. ``"auto"``: ``{"linear": "fourier"}``
        if the ensemble's ``estimator`` is None, else None.

    Examples
    --------
    >>> from sklearn.kernel_approximation import RBFSampler
    >>> Diversity(feature_maps=["passthrough", RBFSampler(gamma=0.1)])
    Diversity(feature_maps=['passthrough', RBFSampler(gamma=0.1)])

    For a list of estimators called ``"linear"`` and ``"forest"``:

    >>> from skliquid.diversity import Spread
    >>> drawn = {"forest__min_samples_leaf": Spread((1, 2, 3))}
    >>> diversity = Diversity(param_distributions=drawn, feature_maps={"linear": "fourier"})
    """

    def __init__(self, *, param_distributions: Any = "auto", feature_maps: Any = "auto"):
        self.param_distributions = param_distributions
        self.feature_maps = feature_maps

    def resolved(
        self, *, has_default_estimator: bool, is_wide: bool = False, **data: Any
    ) -> "Diversity":
        """Return this diversity with what ``"auto"`` stands for.

        ``is_wide`` says whether rows are sparse with very many columns. ``data`` are what the
        default voters depend on; see ``default_hyperparameters``.
        """
        params, maps = self.param_distributions, self.feature_maps
        if is_auto(params):
            params = default_hyperparameters(**data) if has_default_estimator else None
        elif isinstance(params, DefaultsWithout):
            params = params.resolved(**data)
        elif has_default_estimator and isinstance(params, dict):
            left_out = set(DEFAULT_NAMES) - set(data.get("names", DEFAULT_NAMES))
            params = {k: v for k, v in params.items() if k.partition("__")[0] not in left_out}
        if is_auto(maps):
            default = {"linear": [SIGNED_LOG] if is_wide else "fourier"}
            maps = default if has_default_estimator else None
        return Diversity(param_distributions=params, feature_maps=maps)


def as_diversity(diversity: Any) -> Any:
    """Return the diversity that "auto" or None stands for, and any other value unchanged."""
    if diversity is None:
        return Diversity(param_distributions=None, feature_maps=None)
    return Diversity() if is_auto(diversity) else diversity


def is_auto(value: Any) -> bool:
    """Return whether ``value`` is the string ``"auto"``, and not an array or another object."""
    return isinstance(value, str) and value == "auto"
