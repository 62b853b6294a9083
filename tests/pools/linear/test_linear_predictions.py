"""Answers are those of scikit-learn, also where rounding could decide a vote."""

import numpy as np
import pytest
import scipy.sparse
from linear_voters import LOSSES, VOTERS, pool_of, sgd, sparse
from scipy.special import expit
from sklearn.linear_model import Perceptron

from skliquid.delegation.rows import Rows
from skliquid.pools.linear.linear_predictions import LinearPredictor, probabilities_from
from skliquid.pools.predictions import margins_of, probabilities_of

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
    for voter, theirs in enumerate(pool.estimators(VOTERS)):
        ours = pool._predictor(VOTERS).exact_votes(X, slice(voter, voter + 1))
        assert np.array_equal(ours[0], theirs.predict(X))


def test_sparse_rows_of_few_numbers_leave_no_doubt_about_votes(monkeypatch):
    X = scipy.sparse.random(40, 5000, 0.004, "csr", dtype=np.float32, random_state=0)
    pool = pool_of(sgd())
    pool.train(VOTERS, Rows(X, np.arange(40) % 2))
    expected = [voter.predict(X) for voter in pool.estimators(VOTERS)]
    monkeypatch.setattr(LinearPredictor, "exact_votes", None)  # scikit-learn is not needed
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


# Margins and probabilities

CONTAINERS = [np.float64, np.float32, sparse, lambda X: sparse(X).astype(np.float32)]
SIZES = [1, 25, 300]
SUBSPACES = np.random.default_rng(0).permuted(np.tile(np.arange(30), (5, 1)), axis=1)[:, :7]


def of_two_or_three_classes(binary, n_classes):
    X, y = binary
    return X, y + (np.arange(len(y)) % 5 == 0) if n_classes == 3 else y


def assert_same_bits(ours, theirs):
    assert ours.dtype == theirs.dtype
    assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("average", [False, True, 100])
@pytest.mark.parametrize("subspaces", [None, SUBSPACES], ids=["all", "subspaces"])
@pytest.mark.parametrize("container", CONTAINERS, ids=["float64", "float32", "sparse", "sparse32"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", ["log_loss", "modified_huber"])
def test_probabilities_and_margins_have_the_bits_of_scikit_learn(
    binary, loss, n_classes, container, subspaces, average
):
    X, y = of_two_or_three_classes(binary, n_classes)
    X = container(X)
    pool = pool_of(sgd(loss=loss, average=average), range(n_classes), subspaces=subspaces)
    chosen = VOTERS[1:4]
    for train in (pool.train, pool.finish):
        train(VOTERS, Rows(X, y))
        for size in SIZES:
            rows = X[:size]
            probabilities, margins = pool.probabilities(chosen, rows), pool.margins(chosen, rows)
            for k, (voter, theirs) in enumerate(zip(chosen, pool.estimators(chosen), strict=True)):
                seen = rows if subspaces is None else rows[:, subspaces[voter]]
                with np.errstate(invalid="ignore"):
                    expected = theirs.predict_proba(seen)
                expected[np.isnan(expected).any(axis=1)] = 1 / n_classes  # of older versions
                assert_same_bits(probabilities[k], expected)
                decision = theirs.decision_function(seen)
                if n_classes == 2:
                    assert_same_bits(margins[k, :, 1], decision)
                    assert_same_bits(margins[k, :, 0], -decision)
                else:
                    assert_same_bits(margins[k], decision)


@pytest.mark.parametrize("loss", sorted({*LOSSES} - {"log_loss", "modified_huber"}))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("container", [np.float64, np.float32, sparse])
def test_losses_without_probabilities_have_the_logistic_of_margins(
    binary, loss, n_classes, container
):
    X, y = of_two_or_three_classes(binary, n_classes)
    X = container(X)
    pool = pool_of(sgd(loss=loss), range(n_classes))
    pool.train(VOTERS, Rows(X, y))
    for size in SIZES:
        found = pool.probabilities(VOTERS, X[:size])
        for ours, theirs in zip(found, pool.estimators(VOTERS), strict=True):
            assert not hasattr(theirs, "predict_proba")
            positive = expit(theirs.decision_function(X[:size]))
            if n_classes == 2:
                assert_same_bits(ours, np.stack([1 - positive, positive], axis=1))
            else:
                total = positive.sum(axis=1, keepdims=True)
                is_known = total[:, 0] > 0
                assert_same_bits(ours[is_known], positive[is_known] / total[is_known])
                assert np.all(ours[~is_known] == ours.dtype.type(1) / ours.dtype.type(3))


@pytest.mark.parametrize("make", [sgd(loss=loss) for loss in LOSSES] + [Perceptron])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scale", [1, 1000])
def test_answers_are_those_of_the_estimators_asked_one_by_one(binary, make, n_classes, scale):
    X, y = of_two_or_three_classes(binary, n_classes)
    classes = np.arange(n_classes)
    voter_of = (lambda seed: Perceptron(random_state=seed)) if make is Perceptron else make
    pool = pool_of(voter_of, classes)
    pool.train(VOTERS, Rows(X, y))
    for method, answer_of in (("probabilities", probabilities_of), ("margins", margins_of)):
        found = getattr(pool, method)(VOTERS, scale * X)
        for ours, theirs in zip(found, pool.estimators(VOTERS), strict=True):
            with np.errstate(invalid="ignore"):  # scikit-learn divides zero by zero, as of 1.8
                assert_same_bits(ours, answer_of(theirs, scale * X, classes))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_classes_that_are_all_out_of_reach_are_equally_probable(multiclass, loss, dtype):
    X, y = multiclass
    pool = pool_of(sgd(loss=loss), range(3))
    pool.train(VOTERS, Rows(X.astype(dtype), y))
    margins = np.array([[[-1e4, -2e4, -3e4], [-1e4, 2.0, -1e4]]], dtype=dtype)
    found = probabilities_from(pool._problem, margins)
    assert found.tolist() == [[[dtype(1) / dtype(3)] * 3, [0.0, 1.0, 0.0]]]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_where_products_overflow_all_classes_are_equally_probable(n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 4)), np.arange(90) % n_classes
    pool = pool_of(sgd(), classes=np.arange(n_classes))
    pool.train(VOTERS, Rows(X, y))
    huge = np.array([[1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]]) * 1.7e308
    with np.errstate(all="ignore"):
        found = pool.probabilities(VOTERS, huge)
    assert np.isfinite(found).all()
    assert np.allclose(found.sum(axis=2), 1)
    assert (found == 1 / n_classes).any()
