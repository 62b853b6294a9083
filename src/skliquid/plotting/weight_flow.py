"""WeightFlow: the bands of weight at some increments, and the ribbons between them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.record import TrainingRecord

_GAPS = 0.3  # height of all gaps between bands, relative to the height of all bands


@dataclass(frozen=True, eq=False)
class Ribbons:
    """Votes that move together from one column to the next; arrays have one entry per ribbon."""

    before: Voters  # the representative that carries the votes in this column
    after: Voters  # in the next column
    final: Voters  # in the last column
    weights: Voters  # number of votes
    tops: Floats  # distances from the top in this column and in the next, of shape (n_ribbons, 2)


@dataclass(frozen=True, eq=False)
class WeightFlow:
    """The carrier of each vote at some increments, from the first to the last."""

    increments: Voters  # of the columns; the first is the state before the first increment
    gurus: NDArray[np.intp]  # carrier of each vote, of shape (n_columns, n_voters)
    orders: list[Voters]  # representatives of each column from top to bottom, with few crossings

    @classmethod
    def from_record(cls, record: TrainingRecord, max_columns: int) -> "WeightFlow":
        """Return the flow of a record; see :func:`drawn_columns`."""
        gurus = np.array([record[0].before.gurus, *(one.graph.gurus for one in record)])
        columns = drawn_columns(gurus, max_columns)
        return cls(record[0].increment - 1 + columns, gurus[columns], _orders(gurus[columns]))

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
        """Return the weights of the representatives in a column, from top to bottom."""
        return np.bincount(self.gurus[column], minlength=self.n_voters)[self.orders[column]]

    def tops(self, column: int) -> Floats:
        """Return the top of each band of a column, from top to bottom."""
        weights, gaps = self.weights(column), _GAPS * self.n_voters
        between = gaps / max(len(weights) - 1, 1)
        first = 0.0 if len(weights) > 1 else gaps / 2
        return first + np.cumsum(weights) - weights + between * np.arange(len(weights))

    def ribbons(self, column: int) -> Ribbons:
        """Return the ribbons between a column and the next; after the last, no votes move."""
        following = min(column + 1, self.n_columns - 1)
        votes = np.stack([self.gurus[column], self.gurus[following], self.gurus[-1]])
        (before, after, final), weights = np.unique(votes, axis=1, return_counts=True)
        orders = (self.orders[column], self.orders[following], self.orders[-1])
        places = [_places(order, self.n_voters) for order in orders]
        source, target, end = places[0][before], places[1][after], places[2][final]
        left = _offsets(np.lexsort([end, target, source]), source, weights)
        right = _offsets(np.lexsort([end, source, target]), target, weights)
        tops = [self.tops(column)[source] + left, self.tops(following)[target] + right]
        return Ribbons(before, after, final, weights, np.column_stack(tops))


def drawn_columns(gurus: NDArray[np.intp], max_columns: int) -> Voters:
    """Return the first column, the last, and the columns between at which votes move.

    Up to ``max_columns``, all are drawn. If votes move at more columns, evenly spaced ones of these
    are drawn.
    """
    if len(gurus) <= max_columns:
        return np.arange(len(gurus))
    moves = np.flatnonzero((gurus[1:] != gurus[:-1]).any(axis=1)) + 1
    columns = np.union1d([0, len(gurus) - 1], moves)
    kept = np.linspace(0, len(columns) - 1, min(max_columns, len(columns))).round().astype(np.intp)
    return columns[kept]


def _places(order: Voters, n_voters: int) -> Voters:
    """Return the place of each representative in an order."""
    places = np.zeros(n_voters, dtype=np.intp)
    places[order] = np.arange(len(order))
    return places


def _offsets(order: Voters, bands: Voters, weights: Voters) -> Floats:
    """Return the offset of each ribbon in its band, when they are stacked in this order."""
    stacked = np.cumsum(weights[order]) - weights[order]
    starts = np.flatnonzero(np.diff(bands[order], prepend=-1))
    offsets = np.zeros(len(order))
    offsets[order] = stacked - np.repeat(stacked[starts], np.diff(np.append(starts, len(order))))
    return offsets


def _orders(gurus: NDArray[np.intp]) -> list[Voters]:
    """Return the order of the bands of each column.

    In the last column, the heaviest are at the top. Bands that flow into one are neighbours, above
    and below the band of the representative that receives them, the heavier ones closer to it.
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
