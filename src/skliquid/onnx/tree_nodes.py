"""Tree nodes: trees of skliquid and scikit-learn as arrays, and as attributes of the operator."""

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

    A row goes to ``yes`` if its number is at most ``cut``; where ``equals`` is set, if it is equal.
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
    """Return a tree of skliquid; see ``Node`` in ``native/trees/trees.hpp``."""
    nodes = np.frombuffer(tree[0], dtype=native.NODE)
    flags, cut, after = nodes["feature"], nodes["cut"], nodes["next"].astype(np.int64)
    is_leaf = flags & _IS_LEAF != 0
    is_categorical = (flags & _IS_CATEGORICAL != 0) & ~is_leaf
    plain = TreeNodes(
        column=np.where(is_leaf, 0, flags & _COLUMN).astype(np.int64),
        cut=np.where(is_leaf | is_categorical, 0.0, cut.view(np.float64)),
        equals=np.zeros(len(nodes), dtype=bool),
        yes=np.where(is_leaf, 0, after),
        no=np.where(is_leaf, 0, after + 1),
        missing_is_yes=~is_leaf & (flags & _MISSING_GOES_RIGHT == 0),
        leaf=np.where(is_leaf, after, -1),
        values=np.frombuffer(tree[1], dtype=np.float32).reshape(-1, n_outputs),
    )
    sets = {node: int(cut[node]) for node in np.flatnonzero(is_categorical).tolist()}
    return _expand_sets(plain, sets, n_categories) if sets else plain


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


def _expand_sets(
    tree: TreeNodes, sets: Mapping[int, int], n_categories: Mapping[int, int]
) -> TreeNodes:
    """Return a tree in which sets of categories are chains of nodes, one per category.

    ``sets`` are the categories that go right, one bit each. The chain has the smaller side.
    """
    fields = {name: values.tolist() for name, values in tree._asdict().items() if name != "values"}
    for node, bits in sets.items():
        column, left, right = (fields[name][node] for name in ("column", "yes", "no"))
        sides: tuple[list[int], list[int]] = ([], [])
        for category in range(n_categories[column]):
            sides[bits >> category & 1].append(category)
        goes_right = len(sides[1]) <= len(sides[0])
        chain, yes, no = (sides[1], right, left) if goes_right else (sides[0], left, right)
        missing_is_yes = fields["missing_is_yes"][node] != goes_right
        # without categories on one side, all are above a threshold of minus infinity
        for k, cut in enumerate(chain or [-np.inf]):
            n_nodes = len(fields["cut"])
            place = node if k == 0 else n_nodes
            link = {
                "column": column,
                "cut": cut,
                "equals": bool(chain),
                "yes": yes,
                "no": n_nodes + (k > 0) if k + 1 < len(chain) else no,
                "missing_is_yes": missing_is_yes and k == 0,
                "leaf": -1,
            }
            for name, value in link.items():
                fields[name][place : place + 1] = [value]
    return TreeNodes(**{name: np.array(own) for name, own in fields.items()}, values=tree.values)


def leaf_attributes(trees: Sequence[TreeNodes]) -> dict[str, Any]:
    """Return the attributes of a ``TreeEnsembleRegressor`` that finds the leaf in each tree."""
    column, cut, equals, yes, no, missing_is_yes, leaf = (
        np.concatenate(arrays) for arrays in list(zip(*trees, strict=True))[:-1]
    )
    sizes = [len(tree.leaf) for tree in trees]
    tree_of = np.repeat(np.arange(len(trees)), sizes)
    node_of = np.concatenate([np.arange(size) for size in sizes])
    is_leaf = leaf >= 0
    modes = np.where(is_leaf, "LEAF", np.where(equals, "BRANCH_EQ", "BRANCH_LEQ"))
    return {
        "nodes_treeids": tree_of.tolist(),
        "nodes_nodeids": node_of.tolist(),
        "nodes_featureids": column.tolist(),
        "nodes_modes": modes.tolist(),
        "nodes_values_as_tensor": _tensor(cut),
        "nodes_truenodeids": yes.tolist(),
        "nodes_falsenodeids": no.tolist(),
        "nodes_missing_value_tracks_true": missing_is_yes.astype(int).tolist(),
        "target_treeids": tree_of[is_leaf].tolist(),
        "target_nodeids": node_of[is_leaf].tolist(),
        "target_ids": tree_of[is_leaf].tolist(),
        "target_weights_as_tensor": _tensor(leaf[is_leaf]),
        "n_targets": len(trees),
    }


def _tensor(values: NDArray[Any]) -> Any:
    return numpy_helper.from_array(values.astype(np.float64), "numbers")
