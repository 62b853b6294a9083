"""Training without end: drift, delegations that are taken back, classes that come late."""

import pickle
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_blobs, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skliquid import LiquidEnsembleClassifier
from skliquid.mechanisms import MECHANISMS, Revocable

CONSTANT = SGDClassifier(learning_rate="constant", eta0=0.05)


def small(estimator=CONSTANT, **options):
    defaults = {"n_estimators": 24, "n_final": 4, "delegation_rate": 0.3, "random_state": 0}
    return LiquidEnsembleClassifier(estimator, **defaults | options)


def stream(n_batches, batch=50, seed=0, turn=None):
    """Batches of rows; from batch ``turn`` on, the classes have changed places."""
    X, y = make_classification(
        n_batches * batch, 8, n_informative=5, class_sep=1.5, random_state=seed
    )
    if turn is not None:
        y[turn * batch :] = 1 - y[turn * batch :]
    return [(X[i : i + batch], y[i : i + batch]) for i in range(0, len(y), batch)]


def trained(ensemble, batches):
    for X, y in batches:
        ensemble.partial_fit(X, y, classes=[0, 1])
    return ensemble


# Delegations that are taken back


class Settled(ClassifierMixin, BaseEstimator):
    """Has made up its mind: half of the voters are right before the turn, the others after it."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        return self.partial_fit(X, y)

    def partial_fit(self, X, y, classes=None):
        self.classes_, self.n_calls_ = np.array([0, 1]), getattr(self, "n_calls_", 0) + 1
        return self

    def predict(self, X):
        bar = 0.05 * (self.random_state % 11)  # some are better than others
        return (X[:, 0] > bar) ^ (self.random_state % 2 == 0)


def turning(n_batches, turn, batch=100):
    X = np.random.default_rng(0).normal(size=(n_batches * batch, 2))
    y = ((X[:, 0] > 0) ^ (np.arange(len(X)) >= turn * batch)).astype(int)
    return [(X[i : i + batch], y[i : i + batch]) for i in range(0, len(y), batch)]


def test_delegators_return_when_the_world_turns_and_train_again():
    ensemble, batches = small(Settled(), revocable=True, memory=3), turning(30, turn=15)
    record = trained(ensemble, batches).record_
    backs = [each for each in record if len(each.returned)]
    assert backs
    assert min(each.increment for each in backs) > 15
    before, after = record[14].graph.representatives, record[-1].graph.representatives
    assert not set(before) & set(after)
    assert ensemble.score(*batches[14]) < 0.3 < 0.7 < ensemble.score(*batches[-1])
    for each, following in pairwise(record):
        assert each.graph.weights.sum() == 24
        assert following.voters.tolist() == each.graph.representatives.tolist()
        assert set(each.returned) <= set(each.graph.representatives)
        assert each.cost == len(each.voters) * each.n_rows  # delegators cost no training
    for voter, estimator in zip(after, ensemble.estimators_, strict=True):
        assert estimator.n_calls_ == sum(voter in each.voters for each in record) < 30
    assert record.to_pandas().n_returned.sum() == sum(len(each.returned) for each in backs)


def test_without_it_nobody_returns():
    ensemble, batches = small(Settled(), memory=3), turning(30, turn=15)
    assert not any(len(each.returned) for each in trained(ensemble, batches).record_)
    assert ensemble.score(*batches[-1]) < 0.3


@pytest.mark.parametrize("options", [{"revocable": True}, {"mechanism": "learning_slopes"}])
@pytest.mark.parametrize("memory", ["auto", 5])
def test_every_pool_gives_the_same_and_so_does_a_pickle(options, memory):
    batches = stream(25, turn=12, batch=200)
    straight = trained(small(pool="linear", memory=memory, **options), batches)
    other = small(pool="estimator", memory=memory, **options)
    for X, y in batches:
        other = pickle.loads(pickle.dumps(other)).partial_fit(X, y, classes=[0, 1])
    assert np.array_equal(straight.delegation_graph_.delegation, other.delegation_graph_.delegation)
    X = batches[-1][0]
    assert np.array_equal(straight.predict_proba(X), other.predict_proba(X))
    assert straight.training_cost_ == other.training_cost_


def test_learning_slopes_keep_as_many_as_the_schedule_leaves():
    ensemble = trained(small(mechanism="learning_slopes"), stream(30, turn=15))
    sizes = [each.n_representatives for each in ensemble.record_]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 4
    assert sum(len(each.returned) for each in ensemble.record_) > 4


@pytest.mark.parametrize("memory", [0.9, None])
def test_slopes_need_measurements_that_are_kept_apart(memory):
    ensemble = small(mechanism="learning_slopes", memory=memory)
    with pytest.raises(ValueError, match="memory must be a number of increments"):
        trained(ensemble, stream(3))


@pytest.mark.parametrize("voter", [DecisionTreeClassifier(max_depth=3), GaussianNB()])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_any_voter_may_return(voter, bootstrap):
    ensemble = small(voter, revocable=True, bootstrap=bootstrap, n_estimators=10)
    trained(ensemble, stream(12, turn=6))
    assert ensemble.estimator_weights_.sum() == 10


def test_fit_lets_delegators_return_too():
    X, y = (np.concatenate(parts) for parts in zip(*stream(30), strict=True))
    mechanism = Revocable(MECHANISMS["proportional_weighted"])
    one = small(revocable=True).fit(X, y)
    other = small(mechanism=mechanism).fit(X, y)
    assert np.array_equal(one.delegation_graph_.delegation, other.delegation_graph_.delegation)
    assert one.partial_fit(X, y).score(X, y) > 0.8


def test_who_was_forgotten_cannot_return():
    ensemble = trained(small(), stream(8))
    with pytest.raises(ValueError, match="revocable must be True from the start"):
        ensemble.set_params(revocable=True).partial_fit(*stream(1)[0])


@pytest.mark.parametrize("memory", [None, 1, 7, 0.5])
def test_accuracy_is_averaged_as_asked(memory):
    ensemble = trained(small(memory=memory, delegation_rate=0.0), stream(6))
    measured = np.array([each.accuracy for each in ensemble.record_][1:])  # nothing at the first
    ages = np.arange(len(measured))[::-1]
    weight = {None: ages * 0 + 1, 1: ages < 1, 7: ages < 7, 0.5: 0.5**ages}[memory]
    expected = weight @ measured / weight.sum()
    np.testing.assert_allclose(ensemble.record_[-1].mean_accuracy, expected)


@pytest.mark.parametrize("memory", [0, -1, 1.0, 1.5, "all"])
def test_memory_must_be_a_window_or_a_factor(memory):
    with pytest.raises(ValueError, match="The 'memory' parameter"):
        trained(small(memory=memory), stream(1))


# For ever


def test_memory_does_not_grow_with_the_stream():
    ensemble = small(n_estimators=30, revocable=True)
    batches = stream(20, batch=10)
    sizes = []
    for round_ in range(75):
        for X, y in batches:
            ensemble.partial_fit(X, y, classes=[0, 1])
        if round_ in (54, 74):
            sizes.append(len(pickle.dumps(ensemble)))
    assert len(ensemble.record_) == 1000
    assert ensemble.record_.n_increments == 1500
    assert ensemble.record_[-1].increment == 1500
    assert ensemble.n_samples_seen_ == 15_000
    assert sizes[1] < 1.02 * sizes[0]


def test_a_call_leaves_nothing_behind_that_grows():
    ensemble = trained(small(SGDClassifier(), pool="linear"), stream(30))
    ensemble.record_.most = 1  # what is recorded is another matter
    (X, y), *_ = stream(1)
    ensemble.partial_fit(X, y)
    tracemalloc.start()
    for _ in range(20):
        ensemble.partial_fit(X, y)
    first, _ = tracemalloc.get_traced_memory()
    for _ in range(300):
        ensemble.partial_fit(X, y)
    last, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert last - first < 1_500_000  # 300 records of some 3 kB


def test_batches_of_any_size_will_do():
    rng = np.random.default_rng(0)
    X, y = make_classification(6000, 8, class_sep=1.5, random_state=0)
    ensemble, start = small(), 0
    while start < len(y):
        size = int(rng.integers(1, 200))
        ensemble.partial_fit(X[start : start + size], y[start : start + size], classes=[0, 1])
        start += size
    assert ensemble.n_samples_seen_ == 6000
    assert ensemble.score(X, y) > 0.8


# Classes that come late


def late_classes(n_classes=4, n_rows=400):
    X, y = make_blobs(n_classes * n_rows, 4, centers=n_classes, cluster_std=1.5, random_state=3)
    order = np.argsort(y, kind="stable")
    return X[order], np.array([f"class {label}" for label in y[order]])


@pytest.mark.parametrize("voter", [CONSTANT, GaussianNB(), DecisionTreeClassifier(max_depth=4)])
@pytest.mark.parametrize("options", [{}, {"revocable": True}, {"bootstrap": True}])
def test_classes_are_discovered(voter, options):
    X, y = late_classes()
    ensemble = small(voter, **options)
    for start in range(0, len(y), 100):
        ensemble.partial_fit(X[start : start + 100], y[start : start + 100])
        if start == 300:
            with pytest.raises(NotFittedError):  # there is one class only
                ensemble.predict(X)
    assert ensemble.classes_.tolist() == sorted(set(y))
    assert ensemble.n_samples_seen_ == len(y)
    assert ensemble.estimator_weights_.sum() == 24
    rng = np.random.default_rng(0)
    for _ in range(5):  # now all come mixed
        rows = rng.permutation(len(y))[:400]
        ensemble.partial_fit(X[rows], y[rows])
    assert ensemble.score(X, y) > 0.8


def test_discovered_in_the_first_batch_is_as_good_as_announced():
    batches = stream(10)
    announced, discovering = trained(small(), batches), small()
    for X, y in batches:
        discovering.partial_fit(X, y)
    X = batches[0][0]
    assert np.array_equal(announced.predict_proba(X), discovering.predict_proba(X))
    assert announced.training_cost_ == discovering.training_cost_


def test_rows_of_the_only_class_are_learned_from_when_a_second_comes():
    X, y = late_classes(2, 60)
    ensemble = small()
    for start in range(0, 120, 30):
        ensemble.partial_fit(X[start : start + 30], y[start : start + 30])
    assert sum(each.n_rows for each in ensemble.record_) == 120
    assert ensemble.record_[0].rows.tolist() == list(range(90))


def test_what_is_learned_again_is_counted_and_delegations_stay():
    X, y = late_classes(3, 200)
    mixed = np.random.default_rng(0).permutation(400)
    ensemble = small()
    for start in range(0, 400, 50):
        rows = mixed[start : start + 50]
        ensemble.partial_fit(X[rows], y[rows])
    cost, graph = ensemble.training_cost_.increments, ensemble.delegation_graph_
    ensemble.set_params(delegation_rate=0.0).partial_fit(X[400:], y[400:])
    assert np.array_equal(ensemble.delegation_graph_.delegation, graph.delegation)
    n_left = len(graph.representatives)
    assert ensemble.training_cost_.increments == cost + n_left * 400 + n_left * 200


def test_pools_agree_on_classes_that_come_late():
    X, y = late_classes()
    ensembles = [small(pool="linear"), small(pool="estimator")]
    for start in range(0, len(y), 100):
        for ensemble in ensembles:
            ensemble.partial_fit(X[start : start + 100], y[start : start + 100])
    one, other = (each.predict_proba(X) for each in ensembles)
    assert np.array_equal(one, other)


def test_an_ensemble_is_as_before_when_learning_a_late_class_fails():
    X, y = late_classes(3, 200)
    mixed = np.random.default_rng(0).permutation(400)
    failed, undisturbed = (small().partial_fit(X[mixed], y[mixed]) for _ in range(2))
    with pytest.raises(ZeroDivisionError):
        failed.set_params(delegation_rate=lambda t: 1 / 0).partial_fit(X[350:], y[350:])
    failed.set_params(delegation_rate=small().delegation_rate)
    assert np.array_equal(failed.predict_proba(X), undisturbed.predict_proba(X))
    assert len(failed.record_) == len(undisturbed.record_)
    for ensemble in (failed, undisturbed):
        ensemble.partial_fit(X[350:], y[350:])
    assert np.array_equal(failed.predict_proba(X), undisturbed.predict_proba(X))
    assert failed.training_cost_ == undisturbed.training_cost_


def test_a_second_fit_forgets_what_was_discovered():
    X, y = late_classes(3)
    ensemble = small().partial_fit(X[:800], y[:800])
    ensemble.fit(X[:800], y[:800])
    with pytest.raises(ValueError, match="class 2"):
        ensemble.partial_fit(X, y)


# The preset


def test_the_preset_for_streams_follows_a_world_that_turns():
    batches = stream(60, batch=100, turn=30)
    ensemble, n_right = LiquidEnsembleClassifier.for_streams(random_state=0), 0
    for number, (X, y) in enumerate(batches):
        if number in range(50, 60):
            n_right += int((ensemble.predict(X) == y).sum())
        ensemble.partial_fit(X, y, classes=[0, 1])
    assert n_right / 1000 > 0.85
    assert len(ensemble.estimators_) == 12
    assert LiquidEnsembleClassifier.for_streams(n_final=5).n_final == 5
