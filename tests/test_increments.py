from hypothesis import given
from hypothesis import strategies as st

from skliquid.increments import slices


@given(st.integers(1, 10**8))
def test_auto_increments_are_few_enough_large_enough_and_equal(n_rows):
    sizes = [cut.stop - cut.start for cut in slices(n_rows, "auto")]
    assert sum(sizes) == n_rows
    assert len(sizes) == min(max(n_rows // 25, 1), 50)
    assert min(sizes) >= min(25, n_rows)
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(0, 500), st.integers(1, 600))
def test_slices_cover_every_row_once_in_order(n_rows, size):
    cuts = slices(n_rows, size)
    assert [row for cut in cuts for row in range(n_rows)[cut]] == list(range(n_rows))
    assert all(cut.stop - cut.start == size for cut in cuts[:-1])
