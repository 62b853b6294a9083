"""GrowingRows: rows on which boosted trees continue to grow, increment by increment."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats
from skliquid.voters.binning import BinnedRows
from skliquid.voters.boosted_trees import BoostedTreesClassifier
from skliquid.voters.growing import sum_trees

_BINS_PER_DOUBLING = 3
_SHIFT = 0.618  # of edges, in bins: multiples of the golden section are spread evenly


class GrowingRows:
    """Rows in bins, with the scores of each voter on them.

    Scores are kept, so that a tree takes the same time however many were grown before it. At each
    size of the voters, bins are made again with shifted edges.
    """

    def __init__(
        self,
        rows: Any,
        X: Any,
        y: NDArray[Any],
        weights: Floats | None,
        is_categorical: NDArray[np.bool_],
    ):
        self.rows, self.X = rows, X  # X has the features of ``rows`` that the voters see
        self._data = X, y, weights, is_categorical
        self._scores: dict[int, Floats] = {}
        self._bins: BinnedRows | None = None
        self._edges = 0

    def grow(
        self,
        voters: Mapping[int, BoostedTreesClassifier],
        unfitted: Mapping[int, BoostedTreesClassifier],
        size: float,
        n_threads: int,
    ) -> list[int]:
        """Grow voters to ``size`` times the trees of ``unfitted``; return their sample visits.

        Voters have any numbers as names. One without trees starts at its base scores.
        """
        rows = self._rows_in_bins(round(_BINS_PER_DOUBLING * math.log2(size)), n_threads)
        own, tasks = list(voters.values()), []
        for name, voter in voters.items():
            n_trees, base = len(voter.trees_), voter.base_scores_
            n_planned = max(round(unfitted[name].n_trees * size), n_trees)
            voter.plan_growth(n_planned, rows.n_rows, len(voter.classes_))
            tasks.append(voter.prepare(rows, n_planned - n_trees, len(rows.weights) - 1))
            if n_trees:
                voter.base_scores_ = base
            if name not in self._scores:
                start = voter.base_scores_[None]  # sums as exact as if it had grown here
                self._scores[name] = sum_trees([voter], self.X, n_threads, start)[0]
        joined, scores = np.concatenate(tasks), np.stack([self._scores[name] for name in voters])
        joined["scores"] = np.arange(len(voters))
        grown = BoostedTreesClassifier.continue_tasks(own, rows, joined, scores, n_threads)
        self._scores |= zip(voters, scores, strict=True)
        for voter, (trees, _) in zip(own, grown, strict=True):
            voter.add_trees(trees)
        return [n_visits for _, n_visits in grown]

    def _rows_in_bins(self, edges: int, n_threads: int) -> BinnedRows:
        if self._bins is None or edges != self._edges:
            self._edges = edges
            self._bins = BinnedRows.from_rows(*self._data, n_threads, shift=(edges * _SHIFT) % 1)
        return self._bins
