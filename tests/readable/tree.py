"""A tree while it grows, and the way of a row down a tree."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats
from skliquid.native import MISSING_BIN, MOST_EDGES, NODE
from skliquid.voters.binning import BinnedRows
from skliquid.voters.one_hot import CATEGORIES, ONE_HOT

IS_LEAF, IS_CATEGORICAL, MISSING_GOES_RIGHT = 2**31, 2**30, 2**29
"""Flags in the ``feature`` of a node."""

ALL_BINS = frozenset(range(MISSING_BIN + 1))


class Split(NamedTuple):
    """Where the rows of a node go: which bins go right.

    They are those above the bin ``bin`` in a column of numbers, and ``bin`` alone in one of ones.
    """

    score: float
    column: int = -1
    right: frozenset[int] = frozenset()
    bin: int = -1


class Tree:
    """Nodes and the values of leaves, as they come."""

    def __init__(self, rows: BinnedRows):
        self.rows = rows
        self.nodes = np.zeros(1, dtype=NODE)
        self.splits: dict[int, Split] = {}
        self.values: list[NDArray[np.float32]] = []

    def add_split(self, node: int, split: Split) -> int:
        """Make a node split, and return its left child, whose number is followed by the right."""
        left = len(self.nodes)
        self.splits[node] = split
        self.nodes = np.append(self.nodes, np.zeros(2, dtype=NODE))
        flags = MISSING_GOES_RIGHT if MISSING_BIN in split.right else 0
        kind, feature = self.rows.column_types[split.column], self._feature(split.column)
        if kind == CATEGORIES:
            flags |= IS_CATEGORICAL
            cut = np.uint64(sum(1 << b for b in split.right))
        elif kind == ONE_HOT:
            feature = self._feature(split.column, split.bin)
            cut = np.float64(0.5).view(np.uint64)
        else:
            is_edge = split.bin < MOST_EDGES
            edge = self.rows.edges[split.column, split.bin] if is_edge else np.inf
            cut = np.float64(edge).view(np.uint64)
        self.nodes[node] = (cut, feature | flags, left)
        return left

    def _feature(self, column: int, b: int = 0) -> int:
        """Return the feature that a column stands for, or if it stands for several, a bin."""
        features = self.rows.features
        return column if features is None else int(features[column, b])

    def add_leaf(self, node: int, values: Floats) -> None:
        """Make a node a leaf."""
        self.nodes[node] = (0, IS_LEAF, len(self.values))
        self.values.append(np.asarray(values, dtype=np.float32))

    def add_pairs(self, node: int, values: Floats, of_all: float) -> None:
        """Make a node a leaf with pairs, of an output and its value; the last is for all."""
        outputs = np.append(np.flatnonzero(values), len(values))
        pairs = np.stack([outputs, np.append(values[outputs[:-1]], of_all)], axis=1)
        self.nodes[node] = (len(pairs), IS_LEAF, len(self.values))
        self.values.extend(pairs.astype(np.float32))

    def values_of(self, bins: NDArray[np.uint8]) -> Floats:
        """Return the values of the leaf that a row comes to, whose bins are given."""
        node = 0
        while node in self.splits:
            split = self.splits[node]
            node = int(self.nodes["next"][node]) + (int(bins[split.column]) in split.right)
        return self.values[int(self.nodes["next"][node])].astype(np.float64)

    def as_bytes(self) -> tuple[bytes, bytes]:
        """Return nodes and values, as the core does."""
        return self.nodes.tobytes(), b"".join(each.tobytes() for each in self.values)


def above(threshold: int, moved: Sequence[int]) -> frozenset[int]:
    """Return the bins above a threshold, and that of missing values if it is among ``moved``."""
    return frozenset(range(threshold + 1, MISSING_BIN)) | ({MISSING_BIN} & set(moved))


def leaf_of(nodes: NDArray[Any], row: Sequence[float]) -> int:
    """Return the leaf that a row of numbers comes to."""
    return int(last_node(nodes, row)["next"])


def last_node(nodes: NDArray[Any], row: Sequence[float]) -> Any:
    """Return the node at which a row of numbers ends."""
    node = nodes[0]
    while not node["feature"] & IS_LEAF:
        node = nodes[int(node["next"]) + goes_right(node, row)]
    return node


def goes_right(node: Any, row: Sequence[float]) -> bool:
    """Return whether a row of numbers goes right at a node."""
    x, feature = float(row[int(node["feature"]) % MISSING_GOES_RIGHT]), int(node["feature"])
    if feature & IS_CATEGORICAL and 0 <= x < MISSING_BIN:
        return int(node["cut"]) >> int(x) & 1 == 1
    if feature & IS_CATEGORICAL or math.isnan(x):
        return feature & MISSING_GOES_RIGHT > 0
    return bool(x > node["cut"].view(np.float64))


def sums_of_trees(trees: Iterable[tuple[bytes, bytes]], X: Any, n_outputs: int) -> Floats:
    """Return what trees add up to, one row per row of ``X``."""
    sums = np.zeros((len(X), n_outputs))
    for nodes, values in trees:
        each = np.frombuffer(values, dtype=np.float32).reshape(-1, n_outputs)
        leaves = [leaf_of(np.frombuffer(nodes, dtype=NODE), row) for row in X]
        sums += each[leaves].astype(np.float64)
    return sums


def sums_of_pairs(trees: Iterable[tuple[bytes, bytes]], X: Any, n_outputs: int) -> Floats:
    """Return what trees whose leaves hold pairs add up to, one row per row of ``X``."""
    sums = np.zeros((len(X), n_outputs + 1))
    for nodes, values in trees:
        pairs = np.frombuffer(values, dtype=np.float32).reshape(-1, 2).tolist()
        for row, own in zip(X, sums, strict=True):
            leaf = last_node(np.frombuffer(nodes, dtype=NODE), row)
            first = int(leaf["next"])
            for output, value in pairs[first : first + int(leaf["cut"])]:
                own[int(output)] += value
    return sums[:, :-1] + sums[:, -1:]


def own_weights(rows: BinnedRows, task: Any) -> Floats:
    """Return the weights that a task says."""
    return rows.weights[task["weights"]] if task["weights"] >= 0 else np.ones(rows.n_rows)
