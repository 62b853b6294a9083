"""Feature maps: fitted transformers as operators."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from skliquid.diversity.feature_maps import signed_log
from skliquid.diversity.fourier_features import FourierFeatures
from skliquid.diversity.standardizer import Standardizer
from skliquid.onnx.graph import Graph

_LARGEST = np.finfo(np.float64).max


def mapped(graph: Graph, rows: str, transformer: Any) -> str:
    """Return rows through a fitted transformer."""
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return rows
    if isinstance(transformer, Pipeline):
        for _, step in transformer.steps:
            rows = mapped(graph, rows, step)
        return rows
    convert = _MAPS.get(type(transformer))
    if convert is None:
        known = ", ".join(kind.__name__ for kind in _MAPS)
        raise ValueError(
            f"to_onnx supports the transformers {known}: got {type(transformer).__name__}. Use one "
            "of these, or transform rows before they reach the ONNX model."
        )
    return convert(graph, rows, transformer)


def _standardized(graph: Graph, rows: str, own: Standardizer) -> str:
    found = _divided(graph, graph.op("Sub", rows, own.mean_), own.scale_)
    known = graph.op("Where", graph.op("IsNaN", found), np.float64(0), found)
    return graph.op("Clip", known, -_LARGEST, _LARGEST)


def _scaled_to_variance(graph: Graph, rows: str, own: StandardScaler) -> str:
    rows = graph.op("Sub", rows, _numbers(own.mean_)) if own.with_mean else rows
    return _divided(graph, rows, own.scale_) if own.with_std else rows


def _scaled_to_range(graph: Graph, rows: str, own: MinMaxScaler) -> str:
    rows = graph.op("Add", graph.op("Mul", rows, _numbers(own.scale_)), _numbers(own.min_))
    return graph.op("Clip", rows, *map(np.float64, own.feature_range)) if own.clip else rows


def _scaled_to_largest(graph: Graph, rows: str, own: MaxAbsScaler) -> str:
    rows = _divided(graph, rows, own.scale_)
    is_clipped = getattr(own, "clip", False)  # since scikit-learn 1.8
    return graph.op("Clip", rows, np.float64(-1), np.float64(1)) if is_clipped else rows


def _scaled_to_quantiles(graph: Graph, rows: str, own: RobustScaler) -> str:
    rows = graph.op("Sub", rows, _numbers(own.center_)) if own.with_centering else rows
    return _divided(graph, rows, own.scale_) if own.with_scaling else rows


def _computed(graph: Graph, rows: str, own: FunctionTransformer) -> str:
    if own.func is None:
        return rows
    if own.func is not signed_log:
        name = getattr(own.func, "__name__", repr(own.func))
        raise ValueError(
            f"to_onnx supports the function signed_log in a FunctionTransformer: got {name}. Apply "
            "it before rows reach the ONNX model, or use one of the scalers."
        )
    size = graph.op("Min", graph.op("Abs", rows), np.nextafter(_LARGEST / 3, 0))
    tripled = graph.op("Mul", size, np.float64(3))
    logs = graph.op("Log", graph.op("Add", tripled, np.float64(1)))
    return graph.op("Mul", graph.op("Sign", rows), logs)


def _imputed(graph: Graph, rows: str, own: SimpleImputer) -> str:
    if not (isinstance(own.missing_values, float) and np.isnan(own.missing_values)):
        raise ValueError(
            "to_onnx supports SimpleImputer where missing values are NaN: got "
            f"missing_values={own.missing_values!r}. Replace them by NaN before."
        )
    numbers = _numbers(own.statistics_)
    kept = np.flatnonzero(~np.isnan(numbers))
    seen = rows if len(kept) == len(numbers) else graph.columns(rows, kept)
    is_missing = graph.op("IsNaN", seen)
    parts = [graph.op("Where", is_missing, numbers[kept], seen)]
    if own.add_indicator and len(own.indicator_.features_):
        told = graph.columns(rows, own.indicator_.features_)
        parts.append(graph.cast(graph.op("IsNaN", told), np.float64))
    return graph.joined(parts, axis=1)


def _waves(graph: Graph, rows: str, own: Any) -> str:
    sampler = own.sampler_ if isinstance(own, FourierFeatures) else own
    # more versions of onnxruntime have sines of float64 than cosines
    offset = _numbers(sampler.random_offset_) + np.pi / 2
    phases = linear(graph, rows, sampler.random_weights_, offset)
    n = sampler.n_components
    return _divided(graph, graph.op("Sin", phases), np.full(n, (n / 2) ** 0.5))


def _kernel(graph: Graph, rows: str, own: Nystroem) -> str:
    if own.kernel not in _KERNELS:
        raise ValueError(
            f"to_onnx supports Nystroem with a kernel among {', '.join(_KERNELS)}: got "
            f"{own.kernel!r}. Choose one of them."
        )
    basis = _numbers(own.components_)
    params = {"gamma": 1 / basis.shape[1], "coef0": 1.0, "degree": 3.0}
    given = {name: getattr(own, name) for name in params}
    params |= own.kernel_params or {}
    params |= {name: value for name, value in given.items() if value is not None}
    return linear(graph, _KERNELS[own.kernel](graph, rows, basis, params), own.normalization_.T)


def _gaussian(graph: Graph, rows: str, basis: Any, params: dict[str, float]) -> str:
    squares = graph.summed(graph.op("Mul", rows, rows), 1, keepdims=True)
    products = linear(graph, rows, -2 * basis.T, (basis**2).sum(axis=1))
    distances = graph.op("Max", graph.op("Add", products, squares), np.float64(0))
    return graph.op("Exp", graph.op("Mul", distances, np.float64(-params["gamma"])))


def _products(graph: Graph, rows: str, basis: Any, params: dict[str, float]) -> str:
    return linear(graph, rows, params["gamma"] * basis.T, np.full(len(basis), params["coef0"]))


def _powers(graph: Graph, rows: str, basis: Any, params: dict[str, float]) -> str:
    return graph.op("Pow", _products(graph, rows, basis, params), np.float64(params["degree"]))


def _tangents(graph: Graph, rows: str, basis: Any, params: dict[str, float]) -> str:
    return graph.op("Tanh", _products(graph, rows, basis, params))


def linear(graph: Graph, rows: str, coef: Any, intercept: Any = None) -> str:
    """Return the product of rows and ``coef``, one column per output, and ``intercept``."""
    product = graph.op("MatMul", rows, np.ascontiguousarray(coef, dtype=np.float64))
    return product if intercept is None else graph.op("Add", product, _numbers(intercept))


def _divided(graph: Graph, rows: str, divisors: Any) -> str:
    """Return rows divided by one number per column.

    onnxruntime joins a single number and the matrix product after it, and rounds it to float32. So
    a single column is multiplied by a matrix instead.
    """
    if divisors.size > 1:
        return graph.op("Div", rows, _numbers(divisors))
    return linear(graph, rows, 1 / divisors.reshape(1, 1))


def _numbers(values: Any) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)


_KERNELS: dict[Any, Callable[[Graph, str, Any, dict[str, float]], str]] = {
    "rbf": _gaussian,
    "linear": lambda graph, rows, basis, _: linear(graph, rows, basis.T),
    "poly": _powers,
    "polynomial": _powers,
    "sigmoid": _tangents,
}

_MAPS: dict[type, Callable[[Graph, str, Any], str]] = {
    Standardizer: _standardized,
    FourierFeatures: _waves,
    RBFSampler: _waves,
    Nystroem: _kernel,
    StandardScaler: _scaled_to_variance,
    MinMaxScaler: _scaled_to_range,
    MaxAbsScaler: _scaled_to_largest,
    RobustScaler: _scaled_to_quantiles,
    SimpleImputer: _imputed,
    FunctionTransformer: _computed,
}
