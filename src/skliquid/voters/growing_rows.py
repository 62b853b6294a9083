"""GrowingRows: training rows for boosted trees that are continued, increment by increment."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats
from skliquid.delegation.rows import Rows
from skliquid.voters.binning import BinnedRows
from skliquid.voters.boosted_trees import BoostedTreesClassifier
from skliquid.voters.growing import sum_trees

_SHIFTS_PER_DOUBLING = 3
_SHIFT = 0.618  # of edges, in bins: multiples of the golden section are spread evenly


class GrowingRows:
    """Rows in bins, with the scores of each voter on them.

    Scores are kept, so that a tree takes the same time however many were grown before it. About
    three times while voters double in size, bins are made again with shifted edges.
    """

    def __init__(
        self,
        given: Rows,
        rows: Rows,
        is_categorical: NDArray[np.bool_],
        *,
        core: Any = None,
        before: "GrowingRows | None" = None,
    ):
        self.given, self.rows = given, rows  # with all features, and as the voters see them
        self._is_categorical = is_categorical
        self._scores = {} if before is None else before.scores_on(rows)
        self._bins: BinnedRows | None = None
        self._n_shifts, self._core = 0, core

    def grow(
        self,
        voters: Mapping[int, BoostedTreesClassifier],
        unfitted: Mapping[int, BoostedTreesClassifier],
        size: float,
        n_threads: int,
    ) -> list[int]:
        """Grow voters to ``size`` times the trees of ``unfitted``; return their sample visits.

        The keys are the voters' numbers in a pool. A voter without trees starts at its base scores.
        """
        rows = self._rows_in_bins(round(_SHIFTS_PER_DOUBLING * math.log2(size)), n_threads)
        own, tasks = list(voters.values()), []
        for name, voter in voters.items():
            n_trees, base = len(voter.trees_), voter.base_scores_
            n_planned = max(round(unfitted[name].n_trees * size), n_trees)
            voter.plan_growth(n_planned, rows.n_rows, len(voter.classes_))
            tasks.append(voter.prepare(rows, n_planned - n_trees, len(rows.weights) - 1))
            if n_trees:
                voter.base_scores_ = base
            self._complete_scores(name, voter, n_threads)
        joined, scores = np.concatenate(tasks), np.stack([self._scores[name] for name in voters])
        joined["scores"] = np.arange(len(voters))
        grown = BoostedTreesClassifier.continue_tasks(own, rows, joined, scores, n_threads)
        self._scores |= zip(voters, scores, strict=True)
        for voter, (trees, _) in zip(own, grown, strict=True):
            voter.add_trees(trees)
        return [n_visits for _, n_visits in grown]

    def scores_on(self, rows: Rows) -> dict[int, Floats]:
        """Return the scores on rows among which these are, and NaN on the others."""
        if rows.numbers is None or self.rows.numbers is None:
            return {}
        places, found = np.searchsorted(rows.numbers, self.rows.numbers), {}
        for name, scores in self._scores.items():
            found[name] = np.full((rows.n_rows, scores.shape[1]), np.nan)
            found[name][places] = scores
        return found

    def _complete_scores(self, name: int, voter: BoostedTreesClassifier, n_threads: int) -> None:
        """Add up the trees where there are no scores, to the bits that kept ones have."""
        X, shape = self.rows.X, (self.rows.n_rows, voter.n_outputs)
        scores = self._scores.setdefault(name, np.full(shape, np.nan))
        lacks = np.isnan(scores[:, 0])
        if lacks.any():
            X = X if lacks.all() else X[lacks]
            scores[lacks] = sum_trees([voter], X, n_threads, voter.base_scores_[None])[0]

    def _rows_in_bins(self, n_shifts: int, n_threads: int) -> BinnedRows:
        if self._bins is None or n_shifts != self._n_shifts:
            self._n_shifts = n_shifts
            shift = (n_shifts * _SHIFT) % 1
            X, y, weights, _ = self.rows
            data = X, y, weights, self._is_categorical, n_threads
            self._bins = BinnedRows.from_rows(*data, shift=shift, core=self._core)
        return self._bins
