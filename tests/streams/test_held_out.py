import numpy as np
import pytest

from skliquid.streams.held_out import HeldOut


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_about_that_share_is_held_out(share):
    is_held_out = HeldOut(share, 1000).rows(0, 200_000)
    assert is_held_out.mean() == pytest.approx(share, rel=0.05)
    assert HeldOut(0.0, 1000).rows(5, 300).sum() == 0


@pytest.mark.parametrize("increment_size", [1, 7, 100])
def test_a_row_is_held_out_or_not_wherever_reading_starts(increment_size):
    held_out = HeldOut(0.3, increment_size)
    everything = held_out.rows(0, 1000)
    for start, n_rows in [(0, 1), (0, 0), (3, 5), (7, 700), (99, 2), (500, 500), (999, 1)]:
        part = held_out.rows(start, n_rows)
        assert np.array_equal(part, everything[start : start + n_rows])


def test_each_increment_keeps_a_row():
    assert not HeldOut(0.9, 7).rows(0, 7000)[::7].any()
    assert not HeldOut(0.9, 1).rows(0, 100).any()


@pytest.mark.parametrize("period", [2, 3, 10, 13, 24])
def test_rows_that_recur_are_held_out_as_often_as_others(period):
    is_held_out = HeldOut(0.1, 1000).rows(0, 240_000)
    shares = [is_held_out[phase::period].mean() for phase in range(period)]
    assert min(shares) > 0.09
    assert max(shares) < 0.11
