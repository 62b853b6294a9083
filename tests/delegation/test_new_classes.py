import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from streams_with_drift import stream

from skliquid import LiquidEnsembleClassifier
from skliquid.delegation.new_classes import NewClasses
from skliquid.delegation.rows import Rows
from skliquid.mechanisms import revocable


def rows(y, start=0, weights=None, container=np.asarray):
    X = container(np.arange(start, start + len(y), dtype=float)[:, None])
    return Rows(X, np.array(y), weights, range(start, start + len(y)))


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array])
def test_the_last_rows_of_each_class_are_kept_in_order_and_balanced(container):
    found = NewClasses()
    for start in range(0, 9000, 1000):
        y = np.where(np.arange(1000) < 100, 1, 0) if start < 8000 else np.full(1000, 2)
        found = found.update(rows(y, start, container=container))
    kept = found.rows
    assert np.bincount(kept.y).tolist() == [666, 666, 666]
    numbers = kept.numbers.tolist()
    assert numbers == sorted(numbers)
    assert numbers[-1] == 8999
    assert min(n for n, label in zip(numbers, kept.y, strict=True) if label == 0) == 7334
    X = kept.X.toarray() if container is not np.asarray else kept.X
    assert X[:, 0].tolist() == numbers


def test_weights_are_kept_along():
    found = NewClasses().update(rows([0, 1])).update(rows([1], 2, np.array([0.5])))
    assert found.rows.sample_weight.tolist() == [1, 1, 0.5]
    assert NewClasses().update(rows([0, 1])).rows.sample_weight is None


def test_no_rows_leave_no_rows():
    assert len(NewClasses().update(rows([])).rows.y) == 0


# Whole ensembles

CONSTANT = SGDClassifier(learning_rate="constant", eta0=0.05)


def small(estimator=CONSTANT, **options):
    defaults = {"n_estimators": 24, "n_final": 4, "delegation_rate": 0.3, "random_state": 0}
    return LiquidEnsembleClassifier(estimator, **defaults | options)


def late_classes(n_classes=4, n_rows=400):
    X, y = make_blobs(n_classes * n_rows, 4, centers=n_classes, cluster_std=1.5, random_state=3)
    order = np.argsort(y, kind="stable")
    return X[order], np.array([f"class {label}" for label in y[order]])


@pytest.mark.parametrize("voter", [CONSTANT, GaussianNB(), DecisionTreeClassifier(max_depth=4)])
@pytest.mark.parametrize(
    "options", [{}, {"mechanism": revocable("proportional_weighted")}, {"bootstrap": True}]
)
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
    announced, discovering = small(), small()
    for X, y in batches:
        announced.partial_fit(X, y, classes=[0, 1])
        discovering.partial_fit(X, y)
    X = batches[0][0]
    assert np.array_equal(announced.predict_proba(X), discovering.predict_proba(X))
    assert announced.training_cost_ == discovering.training_cost_


def test_rows_of_the_only_class_are_learned_from_when_a_second_comes():
    X, y = late_classes(2, 60)
    ensemble = small()
    for start in range(0, 120, 30):
        ensemble.partial_fit(X[start : start + 30], y[start : start + 30])
    assert sum(record.n_rows for record in ensemble.record_) == 120
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
    one, other = (ensemble.predict_proba(X) for ensemble in ensembles)
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
