"""Tree nodes: trees of any library as plain arrays, and as the operator takes them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import numpy_helper

from skliquid import native
from skliquid.voters.grown_trees import Tree

_IS_LEAF, _IS_CATEGORICAL, _MISSING_GOES_RIGHT = (np.uint32(1 << k) for k in (31, 30, 29))
_COLUMN = np.uint32((1 << 29) - 1)


class TreeNodes(NamedTuple):
    """A tree: one entry per node in each array but ``values``; node 0 is the root.

    A row goes to ``yes`` if its number is at most ``cut``, or where ``equals`` is set the same.
    """

    column: NDArray[Any]
    cut: NDArray[Any]
    equals: NDArray[Any]
    yes: NDArray[Any]
    no: NDArray[Any]
    missing_is_yes: NDArray[Any]
    leaf: NDArray[Any]  # the number of a leaf, or -1
    values: NDArray[Any]  # one row per leaf


def grown_tree(tree: Tree, n_outputs: int, n_categories: Mapping[int, int]) -> TreeNodes:
    """Return a tree of our own; see ``Node`` in ``native/trees/trees.hpp``."""
    nodes, values = tree
    found = np.frombuffer(nodes, dtype=native.NODE)
    flags, after = found["feature"], found["next"].astype(np.int64)
    is_leaf = flags & _IS_LEAF != 0
    is_categorical = (flags & _IS_CATEGORICAL != 0) & ~is_leaf
    plain = TreeNodes(
        column=np.where(is_leaf, 0, flags & _COLUMN).astype(np.int64),
        cut=np.where(is_leaf | is_categorical, 0.0, found["cut"].view(np.float64)),
        equals=np.zeros(len(found), dtype=bool),
        yes=np.where(is_leaf, 0, after),
        no=np.where(is_leaf, 0, after + 1),
        missing_is_yes=~is_leaf & (flags & _MISSING_GOES_RIGHT == 0),
        leaf=np.where(is_leaf, after, -1),
        values=np.frombuffer(values, dtype=np.float32).reshape(-1, n_outputs),
    )
    if not is_categorical.any():
        return plain
    sets = {node: int(found["cut"][node]) for node in np.flatnonzero(is_categorical).tolist()}
    return _with_chains(plain, sets, n_categories)


def scikit_learn_tree(tree: Any) -> TreeNodes:
    """Return the tree of a ``DecisionTreeClassifier``."""
    is_leaf = tree.children_left < 0
    return TreeNodes(
        column=np.where(is_leaf, 0, tree.feature),
        cut=np.where(is_leaf, 0.0, tree.threshold),
        equals=np.zeros(tree.node_count, dtype=bool),
        yes=np.where(is_leaf, 0, tree.children_left),
        no=np.where(is_leaf, 0, tree.children_right),
        missing_is_yes=~is_leaf & (tree.missing_go_to_left != 0),
        leaf=np.where(is_leaf, np.cumsum(is_leaf) - 1, -1),
        values=tree.value[is_leaf, 0, :],
    )


def _with_chains(
    tree: TreeNodes, sets: Mapping[int, int], n_categories: Mapping[int, int]
) -> TreeNodes:
    """Return a tree in which sets of categories are chains of nodes, one per category.

    ``sets`` are the categories that go right, one bit each. The chain has the smaller side.
    """
    fields = {name: getattr(tree, name).tolist() for name in tree._fields if name != "values"}
    for node, bits in sets.items():
        left, right = fields["yes"][node], fields["no"][node]
        missing_goes_left = fields["missing_is_yes"][node]
        sides: tuple[list[int], list[int]] = ([], [])
        for category in range(n_categories[fields["column"][node]]):
            sides[bits >> category & 1].append(category)
        goes_right = len(sides[1]) <= len(sides[0])
        chain, yes, no = (sides[1], right, left) if goes_right else (sides[0], left, right)
        missing_is_yes = missing_goes_left != goes_right
        # without categories on one side, all are above a threshold of minus infinity
        for k, cut in enumerate(chain or [-np.inf]):
            at = node if k == 0 else len(fields["cut"])
            follows = len(fields["cut"]) + (k > 0)
            link = {
                "column": fields["column"][node],
                "cut": cut,
                "equals": bool(chain),
                "yes": yes,
                "no": follows if k + 1 < len(chain) else no,
                "missing_is_yes": missing_is_yes and k == 0,
                "leaf": -1,
            }
            for name, value in link.items():
                fields[name][at : at + 1] = [value]
    return TreeNodes(**{name: np.array(values) for name, values in fields.items()}, values=tree[-1])


def attributes(trees: Sequence[TreeNodes]) -> dict[str, Any]:
    """Return what ``TreeEnsembleRegressor`` needs to find the number of each tree's leaf."""
    tree_ids = [np.full(len(tree.leaf), k) for k, tree in enumerate(trees)]
    node_ids = [np.arange(len(tree.leaf)) for tree in trees]
    whole = {name: _all(trees, name) for name in TreeNodes._fields if name != "values"}
    is_leaf = whole["leaf"] >= 0
    modes = np.where(is_leaf, "LEAF", np.where(whole["equals"], "BRANCH_EQ", "BRANCH_LEQ"))
    tree_of, node_of = np.concatenate(tree_ids), np.concatenate(node_ids)
    return {
        "nodes_treeids": tree_of.tolist(),
        "nodes_nodeids": node_of.tolist(),
        "nodes_featureids": whole["column"].tolist(),
        "nodes_modes": modes.tolist(),
        "nodes_values_as_tensor": _tensor(whole["cut"]),
        "nodes_truenodeids": whole["yes"].tolist(),
        "nodes_falsenodeids": whole["no"].tolist(),
        "nodes_missing_value_tracks_true": whole["missing_is_yes"].astype(int).tolist(),
        "target_treeids": tree_of[is_leaf].tolist(),
        "target_nodeids": node_of[is_leaf].tolist(),
        "target_ids": tree_of[is_leaf].tolist(),
        "target_weights_as_tensor": _tensor(whole["leaf"][is_leaf]),
        "n_targets": len(trees),
    }


def _all(trees: Sequence[TreeNodes], name: str) -> NDArray[Any]:
    return np.concatenate([getattr(tree, name) for tree in trees])


def _tensor(values: NDArray[Any]) -> Any:
    return numpy_helper.from_array(values.astype(np.float64), "numbers")
