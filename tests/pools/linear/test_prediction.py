"""Votes are those of scikit-learn, also where rounding could decide them."""

import numpy as np
import pytest
import scipy.sparse
from linear_voters import VOTERS, pool_of, sgd, sparse
from sklearn.linear_model import Perceptron

from skliquid.pools.linear import prediction
from skliquid.rows import Rows

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_near_ties_in_votes_are_settled_by_scikit_learn(binary):
    X, y = binary
    pool = pool_of(sgd())
    pool.train(VOTERS, Rows(X, y))
    for voter in pool.estimators(VOTERS):  # rows on the very edge of each voter
        edge = X[:200] - np.outer(voter.decision_function(X[:200]), voter.coef_) / np.sum(
            voter.coef_**2
        )
        for votes, theirs in zip(pool.vote(VOTERS, edge), pool.estimators(VOTERS), strict=True):
            assert np.array_equal(votes, theirs.predict(edge))


@pytest.mark.parametrize("options", [{}, {"average": True}, {"fit_intercept": False}])
@pytest.mark.parametrize("container", [np.float32, np.float64, sparse, scipy.sparse.csc_matrix])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_votes_in_doubt_are_those_of_scikit_learn(binary, n_classes, container, options):
    X, y = container(binary[0]), binary[1]
    y = y + (np.arange(len(y)) % 5 == 0) if n_classes == 3 else y
    pool = pool_of(sgd(**options), range(n_classes))
    pool.finish(VOTERS, Rows(X, y))
    shown = pool._arrays.shown()
    for voter, theirs in enumerate(pool.estimators(VOTERS)):
        separators = pool._separators_of(VOTERS[voter : voter + 1])
        ours = prediction._exact_votes(pool._problem, X, *shown, separators)
        assert np.array_equal(ours[0], theirs.predict(X))


def test_sparse_rows_of_few_numbers_leave_no_doubt_about_votes(monkeypatch):
    X = scipy.sparse.random(40, 5000, 0.004, "csr", dtype=np.float32, random_state=0)
    pool = pool_of(sgd())
    pool.train(VOTERS, Rows(X, np.arange(40) % 2))
    expected = [voter.predict(X) for voter in pool.estimators(VOTERS)]
    monkeypatch.setattr(prediction, "_exact_votes", None)  # scikit-learn's product is not needed
    assert np.array_equal(pool.vote(VOTERS, X), expected)


@pytest.mark.filterwarnings("ignore:.*encountered in matmul")  # of scikit-learn's products too
@pytest.mark.parametrize("data", ["binary", "multiclass"])
def test_votes_where_sums_are_too_large_for_a_number(request, data):
    X, y = request.getfixturevalue(data)
    X = (X * 1e19).astype(np.float32)
    pool = pool_of(lambda seed: Perceptron(random_state=seed), np.unique(y))
    pool.train(VOTERS, Rows(X, y))
    for rows in (X, X[:30]):
        for votes, voter in zip(pool.vote(VOTERS, rows), pool.estimators(VOTERS), strict=True):
            assert np.array_equal(votes, voter.predict(rows))
