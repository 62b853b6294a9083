import os
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skliquid.delegation.rows import Rows
from skliquid.diversity.samples import draw_subspaces
from skliquid.pools import EstimatorPool

BOTH = np.arange(2)


@pytest.fixture
def data(binary):
    X, y = binary
    return X[:200], y[:200]


def pool_of(*estimators):
    return EstimatorPool(list(estimators), np.array([0, 1]))


class NoteOfProcess(DecisionTreeClassifier):
    """A tree that knows in which process it was fitted."""

    def fit(self, X, y, sample_weight=None):
        self.process_ = os.getpid()
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(("backend", "is_here"), [("threading", True), ("loky", False)])
def test_voters_are_fitted_where_the_backend_of_joblib_fits_them(data, backend, is_here):
    X, y = data
    voters = [NoteOfProcess(random_state=k, max_features=2) for k in BOTH]
    pools = [EstimatorPool(voters, np.array([0, 1]), n_jobs) for n_jobs in (1, 2)]
    costs = [pools[0].train(BOTH, Rows(X, y))]
    with joblib.parallel_config(backend=backend):
        costs.append(pools[1].train(BOTH, Rows(X, y)))
    here, there = (pool.estimators(BOTH) for pool in pools)
    assert costs[0] == costs[1]
    assert {voter.process_ == os.getpid() for voter in there} == {is_here}
    for one, other in zip(here, there, strict=True):
        assert np.array_equal(one.tree_.threshold, other.tree_.threshold)


def test_partial_fit_visits_each_row_once(data):
    X, y = data
    assert pool_of(SGDClassifier(), SGDClassifier()).train(BOTH, Rows(X[:30], y[:30])) == 60


def test_voters_without_partial_fit_learn_from_all_rows_so_far(data):
    X, y = data
    pool = pool_of(DecisionTreeClassifier(random_state=0), DecisionTreeClassifier(random_state=1))
    costs = [pool.train(BOTH, Rows(X[rows], y[rows])) for rows in (slice(50), slice(50, 80))]
    assert costs == [2 * 50, 2 * 80]
    expected = DecisionTreeClassifier(random_state=1).fit(X[:80], y[:80])
    assert np.array_equal(pool.estimators(BOTH)[1].tree_.threshold, expected.tree_.threshold)


def test_sparse_rows_and_weights_are_remembered_too(data):
    X, y = data
    X, weights = scipy.sparse.csr_array(X), np.linspace(0.1, 2, len(y))
    pool = pool_of(DecisionTreeClassifier(random_state=0), GaussianNB())
    for rows, given in ((slice(50), None), (slice(50, 90), weights[50:90])):
        pool.train(BOTH[:1], Rows(X[rows], y[rows], given))
    together = np.concatenate([np.ones(50), weights[50:90]])
    expected = DecisionTreeClassifier(random_state=0).fit(X[:90], y[:90], together)
    assert np.array_equal(pool.estimators(BOTH[:1])[0].tree_.threshold, expected.tree_.threshold)


def test_each_voter_of_a_mixed_pool_costs_what_its_way_of_learning_costs(data):
    X, y = data
    pool = pool_of(SGDClassifier(), DecisionTreeClassifier())
    pool.train(BOTH, Rows(X[:50], y[:50]))
    assert pool.train(BOTH, Rows(X[50:80], y[50:80])) == 30 + 80


def test_the_final_fit_counts_iterations(data):
    X, y = data
    pool = pool_of(SGDClassifier(random_state=0), DecisionTreeClassifier())
    n_iter = SGDClassifier(random_state=0).fit(X, y).n_iter_
    assert n_iter > 1
    assert pool.finish(BOTH, Rows(X, y)) == (n_iter + 1) * len(y)


def test_a_dummy_takes_the_place_of_a_voter_while_there_is_one_class(data):
    X, y = data
    pool = pool_of(LogisticRegression(), LogisticRegression())
    pool.train(BOTH, Rows(X[y == 1][:20], y[y == 1][:20]))
    assert isinstance(pool.estimators(BOTH)[0], DummyClassifier)
    assert np.all(pool.vote(BOTH, X) == 1)
    pool.train(BOTH, Rows(X, y))
    assert isinstance(pool.estimators(BOTH)[0], LogisticRegression)


def test_a_dummy_gives_way_when_training_continues(data):
    X, y = data
    pool = pool_of(SGDClassifier(), SGDClassifier())
    pool.finish(BOTH, Rows(X[y == 1], y[y == 1]))
    assert isinstance(pool.estimators(BOTH)[0], DummyClassifier)
    pool.train(BOTH, Rows(X, y))
    assert np.mean(pool.vote(BOTH, X) == y, axis=1).min() > 0.8


def test_after_training_a_pool_keeps_its_rows_but_its_copies_do_not(data):
    X, y = data
    pool = pool_of(DecisionTreeClassifier(random_state=0), DecisionTreeClassifier(random_state=1))
    pool.train(BOTH, Rows(X[:50], y[:50]))
    pool.finish(BOTH[1:], Rows(X[:100], y[:100]))
    pool.keep(BOTH[1:], training_is_over=True)
    copy = pickle.loads(pickle.dumps(pool))
    assert pool.train(BOTH[1:], Rows(X[100:110], y[100:110])) == 110
    assert np.array_equal(
        copy.vote(BOTH[1:], X)[0],
        DecisionTreeClassifier(random_state=1).fit(X[:100], y[:100]).predict(X),
    )
    with pytest.raises(ValueError, match="copies do not carry the rows"):
        copy.train(BOTH[1:], Rows(X[100:110], y[100:110]))


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array])
def test_voters_with_their_own_samples_may_be_finished_in_parts(data, container):
    X, y = data
    weights = np.random.default_rng(0).poisson(1.0, (2, len(y))).astype(float)
    more = Rows(container(X[:10]), y[:10], weights[:, :10])
    pools = [pool_of(*(DecisionTreeClassifier(random_state=k) for k in BOTH)) for _ in range(2)]
    pools[0].finish(BOTH, Rows(container(X), y, weights))
    for voter in BOTH:
        part = BOTH[voter : voter + 1]
        pools[1].finish(part, Rows(container(X), y, weights[part]))
    for pool in pools:
        pool.train(BOTH, more)
    for one, other in zip(*(pool.estimators(BOTH) for pool in pools), strict=True):
        assert np.array_equal(one.tree_.threshold, other.tree_.threshold)


def test_each_voter_sees_its_own_features(binary):
    X, y = binary
    subspaces = draw_subspaces(2, X.shape[1], 3, np.random.default_rng(0))
    pool = EstimatorPool([GaussianNB(), GaussianNB()], np.unique(y), subspaces=subspaces)
    pool.train(np.arange(2), Rows(X, y))
    alone = GaussianNB().fit(X[:, subspaces[1]], y)
    assert np.array_equal(pool.vote(np.arange(2), X)[1], alone.predict(X[:, subspaces[1]]))
