import pytest
from sklearn.base import clone
from small_ensembles import same
from streams_with_drift import stream

from skliquid import LiquidEnsembleClassifier, presets


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
    assert len(ensemble.estimators_) == 12
    assert LiquidEnsembleClassifier.for_streams(n_final=5).n_final == 5


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
