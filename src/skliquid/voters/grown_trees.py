"""GrownTrees: the trees of a voter, to keep and to predict with."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid import native
from skliquid.delegation.arrays import Floats

IS_LEAF, _COLUMN = np.uint32(1 << 31), np.uint32((1 << 29) - 1)  # parts of a node's "feature"

Tree = tuple[bytes, bytes]
"""A tree: nodes, as ``native.NODE`` has them, and the values of its leaves, as float32.

Leaves of sparse trees hold pairs: an output and its value. The last pair of a leaf has the number
of outputs in place of one, and is for all of them. A leaf's ``next`` is its first pair, and its
``cut`` the number of its pairs.
"""


class GrownTrees:
    """Trees that never change, so that copies of a voter share them.

    A leaf holds ``n_outputs`` numbers. If ``is_sparse``, it lists only the outputs that it knows.
    """

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
