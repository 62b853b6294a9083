import numpy as np
from linear_voters import VOTERS, pool_of, sgd

from skliquid.rows import Rows


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
