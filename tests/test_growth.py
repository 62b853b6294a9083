"""Growth: voters that train on while the group improves on rows that none has trained on."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from small_ensembles import same

from skliquid import LiquidEnsembleClassifier, load, presets, save
from skliquid.diversity import Diversity, Spread
from skliquid.voters import BoostedTreesClassifier


def complex_rows(n_rows=10_000, n_classes=2, seed=0):
    """Return rows whose classes follow from products of columns: more trees learn more of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    scores = [X[:, k] * X[:, k + 1] + np.sign(X[:, k + 2] * X[:, k + 3]) for k in range(4)]
    if n_classes == 2:
        return X, (sum(scores) > 0).astype(int)
    return X, np.argmax(scores[:n_classes], axis=0)


def simple_rows(n_rows=10_000, seed=0):
    """Return rows of which everything is learned by a few trees."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, (X[:, 0] + rng.normal(size=n_rows) > 0).astype(int)


def default(**options):
    return LiquidEnsembleClassifier(random_state=0, **options)


@pytest.fixture(scope="module")
def grown():
    X, y = complex_rows()
    return default().fit(X, y, eval_set=complex_rows(1_000, seed=1))


def sizes(ensemble):
    """Return the numbers of trees of boosted representatives."""
    voters = ensemble.estimators_
    return [len(one.trees_) for one in voters if isinstance(one, BoostedTreesClassifier)]


# What it gains


def test_voters_grow_where_that_improves_the_group(grown, monkeypatch):
    X, y = complex_rows(3_000, seed=2)
    monkeypatch.setattr(presets, "MIN_ROWS_TO_GROW", 10**9)
    fixed = default().fit(*complex_rows())
    assert max(sizes(grown)) > 2 * max(sizes(fixed))
    assert log_loss(y, grown.predict_proba(X)) < 0.9 * log_loss(y, fixed.predict_proba(X))


def test_the_record_shows_each_increment_of_growth(grown):
    increments = [one for one in grown.record_ if np.isfinite(one.log_loss)]
    assert [one.increment for one in grown.record_] == list(range(1, len(grown.record_) + 1))
    assert len(grown.record_) - len(increments) == 3
    losses = [one.log_loss for one in increments]
    assert losses[-2] < losses[0]
    assert [one.n_trained for one in increments[:2]] == [1, 1]
    assert all(one.cost > 0 and np.isfinite(one.eval_accuracy) for one in increments)
    assert "log_loss" in grown.record_.to_pandas()
    assert grown.training_cost_.final_fit > 0
    assert grown.record_.stopped is None


def test_voters_that_do_not_contribute_delegate(grown):
    last = grown.record_[-1]
    delegators = [k for one in grown.record_[3:] for k in one.delegators.tolist()]
    assert len(delegators) >= 2
    assert len(grown.estimators_) < grown.n_final
    assert last.graph.weights.sum() == grown.n_estimators


def test_growth_ends_after_two_trials_where_nothing_is_gained():
    X, y = simple_rows()
    ensemble = default().fit(X, y)
    assert len(ensemble.record_) == 5
    assert len(ensemble.estimators_) == ensemble.n_final
    assert ensemble.record_[2].graph.delegation.tolist() == (
        ensemble.record_[4].graph.delegation.tolist()
    )


def test_many_classes_grow_too():
    X, y = complex_rows(n_classes=4)
    ensemble = default().fit(X, y)
    assert max(sizes(ensemble)) > 200
    assert ensemble.score(*complex_rows(2_000, n_classes=4, seed=3)) > 0.75


def test_the_temperature_is_fitted_on_fresh_rows(grown):
    assert 0.5 < grown.temperature_ < 2
    assert grown.temperature_ != 1


# When it is tried


@pytest.mark.parametrize(
    "options",
    [
        {"voting": "hard"},
        {"final_fit": False},
        {"mechanism": "direct"},
        {"competence": "training"},
        {"max_samples": 0.8},
        {"estimator": SGDClassifier(loss="log_loss")},
        {"estimator": BoostedTreesClassifier(20)},
        {"diversity": Diversity(param_distributions={"boosted__max_depth": Spread((3, 4))})},
        {"increment_size": 500},
    ],
    ids=lambda options: next(iter(options)),
)
def test_some_settings_leave_voters_as_they_are(options):
    ensemble = default(**options).fit(*complex_rows())
    assert not np.isfinite([one.log_loss for one in ensemble.record_]).any()


def test_a_voter_that_has_delegated_may_return_to_grow():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 8))
    y = (X.sum(axis=1) + 0.5 * X[:, 0] * X[:, 1] > 0).astype(int)
    ensemble = default().fit(X, y)
    chosen = ensemble.record_[2].graph.representatives
    assert {ensemble.record_.voters[k].estimator for k in chosen.tolist()} == {"linear"}
    assert any(len(one.returned) for one in ensemble.record_)


def test_rows_without_weight_are_neither_trained_nor_measured_on():
    X, y = complex_rows(20_000)
    weight = np.tile([1.0, 0.0], len(y) // 2)
    wrong = np.where(weight > 0, y, 1 - y)
    ensemble = default().fit(X, wrong, sample_weight=weight)
    assert np.isfinite(ensemble.record_[-1].log_loss)
    assert ensemble.score(X[1::2], y[1::2]) > 0.8


def test_classes_that_are_rare_are_known_to_voters_that_grow():
    X, y = complex_rows()
    y[:2] = 7
    ensemble = default(pool="estimator").fit(X, y)
    assert ensemble.predict_proba(X).shape == (len(y), 3)


# Bits


@pytest.mark.parametrize("options", [{"n_jobs": 2}, {"pool": "estimator"}], ids=str)
def test_threads_and_pools_give_the_same_bits(grown, options):
    other = default(**options).fit(*complex_rows(), eval_set=complex_rows(1_000, seed=1))
    assert same(grown, other, complex_rows(500, seed=4)[0])


def test_files_and_copies_have_the_same_bits(grown, tmp_path):
    X = complex_rows(500, seed=4)[0]
    save(grown, tmp_path / "model.skliquid")
    for other in (
        load(tmp_path / "model.skliquid"),
        copy.deepcopy(grown),
        pickle.loads(pickle.dumps(grown)),
    ):
        np.testing.assert_array_equal(other.predict_proba(X), grown.predict_proba(X))
        assert sizes(other) == sizes(grown)


@pytest.mark.parametrize("pool", ["auto", "estimator"])
def test_a_refit_keeps_the_size_of_voters(grown, tmp_path, pool):
    X, y = complex_rows(seed=5)
    ensemble = default(pool=pool).fit(*complex_rows())
    before = sizes(ensemble)
    assert sizes(ensemble.refit(X, y)) == before
    if pool == "auto":
        save(grown, tmp_path / "model.skliquid")
        again = load(tmp_path / "model.skliquid").refit(X, y)
        np.testing.assert_array_equal(again.predict_proba(X), ensemble.predict_proba(X))


def test_training_continues_after_growth(grown):
    ensemble = copy.deepcopy(grown)
    ensemble.partial_fit(*complex_rows(200, seed=6))
    assert ensemble.n_samples_seen_ == 10_200


# Limits


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95])
def test_a_budget_bounds_growth(grown, share):
    total = grown.training_cost_.total
    ensemble = default(max_cost=int(share * total)).fit(*complex_rows())
    assert ensemble.training_cost_.total <= share * total
    assert "max_cost" in ensemble.record_.stopped
    assert ensemble.score(*complex_rows(1_000, seed=1)) > 0.7


def test_a_generous_budget_changes_nothing(grown):
    ensemble = default(max_cost=10**12).fit(*complex_rows(), eval_set=complex_rows(1_000, seed=1))
    assert same(grown, ensemble, complex_rows(500, seed=4)[0])


def test_a_limit_of_seconds_bounds_growth():
    ensemble = default(max_seconds=0.3).fit(*complex_rows())
    assert "max_seconds" in ensemble.record_.stopped
