"""Diversity: how voters are made different beyond their seeds."""

from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator

from skliquid.delegation.storable import storable
from skliquid.diversity.hyperparameters import DefaultsWithout
from skliquid.validation.parameters import is_passthrough


@storable
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
        ``skliquid.presets.default_hyperparameters``, else nothing.
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

    def check(self, names: Sequence[str]) -> None:
        """Raise unless maps are transformers, and hyperparameters come from dicts.

        Maps may also be given by the ``names`` of the estimators.
        """
        maps = self.feature_maps
        by_name = maps if isinstance(maps, dict) else {}
        for unknown in (name for name in by_name if name not in names):
            raise ValueError(
                f"feature_maps must have names of estimators as keys: got {unknown!r}, which is "
                f"not among {list(filter(None, names))}. Correct it, or give a list of maps for "
                "all voters."
            )
        for own in by_name.values() if isinstance(maps, dict) else [maps]:
            _check_maps(own)
        _check_distributions(self.param_distributions)


def as_diversity(diversity: Any) -> Any:
    """Return the diversity that "auto" or None stands for; other values are returned unchanged."""
    if diversity is None:
        return Diversity(param_distributions=None, feature_maps=None)
    return Diversity() if is_auto(diversity) else diversity


def is_auto(value: Any) -> bool:
    """Return whether ``value`` is the string ``"auto"``, and not an array or another object."""
    return isinstance(value, str) and value == "auto"


def _check_maps(maps: Any) -> None:
    is_name = isinstance(maps, str) and maps in ("auto", "fourier")
    if not (maps is None or isinstance(maps, list) or is_name):
        raise ValueError(
            "feature_maps must be a list of transformers, 'fourier', 'auto' or None, or a dict of "
            f"these by the names of estimators: got {maps!r}. Give a list such as [RBFSampler()]."
        )
    for item in maps if isinstance(maps, list) else ():
        is_transformer = hasattr(item, "fit") and hasattr(item, "transform")
        if isinstance(item, type) or not (is_transformer or is_passthrough(item)):
            raise ValueError(
                "feature_maps must hold transformers, or 'passthrough' for rows as they are: got "
                f"{item!r}. Give objects such as RBFSampler()."
            )


def _check_distributions(distributions: Any) -> None:
    is_default = is_auto(distributions) or isinstance(distributions, DefaultsWithout)
    if distributions is None or is_default:
        return
    for space in distributions if isinstance(distributions, list) else [distributions]:
        if not isinstance(space, dict):
            raise TypeError(
                f"param_distributions must be a dict or a list of dicts: got {space!r}. Give "
                "lists or distributions by the names of hyperparameters."
            )
        for name in (name for name in space if name.rpartition("__")[2] == "random_state"):
            raise ValueError(
                "param_distributions must not draw random_state, since each voter has its own "
                f"seed: got {space[name]!r}. Set the ensemble's random_state instead."
            )
