"""Voters on wide sparse rows hold coefficients of the columns that have occurred."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from linear_voters import LOSSES, SEEDS, VOTERS, assert_same_as_a_loop, pool_of, sgd

from skliquid.delegation.rows import Rows
from skliquid.pools.linear.seen_columns import MIN_COLUMNS, SeenColumns

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def wide(n_rows=120, n_columns=MIN_COLUMNS, per_row=9, dtype=np.float64, seed=0):
    """Return sparse rows in which some columns are frequent, and labels."""
    rng = np.random.default_rng(seed)
    columns = (n_columns * rng.random((n_rows, per_row)) ** 4).astype(np.int32)
    values, starts = rng.normal(size=columns.size), np.arange(0, columns.size + 1, per_row)
    parts = values.astype(dtype), columns.ravel(), starts.astype(np.int32)
    X = scipy.sparse.csr_array(parts, shape=(n_rows, n_columns))
    return X, (X[:, :400].sum(axis=1) + 0.3 * rng.normal(size=n_rows) > 0).astype(int)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", LOSSES)
def test_wide_rows_give_the_bits_of_a_loop(loss, dtype, average):
    X, y = wide(dtype=dtype)
    assert_same_as_a_loop(sgd(loss=loss, average=average), X, y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [4100, 4117, 4159])
def test_averages_of_columns_that_do_not_fill_a_block_give_the_bits_of_a_loop(n_columns, dtype):
    X, y = wide(n_columns=n_columns, per_row=30, dtype=dtype)
    last = scipy.sparse.random(len(y), 70, 0.2, "csr", dtype=dtype, random_state=0)
    X = scipy.sparse.hstack([X[:, :-70], last], format="csr")  # numbers in the last block, too
    assert n_columns % 64
    assert X.indices.max() == n_columns - 1
    assert_same_as_a_loop(sgd(average=True), X, y)
    assert_same_as_a_loop(sgd(average=50, loss="log_loss"), X, (y + np.arange(len(y))) % 3)


def test_wide_rows_of_several_classes_give_the_bits_of_a_loop():
    X, y = wide()
    y = y + 2 * (X[:, 400:].sum(axis=1) > 0)
    assert_same_as_a_loop(sgd(), X, y, np.linspace(0.5, 2, len(y)))
    assert_same_as_a_loop(sgd(average=True, loss="log_loss"), X, y)


def test_scikit_learn_decides_about_wide_rows_as_well():
    X, y = wide(40)
    X.data[:] = 0.0  # the objective is the same in every epoch: a tie that no rounding decides
    assert_same_as_a_loop(sgd(tol=0.0, fit_intercept=False), X, y)


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_columns_that_come_with_prediction_count_for_nothing(loss):
    X, y = wide()
    pool, loop = pool_of(sgd(loss=loss)), [sgd(loss=loss)(seed) for seed in SEEDS]
    pool.train(VOTERS, Rows(X[:20], y[:20]))
    for voter in loop:
        voter.partial_fit(X[:20], y[:20], classes=[0, 1])
    margins = [voter.decision_function(X) for voter in loop]
    assert np.array_equal(pool.margins(VOTERS, X)[:, :, 1], margins)
    assert np.array_equal(pool.vote(VOTERS, X), [voter.predict(X) for voter in loop])


def test_memory_does_not_grow_with_columns_that_do_not_occur():
    peaks = []
    for n_columns in (100_000, 1_000_000):
        X, y = wide(n_columns=n_columns)
        pool = pool_of(sgd(tol=None, max_iter=5))
        tracemalloc.start()
        for cut in (slice(0, 60), slice(60, 120)):
            pool.train(VOTERS, Rows(X[cut], y[cut]))
            pool.probabilities(VOTERS, X)
        pool.finish(VOTERS, Rows(X, y))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 8 * 900_000  # coefficients of one voter would take as much


def test_copies_learn_columns_of_their_own():
    X, y = wide()
    pool = pool_of(sgd())
    pool.train(VOTERS, Rows(X[:30], y[:30]))
    twins = copy.deepcopy(pool), pickle.loads(pickle.dumps(pool))
    before = pool.margins(VOTERS, X)
    for twin in twins:
        twin.train(VOTERS, Rows(X[30:], y[30:]))
    assert np.array_equal(pool.margins(VOTERS, X), before)
    pool.train(VOTERS, Rows(X[30:], y[30:]))
    for twin in twins:
        assert np.array_equal(pool.margins(VOTERS, X), twin.margins(VOTERS, X))


def test_dropped_voters_leave_the_columns_of_the_others():
    X, y = wide()
    pool = pool_of(sgd())
    pool.train(VOTERS, Rows(X[:30], y[:30]))
    before = pool.margins(VOTERS[2:3], X)
    pool.keep(VOTERS[2:3], training_is_over=False)
    assert np.array_equal(pool.margins(VOTERS[2:3], X), before)
    assert pool.estimators(VOTERS[2:3])[0].coef_.shape == (1, X.shape[1])


def test_few_columns_and_dense_rows_are_taken_as_they_are():
    assert not SeenColumns.suits(scipy.sparse.csr_array((3, MIN_COLUMNS - 1)))
    assert not SeenColumns.suits(np.zeros((1, MIN_COLUMNS)))
    assert SeenColumns.suits(scipy.sparse.csr_array((3, MIN_COLUMNS)))


def test_dense_rows_may_follow_sparse_ones():
    columns = SeenColumns(5)
    columns.add_and_select(scipy.sparse.csr_array([[0.0, 2.0, 0.0, 0.0, 1.0]]))
    assert columns.select(np.array([[3.0, 0.0, 0.0, 0.0, 4.0]])).toarray().tolist() == [[0.0, 4.0]]
    selected = columns.add_and_select(np.array([[3.0, 0.0, 0.0, 0.0, 4.0]])).toarray()
    assert selected.tolist() == [[0.0, 4.0, 3.0]]


def test_places_are_those_of_the_numbers():
    assert SeenColumns(9, [7, 2, 5]).places_of(np.array([5, 7])).tolist() == [2, 0]
