import pickle

import pytest
from sklearn.base import clone
from small_ensembles import same
from streams_with_drift import stream

from skliquid import LiquidEnsembleClassifier, presets
from skliquid.voters import TreeVoter


def test_the_papers_ensemble_sees_twenty_features_and_lets_delegators_choose_anyone(binary):
    X, y = binary
    ensemble = LiquidEnsembleClassifier.as_in_the_paper(n_estimators=20, random_state=0)
    seen = ensemble.fit(X, y).estimators_features_
    assert {len(set(features.tolist())) for features in seen} == {20}
    assert len({tuple(features) for features in seen}) > 1
    assert ensemble.mechanism.candidates == "voters"
    narrow = ensemble.fit(X[:, :7], y).estimators_features_
    assert {len(features) for features in narrow} == {7}


def test_the_preset_for_streams_follows_concept_drift():
    batches = stream(60, batch=100, turn=30)
    ensemble, n_right = LiquidEnsembleClassifier.for_streams(random_state=0), 0
    for number, (X, y) in enumerate(batches):
        if number in range(50, 60):
            n_right += int((ensemble.predict(X) == y).sum())
        ensemble.partial_fit(X, y, classes=[0, 1])
    assert n_right / 1000 > 0.85
    assert len(ensemble.estimators_) == ensemble.n_final
    assert LiquidEnsembleClassifier.for_streams(n_final=5).n_final == 5


def test_the_preset_for_streams_has_all_kinds_of_voters_that_forget():
    settings = presets.for_streams()
    kinds = dict(settings["estimator"])
    assert kinds.keys() == {"linear", "forest", "boosted"}
    assert not kinds["linear"].average
    assert kinds["linear"].learning_rate == "constant"
    drawn = settings["diversity"].param_distributions
    for name in ("forest", "boosted"):
        assert isinstance(kinds[name], TreeVoter)
        assert max(drawn[f"{name}__max_rows"].values) < 10_000
    assert settings["mechanism"].is_revocable


@pytest.mark.parametrize("pool", ["auto", "estimator"])
def test_the_preset_for_streams_continues_from_a_copy_through_every_pool(pool):
    batches = stream(30, batch=60, turn=15)
    straight, saved = (
        LiquidEnsembleClassifier.for_streams(random_state=0, pool=pool),
        LiquidEnsembleClassifier.for_streams(random_state=0),
    )
    for X, y in batches:
        straight.partial_fit(X, y, classes=[0, 1])
        saved = pickle.loads(pickle.dumps(saved)).partial_fit(X, y, classes=[0, 1])
    assert same(straight, saved, batches[0][0])


@pytest.mark.parametrize("name", ["as_in_the_paper", "for_streams"])
def test_a_preset_is_a_set_of_parameters_that_can_be_changed(binary, name):
    X, y = binary
    settings = getattr(presets, name)()
    assert settings.keys() <= LiquidEnsembleClassifier().get_params().keys()
    few = {"n_estimators": 15, "random_state": 0}
    preset = getattr(LiquidEnsembleClassifier, name)(**few)
    assert (preset.n_estimators, preset.n_final) == (15, settings["n_final"])
    explicit = LiquidEnsembleClassifier(**settings | few)
    assert same(preset.fit(X, y), explicit.fit(X, y), X)
    assert same(preset, clone(preset).fit(X, y), X)
