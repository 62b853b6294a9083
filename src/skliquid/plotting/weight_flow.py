"""WeightFlow: the bands of weight at some increments, and the ribbons between them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats, Voters
from skliquid.record import TrainingRecord

_GAPS = 0.3
"""The height of all gaps between bands, relative to that of all bands."""


@dataclass(frozen=True, eq=False)
class Ribbons:
    """Votes that move together from one column to the next, in one row per ribbon.

    Attributes
    ----------
    before, after : array of int
        The representative that carries the votes in this column, and in the next.
    final : array of int
        The representative that carries them in the end.
    weights : array of int
        How many votes they are.
    tops : array of shape (n_ribbons, 2)
        Where they begin, counted from the top, in this column and in the next.
    """

    before: Voters
    after: Voters
    final: Voters
    weights: Voters
    tops: Floats


@dataclass(frozen=True, eq=False)
class WeightFlow:
    """Who carries the vote of each voter, at some increments from the first to the last.

    Attributes
    ----------
    increments : array of int
        The increments of the columns; the first column is the state before the first increment.
    gurus : array of shape (n_columns, n_voters)
        The representative that carries each vote.
    orders : list of arrays of int
        The representatives of each column from the top to the bottom, so that ribbons cross little.
    """

    increments: Voters
    gurus: NDArray[np.intp]
    orders: list[Voters]

    @classmethod
    def of(cls, record: TrainingRecord, most_columns: int) -> "WeightFlow":
        """Return the flow of a record; see :func:`drawn_columns`."""
        graphs = [record[0].before, *(increment.graph for increment in record)]
        all_gurus = np.array([graph.gurus for graph in graphs])
        columns = drawn_columns(all_gurus, most_columns)
        return cls(
            record[0].increment - 1 + columns, all_gurus[columns], _orders(all_gurus[columns])
        )

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.increments)

    @property
    def n_voters(self) -> int:
        """Number of voters, and the weight of all bands of a column."""
        return int(self.gurus.shape[1])

    @property
    def height(self) -> float:
        """The height of each column, in votes, with the gaps."""
        return self.n_voters * (1 + _GAPS)

    def weights(self, column: int) -> Voters:
        """Return the weights of the representatives in a column, from the top to the bottom."""
        return np.bincount(self.gurus[column], minlength=self.n_voters)[self.orders[column]]

    def tops(self, column: int) -> Floats:
        """Return where the bands of a column begin, from the top to the bottom."""
        weights, gaps = self.weights(column), _GAPS * self.n_voters
        between = gaps / max(len(weights) - 1, 1)
        first = 0.0 if len(weights) > 1 else gaps / 2
        return first + np.cumsum(weights) - weights + between * np.arange(len(weights))

    def ribbons(self, column: int) -> Ribbons:
        """Return the ribbons between a column and the next; after the last, nothing moves."""
        following = min(column + 1, self.n_columns - 1)
        votes = np.stack([self.gurus[column], self.gurus[following], self.gurus[-1]])
        (before, after, final), weights = np.unique(votes, axis=1, return_counts=True)
        places = [_places(self.orders[k], self.n_voters) for k in (column, following, -1)]
        from_above, to_above, in_the_end = places[0][before], places[1][after], places[2][final]
        left = _stacked(np.lexsort([in_the_end, to_above, from_above]), from_above, weights)
        right = _stacked(np.lexsort([in_the_end, from_above, to_above]), to_above, weights)
        tops = [self.tops(column)[from_above] + left, self.tops(following)[to_above] + right]
        return Ribbons(before, after, final, weights, np.column_stack(tops))


def drawn_columns(gurus: NDArray[np.intp], most: int) -> Voters:
    """Return the first column, the last, and those between at which votes move.

    All are drawn if they are not more than ``most``. If votes move at too many, evenly spaced ones
    of these are left out.
    """
    if len(gurus) <= most:
        return np.arange(len(gurus))
    moves = np.flatnonzero((gurus[1:] != gurus[:-1]).any(axis=1)) + 1
    columns = np.union1d([0, len(gurus) - 1], moves)
    kept = np.linspace(0, len(columns) - 1, min(most, len(columns))).round().astype(np.intp)
    return columns[kept]


def _places(order: Voters, n_voters: int) -> Voters:
    """Return the place of each representative in an order."""
    places = np.zeros(n_voters, dtype=np.intp)
    places[order] = np.arange(len(order))
    return places


def _stacked(order: Voters, bands: Voters, weights: Voters) -> Floats:
    """Return where each ribbon begins in its band, when they are stacked in this order."""
    below = np.cumsum(weights[order]) - weights[order]
    starts = np.flatnonzero(np.diff(bands[order], prepend=-1))
    begins = np.zeros(len(order))
    begins[order] = below - np.repeat(below[starts], np.diff(np.append(starts, len(order))))
    return begins


def _orders(gurus: NDArray[np.intp]) -> list[Voters]:
    """Return orders of the bands, from the last column back to the first.

    In the last the heaviest are at the top. Bands that flow into one are neighbours: above and
    below the band of the representative that receives them, the heavier ones closer to it.
    """
    weights = np.bincount(gurus[-1], minlength=gurus.shape[1])
    order = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights)]
    orders = [order]
    for before, after in zip(gurus[-2::-1], gurus[:0:-1], strict=True):
        places = _place_of_votes(before, after, _places(order, len(before)))
        counts = np.bincount(before, minlength=len(before))
        sums = np.bincount(before, weights=places, minlength=len(before))
        present = np.flatnonzero(counts)
        order = present[np.argsort(sums[present] / counts[present], kind="stable")]
        orders.append(order)
    return orders[::-1]


def _place_of_votes(before: Voters, after: Voters, bands: Voters) -> Voters:
    """Return the place of each vote in a column, given the places of its bands."""
    (source, target), voters, weights = np.unique(
        np.stack([before, after]), axis=1, return_inverse=True, return_counts=True
    )
    sides = np.zeros(len(weights), dtype=np.intp)
    rank = dict.fromkeys(target.tolist(), 0)
    for k in np.argsort(-weights, kind="stable").tolist():
        if source[k] != target[k]:
            rank[target[k]] += 1
            sides[k] = rank[target[k]] * (-1) ** rank[target[k]]
    order = np.lexsort([sides[voters.ravel()], bands[after]])
    return _places(order, len(before))
