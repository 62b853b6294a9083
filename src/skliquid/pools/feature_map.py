"""FeatureMap: a transformer that voters look through, without checks that were made before."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from skliquid.arrays import Floats
from skliquid.pools.fourier_features import FourierFeatures

Step: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """A fitted transformer, as the steps that rows go through.

    Rows were checked when they came in. ``transform`` would check them again at each step, which
    takes longer than to map a few dozen rows; so steps that are known are taken without it.
    """

    transformer: Any
    steps: tuple[Step, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", _steps(self.transformer))

    def before(self, estimator: Any) -> Pipeline:
        """Return ``estimator`` as one that takes rows as they are."""
        return Pipeline([("map", self.transformer), ("voter", estimator)])

    def __deepcopy__(self, memo: dict[int, Any]) -> "FeatureMap":
        return self  # it never changes


class Views:
    """The same rows through several maps.

    What maps have in common is computed once. All is kept until other rows come.
    """

    def __init__(self) -> None:
        self._last: tuple[Any, dict[tuple[Step, ...], Any]] = None, {}

    def through(self, feature_map: FeatureMap | None, X: Any) -> Any:
        """Return ``X`` as voters see it."""
        rows, seen = self._last
        if rows is not X:
            seen = {(): X}
            self._last = X, seen
        return _after(feature_map.steps if feature_map else (), seen)

    def of(self, X: Any) -> "Views":
        """Return these views if they are of ``X``, else others, which nobody keeps."""
        return self if self._last[0] is X else Views()

    def forget(self) -> None:
        """Let go of the rows."""
        self._last = None, {}

    def __getstate__(self) -> dict[str, Any]:
        return {"_last": (None, {})}

    def __deepcopy__(self, memo: dict[int, Any]) -> "Views":
        twin, (rows, seen) = Views(), self._last
        twin._last = rows, dict(seen)  # what was computed never changes
        return twin


def _after(steps: tuple[Step, ...], seen: dict[tuple[Step, ...], Any]) -> Any:
    if steps not in seen:
        seen[steps] = steps[-1](_after(steps[:-1], seen))
    return seen[steps]


def _steps(transformer: Any) -> tuple[Step, ...]:
    known = _KNOWN.get(type(transformer))
    return (known and known(transformer)) or (transformer.transform,)


def _of_pipeline(pipeline: Any) -> tuple[Step, ...]:
    inner = [each for _, each in pipeline.steps if each not in (None, "passthrough")]
    return tuple(step for each in inner for step in _steps(each))


def _of_function(transformer: Any) -> tuple[Step, ...] | None:
    is_plain = callable(transformer.func) and not (transformer.validate or transformer.kw_args)
    return (transformer.func,) if is_plain else None


def _of_sampler(sampler: Any) -> tuple[Step, ...]:
    return (_Fourier(sampler),)


def _of_features(transformer: Any) -> tuple[Step, ...]:
    return (transformer.waves,)


_KNOWN: dict[type, Callable[[Any], tuple[Step, ...] | None]] = {
    Pipeline: _of_pipeline,
    FunctionTransformer: _of_function,
    RBFSampler: _of_sampler,
    FourierFeatures: _of_features,
}


@dataclass(frozen=True, eq=False)
class _Fourier:
    """What ``RBFSampler.transform`` computes, bit for bit."""

    sampler: RBFSampler

    def __call__(self, X: Any) -> Floats:
        waves: Floats = X @ self.sampler.random_weights_
        waves += self.sampler.random_offset_
        np.cos(waves, waves)
        waves *= (2.0 / self.sampler.n_components) ** 0.5
        return waves
