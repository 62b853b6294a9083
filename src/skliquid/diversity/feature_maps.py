"""Feature maps: transformers through which voters see the rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skliquid.delegation.storable import storable
from skliquid.diversity.fourier_features import FourierFeatures, fourier_waves
from skliquid.diversity.map_output import check_width, checked_view
from skliquid.diversity.seeding import derived_seeds, seeded
from skliquid.diversity.standardizer import Standardizer

Step: TypeAlias = Callable[[Any], Any]


@storable
@dataclass(frozen=True)
class FourierMap:
    """One of the maps of ``"fourier"``.

    It standardizes rows and takes signed logarithms. With ``gamma``, random Fourier features of the
    result follow. ``gamma`` is an inverse squared bandwidth. It is divided by the number of
    features, because the squared distance of standardized rows is about twice that number.
    """

    gamma: float | None


def maps_by_name(
    feature_maps: Any, names: Sequence[str]
) -> tuple[list[Any], dict[int, list[int]] | None]:
    """Return all maps, and the positions of the maps of each estimator; None means all."""
    if not isinstance(feature_maps, Mapping):
        return list(feature_maps or []), None
    maps: list[Any] = []
    places: dict[int, list[int]] = {}
    for k, name in enumerate(names):
        own = list(feature_maps.get(name) or [])
        places[k] = list(range(len(maps), len(maps) + len(own)))
        maps.extend(own)
    return maps, {k: own for k, own in places.items() if own}


def map_name(one: Any) -> str:
    """Return the name of a feature map for tables and figures; empty for ``"passthrough"``.

    Examples
    --------
    >>> [map_name(FourierMap(gamma)) for gamma in (None, 0.2, 1.0)]
    ['signed_log', 'fourier_0.2', 'fourier_1']
    """
    if isinstance(one, str):
        return ""
    if isinstance(one, FourierMap):
        return "signed_log" if one.gamma is None else f"fourier_{one.gamma:g}"
    steps = [step for _, step in one.steps] if isinstance(one, Pipeline) else [one]
    return " + ".join(type(step).__name__ for step in steps if step not in (None, "passthrough"))


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """A fitted transformer as a sequence of functions.

    Rows are already validated. ``transform`` would validate them again at each step, which takes
    longer than mapping a few dozen rows, so known steps bypass it. ``number`` identifies the map
    within an ensemble and its copies.
    """

    transformer: Any
    number: int = 0
    steps: tuple[Step, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", _steps(self.transformer))

    def pipeline_with(self, estimator: Any) -> Pipeline:
        """Return the pipeline of this map and ``estimator``."""
        return Pipeline([("map", self.transformer), ("voter", estimator)])

    def __deepcopy__(self, memo: dict[int, Any]) -> "FeatureMap":
        return self  # it never changes


class Views:
    """The same rows through several maps; steps that maps share are computed once.

    The output of a map is checked here, before compiled code trusts it. A map must keep the width
    that it had in training.
    """

    def __init__(self) -> None:
        self._widths: dict[int, int] = {}
        self.clear()

    def clear(self) -> None:
        """Drop the rows."""
        self._cache: tuple[Any, dict[tuple[Step, ...], Any]] = None, {}

    def keep(self, X: Any) -> None:
        """Cache the views of ``X`` as they are computed, until other rows are passed."""
        if self._cache[0] is not X:
            self._cache = X, {(): X}

    def transform(self, feature_maps: Sequence[FeatureMap | None], X: Any) -> list[Any]:
        """Return ``X`` through each of ``feature_maps``."""
        rows, views = self._cache
        views = views if rows is X else {(): X}
        return [X if one is None else self._view(one, X, views) for one in feature_maps]

    def _view(self, one: FeatureMap, X: Any, views: dict[tuple[Step, ...], Any]) -> Any:
        if one.steps not in views:
            name, found = map_name(one.transformer), _apply_steps(one.steps, views)
            views[one.steps] = found = checked_view(found, X, name=name)
            check_width(found, self._widths.setdefault(one.number, found.shape[1]), name=name)
        return views[one.steps]

    def __getstate__(self) -> dict[str, Any]:
        return vars(Views()) | {"_widths": self._widths}

    def __deepcopy__(self, memo: dict[int, Any]) -> "Views":
        return self  # copies may share the cached views


def fit_maps(maps: Sequence[Any], X: Any, seeds: Sequence[int], view: Any = None) -> list[Any]:
    """Return seeded copies of ``maps``, fitted to ``X``; None stands for the rows themselves.

    ``view`` is a fitted transformer that comes before each map, if there is one.
    """
    fitted: list[Any] = []
    before = [] if view is None else [view]
    if view is not None:  # our own maps need the width only
        are_ours = all(isinstance(one, FourierMap | str) for one in maps)
        X = view.transform(X[:1] if are_ours else X)
    logs = _standardized_logs(X, before) if any(isinstance(m, FourierMap) for m in maps) else []
    for one, seed in zip(maps, seeds, strict=True):
        if isinstance(one, FourierMap):
            fitted.append(make_pipeline(*logs, *_fit_fourier_features(one, X[:1], seed)))
        elif isinstance(one, str):
            fitted.append(view)
        else:
            own = seeded(one, seed).fit(X)
            fitted.append(make_pipeline(*before, own) if before else own)
    for transformer in fitted:
        if hasattr(transformer, "set_output"):  # arrays, whatever is set globally
            transformer.set_output(transform="default")
    return fitted


def _standardized_logs(X: Any, view: list[Any]) -> list[Any]:
    """Return the fitted steps that the maps of ``"fourier"`` share; a view is standardized."""
    logs = FunctionTransformer(signed_log, accept_sparse=True, feature_names_out="one-to-one")
    return [*(view or [Standardizer().fit(X)]), logs.fit(X[:1])]


def _fit_fourier_features(one: FourierMap, row: Any, seed: int) -> list[Any]:
    """Return the random Fourier features of a map, fitted to the width of a row."""
    if one.gamma is None:
        return []
    gamma, seed = one.gamma / row.shape[1], derived_seeds(seed, 1)[0]
    return [
        FourierFeatures(gamma=gamma, random_state=seed).fit(np.zeros((1, row.shape[1]), row.dtype))
    ]


@storable
def signed_log(X: Any) -> Any:
    r"""Return :math:`\mathrm{sign}(x) \ln(1 + 3 |x|)` of each number.

    Large values, such as counts and amounts, are compressed, and zero stays zero. Values whose
    triple would overflow are clipped.
    """
    if scipy.sparse.issparse(X):
        sparse: Any = X
        logs = sparse.copy()
        logs.data = signed_log(logs.data)
        return logs
    X = np.asarray(X)
    largest = np.nextafter(np.finfo(np.result_type(X.dtype, np.float16)).max / 3, 0)
    return np.sign(X) * np.log1p(3 * np.minimum(np.abs(X), largest))


def _signed_log_nodes(rows: Any) -> Any:
    """Return the same as a tensor of an ONNX graph."""
    size = rows.op("Abs").op("Min", np.nextafter(np.finfo(np.float64).max / 3, 0))
    return rows.op("Sign") * (size * 3 + 1).op("Log")


signed_log.onnx_nodes = _signed_log_nodes  # type: ignore[attr-defined]


def _apply_steps(steps: tuple[Step, ...], views: dict[tuple[Step, ...], Any]) -> Any:
    if steps not in views:
        views[steps] = steps[-1](_apply_steps(steps[:-1], views))
    return views[steps]


def _steps(transformer: Any) -> tuple[Step, ...]:
    """Return the steps of ``transformer``, without validation where that is possible."""
    known = type(transformer)
    if known is Pipeline:
        inner = [step for _, step in transformer.steps if step not in (None, "passthrough")]
        return tuple(step for part in inner for step in _steps(part))
    if known is RBFSampler:
        return (partial(fourier_waves, transformer),)
    if hasattr(transformer, "standardized"):
        return (transformer.standardized,)
    if known is FourierFeatures:
        return (partial(fourier_waves, transformer.sampler_, compiled=True),)
    is_function = known is FunctionTransformer and callable(transformer.func)
    if is_function and not (transformer.validate or transformer.kw_args):
        return (transformer.func,)
    return (transformer.transform,)
