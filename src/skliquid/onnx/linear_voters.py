"""Linear voters: margins and class probabilities of those that see the same rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skliquid.onnx.feature_maps import linear
from skliquid.onnx.graph import Graph

_ZERO, _ONE = np.float64(0), np.float64(1)
_LEAST_MARGIN = np.float64(-745.13)
"""Below it the logistic function is zero."""


def group_of(estimator: Any) -> Any:
    """Return what voters have in common that one product serves."""
    return _clips([estimator]), len(estimator.coef_)


def margins(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    """Return margins of each class, or two opposite ones of two: (n_rows, n_voters, n_classes)."""
    found = _separated(graph, rows, voters)
    return graph.joined([graph.op("Neg", found), found], 2) if _are_binary(voters) else found


def probabilities(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    """Return class probabilities: (n_rows, n_voters, n_classes)."""
    found = _separated(graph, rows, voters)
    if _are_binary(voters):
        return of_two(graph, _clipped(graph, found) if _clips(voters) else logistic(graph, found))
    if _clips(voters):
        positive = _clipped(graph, found)
        total = graph.summed(positive, 2, keepdims=True)
        is_zero, mean = graph.op("Equal", total, _ZERO), graph.op("Div", positive, total)
    else:
        largest = graph.op("ReduceMax", found, axes=[2], keepdims=1)
        is_zero = graph.op("Less", largest, _LEAST_MARGIN)
        mean = graph.op("Softmax", _log_logistic(graph, found), axis=2)
    return graph.op("Where", is_zero, np.float64(1 / len(voters[0].coef_)), mean)


def logistic(graph: Graph, margins: str) -> str:
    """Return the logistic function, exact to the last bits, which the operator for it is not."""
    return graph.op("Div", _ONE, graph.op("Add", graph.op("Exp", graph.op("Neg", margins)), _ONE))


def _log_logistic(graph: Graph, margins: str) -> str:
    """Return the logarithm of the logistic function, which is finite where that is zero."""
    exponential = graph.op("Exp", graph.op("Neg", graph.op("Abs", margins)))
    rest = graph.op("Log", graph.op("Add", exponential, _ONE))
    return graph.op("Sub", graph.op("Min", margins, _ZERO), rest)


def _clipped(graph: Graph, margins: str) -> str:
    """Return the probabilities of modified_huber, before they are divided by their sum."""
    clipped = graph.op("Clip", margins, -_ONE, _ONE)
    return graph.op("Mul", graph.op("Add", clipped, _ONE), np.float64(0.5))


def of_two(graph: Graph, positive: str) -> str:
    """Return the probabilities of two classes from those of the second."""
    return graph.joined([graph.op("Sub", _ONE, positive), positive], 2)


def _separated(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    """Return the margins of all separators: (n_rows, n_voters, n_separators)."""
    coef = np.concatenate([voter.coef_ for voter in voters]).T
    intercept = np.concatenate([voter.intercept_ for voter in voters])
    shape = np.array([0, len(voters), len(voters[0].coef_)])
    return graph.op("Reshape", linear(graph, rows, coef, intercept), shape)


def _are_binary(voters: Sequence[Any]) -> bool:
    return len(voters[0].coef_) == 1


def _clips(voters: Sequence[Any]) -> bool:
    return bool(voters[0].loss == "modified_huber")
