import numpy as np
import pytest

from skliquid import DelegationGraph, LiquidEnsembleClassifier
from skliquid.accuracy_estimate import AccuracyEstimate
from skliquid.vote_weights import VOTE_WEIGHTS, Viscous, delegated, delegated_log_odds, log_odds

GRAPH = DelegationGraph.direct(5).delegate([0, 1], to=[1, 4]).delegate([2], to=[3])
ACCURACY = AccuracyEstimate.of_nothing(5).update(
    np.arange(5), np.array([0.1, 0.2, 0.3, 0.5, 0.9]), n_rows=10
)


def test_delegated_votes_are_the_weights_of_the_graph():
    assert delegated(GRAPH, ACCURACY).tolist() == [2, 3]


def test_log_odds_are_those_of_being_right():
    coin, good = log_odds(GRAPH, ACCURACY)
    assert coin == pytest.approx(1e-6)
    assert good == pytest.approx(np.log((10 / 12) / (2 / 12)))
    assert delegated_log_odds(GRAPH, ACCURACY)[1] == pytest.approx(3 * good)


def test_who_was_never_measured_counts_as_a_coin():
    assert log_odds(GRAPH, AccuracyEstimate.of_nothing(5)).tolist() == [1e-6, 1e-6]


def test_viscous_votes_lose_strength_on_their_way():
    assert GRAPH.distances.tolist() == [2, 1, 1, 0, 0]
    assert Viscous(0.5)(GRAPH, ACCURACY).tolist() == [1.5, 1.75]
    assert Viscous(1)(GRAPH, ACCURACY).tolist() == [2, 3]
    assert Viscous(0)(GRAPH, ACCURACY).tolist() == [1, 1]
    with pytest.raises(ValueError, match="factor must be between 0 and 1"):
        Viscous(2)


@pytest.mark.parametrize("weights", [*VOTE_WEIGHTS, Viscous(0.3)])
def test_ensembles_vote_by_them(binary, weights):
    X, y = binary
    ensemble = LiquidEnsembleClassifier(
        n_estimators=30, n_final=4, max_features=0.3, vote_weights=weights, random_state=0
    ).fit(X, y)
    by_hand = np.zeros((len(y), 2))
    rule = VOTE_WEIGHTS[weights] if isinstance(weights, str) else weights
    training = ensemble._training
    for estimator, features, weight in zip(
        ensemble.estimators_,
        ensemble.estimators_features_,
        rule(training.graph, training.accuracy),
        strict=True,
    ):
        by_hand[np.arange(len(y)), estimator.predict(X[:, features])] += weight
    by_hand /= by_hand.sum(axis=1, keepdims=True)
    assert np.allclose(ensemble.predict_proba(X), by_hand)
