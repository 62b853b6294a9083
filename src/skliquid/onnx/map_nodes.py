"""Feature maps: fitted transformers as nodes."""

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
from skliquid.onnx.graph_builder import Graph

_LARGEST = np.finfo(np.float64).max


def apply_map(graph: Graph, rows: str, transformer: Any) -> str:
    """Return rows through a fitted transformer."""
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return rows
    if isinstance(transformer, Pipeline):
        for _, step in transformer.steps:
            rows = apply_map(graph, rows, step)
        return rows
    convert = _MAPS.get(type(transformer))
    if convert is None:
        known = ", ".join(cls.__name__ for cls in _MAPS)
        raise ValueError(
            f"to_onnx supports the transformers {known}: got {type(transformer).__name__}. Use one "
            "of these, or transform rows before they reach the ONNX model."
        )
    return convert(graph, rows, transformer)


def _standardize(graph: Graph, rows: str, fitted: Standardizer) -> str:
    found = _divide(graph, graph.op("Sub", rows, fitted.mean_), fitted.scale_)
    known = graph.op("Where", graph.op("IsNaN", found), np.float64(0), found)
    return graph.op("Clip", known, -_LARGEST, _LARGEST)


def _standard_scale(graph: Graph, rows: str, fitted: StandardScaler) -> str:
    rows = graph.op("Sub", rows, _float64(fitted.mean_)) if fitted.with_mean else rows
    return _divide(graph, rows, fitted.scale_) if fitted.with_std else rows


def _robust_scale(graph: Graph, rows: str, fitted: RobustScaler) -> str:
    rows = graph.op("Sub", rows, _float64(fitted.center_)) if fitted.with_centering else rows
    return _divide(graph, rows, fitted.scale_) if fitted.with_scaling else rows


def _min_max_scale(graph: Graph, rows: str, fitted: MinMaxScaler) -> str:
    rows = graph.op("Add", graph.op("Mul", rows, _float64(fitted.scale_)), _float64(fitted.min_))
    return graph.op("Clip", rows, *map(np.float64, fitted.feature_range)) if fitted.clip else rows


def _max_abs_scale(graph: Graph, rows: str, fitted: MaxAbsScaler) -> str:
    rows = _divide(graph, rows, fitted.scale_)
    is_clipped = getattr(fitted, "clip", False)  # since scikit-learn 1.8
    return graph.op("Clip", rows, np.float64(-1), np.float64(1)) if is_clipped else rows


def _apply_function(graph: Graph, rows: str, fitted: FunctionTransformer) -> str:
    if fitted.func is None:
        return rows
    if fitted.func is not signed_log:
        name = getattr(fitted.func, "__name__", repr(fitted.func))
        raise ValueError(
            f"to_onnx supports the function signed_log in a FunctionTransformer: got {name}. Apply "
            "it before rows reach the ONNX model, or use one of the scalers."
        )
    size = graph.op("Min", graph.op("Abs", rows), np.nextafter(_LARGEST / 3, 0))
    tripled = graph.op("Mul", size, np.float64(3))
    logs = graph.op("Log", graph.op("Add", tripled, np.float64(1)))
    return graph.op("Mul", graph.op("Sign", rows), logs)


def _impute(graph: Graph, rows: str, fitted: SimpleImputer) -> str:
    if not (isinstance(fitted.missing_values, float) and np.isnan(fitted.missing_values)):
        raise ValueError(
            "to_onnx supports SimpleImputer where missing values are NaN: got "
            f"missing_values={fitted.missing_values!r}. Replace them by NaN before."
        )
    numbers = _float64(fitted.statistics_)
    kept = np.flatnonzero(~np.isnan(numbers))
    seen = rows if len(kept) == len(numbers) else graph.columns(rows, kept)
    parts = [graph.op("Where", graph.op("IsNaN", seen), numbers[kept], seen)]
    if fitted.add_indicator and len(fitted.indicator_.features_):
        indicated = graph.columns(rows, fitted.indicator_.features_)
        parts.append(graph.cast(graph.op("IsNaN", indicated), np.float64))
    return graph.concat(parts, 1)


def _fourier_features(graph: Graph, rows: str, fitted: Any) -> str:
    sampler = fitted.sampler_ if isinstance(fitted, FourierFeatures) else fitted
    # more versions of onnxruntime have sines of float64 than cosines
    offset = _float64(sampler.random_offset_) + np.pi / 2
    phases = linear(graph, rows, sampler.random_weights_, offset)
    n = sampler.n_components
    return _divide(graph, graph.op("Sin", phases), np.full(n, (n / 2) ** 0.5))


def _nystroem(graph: Graph, rows: str, fitted: Nystroem) -> str:
    if fitted.kernel not in _KERNELS:
        raise ValueError(
            f"to_onnx supports Nystroem with a kernel among {', '.join(_KERNELS)}: got "
            f"{fitted.kernel!r}. Choose one of them."
        )
    basis = _float64(fitted.components_)
    params = {"gamma": 1 / basis.shape[1], "coef0": 1.0, "degree": 3.0}
    given = {name: getattr(fitted, name) for name in params}
    params |= fitted.kernel_params or {}
    params |= {name: value for name, value in given.items() if value is not None}
    kernel = _KERNELS[fitted.kernel](graph, rows, basis, params)
    return linear(graph, kernel, fitted.normalization_.T)


def _rbf_kernel(graph: Graph, rows: str, basis: Any, params: dict[str, float]) -> str:
    squares = graph.sum(graph.op("Mul", rows, rows), 1, keepdims=True)
    products = linear(graph, rows, -2 * basis.T, (basis**2).sum(axis=1))
    distances = graph.op("Max", graph.op("Add", products, squares), np.float64(0))
    return graph.op("Exp", graph.op("Mul", distances, np.float64(-params["gamma"])))


def _affine(graph: Graph, rows: str, basis: Any, params: dict[str, float]) -> str:
    return linear(graph, rows, params["gamma"] * basis.T, np.full(len(basis), params["coef0"]))


def _polynomial_kernel(graph: Graph, rows: str, basis: Any, params: dict[str, float]) -> str:
    return graph.op("Pow", _affine(graph, rows, basis, params), np.float64(params["degree"]))


def _sigmoid_kernel(graph: Graph, rows: str, basis: Any, params: dict[str, float]) -> str:
    return graph.op("Tanh", _affine(graph, rows, basis, params))


def linear(graph: Graph, rows: str, coef: Any, intercept: Any = None) -> str:
    """Return the product of rows and ``coef``, one column per output, plus ``intercept``."""
    product = graph.op("MatMul", rows, np.ascontiguousarray(coef, dtype=np.float64))
    return product if intercept is None else graph.op("Add", product, _float64(intercept))


def _divide(graph: Graph, rows: str, divisors: Any) -> str:
    """Return rows divided by one number per column.

    onnxruntime joins a single number and the matrix product after it, and rounds it to float32. So
    a single column is multiplied by a matrix instead.
    """
    if divisors.size > 1:
        return graph.op("Div", rows, _float64(divisors))
    return linear(graph, rows, 1 / divisors.reshape(1, 1))


def _float64(values: Any) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)


_KERNELS: dict[Any, Callable[[Graph, str, Any, dict[str, float]], str]] = {
    "rbf": _rbf_kernel,
    "linear": lambda graph, rows, basis, _: linear(graph, rows, basis.T),
    "poly": _polynomial_kernel,
    "polynomial": _polynomial_kernel,
    "sigmoid": _sigmoid_kernel,
}

_MAPS: dict[type, Callable[[Graph, str, Any], str]] = {
    Standardizer: _standardize,
    FourierFeatures: _fourier_features,
    RBFSampler: _fourier_features,
    Nystroem: _nystroem,
    StandardScaler: _standard_scale,
    MinMaxScaler: _min_max_scale,
    MaxAbsScaler: _max_abs_scale,
    RobustScaler: _robust_scale,
    SimpleImputer: _impute,
    FunctionTransformer: _apply_function,
}
