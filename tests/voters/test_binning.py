import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skliquid import native
from skliquid.validation import limits
from skliquid.voters import binning
from skliquid.voters.binning import BinnedRows, bins_of, edges_of

NUMBERS = st.floats(allow_infinity=False, width=64)


def numeric(X):
    return np.zeros(X.shape[1], dtype=bool)


def binned(X):
    edges = edges_of(X, numeric(X))
    return edges, bins_of(X, edges)


@given(arrays(float, st.tuples(st.integers(1, 60), st.just(1)), elements=NUMBERS))
def test_few_values_have_a_bin_each(X):
    _, (bins,) = binned(X)
    values = X[:, 0]
    assert np.all((bins == native.MISSING_BIN) == np.isnan(values))
    for one, its in zip(values, bins, strict=True):
        if one == one:
            assert np.array_equal(bins == its, values == one)


@given(arrays(float, st.tuples(st.integers(1, 300), st.just(1)), elements=NUMBERS))
def test_a_number_is_above_an_edge_if_its_bin_is(X):
    edges, (bins,) = binned(X)
    is_known = bins < native.MISSING_BIN
    for threshold, edge in enumerate(edges[0]):
        assert np.array_equal(X[is_known, 0] > edge, bins[is_known] > threshold)
    finite = edges[0][np.isfinite(edges[0])]
    assert np.all(np.diff(finite) > 0)
    assert np.all(np.isinf(edges[0][len(finite) :]))


def test_many_values_come_into_bins_of_about_equal_size(monkeypatch):
    monkeypatch.setattr(binning, "ROWS_FOR_EDGES", 10_000)
    X = np.random.default_rng(0).normal(size=(6300, 1))
    _, (bins,) = binned(X)
    sizes = np.bincount(bins)
    assert len(sizes) == 63
    assert sizes.min() > 90
    assert sizes.max() < 110


def test_frequent_values_leave_bins_to_others(monkeypatch):
    monkeypatch.setattr(binning, "ROWS_FOR_EDGES", 10_000)
    values = np.r_[np.zeros(5000), np.arange(1, 1001)]
    _, (bins,) = binned(values[:, None])
    assert len(np.unique(bins)) > 8
    assert np.all(bins[:5000] == 0)
    assert np.all(bins[5000:] > 0)


def test_edges_need_a_part_of_the_rows_only(monkeypatch):
    X = np.arange(1000.0)[:, None]
    monkeypatch.setattr(binning, "ROWS_FOR_EDGES", 100)
    edges, (bins,) = binned(X)
    assert np.all(np.isin(edges[0, :61] - 5, np.arange(0, 1000, 10)))
    assert np.bincount(bins).max() < 41


def test_columns_at_once_do_not_matter(monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 7))
    expected = edges_of(X, numeric(X))
    monkeypatch.setattr(binning, "_COLUMNS_AT_ONCE", 3)
    for own in (X, scipy.sparse.csr_array(X)):
        assert np.array_equal(edges_of(own, numeric(X)), expected)


def test_edges_lie_between_values_that_are_neighbours():
    values = np.array([1.0, np.nextafter(1.0, 2), 5e-324, 0.0, -5e-324, 1.7e308, -1.7e308])
    _, (bins,) = binned(values[:, None])
    assert bins.tolist() == [4, 5, 3, 2, 1, 6, 0]


def test_columns_without_values_have_no_edges():
    edges, bins = binned(np.full((5, 1), np.nan))
    assert np.all(np.isinf(edges))
    assert bins.tolist() == [[native.MISSING_BIN] * 5]


def test_categories_are_their_own_bins():
    X = np.array([[0.0], [62.0], [7.0], [np.nan]])
    edges = edges_of(X, np.array([True]))
    assert bins_of(X, edges).tolist() == [[0, 62, 7, native.MISSING_BIN]]


def test_single_and_double_precision_have_the_same_bins():
    X = np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32)
    X[::7] = np.nan
    edges, bins = binned(X)
    more_edges, more_bins = binned(X.astype(np.float64))
    assert np.array_equal(edges, more_edges)
    assert np.array_equal(bins, more_bins)


def test_any_number_of_threads_gives_the_same_bins():
    X = np.random.default_rng(0).normal(size=(100, 50))
    edges, bins = binned(X)
    for n_threads in (2, 3, 8):
        assert np.array_equal(bins_of(X, edges, n_threads), bins)


@given(
    arrays(
        float,
        st.tuples(st.integers(1, 30), st.integers(1, 4)),
        elements=st.sampled_from([0.0, -0.0, 1.0, -2.5, 3.0, np.nan]),
    )
)
def test_sparse_rows_have_the_bins_of_dense_ones(X):
    sparse = scipy.sparse.csr_array(X)
    edges, bins = binned(X)
    assert np.array_equal(edges_of(sparse, numeric(X)), edges)
    assert np.array_equal(bins_of(sparse, edges), bins)


def test_numbers_that_are_stored_twice_are_added():
    twice = scipy.sparse.csr_array((np.array([2.0, 1.0]), np.array([1, 1]), np.array([0, 2, 2])))
    edges, bins = binned(twice.toarray())
    assert np.array_equal(bins_of(twice, edges), bins)
    assert twice.nnz == 2  # they are as they were


def test_sparse_rows_with_too_many_cells_are_an_error(monkeypatch):
    monkeypatch.setattr(limits, "MAX_SPARSE_CELLS", 11)
    X = scipy.sparse.csr_array((3, 4))
    with pytest.raises(ValueError, match=r"at most 11 cells .* got 3 rows and 4 columns. Use lin"):
        bins_of(X, np.full((4, 62), np.inf))


def test_rows_are_put_into_bins_made_for_them():
    X, y = np.array([[1.0, 0.0], [3.0, 1.0], [np.nan, 2.0]]), np.array([0, 2, 1])
    rows = BinnedRows.from_rows(X, y, None, np.array([False, True]))
    assert rows.n_rows == 3
    assert rows.n_columns == 2
    assert rows.bins.tolist() == [[0, 1, native.MISSING_BIN], [0, 1, 2]]
    assert rows.column_types.tolist() == [0, 1]
    assert rows.features is None
    assert rows.weights.shape == (0, 3)
    one = BinnedRows.from_rows(X, y, np.arange(3.0), np.array([False, True]))
    assert one.weights.tolist() == [[0, 1, 2]]
    two = BinnedRows.from_rows(X, y, np.ones((2, 3)), np.array([False, True]))
    assert two.weights.shape == (2, 3)


def test_frequent_values_have_bins_of_their_own():
    rng = np.random.default_rng(0)
    rare = rng.normal(size=1_200)
    column = np.concatenate([rare, np.repeat([-0.5, 0.25, 1.5], [500, 200, 100])])
    X = rng.permutation(column)[:, None]
    bins = bins_of(X, edges_of(X, np.zeros(1, dtype=bool)))[0]
    for value in (-0.5, 0.25, 1.5):
        own = bins == bins[np.flatnonzero(X[:, 0] == value)[0]]
        assert set(X[own, 0]) == {value}
    counts = np.bincount(bins, minlength=63)
    assert len(counts) == 63
    assert counts[np.bincount(bins, X[:, 0] == -0.5) == 0].max() < 250
    assert np.median(counts) < 30  # of about equal size


def test_ties_in_few_rows_are_no_frequent_values():
    values = np.repeat(np.arange(100.0), 2)[:, None]
    bins = bins_of(values, edges_of(values, np.zeros(1, dtype=bool)))[0]
    assert np.bincount(bins).max() <= 4


@pytest.mark.parametrize("n_common", [1, 40, 62, 63, 70])
def test_columns_of_frequent_values_have_at_most_63_bins(n_common):
    rng = np.random.default_rng(0)
    column = np.concatenate([np.repeat(np.arange(n_common), 40), rng.uniform(0, n_common, 200)])
    edges = edges_of(column[:, None], np.zeros(1, dtype=bool))
    assert np.isfinite(edges).sum() <= 62
    assert np.all(np.diff(edges[np.isfinite(edges)]) > 0)


def test_a_shift_moves_the_edges():
    X = np.random.default_rng(0).normal(size=(1_000, 1))
    first, second = (edges_of(X, np.zeros(1, dtype=bool), shift) for shift in (0.0, 0.5))
    assert not np.isin(first[np.isfinite(first)], second).any()
