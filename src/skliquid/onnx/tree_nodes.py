"""Tree nodes: trees of skliquid and scikit-learn as arrays, and as attributes of the operator."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import numpy_helper

from skliquid import native
from skliquid.voters.grown_trees import IS_LEAF, Tree

_IS_CATEGORICAL, _MISSING_GOES_RIGHT = np.uint32(1 << 30), np.uint32(1 << 29)
_COLUMN = np.uint32((1 << 29) - 1)
_SPLIT = ("featureids", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true")
_TYPES = ("i8", "f8", "i8", "i8", "i8", "U10", "f8")
_NODE = np.dtype(list(zip((*_SPLIT, "modes", "leaf"), _TYPES, strict=True)))
"""A node, with ONNX's names of its attributes, and the number of the leaf that it is."""


class ArrayTree(NamedTuple):
    """A tree; node 0 is the root."""

    nodes: NDArray[Any]
    values: NDArray[Any]  # one row per leaf


N_CODES = native.MISSING_BIN
"""The codes that a column of an encoded table may have."""


def padded_trees(voters: Sequence[Any]) -> list[ArrayTree]:
    """Return the same number of trees for each voter, some with zeros in their only leaf."""
    forests = [_trees(voter) for voter in voters]
    n_trees, values = max(map(len, forests)), forests[0][0].values
    leaf = np.array([(0, 0.0, 0, 0, 0, "LEAF", 0.0)], dtype=_NODE)
    empty = ArrayTree(leaf, np.zeros_like(values[:1]))
    return [tree for own in forests for tree in [*own, *[empty] * (n_trees - len(own))]]


def _trees(voter: Any) -> list[ArrayTree]:
    if hasattr(voter, "tree_"):
        return [_scikit_learn_tree(voter.tree_)]
    trees, coder = voter.trees_, voter.coder
    if trees.is_sparse:
        raise ValueError(
            "model must have at most 256 classes where it has forests, since ONNX has no leaves "
            f"that list a few of many classes: got {trees.n_outputs}. Use linear voters or boosted "
            "trees, or save the model with skliquid.save."
        )
    codes = getattr(coder, "codes", dict.fromkeys(range(trees.n_columns), range(N_CODES)))
    n_categories = {column: len(own) for column, own in codes.items()}
    return [_grown_tree(tree, trees.n_outputs, n_categories) for tree in trees.trees]


def _grown_tree(tree: Tree, n_outputs: int, n_categories: Mapping[int, int]) -> ArrayTree:
    """Return a tree of skliquid; see ``Node`` in ``native/trees/trees.hpp``."""
    found = np.frombuffer(tree[0], dtype=native.NODE)
    flags, cut, after = found["feature"], found["cut"], found["next"].astype(np.int64)
    is_leaf = flags & IS_LEAF != 0
    is_categorical = (flags & _IS_CATEGORICAL != 0) & ~is_leaf
    thresholds = np.where(is_categorical, 0.0, cut.view(np.float64))
    missing_goes_left = flags & _MISSING_GOES_RIGHT == 0
    split = flags & _COLUMN, thresholds, after, after + 1, missing_goes_left
    nodes = _nodes(is_leaf, after, split)
    sets = {node: int(cut[node]) for node in np.flatnonzero(is_categorical).tolist()}
    values = np.frombuffer(tree[1], dtype=np.float32).reshape(-1, n_outputs)
    return ArrayTree(_expand_sets(nodes, sets, n_categories), values)


def _scikit_learn_tree(tree: Any) -> ArrayTree:
    """Return the tree of a ``DecisionTreeClassifier``."""
    is_leaf = tree.children_left < 0
    children = tree.children_left, tree.children_right
    split = tree.feature, tree.threshold, *children, tree.missing_go_to_left
    nodes = _nodes(is_leaf, np.cumsum(is_leaf) - 1, split)
    return ArrayTree(nodes, tree.value[is_leaf, 0, :])


def _nodes(is_leaf: NDArray[Any], leaf: NDArray[Any], split: Sequence[Any]) -> NDArray[Any]:
    nodes = np.zeros(len(is_leaf), dtype=_NODE)
    nodes["modes"] = np.where(is_leaf, "LEAF", "BRANCH_LEQ")
    nodes["leaf"] = np.where(is_leaf, leaf, 0)
    for name, values in zip(_SPLIT, split, strict=True):
        nodes[name] = np.where(is_leaf, 0, values)
    return nodes


def _expand_sets(
    nodes: NDArray[Any], sets: Mapping[int, int], n_categories: Mapping[int, int]
) -> NDArray[Any]:
    """Return nodes in which sets of categories are chains of nodes, one per category.

    ``sets`` are the categories that go right, one bit each. The chain has the smaller side.
    """
    links = nodes.tolist()
    for node, bits in sets.items():
        column, _, left, right, missing_goes_left, _, _ = links[node]
        sides: tuple[list[int], list[int]] = ([], [])
        for category in range(n_categories[column]):
            sides[bits >> category & 1].append(category)
        goes_right = len(sides[1]) <= len(sides[0])
        chain, yes, no = (sides[1], right, left) if goes_right else (sides[0], left, right)
        # without categories on one side, all are above a threshold of minus infinity
        for k, cut in enumerate(chain or [-np.inf]):
            place = node if k == 0 else len(links)
            after = len(links) + (k > 0) if k + 1 < len(chain) else no
            mode = "BRANCH_EQ" if chain else "BRANCH_LEQ"
            missing_is_yes = k == 0 and missing_goes_left != goes_right
            links[place : place + 1] = [(column, cut, yes, after, missing_is_yes, mode, 0.0)]
    return np.array(links, dtype=_NODE)


def leaf_attributes(trees: Sequence[ArrayTree]) -> dict[str, Any]:
    """Return the attributes of a ``TreeEnsembleRegressor`` that finds the leaf in each tree."""
    nodes = np.concatenate([tree.nodes for tree in trees])
    sizes = [len(tree.nodes) for tree in trees]
    tree_of = np.repeat(np.arange(len(trees)), sizes)
    node_of = np.concatenate([np.arange(size) for size in sizes])
    is_leaf = nodes["modes"] == "LEAF"
    attributes = {f"nodes_{name}": nodes[name].tolist() for name in _NODE.names or ()}
    del attributes["nodes_values"], attributes["nodes_leaf"]
    return attributes | {
        "nodes_values_as_tensor": numpy_helper.from_array(nodes["values"], "numbers"),
        "nodes_treeids": tree_of.tolist(),
        "nodes_nodeids": node_of.tolist(),
        "target_treeids": tree_of[is_leaf].tolist(),
        "target_nodeids": node_of[is_leaf].tolist(),
        "target_ids": tree_of[is_leaf].tolist(),
        "target_weights_as_tensor": numpy_helper.from_array(nodes["leaf"][is_leaf], "numbers"),
        "n_targets": len(trees),
    }
