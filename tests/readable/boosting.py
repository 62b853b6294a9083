"""Small trees one after the other, as ``native/trees/boosting.cpp`` grows them."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from readable.numbers import Numbers, Random, added, draw_rows, softmax
from readable.tree import ALL_BINS, Split, Tree, above, own_weights
from skliquid.delegation.arrays import Floats
from skliquid.native import MISSING_BIN
from skliquid.voters.binning import BinnedRows
from skliquid.voters.one_hot import CATEGORIES, NUMBERS, ONE_HOT

MOST_GRADIENTS = 5
"""Of more classes, splits see so many random sums of gradients."""

LEAST_GAIN, QUANTUM_BITS = 1e-6, 30


def grow_sequence(
    rows: BinnedRows, task: Any, base: Floats, scores: Floats | None = None
) -> list[tuple[bytes, bytes]]:
    """Return nodes and values of trees, each grown on what those before it left unexplained.

    ``scores`` are those of all rows before the first of these trees, and change to those after the
    last; without them, each row starts with ``base``.
    """
    random, weights = Random(task["seed"]), own_weights(rows, task)
    window = draw_rows(random, rows.n_rows, int(task["n_window"]))
    window = window[weights[window] > 0]
    n_rows, quantum = len(window), quantum_of(weights[window])
    all_scores, scores = scores, np.tile(base, (n_rows, 1)) if scores is None else scores[window]
    trees = []
    for _ in range(task["n_trees"]):
        drawn = draw_rows(random, n_rows, min(int(task["n_drawn"]), n_rows))
        columns = draw_rows(random, rows.n_columns, int(task["n_columns"]))
        numbers = window[drawn]
        derivatives = slopes(scores[drawn], rows.y[numbers], weights[numbers], quantum, random)
        tree = BoostedTree(rows, task, columns, numbers, derivatives).grown()
        for k, row in enumerate(window):
            scores[k] += tree.values_of(rows.bins[:, row])
        trees.append(tree.as_bytes())
    if all_scores is not None:
        all_scores[window] = scores
    return trees


def quantum_of(weights: Floats) -> float:
    """Return what gradients are multiples of, so that their sums are exact in any order."""
    return math.ldexp(1.0, math.frexp(max(weights, default=1.0))[1] - QUANTUM_BITS)


def rounded(numbers: Floats, quantum: float) -> Floats:
    """Return multiples of a quantum, as precise as float32."""
    return (np.rint(numbers / quantum) * quantum).astype(np.float32).astype(np.float64)


class Slopes(NamedTuple):
    """First and second derivatives of the log-loss, one row per row."""

    gradients: Floats  # that splits see
    hessians: Floats
    leaf_gradients: Floats  # that leaves see, one for each output
    leaf_hessians: Floats
    quantum: float


def slopes(scores: Floats, y: Any, weights: Floats, quantum: float, random: Random) -> Slopes:
    """Return the derivatives at ``scores``. No hessian is zero: sums of them tell of rows."""
    each, w, p = np.arange(len(y)), weights[:, None], softmax(scores)
    if scores.shape[1] == 1:
        p = p[:, 1:]
        gradients = rounded(w * (p - y[:, None]), quantum)
        hessians = rounded(np.maximum(w * (p * (1.0 - p)), quantum), quantum)
        return Slopes(gradients, hessians[:, 0], gradients, hessians, quantum)
    mean_hessians = added((p * (1.0 - p)).T) / p.shape[1]
    hessians = rounded(np.maximum(weights * mean_hessians, quantum), quantum)
    p[each, y] -= 1.0
    gradients = rounded(w * few_gradients(p, random), quantum)
    again = p.copy()
    again[each, y] += 1.0
    return Slopes(gradients, hessians, w * p, w * (again * (1.0 - again)), quantum)


def few_gradients(gradients: Floats, random: Random) -> Floats:
    """Return five sums of gradients with random signs; gradients themselves if they are few."""
    n_classes = gradients.shape[1]
    if n_classes <= MOST_GRADIENTS:
        return gradients
    signs = np.array([1.0 if random.bit() else -1.0 for _ in range(MOST_GRADIENTS * n_classes)])
    by_class = signs.reshape(MOST_GRADIENTS, n_classes).T
    return np.asarray(
        added(own[:, None] * sign for own, sign in zip(gradients.T, by_class, strict=True))
    )


class Sums(NamedTuple):
    """Sums of gradients and of hessians: of a node, or one row for each of several."""

    gradients: Floats
    hessians: Floats

    def at(self, rows: Any) -> "Sums":
        """Return some of them."""
        return Sums(self.gradients[rows], self.hessians[rows])

    def running(self) -> "Sums":
        """Return the sums of the first, of the first two, and so on."""
        return Sums(self.gradients.cumsum(axis=0), self.hessians.cumsum())

    def plus(self, other: "Sums") -> "Sums":
        """Return both together."""
        return Sums(self.gradients + other.gradients, self.hessians + other.hessians)

    def without(self, other: "Sums") -> "Sums":
        """Return what is left without the other."""
        return Sums(self.gradients - other.gradients, self.hessians - other.hessians)

    @property
    def squares(self) -> Any:
        """The squared length of the gradients."""
        return added((self.gradients * self.gradients).T)


class BoostedTree:
    """A tree that is growing on some rows and columns; nodes have positions of these rows."""

    def __init__(
        self, rows: BinnedRows, task: Any, columns: Numbers, numbers: Numbers, derivatives: Slopes
    ):
        self.task, self.columns, self.slopes = task, columns, derivatives
        self.bins, self.kinds = rows.bins[:, numbers], rows.column_types
        self.n_used = np.isfinite(rows.edges).sum(axis=1) + 1
        self.tree = Tree(rows)

    def grown(self) -> Tree:
        """Return the tree when it is complete."""
        self._grow(0, np.arange(self.bins.shape[1]), 0)
        return self.tree

    def _grow(self, node: int, at: Numbers, level: int) -> None:
        split = self._search(at) if level < self.task["depth"] else Split(LEAST_GAIN)
        if split.column < 0:
            self.tree.add_leaf(node, self._step(at))
            return
        left = self.tree.add_split(node, split)
        goes_right = np.isin(self.bins[split.column, at], list(split.right))
        children = [(left, at[~goes_right]), (left + 1, at[goes_right])]
        for child, own in sorted(children, key=lambda pair: len(pair[1])):  # the smaller first
            self._grow(child, own, level + 1)

    def _step(self, at: Numbers) -> Floats:
        """Return a Newton step for each output."""
        gradient, hessian = np.zeros((2, self.slopes.leaf_gradients.shape[1]))
        gradient += added(self.slopes.leaf_gradients[at])
        hessian += added(self.slopes.leaf_hessians[at])
        return np.asarray(-self.task["rate"] * gradient / (hessian + self.task["penalty"]))

    def _search(self, at: Numbers) -> Split:
        """Return the split of the largest gain."""
        best, own = Split(LEAST_GAIN), Sums(self.slopes.gradients[at], self.slopes.hessians[at])
        total = Sums(own.gradients.sum(axis=0), own.hessians.sum())
        if total.hessians < 2 * self.task["min_hessian"] or len(at) < 2:
            return best
        for column in self.columns.tolist():
            bins = self.bins[column, at]
            gradients = np.stack([_by_bin(bins, each) for each in own.gradients.T], axis=1)
            sums = Sums(gradients, _by_bin(bins, own.hessians))
            looks = {NUMBERS: self._thresholds, CATEGORIES: self._sets, ONE_HOT: self._members}
            for split in looks[self.kinds[column]](column, sums, total):
                best = split if split.score > best.score else best
        return best

    def _thresholds(self, column: int, sums: Sums, total: Sums) -> Iterator[Split]:
        """Yield the best threshold with missing values to the right, and that with them left."""
        missing, known = sums.at(MISSING_BIN), sums.at(slice(self.n_used[column])).running()
        has_missing = missing.hessians > 0
        for to_right in [True, False] if has_missing else [True]:
            left = known if to_right else known.plus(missing)
            gains = self._gains(left, total)
            best = int(gains.argmax())
            goes_right = to_right if has_missing else 2 * left.hessians[best] < total.hessians
            right = above(best, [MISSING_BIN] if goes_right else [])
            yield Split(float(gains[best]), column, right, best)

    def _sets(self, column: int, sums: Sums, total: Sums) -> Iterator[Split]:
        """Yield sets of categories in the order of their mean gradient, of several the first."""
        present = np.flatnonzero(sums.hessians > 0)
        means = sums.gradients[present, 0] / (sums.hessians[present] + self.task["penalty"])
        ordered = present[np.argsort(means, kind="stable")]
        right = sums.at(ordered).running()
        left = total.without(right)
        gains = self._gains(left, total)
        for last in range(len(ordered) - 1):
            chosen = frozenset(ordered[: last + 1].tolist())
            if right.hessians[last] > left.hessians[last]:
                chosen |= ALL_BINS - set(present.tolist())
            yield Split(float(gains[last]), column, chosen)

    def _members(self, column: int, sums: Sums, total: Sums) -> Iterator[Split]:
        """Yield one feature after the other, each against all others."""
        left = total.without(sums)
        gains = self._gains(left, total)
        for b in range(1, self.n_used[column]):
            is_larger = sums.hessians[b] > left.hessians[b]
            yield Split(
                float(gains[b]), column, frozenset({b, MISSING_BIN} if is_larger else {b}), b
            )

    def _gains(self, left: Sums, total: Sums) -> Floats:
        """Return by how much the loss falls, twice; less than nothing if a side has too little."""
        right, penalty = total.without(left), self.task["penalty"]
        d_left, d_right = left.hessians + penalty, right.hessians + penalty
        gains = (left.squares * d_right + right.squares * d_left) / (d_left * d_right)
        least = max(self.task["min_hessian"], self.slopes.quantum)
        has_too_little = (left.hessians < least) | (right.hessians < least)
        before = total.squares / (total.hessians + penalty)
        return np.asarray(np.where(has_too_little, 0.0, gains) - before)


def _by_bin(bins: NDArray[np.uint8], numbers: Floats) -> Floats:
    return np.bincount(bins, numbers, minlength=MISSING_BIN + 1).astype(np.float64)
