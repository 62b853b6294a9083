"""scikit-learn: nodes of its transformers, its linear classifiers and its trees."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from skliquid.diversity.fourier_features import fourier_nodes
from skliquid.onnx.graph_builder import Tensor

VoterNodes: TypeAlias = Callable[[Tensor, Sequence[Any]], Tensor]
"""From rows and voters that are computed together to (n_rows, n_voters, n_classes)."""

_KERNELS = ("rbf", "linear", "poly", "polynomial", "sigmoid")
_MIN_MARGIN = -745.13  # below it the logistic function is zero


def is_exported(part: Any, method: str, twin: str) -> bool:
    """Return whether a part exports itself, and does not replace ``twin`` without its export."""
    owners = [cls for cls in type(part).__mro__ if method in vars(cls) or twin in vars(cls)]
    return bool(owners) and method in vars(owners[0])


def transform(rows: Tensor, transformer: Any) -> Tensor:
    """Return rows through a fitted transformer."""
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return rows
    if isinstance(transformer, Pipeline):
        for _, step in transformer.steps:
            rows = transform(rows, step)
        return rows
    if is_exported(transformer, "onnx_nodes", "transform"):
        return cast("Tensor", transformer.onnx_nodes(rows))
    if type(transformer) not in _TRANSFORMERS:
        known = ", ".join(cls.__name__ for cls in _TRANSFORMERS)
        raise ValueError(
            f"to_onnx supports the transformers {known}, and those with a method onnx_nodes: got "
            f"{type(transformer).__name__}. Use one of these, or transform rows before they reach "
            "the ONNX model."
        )
    return _TRANSFORMERS[type(transformer)](rows, transformer)


def _scale(rows: Tensor, fitted: Any) -> Tensor:
    """Return rows through a StandardScaler, RobustScaler or MaxAbsScaler."""
    has_mean = getattr(fitted, "with_mean", False)
    center = fitted.mean_ if has_mean else getattr(fitted, "center_", None)
    rows = rows if center is None else rows - center
    rows = rows if fitted.scale_ is None else rows.divide_columns(fitted.scale_)
    is_clipped = getattr(fitted, "clip", False)  # MaxAbsScaler since scikit-learn 1.8
    return rows.op("Clip", -1.0, 1.0) if is_clipped else rows


def _min_max_scale(rows: Tensor, fitted: MinMaxScaler) -> Tensor:
    rows = rows * fitted.scale_ + fitted.min_
    return rows.op("Clip", *map(float, fitted.feature_range)) if fitted.clip else rows


def _apply_function(rows: Tensor, fitted: FunctionTransformer) -> Tensor:
    if fitted.func is None:
        return rows
    if not hasattr(fitted.func, "onnx_nodes"):
        name = getattr(fitted.func, "__name__", repr(fitted.func))
        raise ValueError(
            "to_onnx supports the function signed_log in a FunctionTransformer, and those with an "
            f"attribute onnx_nodes: got {name}. Apply it before rows reach the ONNX model, or use "
            "one of the scalers."
        )
    return cast("Tensor", fitted.func.onnx_nodes(rows))


def _impute(rows: Tensor, fitted: SimpleImputer) -> Tensor:
    if not (isinstance(fitted.missing_values, float) and np.isnan(fitted.missing_values)):
        raise ValueError(
            "to_onnx supports SimpleImputer where missing values are NaN: got "
            f"missing_values={fitted.missing_values!r}. Replace them by NaN before."
        )
    numbers = np.asarray(fitted.statistics_, dtype=np.float64)
    kept = np.flatnonzero(~np.isnan(numbers))
    seen = rows if len(kept) == len(numbers) else rows.columns(kept)
    filled = seen.op("IsNaN").op("Where", numbers[kept], seen)
    if not (fitted.add_indicator and len(fitted.indicator_.features_)):
        return filled
    is_missing = rows.columns(fitted.indicator_.features_).op("IsNaN")
    return filled.concat(is_missing.cast(np.float64), axis=1)


def _nystroem(rows: Tensor, fitted: Nystroem) -> Tensor:
    if fitted.kernel not in _KERNELS:
        raise ValueError(
            f"to_onnx supports Nystroem with a kernel among {', '.join(_KERNELS)}: got "
            f"{fitted.kernel!r}. Choose one of them."
        )
    return _kernel(rows, fitted) @ np.transpose(fitted.normalization_)


def _kernel(rows: Tensor, fitted: Nystroem) -> Tensor:
    basis = np.asarray(fitted.components_, dtype=np.float64)
    params = {"gamma": 1 / basis.shape[1], "coef0": 1.0, "degree": 3.0}
    given = {name: getattr(fitted, name) for name in params}
    params |= fitted.kernel_params or {}
    params |= {name: value for name, value in given.items() if value is not None}
    if fitted.kernel == "linear":
        return rows @ basis.T
    if fitted.kernel == "rbf":
        squares = (rows * rows).sum(1, keepdims=True)
        distances: Tensor = rows @ (-2 * basis.T) + (basis**2).sum(axis=1) + squares
        return (distances.op("Max", 0.0) * -float(params["gamma"])).op("Exp")
    affine: Tensor = rows @ (params["gamma"] * basis.T) + params["coef0"]
    return (
        affine.op("Tanh")
        if fitted.kernel == "sigmoid"
        else affine.op("Pow", float(params["degree"]))
    )


_TRANSFORMERS: dict[type, Callable[[Tensor, Any], Tensor]] = {
    RBFSampler: fourier_nodes,
    Nystroem: _nystroem,
    StandardScaler: _scale,
    MinMaxScaler: _min_max_scale,
    MaxAbsScaler: _scale,
    RobustScaler: _scale,
    SimpleImputer: _impute,
    FunctionTransformer: _apply_function,
}


# Voters


def probability_nodes(voter: Any) -> VoterNodes:
    """Return the function that gives the class probabilities of voters like this one."""
    if is_exported(voter, "onnx_probabilities", "probabilities"):
        return cast("VoterNodes", voter.onnx_probabilities)
    if type(voter) in _LINEAR:
        return _huber_probabilities if voter.loss == "modified_huber" else _logistic_probabilities
    if type(voter) in _TREES:
        return _tree_probabilities
    known = ", ".join(cls.__name__ for cls in (*_LINEAR, *_TREES))
    raise ValueError(
        f"to_onnx supports the voters {known}, and those with a method onnx_probabilities, such as "
        f"those of skliquid, also at the end of pipelines: got {type(voter).__name__}. Train an "
        "ensemble of such voters."
    )


def votes(rows: Tensor, voters: Sequence[Any]) -> Tensor:
    """Return one for the class that a voter votes for, else zero."""
    if type(voters[0]) in _LINEAR:
        found = _margins(rows, voters)
        found = (-found).concat(found, axis=2) if len(voters[0].coef_) == 1 else found
    else:
        found = probability_nodes(voters[0])(rows, voters)
    best = found.op("ArgMax", axis=2, keepdims=1)
    return best.op("Equal", np.arange(len(voters[0].classes_))).cast(np.float64)


def _margins(rows: Tensor, voters: Sequence[Any]) -> Tensor:
    """Return the margins of all separators: (n_rows, n_voters, n_separators)."""
    coef = np.concatenate([voter.coef_ for voter in voters]).T
    margins = rows @ coef + np.concatenate([voter.intercept_ for voter in voters])
    return margins.op("Reshape", np.array([0, len(voters), len(voters[0].coef_)]))


def _huber_probabilities(rows: Tensor, voters: Sequence[Any]) -> Tensor:
    margins, n_separators = _margins(rows, voters), len(voters[0].coef_)
    positive = (margins.op("Clip", -1.0, 1.0) + 1) * 0.5
    if n_separators == 1:
        return (1 - positive).concat(positive, axis=2)
    total = positive.sum(2, keepdims=True)
    return total.op("Equal", 0.0).op("Where", 1 / n_separators, positive / total)


def _logistic_probabilities(rows: Tensor, voters: Sequence[Any]) -> Tensor:
    margins, n_separators = _margins(rows, voters), len(voters[0].coef_)
    if n_separators == 1:
        positive = 1 / ((-margins).op("Exp") + 1)  # more exact than the operator Sigmoid
        return (1 - positive).concat(positive, axis=2)
    # the logarithm of the logistic function is finite where that is zero
    logs = margins.op("Min", 0.0) - ((-margins.op("Abs")).op("Exp") + 1).op("Log")
    largest = margins.op("ReduceMax", axes=[2], keepdims=1)
    is_zero = largest.op("Less", _MIN_MARGIN)
    return is_zero.op("Where", 1 / n_separators, logs.op("Softmax", axis=2))


def _tree_probabilities(rows: Tensor, voters: Sequence[Any]) -> Tensor:
    in_single = rows.cast(np.float32)  # as scikit-learn's trees see rows
    return in_single.cast(np.float64).sum_trees(voters)


_LINEAR = (SGDClassifier, Perceptron)
_TREES = (DecisionTreeClassifier, ExtraTreeClassifier)
