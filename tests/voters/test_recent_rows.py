import copy

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from skliquid.voters import RecentRows

BATCHES = st.lists(st.integers(0, 12), min_size=1, max_size=12)


def numbered(first, n, n_columns=2):
    """Return rows that hold their numbers."""
    numbers = np.arange(first, first + n, dtype=float)
    return np.repeat(numbers[:, None], n_columns, 1), (numbers % 3).astype(int)


def appended(recent, sizes, *, weighted=(), make=np.asarray):
    first = 0
    for k, n in enumerate(sizes):
        X, y = numbered(first, n)
        recent.append(make(X), y, X[:, 0] + 0.5 if k in weighted else None)
        first += n
    return first


@given(BATCHES, st.integers(1, 15), st.sets(st.integers(0, 11)))
def test_the_last_rows_are_kept(sizes, most, weighted):
    recent = RecentRows(most)
    n_seen = appended(recent, sizes, weighted=weighted)
    kept = np.arange(n_seen)[-most:]
    assert recent.n_seen == n_seen
    assert recent.n_kept == len(kept)
    numbers = recent.X[:, 0]
    assert np.array_equal(np.sort(numbers), kept)
    assert np.array_equal(numbers % most, np.arange(len(kept)))  # each has its place
    assert np.array_equal(recent.y, numbers % 3)
    batch = np.repeat(np.arange(len(sizes)), sizes)[numbers.astype(int)]
    if weighted & set(range(len(sizes))):
        expected = np.where(np.isin(batch, list(weighted)), numbers + 0.5, 1.0)
        assert np.array_equal(recent.weights, expected[None])
    else:
        assert recent.weights is None


@given(BATCHES, st.integers(1, 15), st.sets(st.integers(0, 11)))
def test_sparse_rows_are_kept_as_dense_ones_are(sizes, most, asked):
    dense, sparse, first = RecentRows(most), RecentRows(most), 0
    for k, n in enumerate(sizes):
        X, y = numbered(first, n)
        first += n
        dense.append(X, y, None)
        sparse.append(scipy.sparse.csr_matrix(X), y, None)
        if k in asked:
            assert np.array_equal(sparse.X.toarray(), dense.X)
    assert scipy.sparse.issparse(sparse.X)
    assert np.array_equal(sparse.X.toarray(), dense.X)


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_memory_is_bounded(make):
    recent = RecentRows(3000)
    for k in range(40):
        recent.append(make(np.ones((700, 2))), np.zeros(700, int), np.ones(700))
        n_waiting = sum(len(places) for places, _ in recent._waiting)
        assert n_waiting < 3000
        assert len(recent._y) <= 3000
        assert recent.X.shape[0] == min(700 * (k + 1), 3000)


def test_room_grows_with_the_rows():
    recent = RecentRows(10**9)
    appended(recent, [5])
    assert len(recent._y) < 5000


def test_each_voter_may_have_weights_of_its_own():
    recent = RecentRows(3)
    X, y = numbered(0, 2)
    recent.append(X, y, None)
    recent.append(X, y, np.array([[2.0, 3.0], [4.0, 5.0]]))
    assert recent.weights.tolist() == [[3, 1, 2], [5, 1, 4]]


def test_numbers_are_kept_as_precise_as_the_most_precise():
    recent = RecentRows(3)
    X, y = numbered(0, 1)
    recent.append(X.astype(np.float32), y, None)
    assert recent.X.dtype == np.float32
    recent.append(X + 1e-12, y, None)
    assert recent.X[1, 0] == 1e-12
    recent.append(X.astype(np.float32), y, None)
    assert recent.X.dtype == np.float64


def test_sparse_and_dense_rows_may_take_turns():
    X, y = numbered(0, 2)
    sparse = scipy.sparse.csr_array(X)
    for first, second in [(X, sparse), (sparse, X)]:
        recent = RecentRows(3)
        recent.append(first, y, None)
        recent.append(second, y, None)
        own = recent.X.toarray() if scipy.sparse.issparse(first) else recent.X
        assert own[:, 0].tolist() == [1, 1, 0]


@pytest.mark.parametrize("make", [np.array, scipy.sparse.csr_array])
def test_rows_do_not_change_with_those_of_the_caller(make):
    recent = RecentRows(3)
    X, y = numbered(1, 2)
    mine = make(X)
    recent.append(mine, y, None)
    mine *= 0
    y *= 0
    assert recent.X.sum() == 6
    assert recent.y.tolist() == [1, 2]


@pytest.mark.parametrize("make", [np.array, scipy.sparse.csr_array])
def test_a_copy_goes_its_own_way(make):
    recent = RecentRows(3)
    appended(recent, [2], make=make)
    twin = copy.deepcopy(recent)
    appended(recent, [2], make=make)
    assert (twin.n_seen, twin.X.shape[0], recent.X.shape[0]) == (2, 2, 3)


def test_labels_move_when_there_are_more_classes():
    recent = RecentRows(4)
    appended(recent, [3])
    recent.relabel(np.array([1, 2, 4]))
    assert recent.y.tolist() == [1, 2, 4]
    assert recent.y.dtype == np.int32
