import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skliquid import LiquidEnsembleClassifier
from skliquid.pools import EstimatorPool
from skliquid.pools.estimator_pool import learns_by_increments, n_passes

BOTH = np.arange(2)


@pytest.fixture
def data(binary):
    X, y = binary
    return X[:200], y[:200]


def pool_of(*estimators):
    return EstimatorPool(list(estimators), np.array([0, 1]))


def liquid(**options):
    defaults = {"estimator": GaussianNB(), "n_estimators": 3, "n_final": 2}
    return LiquidEnsembleClassifier(**defaults | options)


def test_partial_fit_visits_each_row_once(data):
    X, y = data
    assert pool_of(SGDClassifier(), SGDClassifier()).train(BOTH, X[:30], y[:30]) == 60


def test_voters_without_partial_fit_learn_from_all_rows_so_far(data):
    X, y = data
    pool = pool_of(DecisionTreeClassifier(random_state=0), DecisionTreeClassifier(random_state=1))
    costs = [pool.train(BOTH, X[rows], y[rows]) for rows in (slice(50), slice(50, 80))]
    assert costs == [2 * 50, 2 * 80]
    expected = DecisionTreeClassifier(random_state=1).fit(X[:80], y[:80])
    assert np.array_equal(pool.estimators(BOTH)[1].tree_.threshold, expected.tree_.threshold)


def test_sparse_rows_and_weights_are_remembered_too(data):
    X, y = data
    X, weights = scipy.sparse.csr_array(X), np.linspace(0.1, 2, len(y))
    pool = pool_of(DecisionTreeClassifier(random_state=0), GaussianNB())
    for rows, given in ((slice(50), None), (slice(50, 90), weights[50:90])):
        pool.train(BOTH[:1], X[rows], y[rows], given)
    together = np.concatenate([np.ones(50), weights[50:90]])
    expected = DecisionTreeClassifier(random_state=0).fit(X[:90], y[:90], together)
    assert np.array_equal(pool.estimators(BOTH[:1])[0].tree_.threshold, expected.tree_.threshold)


def test_a_mixed_pool_counts_each_kind_as_it_learns(data):
    X, y = data
    pool = pool_of(SGDClassifier(), DecisionTreeClassifier())
    pool.train(BOTH, X[:50], y[:50])
    assert pool.train(BOTH, X[50:80], y[50:80]) == 30 + 80


def test_the_final_fit_counts_iterations(data):
    X, y = data
    pool = pool_of(SGDClassifier(random_state=0), DecisionTreeClassifier())
    n_iter = SGDClassifier(random_state=0).fit(X, y).n_iter_
    assert n_iter > 1
    assert pool.finish(BOTH, X, y) == (n_iter + 1) * len(y)


def test_a_warm_fit_starts_where_the_increments_ended(data):
    X, y = data
    pool = pool_of(SGDClassifier(random_state=0), SGDClassifier(random_state=1))
    pool.train(BOTH, X[:50], y[:50])
    pool.finish(BOTH, X, y, warm=True)
    expected = SGDClassifier(random_state=1, warm_start=True)
    expected.partial_fit(X[:50], y[:50], classes=[0, 1]).fit(X, y)
    voter = pool.estimators(BOTH)[1]
    assert np.array_equal(voter.coef_, expected.coef_)
    assert not voter.warm_start


def test_one_class_is_learned_by_a_stand_in(data):
    X, y = data
    pool = pool_of(LogisticRegression(), LogisticRegression())
    pool.train(BOTH, X[y == 1][:20], y[y == 1][:20])
    assert isinstance(pool.estimators(BOTH)[0], DummyClassifier)
    assert np.all(pool.vote(BOTH, X) == 1)
    pool.train(BOTH, X, y)
    assert isinstance(pool.estimators(BOTH)[0], LogisticRegression)


def test_a_stand_in_gives_way_when_training_goes_on(data):
    X, y = data
    pool = pool_of(SGDClassifier(), SGDClassifier())
    pool.finish(BOTH, X[y == 1], y[y == 1])
    assert isinstance(pool.estimators(BOTH)[0], DummyClassifier)
    pool.train(BOTH, X, y)
    assert pool.accuracy(BOTH, X, y).min() > 0.8


@pytest.mark.parametrize(
    ("estimator", "by_increments"),
    [
        (SGDClassifier(), True),
        (SGDClassifier(early_stopping=True), False),
        (SGDClassifier(class_weight="balanced"), False),
        (SGDClassifier(class_weight={0: 2}), True),
        (MLPClassifier(), True),
        (MLPClassifier(solver="lbfgs"), False),
        (DecisionTreeClassifier(), False),
        (make_pipeline(StandardScaler(), SGDClassifier()), False),
        (OneVsRestClassifier(SGDClassifier()), True),
        (OneVsRestClassifier(SGDClassifier(class_weight="balanced")), False),
        (liquid(max_samples=0.5), True),
        (liquid(max_samples=50), False),
        (liquid(max_cost=2000), False),
        (liquid(max_seconds=1.5), False),
        (liquid(estimator=liquid(max_cost=2000)), True),
    ],
)
def test_who_learns_by_increments(estimator, by_increments, data):
    assert learns_by_increments(estimator) is by_increments
    if by_increments:
        estimator.partial_fit(*data, classes=[0, 1])


@pytest.mark.parametrize(
    ("estimator", "attribute"),
    [
        (SGDClassifier(), lambda e: e.n_iter_),
        (LogisticRegression(), lambda e: e.n_iter_[0]),
        (make_pipeline(make_pipeline(LogisticRegression())), lambda e: e[-1][-1].n_iter_[0]),
        (RidgeClassifier(), lambda e: 1),
        (DecisionTreeClassifier(), lambda e: 1),
    ],
)
def test_passes_are_the_classifiers_own_iterations(estimator, attribute, data):
    estimator.fit(*data)
    assert n_passes(estimator) == attribute(estimator)


def test_after_training_a_pool_keeps_its_rows_but_its_copies_do_not(data):
    X, y = data
    pool = pool_of(DecisionTreeClassifier(random_state=0), DecisionTreeClassifier(random_state=1))
    pool.train(BOTH, X[:50], y[:50])
    pool.finish(BOTH[1:], X[:100], y[:100])
    pool.keep(BOTH[1:], training_is_over=True)
    copy = pickle.loads(pickle.dumps(pool))
    assert pool.train(BOTH[1:], X[100:110], y[100:110]) == 110
    assert np.array_equal(
        copy.vote(BOTH[1:], X)[0],
        DecisionTreeClassifier(random_state=1).fit(X[:100], y[:100]).predict(X),
    )
    with pytest.raises(ValueError, match="copies do not carry the rows"):
        copy.train(BOTH[1:], X[100:110], y[100:110])
