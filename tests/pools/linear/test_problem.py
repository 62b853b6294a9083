import numpy as np
import pytest
from linear_voters import VOTERS, assert_same_as_a_loop, pool_of, sgd

from skliquid.delegation.rows import Rows
from skliquid.pools.linear import linear_pool


def test_separators_that_weigh_rows_alike_share_an_array_of_weights(multiclass):
    X, y = multiclass
    pool = pool_of(sgd(), [0, 1, 2])
    pool.train(VOTERS, Rows(X, y))
    for weights, n_different in ((None, 1), (np.ones(len(y)), 1), (np.ones((5, len(y))), 5)):
        labels, importance, taken = pool._problem.arrays(len(VOTERS), Rows(X, y, weights))
        assert labels.shape == (3, len(y))
        assert importance.shape == (n_different, len(y))
        assert len(taken) == len(VOTERS) * 3
        assert taken.max() == n_different - 1


@pytest.mark.parametrize("class_weight", [None, {4: 2.0, 9: 0.5}])
@pytest.mark.parametrize("average", [False, True])
def test_labels_are_made_for_some_classes_at_a_time(average, class_weight, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)), np.arange(80) % 10
    X[:, 0] += y
    monkeypatch.setattr(linear_pool, "_LABELS_AT_ONCE", 4 * 37)
    make = sgd(loss="log_loss", average=average, class_weight=class_weight, max_iter=5, tol=None)
    assert_same_as_a_loop(make, X, y)
    pool, shapes = pool_of(make, np.unique(y)), []
    pool.train(VOTERS, Rows(X[:37], y[:37]))
    arrays = pool._problem.arrays
    monkeypatch.setattr(
        pool._problem,
        "arrays",
        lambda *args: shapes.append(arrays(*args)[0].shape) or arrays(*args),
    )
    pool.train(VOTERS, Rows(X[:37], y[:37]))
    assert shapes == [(4, 37), (4, 37), (2, 37)]
