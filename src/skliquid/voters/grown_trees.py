"""GrownTrees: the trees of a voter, to keep and to predict with."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid import native
from skliquid.arrays import Floats

_IS_LEAF, _COLUMN = np.uint32(1 << 31), np.uint32((1 << 29) - 1)  # parts of a node's "feature"

Tree = tuple[bytes, bytes]
"""A tree: nodes, as ``native.NODE`` has them, and the values of its leaves, as float32."""


class GrownTrees:
    """Trees that never change, so that copies of a voter share them.

    Parameters
    ----------
    trees : iterable of (nodes, values)
        The trees.
    n_outputs : int
        How many numbers a leaf holds.
    n_columns : int
        How many columns the rows have.
    """

    def __init__(self, trees: Iterable[Tree], n_outputs: int, n_columns: int):
        self.trees = tuple(trees)
        self.n_outputs = n_outputs
        self.n_columns = n_columns
        self.handle = native.Trees(list(self.trees), n_outputs, n_columns)

    def __len__(self) -> int:
        return len(self.trees)

    def last(self, n_trees: int) -> "GrownTrees":
        """Return the last ``n_trees``, or all if there are fewer."""
        first = max(len(self) - n_trees, 0)
        return GrownTrees(self.trees[first:], self.n_outputs, self.n_columns)

    def followed_by(self, trees: Iterable[Tree]) -> "GrownTrees":
        """Return these trees and then ``trees``."""
        return GrownTrees((*self.trees, *trees), self.n_outputs, self.n_columns)

    def with_values(
        self, new: Callable[[NDArray[np.float32]], NDArray[Any]], n_outputs: int
    ) -> "GrownTrees":
        """Return trees whose leaves hold ``new`` values: of one row per leaf it makes another."""

        def changed(values: bytes) -> bytes:
            rows = np.frombuffer(values, dtype=np.float32).reshape(-1, self.n_outputs)
            return new(rows).astype(np.float32).tobytes()

        trees = ((nodes, changed(values)) for nodes, values in self.trees)
        return GrownTrees(trees, n_outputs, self.n_columns)

    def splits(self) -> Floats:
        r"""Return how often each column is split on; a split at depth d counts :math:`2^{-d}`."""
        counts = np.zeros(self.n_columns)
        for nodes, _ in self.trees:
            tree = np.frombuffer(nodes, dtype=native.NODE)
            level, share = np.zeros(1, dtype=np.intp), 1.0
            while len(level := level[tree["feature"][level] & _IS_LEAF == 0]):
                columns = tree["feature"][level] & _COLUMN
                counts += share * np.bincount(columns, minlength=self.n_columns)
                left = tree["next"][level].astype(np.intp)
                level, share = np.concatenate([left, left + 1]), share / 2
        return counts

    def __reduce__(self) -> tuple[Any, ...]:
        return GrownTrees, (self.trees, self.n_outputs, self.n_columns)

    def __copy__(self) -> "GrownTrees":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "GrownTrees":
        return self
