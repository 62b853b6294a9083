import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from skliquid.increments import Rows, slices


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


def data(rows, sample_weight=None):
    X = np.arange(len(rows) * 2.0).reshape(-1, 2)
    return Rows(rows, X, np.arange(len(rows)), sample_weight)


@pytest.mark.parametrize("positions", [slice(1, 3), np.array([3, 0])])
@pytest.mark.parametrize("rows", [range(10, 14), np.array([7, 1, 5, 3])])
def test_a_part_knows_which_rows_of_the_whole_it_is(rows, positions):
    part = data(rows, sample_weight=np.arange(4.0)).at(positions)
    assert list(part.rows) == np.array(rows)[positions].tolist()
    assert part.y.tolist() == part.sample_weight.tolist() == np.arange(4)[positions].tolist()
    assert part.X[:, 0].tolist() == (2 * np.arange(4.0))[positions].tolist()


def test_rows_of_weight_zero_are_left_out():
    weighted = data(range(4), sample_weight=np.array([0, 1.0, 0, 2])).without_zero_weights()
    assert list(weighted.rows) == [1, 3]
    assert weighted.sample_weight.tolist() == [1, 2]
    plain = data(range(4))
    assert plain.without_zero_weights() is plain


def test_sparse_rows_stay_sparse():
    rows = Rows(range(3), scipy.sparse.csr_array(np.eye(3)), np.arange(3), None)
    assert scipy.sparse.issparse(rows.at(np.array([2, 0])).X)
