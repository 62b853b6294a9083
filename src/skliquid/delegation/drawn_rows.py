"""Drawn rows: the random sample that training uses of data with more rows than voters need."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats, RowNumbers
from skliquid.delegation.class_weights import ClassCounts


class DrawnRows(NamedTuple):
    """Rows to train on, as they were given, and counts of all rows that they were drawn from."""

    X: Any
    y: NDArray[Any]
    sample_weight: Floats | None
    numbers: RowNumbers | None  # positions in all rows; None if these are all
    counts: ClassCounts | None  # of all rows with a weight above zero; None if these are all
    n_rows: int  # of all rows
    to_time: Any = None  # rows as they were given, on which predictions are timed


def draw_row_numbers(n_rows: int, n_drawn: int, seed: int) -> NDArray[np.int64]:
    """Return the numbers of ``n_drawn`` of ``n_rows`` rows, drawn at random, in ascending order.

    All sets of this size are equally probable. Memory is for the drawn numbers only, however many
    rows there are. If ``n_drawn`` is not below ``n_rows``, all rows are drawn.

    Examples
    --------
    >>> draw_row_numbers(10**12, 3, seed=0).tolist()
    [350720540886, 524529178861, 800219194661]
    """
    return _draw(n_rows, n_drawn, np.random.default_rng([seed, n_rows]))


def _draw(n_rows: int, n_drawn: int, rng: np.random.Generator) -> NDArray[np.int64]:
    if n_drawn >= n_rows:
        return np.arange(n_rows)
    if 2 * n_drawn > n_rows:
        return np.delete(np.arange(n_rows), _draw(n_rows, n_rows - n_drawn, rng))
    numbers = np.empty(0, dtype=np.int64)
    while True:  # until a random sequence has enough different numbers; its first ones are drawn
        more = rng.integers(n_rows, size=n_drawn + n_drawn // 2 + 1)
        numbers = np.concatenate([numbers, more])
        found, first = np.unique(numbers, return_index=True)
        if len(found) >= n_drawn:
            last = np.partition(first, n_drawn - 1)[n_drawn - 1]
            kept: NDArray[np.int64] = found[first <= last]
            return kept
