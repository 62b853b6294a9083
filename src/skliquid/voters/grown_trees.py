"""GrownTrees: the trees of a voter, to keep and to predict with."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from skliquid import native
from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import Array, Range, require, smallest, storable

IS_LEAF, _COLUMN = np.uint32(1 << 31), np.uint32((1 << 29) - 1)  # parts of a node's "feature"

_FIELDS = ("cut", "feature", "next")  # of a node

Tree = tuple[bytes, bytes]
"""A tree: nodes, as ``native.NODE`` has them, and the values of its leaves, as float32.

Leaves of sparse trees hold pairs: an output and its value. The last pair of a leaf has the number
of outputs in place of one, and is for all of them. A leaf's ``next`` is its first pair, and its
``cut`` the number of its pairs.
"""


_Nodes = Annotated[NDArray[np.uint32], Array("nodes", high=2**32 - 1, is_copied=False)]


@dataclass(frozen=True, eq=False)
class StoredTrees:
    """The nodes and values of all trees, one after the other, and their numbers per tree."""

    cut: Annotated[NDArray[np.uint64], Array("nodes", high=2.0**64, is_copied=False)]
    feature: _Nodes
    next: _Nodes
    n_nodes: Annotated[NDArray[np.uint32], Array("trees")]
    values: Annotated[NDArray[np.float32], Array("values", "width")]
    n_values: Annotated[NDArray[np.uint32], Array("trees")]
    n_outputs: Annotated[int, Range(1, 2**31)]
    n_columns: Annotated[int, Range(1, 2**29 - 1)]
    is_sparse: bool


@storable
class GrownTrees:
    """Trees that never change, so that copies of a voter share them.

    A leaf holds ``n_outputs`` numbers. If ``is_sparse``, it lists only the outputs that it knows.
    """

    stored_as = StoredTrees

    def __init__(
        self, trees: Iterable[Tree], n_outputs: int, n_columns: int, is_sparse: bool = False
    ):
        self.trees, self.is_sparse = tuple(trees), is_sparse
        self.n_outputs, self.n_columns = n_outputs, n_columns
        self.handle = native.Trees(list(self.trees), n_outputs, n_columns, is_sparse)

    def __len__(self) -> int:
        return len(self.trees)

    def keep_last(self, n_trees: int, new: Iterable[Tree] = ()) -> "GrownTrees":
        """Return the last ``n_trees``, or all if there are fewer, and then ``new`` trees."""
        kept = self.trees[max(len(self) - n_trees, 0) :]
        return GrownTrees((*kept, *new), self.n_outputs, self.n_columns, self.is_sparse)

    def with_values(
        self, new: Callable[[NDArray[np.float32]], NDArray[Any]], n_outputs: int
    ) -> "GrownTrees":
        """Return trees with ``new(values)`` in their leaves; values have one row per leaf."""

        def change(values: bytes) -> bytes:
            rows = np.frombuffer(values, dtype=np.float32).reshape(-1, self.n_outputs)
            return new(rows).astype(np.float32).tobytes()

        trees = ((nodes, change(values)) for nodes, values in self.trees)
        return GrownTrees(trees, n_outputs, self.n_columns)

    def with_outputs(self, positions: NDArray[np.intp], n_outputs: int) -> "GrownTrees":
        """Return sparse trees with more outputs; the known outputs are at ``positions``."""
        before = self.n_outputs
        trees = self.trees if self.is_sparse else map(self._pairs, self.trees)
        places = np.append(positions, n_outputs).astype(np.float32)

        def move(values: bytes) -> bytes:
            pairs = np.frombuffer(values, dtype=np.float32).reshape(-1, 2).copy()
            outputs = pairs[:, 0].astype(np.intp)
            pairs[:, 0] = places[outputs]
            pairs[outputs == before, 1] *= before / n_outputs
            return pairs.tobytes()

        wider = [(nodes, move(values)) for nodes, values in trees]
        return GrownTrees(wider, n_outputs, self.n_columns, is_sparse=True)

    def _pairs(self, tree: Tree) -> Tree:
        """Return a sparse tree whose leaves list all outputs."""
        nodes, k = np.frombuffer(tree[0], dtype=native.NODE).copy(), self.n_outputs
        values = np.frombuffer(tree[1], dtype=np.float32)
        is_leaf = nodes["feature"] & IS_LEAF != 0
        nodes["next"][is_leaf] *= np.uint32(k)
        nodes["cut"][is_leaf] = k
        outputs = np.tile(np.arange(k, dtype=np.float32), len(values) // k)
        return nodes.tobytes(), np.stack([outputs, values], axis=1).tobytes()

    def have_shares(self) -> bool:
        """Return whether the values of each leaf are shares: not negative, and not all zero."""
        for tree in self.trees:
            nodes = np.frombuffer(tree[0], dtype=native.NODE)
            values = np.frombuffer(tree[1], dtype=np.float32)
            if self.is_sparse:
                leaves, values = nodes[nodes["feature"] == IS_LEAF], values[1::2]
                sums = np.append(0.0, np.cumsum(values, dtype=np.float64))
                first = leaves["next"].astype(np.intp)
                totals = sums[first + leaves["cut"].astype(np.intp)] - sums[first]
            else:
                totals = values.reshape(-1, self.n_outputs).sum(axis=1)
            if values.min() < 0 or totals.min() <= 0:
                return False
        return True

    def to_stored(self) -> StoredTrees:
        """Return the trees as arrays."""
        nodes = [np.frombuffer(nodes, dtype=native.NODE) for nodes, _ in self.trees]
        values = [np.frombuffer(values, dtype=np.float32) for _, values in self.trees]
        all_nodes = np.concatenate([*nodes, np.empty(0, dtype=native.NODE)])
        all_values = np.concatenate([*values, np.empty(0, dtype=np.float32)])
        width = 2 if self.is_sparse else self.n_outputs
        return StoredTrees(
            cut=all_nodes["cut"],
            feature=all_nodes["feature"],
            next=smallest(all_nodes["next"]),
            n_nodes=np.array([len(own) for own in nodes], dtype=np.uint32),
            values=all_values.reshape(-1, width),
            n_values=np.array([len(own) // width for own in values], dtype=np.uint32),
            n_outputs=self.n_outputs,
            n_columns=self.n_columns,
            is_sparse=self.is_sparse,
        )

    @classmethod
    def from_stored(cls, stored: StoredTrees) -> "GrownTrees":
        """Return trees from arrays; the native core checks every node."""
        width = 2 if stored.is_sparse else stored.n_outputs
        require(stored.values.shape[1] == width, "a value for each output, or pairs")
        parts = [_split(getattr(stored, name), stored.n_nodes) for name in _FIELDS]
        values = _split(stored.values, stored.n_values)
        nodes = (_join_fields(own) for own in zip(*parts, strict=True))
        trees = ((own, one.tobytes()) for own, one in zip(nodes, values, strict=True))
        return cls(trees, stored.n_outputs, stored.n_columns, stored.is_sparse)

    def splits(self) -> Floats:
        r"""Return the splits on each column; a split at depth d counts :math:`2^{-d}`."""
        counts = np.zeros(self.n_columns)
        for nodes, _ in self.trees:
            tree = np.frombuffer(nodes, dtype=native.NODE)
            level, share = np.zeros(1, dtype=np.intp), 1.0
            while len(level := level[tree["feature"][level] & IS_LEAF == 0]):
                columns = tree["feature"][level] & _COLUMN
                counts += share * np.bincount(columns, minlength=self.n_columns)
                left = tree["next"][level].astype(np.intp)
                level, share = np.concatenate([left, left + 1]), share / 2
        return counts

    def __reduce__(self) -> tuple[Any, ...]:
        return GrownTrees, (self.trees, self.n_outputs, self.n_columns, self.is_sparse)

    def __copy__(self) -> "GrownTrees":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "GrownTrees":
        return self


def _join_fields(fields: Iterable[NDArray[Any]]) -> bytes:
    columns = list(fields)
    nodes = np.empty(len(columns[0]), dtype=native.NODE)
    for name, own in zip(_FIELDS, columns, strict=True):
        nodes[name] = own
    return nodes.tobytes()


def _split(array: NDArray[Any], lengths: NDArray[Any]) -> list[NDArray[Any]]:
    ends = np.cumsum(lengths, dtype=np.int64)
    is_complete = len(array) == (ends[-1] if len(ends) else 0)
    require(is_complete, "trees with all nodes and values together")
    return np.split(array, ends[:-1]) if len(ends) else []
