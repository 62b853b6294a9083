"""EstimatorComposition: the parameter ``estimator``, one classifier or a list of named ones."""

from typing import Any, Self

from sklearn.base import ClassifierMixin, clone
from sklearn.linear_model import SGDClassifier
from sklearn.utils import Tags

from skliquid.diversity import as_diversity, is_auto
from skliquid.parameters import Composition, shared_tags

DEFAULT_ESTIMATOR = SGDClassifier(
    loss="log_loss",
    learning_rate="invscaling",
    eta0=1.0,
    power_t=0.25,
    average=True,
    n_iter_no_change=1,
)
"""The default voter; averaged coefficients need no long convergence."""

_PREFIX = "estimator__"


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
        """Return ``params`` with the default voter spelled out, if they set parameters of it."""
        own = {k.removeprefix(_PREFIX): v for k, v in params.items() if k.startswith(_PREFIX)}
        if not own:
            return params
        params = {k: v for k, v in params.items() if not k.startswith(_PREFIX)}
        chosen = as_diversity(params.get("diversity", self.diversity))
        diversity = chosen.resolved(has_default_estimator=True)
        if is_auto(chosen.param_distributions):
            drawn = diversity.param_distributions
            left = {name: values for name, values in drawn.items() if name not in own}
            if len(left) < len(drawn):
                diversity.set_params(param_distributions=left or None)
        estimator = clone(DEFAULT_ESTIMATOR).set_params(**own)
        return params | {"estimator": estimator, "diversity": diversity}

    def _named_estimators(self) -> list[tuple[str, Any]]:
        if isinstance(self.estimator, list):
            return self.estimator
        return [("estimator", DEFAULT_ESTIMATOR if self.estimator is None else self.estimator)]

    def _estimators(self) -> list[Any]:
        return [estimator for _, estimator in self._named_estimators()]

    def __sklearn_tags__(self) -> Tags:
        pairs = [pair for pair in self._named_estimators() if isinstance(pair, tuple) and pair]
        return shared_tags(super().__sklearn_tags__(), [pair[-1] for pair in pairs])
