"""Streams: training by partial_fit, concept drift, and delegations that are taken back."""

import pickle
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from small_ensembles import FEW_X, FEW_Y, SGD, of_four, parts, same, small
from streams_with_drift import stream

from skliquid import CompetenceMeasure, LiquidEnsembleClassifier
from skliquid.mechanisms import MECHANISMS, revocable

CONSTANT = SGDClassifier(learning_rate="constant", eta0=0.05)


REVOCABLE = revocable("proportional_weighted")


# Increment by increment


def test_delegation_continues_from_call_to_call(binary):
    X, y = binary
    ensemble = small(n_estimators=30, delegation_rate=0.2)
    sizes = []
    for X_part, y_part in parts(X, y, 40):
        ensemble.partial_fit(X_part, y_part, classes=[0, 1])
        sizes.append(len(ensemble.estimators_))
    assert sizes[0] < 30
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 3
    assert ensemble.n_samples_seen_ == len(y)
    assert ensemble.score(X, y) > 0.9
    assert ensemble.record_[2].rows == range(80, 120)


def test_a_call_may_hold_several_increments(binary):
    X, y = binary
    by_call = small(delegation_rate=0.2, increment_size=40)
    for X_part, y_part in parts(X, y, 40):
        by_call.partial_fit(X_part, y_part, classes=[0, 1])
    at_once = small(delegation_rate=0.2, increment_size=40).partial_fit(X, y, classes=[0, 1])
    assert len(at_once.record_) == 15
    assert same(by_call, at_once, X)


@pytest.mark.parametrize("voter", [SGDClassifier(), DecisionTreeClassifier(max_depth=2)])
def test_stopping_and_resuming_does_not_change_a_bit(binary, voter):
    X, y = binary
    straight = small(voter, delegation_rate=0.2)
    resumed = small(voter, delegation_rate=0.2)
    for X_part, y_part in parts(X, y, 80):
        straight.partial_fit(X_part, y_part, classes=[0, 1])
        resumed.partial_fit(X_part, y_part, classes=[0, 1])
        resumed = pickle.loads(pickle.dumps(resumed))
    assert same(straight, resumed, X)


@pytest.mark.parametrize("voter", [SGDClassifier(), DecisionTreeClassifier(max_depth=3)])
def test_arrays_may_be_used_again_for_the_next_rows(binary, voter):
    X, y = binary
    weights = np.random.default_rng(0).uniform(0.1, 9, 480)
    buffer, buffered_weights = np.empty((80, 30)), np.empty(80)
    again, apart = small(voter), small(voter)
    for part in np.split(np.arange(480), 6):
        buffer[:], buffered_weights[:] = X[part], weights[part]
        again.partial_fit(buffer, y[part], [0, 1], buffered_weights)
        apart.partial_fit(X[part], y[part], [0, 1], weights[part])
    assert same(again, apart, X)


def test_arrays_of_fit_may_be_used_again_before_more_rows_come(binary):
    X, y = binary
    voter, weights = DecisionTreeClassifier(max_depth=3), np.linspace(0.1, 9, 300)
    again, apart = (small(voter).fit(X[:300], y[:300], weights) for _ in range(2))
    own, buffered_weights = X[:300].copy(), weights.copy()
    again.fit(own, y[:300], buffered_weights)
    own[:], buffered_weights[:] = 0, 1
    assert same(again.partial_fit(X[300:], y[300:]), apart.partial_fit(X[300:], y[300:]), X)


@pytest.mark.parametrize("pool", ["linear", "estimator"])
def test_a_stream_keeps_the_precision_it_began_in(binary, pool):
    X, y = binary
    for first, then in ((np.float32, np.float64), (np.float64, np.float32)):
        mixed, plain = small(pool=pool), small(pool=pool)
        mixed.partial_fit(X[:100].astype(first), y[:100], classes=[0, 1])
        mixed.partial_fit(X[100:].astype(np.float32).astype(then), y[100:])
        plain.partial_fit(X[:100].astype(first), y[:100], classes=[0, 1])
        plain.partial_fit(X[100:].astype(np.float32).astype(first), y[100:])
        assert same(mixed, plain, X)
        assert mixed.estimators_[0].coef_.dtype == first


def test_dense_and_sparse_rows_may_follow_each_other(binary):
    X, y = binary
    sparse = scipy.sparse.csr_matrix(X)
    for voter in (SGDClassifier(), DecisionTreeClassifier(max_depth=3)):
        mixed, dense = small(voter), small(voter)
        for i, rows in enumerate((slice(100), slice(100, 200), slice(200, 300))):
            mixed.partial_fit((X, sparse)[i % 2][rows], y[rows], classes=[0, 1])
            dense.partial_fit(X[rows], y[rows], classes=[0, 1])
        assert mixed.record_[-1].rows == dense.record_[-1].rows
        assert mixed.score(X, y) > 0.8


def test_partial_fit_continues_after_fit(binary):
    X, y = binary
    for voter in (SGDClassifier(), DecisionTreeClassifier()):
        ensemble = small(voter).fit(X[:300], y[:300])
        n_increments = len(ensemble.record_)
        ensemble.partial_fit(X[300:], y[300:])
        assert len(ensemble.record_) == n_increments + 1
        assert ensemble.n_samples_seen_ == len(y)
        assert ensemble.record_[-1].rows == range(300, len(y))


def test_classes_may_be_missing_at_first_and_for_long(multiclass):
    X, y = multiclass
    order = np.argsort(y, kind="stable")
    for voter in (SGDClassifier(), GaussianNB(), DecisionTreeClassifier(), LogisticRegression()):
        ensemble = small(voter, n_estimators=6, n_final=2)
        for X_part, y_part in parts(X[order], y[order], 25):
            ensemble.partial_fit(X_part, y_part, classes=[0, 1, 2])
            assert ensemble.predict_proba(X).shape == (150, 3)


@given(seed=st.integers(0, 999))
@settings(max_examples=8)
def test_the_order_of_rows_within_an_increment_matters_to_voters_only(binary, seed):
    X, y = binary
    voters = [(f"smooth {p}", GaussianNB(var_smoothing=10.0**-p)) for p in range(6)]
    rng = np.random.default_rng(seed)
    straight, shuffled = small(voters, voting="hard"), small(voters, voting="hard")
    for start in range(0, 500, 50):
        rows = np.arange(start, start + 50)
        straight.partial_fit(X[rows], y[rows], classes=[0, 1])
        rows = rng.permutation(rows)
        shuffled.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert len(straight.estimators_) < 12
    assert same(straight, shuffled, X)


def test_an_increment_of_zero_weights_changes_nothing(binary):
    X, y = binary
    ensemble = small().partial_fit(X[:50], y[:50], classes=[0, 1])
    before = ensemble.predict_proba(X)
    ensemble.partial_fit(X[50:90], y[50:90], sample_weight=np.zeros(40))
    assert np.array_equal(ensemble.predict_proba(X), before)
    assert len(ensemble.record_) == 1
    assert ensemble.n_samples_seen_ == 90
    ensemble.partial_fit(X[90:120], y[90:120], sample_weight=np.ones(30))
    assert ensemble.record_[1].rows == range(90, 120)


@pytest.mark.parametrize("voter", [SGD, None])
def test_a_stream_may_begin_with_zero_weights(binary, voter):
    X, y = binary
    ensemble = small(voter).partial_fit(X[:9], y[:9], classes=[0, 1], sample_weight=np.zeros(9))
    with pytest.raises(NotFittedError, match="the 9 rows so far"):
        ensemble.predict(X)
    assert ensemble.partial_fit(X, y).score(X, y) > 0.8
    assert ensemble.n_samples_seen_ == 9 + len(y)


def test_n_final_may_change_during_a_stream(binary):
    X, y = binary
    ensemble = small(delegation_rate=0.1).partial_fit(X[:100], y[:100], classes=[0, 1])
    ensemble.set_params(n_final=8, delegation_rate=1.0, mechanism="random")
    ensemble.partial_fit(X[100:], y[100:])
    assert len(ensemble.estimators_) == 8
    assert ensemble.record_.reached_n_final


# Delegations that are taken back


def online(estimator=CONSTANT, **options):
    defaults = {"n_estimators": 24, "n_final": 4, "delegation_rate": 0.3, "random_state": 0}
    return LiquidEnsembleClassifier(estimator, **defaults | options)


def trained(ensemble, batches):
    for X, y in batches:
        ensemble.partial_fit(X, y, classes=[0, 1])
    return ensemble


class Settled(ClassifierMixin, BaseEstimator):
    """Does not learn: half of the voters are right before the drift, the others after it."""

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


def test_delegators_return_after_concept_drift_and_train_again():
    ensemble, batches = (
        online(
            Settled(), mechanism=REVOCABLE, competence=CompetenceMeasure("prequential", memory=3)
        ),
        turning(30, turn=15),
    )
    record = trained(ensemble, batches).record_
    backs = [step for step in record if len(step.returned)]
    assert backs
    assert min(step.increment for step in backs) > 15
    before, after = record[14].graph.representatives, record[-1].graph.representatives
    assert not set(before) & set(after)
    assert ensemble.score(*batches[14]) < 0.3 < 0.7 < ensemble.score(*batches[-1])
    for step, following in pairwise(record):
        assert step.graph.weights.sum() == 24
        assert following.voters.tolist() == step.graph.representatives.tolist()
        assert set(step.returned) <= set(step.graph.representatives)
        assert step.cost == step.n_representatives * step.n_rows  # delegators cost no training
    for voter, estimator in zip(after, ensemble.estimators_, strict=True):
        n_calls = sum(voter in step.graph.representatives for step in record)
        assert estimator.n_calls_ == n_calls < 30
    assert record.to_pandas().n_returned.sum() == sum(len(step.returned) for step in backs)


def test_delegators_return_only_where_delegations_are_revocable():
    ensemble, batches = (
        online(Settled(), competence=CompetenceMeasure("prequential", memory=3)),
        turning(30, turn=15),
    )
    assert not any(len(step.returned) for step in trained(ensemble, batches).record_)
    assert ensemble.score(*batches[-1]) < 0.3


@pytest.mark.parametrize("mechanism", [REVOCABLE, "learning_slopes"])
@pytest.mark.parametrize("memory", ["auto", 5])
def test_every_pool_gives_the_same_and_so_does_a_pickle(mechanism, memory):
    batches = stream(25, turn=12, batch=200)
    options = {
        "mechanism": mechanism,
        "competence": CompetenceMeasure("prequential", memory=memory),
    }
    straight = trained(online(pool="linear", **options), batches)
    other = online(pool="estimator", **options)
    for X, y in batches:
        other = pickle.loads(pickle.dumps(other)).partial_fit(X, y, classes=[0, 1])
    assert np.array_equal(straight.delegation_graph_.delegation, other.delegation_graph_.delegation)
    X = batches[-1][0]
    assert np.array_equal(straight.predict_proba(X), other.predict_proba(X))
    assert straight.training_cost_ == other.training_cost_


def test_learning_slopes_keep_as_many_as_the_schedule_leaves():
    ensemble = trained(online(mechanism="learning_slopes"), stream(30, turn=15))
    sizes = [step.n_representatives for step in ensemble.record_]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 4
    assert sum(len(step.returned) for step in ensemble.record_) > 4


@pytest.mark.parametrize("memory", [0.9, None])
def test_slopes_need_measurements_that_are_kept_apart(memory):
    ensemble = online(
        mechanism="learning_slopes", competence=CompetenceMeasure("prequential", memory=memory)
    )
    with pytest.raises(ValueError, match="memory must be a number of increments"):
        trained(ensemble, stream(3))


@pytest.mark.parametrize("voter", [DecisionTreeClassifier(max_depth=3), GaussianNB()])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_any_voter_may_return(voter, bootstrap):
    ensemble = online(voter, mechanism=REVOCABLE, bootstrap=bootstrap, n_estimators=10)
    trained(ensemble, stream(12, turn=6))
    assert ensemble.estimator_weights_.sum() == 10


def test_fit_lets_delegators_return_too():
    X, y = (np.concatenate(parts) for parts in zip(*stream(30), strict=True))
    mechanism = revocable(MECHANISMS["proportional_weighted"])
    one = online(mechanism=REVOCABLE).fit(X, y)
    other = online(mechanism=mechanism).fit(X, y)
    assert np.array_equal(one.delegation_graph_.delegation, other.delegation_graph_.delegation)
    assert one.partial_fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize("memory", [None, 1, 7, 0.5])
def test_accuracy_is_averaged_as_asked(memory):
    ensemble = trained(
        online(competence=CompetenceMeasure("prequential", memory=memory), delegation_rate=0.0),
        stream(6),
    )
    measured = np.array([step.accuracy for step in ensemble.record_][1:])  # nothing at the first
    ages = np.arange(len(measured))[::-1]
    weight = {None: ages * 0 + 1, 1: ages < 1, 7: ages < 7, 0.5: 0.5**ages}[memory]
    expected = weight @ measured / weight.sum()
    np.testing.assert_allclose(ensemble.record_[-1].competence, expected)


# Without end


def test_memory_does_not_grow_with_the_stream():
    ensemble = online(n_estimators=30, mechanism=REVOCABLE)
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
    ensemble = trained(online(SGDClassifier(), pool="linear"), stream(30))
    ensemble.record_.max_increments = 1  # what is recorded is another matter
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


def test_batches_may_have_any_size():
    rng = np.random.default_rng(0)
    X, y = make_classification(6000, 8, class_sep=1.5, random_state=0)
    ensemble, start = online(), 0
    while start < len(y):
        size = int(rng.integers(1, 200))
        ensemble.partial_fit(X[start : start + size], y[start : start + size], classes=[0, 1])
        start += size
    assert ensemble.n_samples_seen_ == 6000
    assert ensemble.score(X, y) > 0.8


def test_text_is_refused_after_numbers_were_learned():
    ensemble = of_four().fit(FEW_X, FEW_Y)
    with pytest.raises(
        ValueError, match=r"y must hold known classes only: 'no' is not among \[0, 1\]"
    ):
        ensemble.partial_fit(FEW_X, np.array(["no", "yes"], dtype=object)[FEW_Y])
    assert ensemble.n_samples_seen_ == len(FEW_Y)
