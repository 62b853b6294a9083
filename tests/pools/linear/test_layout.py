import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from linear_voters import LOSSES, VOTERS, assert_same_as_a_loop, pool_of, sgd

from skliquid.delegation.rows import Rows
from skliquid.pools import LinearPool
from skliquid.pools.linear import layout

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("n_columns", [1, 8, 9])
def test_rows_are_padded_to_whole_blocks_that_begin_at_a_cache_line(n_columns):
    X, width = np.arange(3.0 * n_columns).reshape(3, -1), layout.padded_width(n_columns)
    rows, norms = layout.core_rows(X, np.zeros((1, width)))
    assert width % 8 == 0
    assert rows.shape == (3, width)
    assert np.array_equal(rows[:, :n_columns], X)
    assert not rows[:, n_columns:].any()
    np.testing.assert_allclose(norms, np.linalg.norm(X, axis=1), atol=1e-140)
    zeros = layout.aligned_zeros(3, width, np.float32)
    assert zeros.ctypes.data % 64 == 0
    assert (zeros.shape, zeros.dtype) == ((3, width), np.float32)


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array])
def test_a_voter_with_some_features_scores_as_with_zeros_for_the_others(container):
    rng = np.random.default_rng(0)
    X, subspaces = rng.normal(size=(4, 6)), np.array([[0, 5], [2, 3], [1, 4]])
    coef = rng.normal(size=(3, 8))
    seen = layout.stack_subspaces(container(X), subspaces)
    seen = seen.toarray() if scipy.sparse.issparse(seen) else seen
    whole = layout.expand_subspaces(coef, subspaces, 6)
    for k, subspace in enumerate(subspaces):
        assert np.array_equal(seen[4 * k : 4 * k + 4], X[:, subspace])
        np.testing.assert_allclose(whole[k, :6] @ X.T, coef[k, :2] @ X[:, subspace].T)


def test_the_readable_loop_takes_dense_and_sparse_rows():
    X = np.array([[0.0, 2.0], [3.0, 0.0]])
    assert layout.feature_value_pairs(X) == [[(0, 0.0), (1, 2.0)], [(0, 3.0), (1, 0.0)]]
    assert layout.feature_value_pairs(scipy.sparse.csr_array(X)) == [[(1, 2.0)], [(0, 3.0)]]


def test_rows_may_be_read_only(binary):
    X, y = binary[0][:, :24].copy(), binary[1]
    for container in (np.asarray, scipy.sparse.csr_matrix):
        rows = container(X)
        expected = trained(rows, y)
        for array in (rows,) if container is np.asarray else (rows.data, rows.indices, rows.indptr):
            array.flags.writeable = False
        assert np.array_equal(trained(rows, y), expected)


def trained(X, y):
    pool = pool_of(sgd())
    pool.train(VOTERS, Rows(X, y))
    return np.mean(pool.vote(VOTERS, X) == y, axis=1)


def test_large_data_are_not_copied_and_give_the_same_bits(binary, monkeypatch):
    monkeypatch.setattr("skliquid.pools.linear.layout.MAX_COPIED_NUMBERS", 0)
    assert_same_as_a_loop(sgd(), *binary)
    assert_same_as_a_loop(sgd(loss="log_loss", average=True), *binary)


@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_rows_with_wrong_indices_end_in_an_error(loss):
    X = scipy.sparse.random(40, 9, 0.5, "csr", random_state=0)
    X.indices[3] = 50_000_000
    pool = LinearPool([sgd(loss=loss)(0)], np.array([0, 1]))
    with pytest.raises(ValueError, match=r"X.indices must be from 0 to 8: got 50000000"):
        pool.train(np.arange(1), Rows(X, np.arange(40) % 2))


def test_sparse_rows_have_a_length_where_squares_vanish_in_single_precision():
    X = scipy.sparse.random(50, 40, 0.2, "csr", random_state=0)
    small = (X * 1e-24).astype(np.float32)
    _, norms = layout.core_rows(small, np.zeros((1, 40), np.float32))
    assert np.allclose(norms, 1e-24 * scipy.sparse.linalg.norm(X, axis=1), atol=1e-140)
