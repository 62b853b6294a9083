"""Drawn rows: every row is equally likely, none comes twice, whatever the sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliquid.delegation.drawn_rows import draw_row_numbers


@given(st.integers(1, 300), st.integers(1, 300), st.integers(0, 2**31 - 1))
def test_as_many_rows_are_drawn_as_there_are_or_may_be(n_rows, n_drawn, seed):
    drawn = draw_row_numbers(n_rows, n_drawn, seed)
    assert len(drawn) == min(n_rows, n_drawn)
    assert np.all(np.diff(drawn) > 0)
    assert drawn[0] >= 0
    assert drawn[-1] < n_rows


@pytest.mark.parametrize("n_drawn", [1, 4, 5, 6, 9])
def test_every_row_is_equally_likely(n_drawn):
    counts = np.zeros(10)
    for seed in range(4000):
        counts[draw_row_numbers(10, n_drawn, seed)] += 1
    share, deviation = n_drawn / 10, np.sqrt(n_drawn / 10 * (1 - n_drawn / 10) / 4000)
    assert np.abs(counts / 4000 - share).max() < 5 * deviation


def test_pairs_of_rows_are_equally_likely():
    counts = np.zeros((5, 5))
    for seed in range(5000):
        first, second = draw_row_numbers(5, 2, seed)
        counts[first, second] += 1
    assert np.abs(counts[np.triu_indices(5, 1)] / 5000 - 0.1).max() < 0.03


def test_the_seed_decides():
    assert np.array_equal(draw_row_numbers(10**9, 100, 3), draw_row_numbers(10**9, 100, 3))
    assert not np.array_equal(draw_row_numbers(10**9, 100, 3), draw_row_numbers(10**9, 100, 4))
