"""EstimatorComposition: the parameter ``estimator``, one classifier or a list of named ones."""

from typing import Any, Self

import scipy.sparse
from sklearn.base import ClassifierMixin, clone
from sklearn.linear_model import SGDClassifier
from sklearn.utils import Tags

from skliquid.diversity import DefaultsWithout, Diversity, as_diversity, is_auto
from skliquid.parameters import Composition, shared_tags
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

DEFAULT_ESTIMATORS: list[tuple[str, Any]] = [
    (
        "linear",
        SGDClassifier(
            loss="log_loss",
            learning_rate="invscaling",
            eta0=1.0,
            power_t=0.25,
            average=True,
            n_iter_no_change=1,
        ),
    ),
    ("forest", RandomizedForestClassifier()),
    ("boosted", BoostedTreesClassifier()),
]
"""The default voters; averaged coefficients need no long convergence."""

MOST_SPARSE_COLUMNS = 5_000
"""Sparse rows with more columns, such as texts, are left to the linear ones."""

MOST_CLASSES = 1_000
"""With more classes the forests are left alone: each tree of the others looks at all classes of
each row, and so does each step of a linear voter."""


def is_wide(X: Any) -> bool:
    """Return whether rows are sparse with so many columns that only linear voters see them."""
    n_columns: int = X.shape[1]
    return scipy.sparse.issparse(X) and n_columns > MOST_SPARSE_COLUMNS


class EstimatorComposition(ClassifierMixin, Composition):
    """Parameters of a classifier with parameters ``estimator`` and ``diversity``."""

    estimator: Any
    diversity: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with those of the estimators in a list under their names.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the parameters of estimators as well.

        Returns
        -------
        params : dict
            Parameters by name.
        """
        is_list = deep and isinstance(self.estimator, list)
        params: dict[str, Any] = (
            self._get_params("estimator") if is_list else super().get_params(deep=deep)
        )
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of estimators as ``estimator__alpha`` or ``name__alpha``.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self : LiquidEnsembleClassifier
            The ensemble.
        """
        if any(name.startswith("diversity__") for name in params):  # "auto" and None have none
            params = params | {"diversity": as_diversity(params.get("diversity", self.diversity))}
        if params.get("estimator", self.estimator) is None:
            params = self._with_explicit_defaults(params)
        if isinstance(params.get("estimator", self.estimator), list):
            self._set_params("estimator", **params)
        else:
            super().set_params(**params)
        return self

    def _with_explicit_defaults(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return ``params`` with the default voters spelled out, if they set parameters of them."""
        names = [name for name, _ in DEFAULT_ESTIMATORS]
        for key in (key for key in params if key.startswith("estimator__")):
            raise ValueError(
                f"{key} must not be set where estimator is None: the default voters are called "
                f"{', '.join(names)}. Set linear__{key.partition('__')[2]}, for example, or give "
                "an estimator."
            )
        own = {key for key in params if key.partition("__")[0] in names}
        if not own:
            return params
        chosen = as_diversity(params.get("diversity", self.diversity))
        diversity = chosen.resolved(has_default_estimator=True)
        if is_auto(chosen.param_distributions):
            diversity.set_params(param_distributions=DefaultsWithout(tuple(sorted(own))))
        estimators = []
        for name, default in DEFAULT_ESTIMATORS:  # set here, so that an error changes nothing
            chosen_params = {key: params[key] for key in own if key.startswith(f"{name}__")}
            estimator = params[name] if name in params else clone(default)
            estimator.set_params(**{key.partition("__")[2]: v for key, v in chosen_params.items()})
            estimators.append((name, estimator))
        others = {key: value for key, value in params.items() if key not in own}
        return others | {"estimator": estimators, "diversity": diversity}

    def _named_estimators(self) -> list[tuple[str, Any]]:
        if self.estimator is None:
            return DEFAULT_ESTIMATORS
        if isinstance(self.estimator, list):
            return self.estimator
        return [("", self.estimator)]  # what "estimator__alpha" means is up to it

    def _estimators(self) -> list[Any]:
        return [estimator for _, estimator in self._named_estimators()]

    def _estimators_for(self, X: Any, n_classes: int) -> list[tuple[str, Any]]:
        """Return the named estimators that suit the rows and the classes."""
        named = self._named_estimators()
        if self.estimator is not None:
            return named
        if is_wide(X):
            return named[:1]
        return named[1:2] if n_classes > MOST_CLASSES else named

    def __sklearn_tags__(self) -> Tags:
        pairs = [pair for pair in self._named_estimators() if isinstance(pair, tuple) and pair]
        tags = shared_tags(super().__sklearn_tags__(), [pair[-1] for pair in pairs])
        seeing = [pair[-1] for pair in pairs if not self._has_fourier_maps(pair[0])]
        seen = shared_tags(super().__sklearn_tags__(), seeing).input_tags
        tags.input_tags.allow_nan = seen.allow_nan
        return tags

    def _has_fourier_maps(self, name: str) -> bool:
        """Return whether the voters of an estimator see no missing values, since maps fill them."""
        chosen = as_diversity(self.diversity)
        if not isinstance(chosen, Diversity):
            return False
        only_maps = Diversity(param_distributions=None, feature_maps=chosen.feature_maps)
        maps = only_maps.resolved(has_default_estimator=self.estimator is None).feature_maps
        own = maps.get(name) if isinstance(maps, dict) else maps
        return isinstance(own, str)
