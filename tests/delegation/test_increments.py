from hypothesis import given
from hypothesis import strategies as st

from skliquid.delegation.increments import doubling_slices, equal_slices, slices


def rows_of(cuts, n_rows):
    return [row for cut in cuts for row in range(n_rows)[cut]]


@given(st.integers(0, 500), st.integers(1, 600))
def test_slices_cover_every_row_once_in_order(n_rows, size):
    cuts = slices(n_rows, size)
    assert rows_of(cuts, n_rows) == list(range(n_rows))
    assert all(cut.stop - cut.start == size for cut in cuts[:-1])


@given(st.integers(0, 500), st.integers(1, 60))
def test_equal_slices_cover_every_row_once_and_differ_by_one_row_at_most(n_rows, n_parts):
    cuts = equal_slices(n_rows, n_parts)
    sizes = [cut.stop - cut.start for cut in cuts]
    assert rows_of(cuts, n_rows) == list(range(n_rows))
    assert len(cuts) == n_parts
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(0, 500), st.integers(1, 600), st.none() | st.integers(1, 6))
def test_each_doubling_slice_is_as_long_as_all_before_it(n_rows, first, n_parts):
    cuts = doubling_slices(n_rows, first, n_parts)
    n_covered = n_rows if n_parts is None else min(first * 2 ** (n_parts - 1), n_rows)
    assert rows_of(cuts, n_rows) == list(range(n_covered))
    assert all(cut.stop - cut.start == max(cut.start, first) for cut in cuts[:-1])
    assert all(cut.stop - cut.start <= max(cut.start, first) for cut in cuts)
