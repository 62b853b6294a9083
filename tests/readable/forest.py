"""A deep tree with random splits, as ``native/trees/forest.cpp`` grows it."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from readable.numbers import Numbers, Random, added, draw_rows
from readable.tree import ALL_BINS, Split, Tree, above, own_weights
from skliquid.delegation.arrays import Floats
from skliquid.native import MISSING_BIN, MOST_DENSE_CLASSES, SPLITTERS
from skliquid.voters.binning import BinnedRows
from skliquid.voters.one_hot import CATEGORIES, NUMBERS, ONE_HOT

MANY_ROWS = 64
"""From so many rows on the mixed splitter looks at all thresholds."""

FEW_ROWS = 8
"""With many classes, a node with more rows does not tell its children which it has."""


def grow_tree(rows: BinnedRows, n_classes: int, task: Any) -> tuple[bytes, bytes]:
    """Return nodes and values of a deep tree with random splits."""
    return ForestTree(rows, n_classes, task).grown().as_bytes()


class ForestTree:
    """A tree that is growing; columns that are constant in a node are the first in ``order``."""

    def __init__(self, rows: BinnedRows, n_classes: int, task: Any):
        self.rows, self.n_classes, self.task = rows, n_classes, task
        self.random, self.tree = Random(task["seed"]), Tree(rows)
        self.order = list(range(rows.n_columns))
        self.weights = own_weights(rows, task)

    def grown(self) -> Tree:
        """Return the tree when it is complete."""
        drawn = draw_rows(self.random, self.rows.n_rows, int(self.task["n_drawn"]))
        self._grow(0, drawn[self.weights[drawn] > 0], self._nothing(), 0)
        return self.tree

    def _nothing(self) -> tuple[Floats, float]:
        """Return what is known without a row: a number per class, and the rest that all share."""
        if self.n_classes > MOST_DENSE_CLASSES:
            return np.zeros(self.n_classes), 1.0
        return np.full(self.n_classes, 1.0 / self.n_classes), 0.0

    def counts(self, rows: Numbers) -> Floats:
        """Return the weight of each class."""
        counts = np.bincount(self.rows.y[rows], self.weights[rows], minlength=self.n_classes)
        return counts.astype(np.float64)  # of no rows they are integers

    def _grow(
        self, node: int, rows: Numbers, parent: tuple[Floats, float], n_constant: int
    ) -> None:
        total, (known, rest) = self.counts(rows), parent
        n_total = added(total) + 1.0
        probability, rest = (total + known) / n_total, rest / n_total
        is_listed = self.n_classes > MOST_DENSE_CLASSES
        split = Split(-1.0)
        if np.count_nonzero(total) > 1 and len(rows) >= 2 * self.task["min_leaf"]:
            split, n_constant = self._search(rows, total, n_constant)
        if split.column < 0 and is_listed:
            self.tree.add_pairs(node, probability, rest / self.n_classes)
            return
        if split.column < 0:
            self.tree.add_leaf(node, probability)
            return
        left = self.tree.add_split(node, split)
        goes_right = np.isin(self.rows.bins[split.column, rows], list(split.right))
        is_forgotten = is_listed and len(rows) > FEW_ROWS
        own = self._nothing() if is_forgotten else (probability, rest)
        self._grow(left, rows[~goes_right], own, n_constant)
        self._grow(left + 1, rows[goes_right], own, n_constant)

    def _search(self, rows: Numbers, total: Floats, n_constant: int) -> tuple[Split, int]:
        """Look at columns in random order until enough are not constant and one has a split."""
        best, n_seen, order = Split(-1.0), 0, self.order
        for at in range(n_constant, len(order)):
            if n_seen >= self.task["n_tried"] and best.column >= 0:
                break
            other = at + self.random.below(len(order) - at)
            order[at], order[other] = order[other], order[at]
            column = order[at]
            if len(np.unique(self.rows.bins[column, rows])) == 1:
                order[at], order[n_constant] = order[n_constant], order[at]
                n_constant += 1
                continue
            n_seen += 1
            for split in self._splits(column, rows, total):
                best = split if split.score > best.score else best
        return best, n_constant

    def _splits(self, column: int, rows: Numbers, total: Floats) -> Iterator[Split]:
        """Yield the splits of a column that are tried, and leave enough rows on both sides."""
        bins, kind = self.rows.bins[column, rows], self.rows.column_types[column]
        present, min_leaf = set(bins.tolist()), self.task["min_leaf"]
        absent = (ALL_BINS if kind == CATEGORIES else {MISSING_BIN}) - present
        for threshold, moved in self._tried(kind, bins, rows, total):
            goes_right = np.isin(bins, moved)
            n_right = np.count_nonzero(goes_right)
            if not min_leaf <= n_right <= len(rows) - min_leaf:
                continue
            if self._looks_at_all(rows):  # bin by bin
                right_count = added(self.counts(rows[bins == b]) for b in moved)
            else:
                right_count = self.counts(rows[goes_right])
            right = above(threshold, moved) if kind == NUMBERS else frozenset(moved)
            if 2 * n_right > len(rows):
                right |= absent
            yield Split(purity(total, right_count), column, right, threshold)

    def _looks_at_all(self, rows: Numbers) -> bool:
        splitter = SPLITTERS[self.task["splitter"]]
        return splitter == "best" or (splitter == "mixed" and len(rows) >= MANY_ROWS)

    def _tried(
        self, kind: int, bins: Any, rows: Numbers, total: Floats
    ) -> Iterator[tuple[int, list[int]]]:
        """Yield bins, and which bins of the node go right; for what a bin means see ``Split``."""
        present = sorted(set(bins.tolist()))
        if not self._looks_at_all(rows):
            n_draws = 1 if SPLITTERS[self.task["splitter"]] == "random" else 2
            draw = {NUMBERS: self._threshold, CATEGORIES: self._set, ONE_HOT: self._member}[kind]
            yield from (draw(present) for _ in range(n_draws))
        elif kind == NUMBERS:
            yield from all_thresholds(present)
        elif kind == CATEGORIES:
            yield from all_sets({b: self.counts(rows[bins == b]) for b in present}, total)
        else:
            yield from ((b, [b]) for b in present if b > 0)

    def _threshold(self, present: list[int]) -> tuple[int, list[int]]:
        """Return a random threshold; missing values go right or left."""
        known = [b for b in present if b < MISSING_BIN]
        low, high = known[0], known[-1]
        threshold = low if low == high else low + self.random.below(high - low)
        missing = present[len(known) :]
        if missing and low < high and not self.random.bit():
            missing = []
        return threshold, [b for b in known if b > threshold] + missing

    def _set(self, present: list[int]) -> tuple[int, list[int]]:
        """Return a random set of categories, or the first of them."""
        bits = self.random.next()
        chosen = [b for b in present if bits >> b & 1]
        return -1, chosen if 0 < len(chosen) < len(present) else present[:1]

    def _member(self, present: list[int]) -> tuple[int, list[int]]:
        """Return one of several features at random."""
        members = [b for b in present if b > 0]
        member = members[self.random.below(len(members))]
        return member, [member]


def all_thresholds(present: list[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield thresholds in the middle between bins, from the last one down.

    Missing values go left, and then right.
    """
    known = [b for b in reversed(present) if b < MISSING_BIN]
    for missing in [[], [MISSING_BIN]] if MISSING_BIN in present else [[]]:
        if missing:
            yield known[0], missing
        for n_right, (higher, lower) in enumerate(pairwise(known), 1):
            yield (lower + higher - 1) // 2, missing + known[:n_right]


def all_sets(by_class: Mapping[int, Floats], total: Floats) -> Iterator[tuple[int, list[int]]]:
    """Yield sets of categories in the order of the share of the most frequent class."""
    shares = {b: counts[total.argmax()] / added(counts) for b, counts in by_class.items()}
    ordered = sorted(shares, key=lambda b: float(shares[b]))
    for n_right in range(1, len(ordered)):
        yield -1, ordered[:n_right]


def purity(total: Floats, right: Floats) -> float:
    """Return the sum of squared shares on both sides, times their weights; -1 if one is empty."""
    left, weight_right = total - right, added(right)
    weight_left = added(total) - weight_right
    if not (weight_left > 0 and weight_right > 0):
        return -1.0
    return float(added(left * left) / weight_left + added(right * right) / weight_right)
