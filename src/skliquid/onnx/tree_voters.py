"""Tree voters: class probabilities of forests, boosted trees and single trees."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from skliquid.onnx.graph import Graph
from skliquid.onnx.linear_voters import logistic, of_two
from skliquid.onnx.tree_nodes import TreeNodes, attributes, grown_tree, scikit_learn_tree
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier


def group_of(voter: Any) -> Any:
    """Return what voters have in common that one operator serves."""
    return type(voter), len(voter.trees_) if hasattr(voter, "trees_") else 1, len(voter.classes_)


def probabilities(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    """Return class probabilities: (n_rows, n_voters, n_classes)."""
    return _KINDS[type(voters[0])](graph, rows, voters)


def _of_forests(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    sums = _sums(graph, rows, voters)
    return graph.op("Div", sums, graph.summed(sums, 2, keepdims=True))


def _of_boosted(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    base = np.stack([voter.base_scores_ for voter in voters])
    scores = graph.op("Add", _sums(graph, rows, voters), base)
    if voters[0].n_outputs == 1:
        return of_two(graph, logistic(graph, scores))
    return graph.op("Softmax", scores, axis=2)


def _of_single_trees(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    in_single = graph.cast(rows, np.float32)  # as scikit-learn's trees see rows
    return _sums(graph, graph.cast(in_single, np.float64), voters)


def _sums(graph: Graph, rows: str, voters: Sequence[Any]) -> str:
    """Return what the trees of each voter add up to: (n_rows, n_voters, n_outputs).

    The operator of trees adds up in float32 at its end. So it only finds the number of the leaf in
    each tree, which is exact, and the values are looked up and summed in float64.
    """
    trees = [tree for voter in voters for tree in _trees(voter)]
    found = graph.op("TreeEnsembleRegressor", rows, domain="ai.onnx.ml", **attributes(trees))
    sizes = [len(tree.values) for tree in trees]
    first = np.cumsum([0, *sizes[:-1]])
    leaves = graph.op("Add", graph.cast(found, np.int64), first)
    values = np.concatenate([tree.values for tree in trees])
    table = graph.constant(values)
    table = table if values.dtype == np.float64 else graph.cast(table, np.float64)
    shape = np.array([0, len(voters), len(trees) // len(voters), values.shape[1]])
    return graph.summed(graph.op("Reshape", graph.op("Gather", table, leaves), shape), 2)


def _trees(voter: Any) -> list[TreeNodes]:
    if hasattr(voter, "tree_"):
        return [scikit_learn_tree(voter.tree_)]
    if voter.trees_.is_sparse:
        raise ValueError(
            "model must have at most 256 classes where it has forests, since ONNX has no leaves "
            f"that list a few of many classes: got {voter.trees_.n_outputs}. Use linear voters or "
            "boosted trees, or save the model with skliquid.save."
        )
    coder = voter.coder
    n_categories = {} if coder is None else {k: len(known) for k, known in coder.codes.items()}
    n_outputs = voter.trees_.n_outputs
    return [grown_tree(tree, n_outputs, n_categories) for tree in voter.trees_.trees]


_KINDS: dict[type, Callable[[Graph, str, Sequence[Any]], str]] = {
    RandomizedForestClassifier: _of_forests,
    BoostedTreesClassifier: _of_boosted,
    DecisionTreeClassifier: _of_single_trees,
    ExtraTreeClassifier: _of_single_trees,
}
KINDS = tuple(_KINDS)
