from time import perf_counter

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.tree import DecisionTreeClassifier

from skliquid import LiquidEnsembleClassifier

SGD = SGDClassifier()


def fitted(binary, estimator=SGD, **params):
    return LiquidEnsembleClassifier(
        estimator,
        competence="training",
        n_estimators=30,
        n_final=5,
        increment_size=25,
        random_state=0,
        **params,
    ).fit(*binary)


@pytest.fixture
def whole(binary):
    return fitted(binary)


@pytest.mark.parametrize("pool", ["linear", "estimator"])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.6, 0.9])
def test_no_more_is_spent_than_allowed(binary, whole, share, pool):
    limit = int(share * whole.training_cost_.total)
    ensemble = fitted(binary, max_cost=limit, pool=pool)
    assert ensemble.training_cost_.total <= max(limit, 30 * 25)
    assert f"max_cost={limit}" in ensemble.record_.stopped
    assert ensemble.score(*binary) > 0.8


def test_the_first_increment_is_always_trained_on(binary):
    ensemble = fitted(binary, max_cost=1)
    assert ensemble.training_cost_ == (30 * 25, 0)
    assert len(ensemble.record_) == 1
    n_left = len(ensemble.estimators_)
    assert f"ended delegation after 1 increments with {n_left}" in ensemble.record_.stopped
    assert f"left 0 of {n_left} representatives with a final fit" in ensemble.record_.stopped


def test_a_budget_that_is_not_reached_changes_nothing(binary, whole):
    ensemble = fitted(binary, max_cost=10**12, max_seconds=10**6)
    assert ensemble.record_.stopped is None
    assert ensemble.training_cost_ == whole.training_cost_
    for ours, theirs in zip(ensemble.estimators_, whole.estimators_, strict=True):
        assert np.array_equal(ours.coef_, theirs.coef_)


def test_the_heaviest_are_fitted_first(binary, whole):
    increments_only = fitted(binary, max_cost=whole.training_cost_.increments)
    ensemble = fitted(binary, max_cost=whole.training_cost_.increments + 4 * 569)
    assert "left 4 of 5 representatives with a final fit" in ensemble.record_.stopped
    pairs = zip(ensemble.estimators_, increments_only.estimators_, strict=True)
    is_fitted = np.array([not np.array_equal(one.coef_, other.coef_) for one, other in pairs])
    weights = ensemble.estimator_weights_
    assert is_fitted.sum() == 4
    assert weights[is_fitted].min() >= weights[~is_fitted].max()


def test_voters_that_count_no_passes_are_held_to_the_budget_too(binary):
    tree = DecisionTreeClassifier(max_depth=2)
    whole = fitted(binary, estimator=tree)
    limit = whole.training_cost_.total // 2
    ensemble = fitted(binary, estimator=tree, max_cost=limit)
    assert ensemble.record_.stopped
    # fitted anew at each increment, trees look at all rows so far: the limit is watched, not kept
    assert ensemble.training_cost_.total < whole.training_cost_.total


def test_training_ends_in_time(binary):
    X, y = np.tile(binary[0], (20, 1)), np.tile(binary[1], 20)
    slow = SGDClassifier(max_iter=10_000, tol=None)
    started = perf_counter()
    ensemble = LiquidEnsembleClassifier(
        slow, n_estimators=40, max_seconds=0.5, pool="estimator", random_state=0
    ).fit(X, y)
    assert "max_seconds=0.5" in ensemble.record_.stopped
    assert perf_counter() - started < 60  # it would take many minutes without a limit
    assert ensemble.score(X, y) > 0.9
