"""Voters: class probabilities and votes of linear voters and of trees."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from skliquid.onnx.graph_builder import Graph
from skliquid.onnx.map_nodes import linear
from skliquid.onnx.tree_nodes import TreeNodes, grown_tree, leaf_attributes, scikit_learn_tree
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

_ZERO, _HALF, _ONE = np.float64(0), np.float64(0.5), np.float64(1)
_MIN_MARGIN = np.float64(-745.13)  # below it the logistic function is zero


def group_key(voter: Any) -> Any:
    """Return a key that is the same for voters whose probabilities are computed together."""
    if type(voter) not in _PROBABILITIES:
        known = ", ".join(cls.__name__ for cls in _PROBABILITIES)
        raise ValueError(
            f"to_onnx supports the voters {known}, also at the end of pipelines: got "
            f"{type(voter).__name__}. Train an ensemble of such voters."
        )
    if hasattr(voter, "coef_"):
        return _is_huber(voter), len(voter.coef_)
    return type(voter), len(getattr(voter, "trees_", [voter])), len(voter.classes_)


def probabilities(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    """Return class probabilities: (n_rows, n_voters, n_classes)."""
    return _PROBABILITIES[type(voters[0])](graph, rows, voters)


def votes(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    """Return one for the class that a voter votes for, else zero: (n_rows, n_voters, n_classes)."""
    is_linear = hasattr(voters[0], "coef_")
    found = _margins(graph, rows, voters) if is_linear else probabilities(graph, rows, voters)
    if is_linear and len(voters[0].coef_) == 1:
        found = graph.concat([graph.op("Neg", found), found], 2)
    best = graph.op("ArgMax", found, axis=2, keepdims=1)
    is_best = graph.op("Equal", best, np.arange(len(voters[0].classes_)))
    return graph.cast(is_best, np.float64)


# Linear voters


def _margins(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    """Return the margins of all separators: (n_rows, n_voters, n_separators)."""
    coef = np.concatenate([voter.coef_ for voter in voters]).T
    intercept = np.concatenate([voter.intercept_ for voter in voters])
    shape = np.array([0, len(voters), len(voters[0].coef_)])
    return graph.op("Reshape", linear(graph, rows, coef, intercept), shape)


def _linear_probabilities(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    margins, n_separators = _margins(graph, rows, voters), len(voters[0].coef_)
    is_huber = _is_huber(voters[0])
    if n_separators == 1:
        return _of_two(graph, (_huber if is_huber else _logistic)(graph, margins))
    if is_huber:
        positive = _huber(graph, margins)
        total = graph.sum(positive, 2, keepdims=True)
        is_zero, mean = graph.op("Equal", total, _ZERO), graph.op("Div", positive, total)
    else:
        largest = graph.op("ReduceMax", margins, axes=[2], keepdims=1)
        is_zero = graph.op("Less", largest, _MIN_MARGIN)
        mean = graph.op("Softmax", _log_logistic(graph, margins), axis=2)
    return graph.op("Where", is_zero, np.float64(1 / n_separators), mean)


def _is_huber(voter: Any) -> bool:
    return bool(voter.loss == "modified_huber")


def _huber(graph: Graph, margins: str) -> str:
    """Return the probabilities of modified_huber, before they are divided by their sum."""
    clipped = graph.op("Clip", margins, -_ONE, _ONE)
    return graph.op("Mul", graph.op("Add", clipped, _ONE), _HALF)


def _logistic(graph: Graph, margins: str) -> str:
    """Return the logistic function, more exact than the operator for it."""
    return graph.op("Div", _ONE, graph.op("Add", graph.op("Exp", graph.op("Neg", margins)), _ONE))


def _log_logistic(graph: Graph, margins: str) -> str:
    """Return the logarithm of the logistic function; it is finite where that is zero."""
    exponential = graph.op("Exp", graph.op("Neg", graph.op("Abs", margins)))
    rest = graph.op("Log", graph.op("Add", exponential, _ONE))
    return graph.op("Sub", graph.op("Min", margins, _ZERO), rest)


def _of_two(graph: Graph, positive: str) -> str:
    """Return the probabilities of two classes from those of the second."""
    return graph.concat([graph.op("Sub", _ONE, positive), positive], 2)


# Trees


def _forest_probabilities(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    sums = _sums(graph, rows, voters)
    return graph.op("Div", sums, graph.sum(sums, 2, keepdims=True))


def _boosted_probabilities(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    base = np.stack([voter.base_scores_ for voter in voters])
    scores = graph.op("Add", _sums(graph, rows, voters), base)
    if voters[0].n_outputs == 1:
        return _of_two(graph, _logistic(graph, scores))
    return graph.op("Softmax", scores, axis=2)


def _tree_probabilities(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    in_single = graph.cast(rows, np.float32)  # as scikit-learn's trees see rows
    return _sums(graph, graph.cast(in_single, np.float64), voters)


def _sums(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    """Return the sums over the trees of each voter: (n_rows, n_voters, n_outputs).

    The operator of trees returns sums in float32. So it only finds the number of the leaf in each
    tree, which is exact. The values of leaves are looked up and summed in float64.
    """
    trees = [tree for voter in voters for tree in _trees(voter)]
    found = graph.op("TreeEnsembleRegressor", rows, domain="ai.onnx.ml", **leaf_attributes(trees))
    first = np.cumsum([0, *(len(tree.values) for tree in trees[:-1])])
    leaves = graph.op("Add", graph.cast(found, np.int64), first)
    values = np.concatenate([tree.values for tree in trees])
    table = graph.constant(values)
    table = table if values.dtype == np.float64 else graph.cast(table, np.float64)
    shape = np.array([0, len(voters), len(trees) // len(voters), values.shape[1]])
    return graph.sum(graph.op("Reshape", graph.op("Gather", table, leaves), shape), 2)


def _trees(voter: Any) -> list[TreeNodes]:
    if hasattr(voter, "tree_"):
        return [scikit_learn_tree(voter.tree_)]
    trees, coder = voter.trees_, voter.coder
    if trees.is_sparse:
        raise ValueError(
            "model must have at most 256 classes where it has forests, since ONNX has no leaves "
            f"that list a few of many classes: got {trees.n_outputs}. Use linear voters or boosted "
            "trees, or save the model with skliquid.save."
        )
    n_categories = {} if coder is None else {k: len(codes) for k, codes in coder.codes.items()}
    return [grown_tree(tree, trees.n_outputs, n_categories) for tree in trees.trees]


_PROBABILITIES: dict[type, Callable[[Graph, str, Sequence[Any]], str]] = {
    SGDClassifier: _linear_probabilities,
    Perceptron: _linear_probabilities,
    RandomizedForestClassifier: _forest_probabilities,
    BoostedTreesClassifier: _boosted_probabilities,
    DecisionTreeClassifier: _tree_probabilities,
    ExtraTreeClassifier: _tree_probabilities,
}
