"""NamedEstimators: the parameter ``estimator``, one classifier or a list of named ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags

from skliquid.diversity.diversity import Diversity, as_diversity, is_auto
from skliquid.diversity.hyperparameters import DefaultsWithout
from skliquid.validation.parameters import Composition, shared_tags

_TAGS: "WeakKeyDictionary[Any, tuple[Any, Any, Tags]]" = WeakKeyDictionary()
"""Tags by ensemble, with the values of ``estimator`` and ``diversity`` that they are for."""


class NamedEstimators(ClassifierMixin, Composition):
    """Parameters of a classifier with parameters ``estimator`` and ``diversity``."""

    estimator: Any
    diversity: Any
    default_estimators: ClassVar[Sequence[tuple[str, Any]]] = ()
    default_maps: ClassVar[Mapping[str, Any]] = {}

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
        self._forget_tags()
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
        """Return ``params`` with an explicit ``estimator`` if they change the default voters."""
        names = [name for name, _ in self.default_estimators]
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
        drawn, maps = chosen.param_distributions, chosen.feature_maps
        diversity = Diversity(
            param_distributions=DefaultsWithout(tuple(sorted(own))) if is_auto(drawn) else drawn,
            feature_maps=dict(self.default_maps) if is_auto(maps) else maps,
        )
        estimators = []
        for name, default in self.default_estimators:  # set here, so that an error changes nothing
            chosen_params = {key: params[key] for key in own if key.startswith(f"{name}__")}
            estimator = params[name] if name in params else clone(default)
            estimator.set_params(**{key.partition("__")[2]: v for key, v in chosen_params.items()})
            estimators.append((name, estimator))
        others = {key: value for key, value in params.items() if key not in own}
        return others | {"estimator": estimators, "diversity": diversity}

    def _named_estimators(self) -> Sequence[tuple[str, Any]]:
        if self.estimator is None:
            return self.default_estimators
        if isinstance(self.estimator, list):
            return self.estimator
        return [("", self.estimator)]  # its own set_params handles "estimator__alpha"

    def _estimators(self) -> list[Any]:
        return [estimator for _, estimator in self._named_estimators()]

    def _forget_tags(self) -> None:
        """Drop the cached tags, because an estimator may have been changed in place."""
        _TAGS.pop(self, None)

    def __sklearn_tags__(self) -> Tags:
        estimator, diversity, tags = _TAGS.get(self, (None, None, None))
        if tags is None or estimator is not self.estimator or diversity is not self.diversity:
            tags = self._compute_tags()
            _TAGS[self] = self.estimator, self.diversity, tags
        copies = {name: replace(getattr(tags, name)) for name in ("input_tags", "classifier_tags")}
        return replace(tags, **copies)  # subclasses may change theirs

    def _compute_tags(self) -> Tags:
        named: Sequence[Any] = self._named_estimators()  # of any type, until fit validates them
        pairs = [pair for pair in named if isinstance(pair, tuple) and pair]
        tags = shared_tags(super().__sklearn_tags__(), [pair[-1] for pair in pairs])
        unmapped = [pair[-1] for pair in pairs if not self._has_fourier_maps(pair[0])]
        tags.input_tags.allow_nan = shared_tags(
            super().__sklearn_tags__(), unmapped
        ).input_tags.allow_nan
        return tags

    def _has_fourier_maps(self, name: str) -> bool:
        """Return whether an estimator has ``"fourier"`` maps, which impute missing values."""
        chosen = as_diversity(self.diversity)
        if not isinstance(chosen, Diversity):
            return False
        maps = chosen.feature_maps
        if is_auto(maps):
            maps = self.default_maps if self.estimator is None else None
        own = maps.get(name) if isinstance(maps, Mapping) else maps
        return isinstance(own, str)
