import numpy as np
import pytest
from small_ensembles import small

from skliquid import DelegationGraph, LiquidEnsembleClassifier
from skliquid.delegation.running_averages import Measurement, OverallAverage
from skliquid.delegation.votes import VOTINGS, mean_probabilities, one_hot, tally
from skliquid.mechanisms import as_mechanism
from skliquid.mechanisms.vote_weights import (
    VOTE_WEIGHTS,
    checked_weights,
    delegated,
    delegated_log_odds,
    log_odds,
)

GRAPH = DelegationGraph.direct(5).delegate([0, 1], to=[1, 4]).delegate([2], to=[3])


def average(*accuracy, n_rows):
    """Return the running average of voters with this accuracy on ``n_rows`` rows."""
    measured = Measurement(np.array(accuracy), n_rows, is_count=True)
    return OverallAverage.empty(len(accuracy)).update(np.arange(len(accuracy)), measured)


ACCURACY = average(0.1, 0.2, 0.3, 0.5, 0.9, n_rows=10)


def test_delegated_votes_are_the_weights_of_the_graph():
    assert delegated(GRAPH, ACCURACY).tolist() == [2, 3]


def test_log_odds_are_those_of_being_correct():
    coin, good = log_odds(GRAPH, ACCURACY)
    assert coin == pytest.approx(1e-6)
    assert good == pytest.approx(np.log((10 / 12) / (2 / 12)))
    assert delegated_log_odds(GRAPH, ACCURACY)[1] == pytest.approx(3 * good)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_log_odds_are_the_best_weights_whatever_the_number_of_classes(n_classes):
    """The class that carries most is the likeliest, errors being independent and spread evenly."""
    n_rows = 10**6
    right = np.array([0.55, 0.65, 0.6])
    graph = DelegationGraph.direct(3)
    accuracy = average(*right, n_rows=n_rows)
    weights = log_odds(graph, accuracy, n_classes)
    votes = np.array([0, 1, 0])
    likelihood = np.array(
        [
            np.prod(np.where(votes == label, right, (1 - right) / (n_classes - 1)))
            for label in (0, 1)
        ]
    )
    carried = weights[votes == 0].sum() - weights[votes == 1].sum()
    assert carried == pytest.approx(np.log(likelihood[0] / likelihood[1]), abs=1e-4)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_a_voter_that_was_never_measured_counts_as_a_random_guess(n_classes):
    nothing = OverallAverage.empty(5)
    assert log_odds(GRAPH, nothing, n_classes).tolist() == [1e-6, 1e-6]


def test_log_odds_compare_with_a_random_guess_among_all_classes():
    accuracy = average(0.1, 0.5, n_rows=90)
    guess, good = log_odds(DelegationGraph.direct(2), accuracy, 10)
    assert guess == 1e-6
    assert good == pytest.approx(np.log(46 / 54 * 9))


@pytest.mark.parametrize("n_classes", [2, 10])
def test_vote_weights_are_found_by_name_and_given_all_that_they_depend_on(n_classes):
    votes, odds = delegated(GRAPH, ACCURACY), log_odds(GRAPH, ACCURACY, n_classes)
    expected = {"delegated": votes, "log_odds": odds, "delegated_log_odds": votes * odds}
    expected["equal"] = np.ones(2)
    assert expected.keys() == VOTE_WEIGHTS.keys()
    for name, weights in expected.items():
        found = checked_weights(name, GRAPH, ACCURACY, n_classes)
        assert found.tolist() == weights.tolist()


def viscous(graph, accuracy, n_classes):
    return np.bincount(graph.gurus, 0.5**graph.distances)[graph.representatives]


def test_weights_may_depend_on_the_length_of_chains():
    assert GRAPH.distances.tolist() == [2, 1, 1, 0, 0]
    assert checked_weights(viscous, GRAPH, ACCURACY, 2).tolist() == [1.5, 1.75]


@pytest.mark.parametrize("weights", [*VOTE_WEIGHTS, viscous])
def test_ensembles_vote_by_these_weights(binary, weights):
    X, y = binary
    ensemble = LiquidEnsembleClassifier(
        n_estimators=30,
        n_final=4,
        max_features=0.3,
        mechanism=as_mechanism("proportional_weighted", vote_weights=weights),
        voting="hard",
        random_state=0,
    ).fit(X, y)
    by_hand = np.zeros((len(y), 2))
    training = ensemble._fitted.training
    for estimator, features, weight in zip(
        ensemble.estimators_,
        ensemble.estimators_features_,
        checked_weights(weights, training.graph, training.accuracy_average, 2),
        strict=True,
    ):
        by_hand[np.arange(len(y)), estimator.predict(X[:, features])] += weight
    by_hand /= by_hand.sum(axis=1, keepdims=True)
    assert np.allclose(ensemble.predict_proba(X), by_hand)


def test_ensembles_pass_the_number_of_classes(multiclass):
    X, y = multiclass
    settings = {"n_estimators": 20, "n_final": 4, "random_state": 0, "max_features": 0.3}
    numbers_of_classes = []

    def spy(graph, accuracy, n_classes):
        numbers_of_classes.append(n_classes)
        return log_odds(graph, accuracy, n_classes)

    by_name, by_function = (
        LiquidEnsembleClassifier(
            mechanism=as_mechanism("proportional_weighted", vote_weights=weights), **settings
        ).fit(X, y)
        for weights in ("log_odds", spy)
    )
    assert np.array_equal(by_name.predict_proba(X), by_function.predict_proba(X))
    assert set(numbers_of_classes) == {len(np.unique(y))}


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.0, 0.0], "a positive number for some representative, got zero for all"),
        ([1.0, np.nan], r"finite numbers of zero or more, got \[1.0, nan\]"),
        ([1.0, np.inf], "finite numbers of zero or more"),
        ([2, -1], r"finite numbers of zero or more, got \[2, -1\]"),
        ([1.0], r"one number for each of 2 representatives, got shape \(1,\)"),
        (["a", "b"], "numbers, got"),
    ],
)
def test_wrong_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=f"vote_weights must give {message}.*Correct <function"):
        checked_weights(lambda *_: weights, GRAPH, ACCURACY, 2)


def test_lists_of_numbers_are_accepted():
    assert checked_weights(lambda *_: [2, 1], GRAPH, ACCURACY, 2).tolist() == [2, 1]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (dict, r"vote_weights must be an object: .* is a class. Call it, as in dict\("),
        (lambda graph, accuracy: 1, "must be a function of graph, accuracy and n_classes: got <"),
        (3, r"must be a function of graph, accuracy and n_classes: got 3 \("),
    ],
)
def test_functions_with_another_signature_are_refused(weights, message):
    with pytest.raises(TypeError, match=message):
        as_mechanism("max", vote_weights=weights)


def test_unknown_names_of_weights_are_refused():
    with pytest.raises(
        ValueError, match=r"one of auto, delegated, equal, log_odds, .*, or a .*: got 'even'"
    ):
        checked_weights("even", GRAPH, ACCURACY, 2)


HUGE = {
    "int64": np.array([2**62, 2**62, 2**62]),
    "uint64": np.array([2**63, 2**63, 2**63], np.uint64),
    "float64": np.array([1e308, 1e308, 1e308]),
    "float16": np.array([6e4, 6e4, 6e4], np.float16),
    "subnormal": np.array([5e-324, 5e-324, 5e-324]),
}


@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_sum_of_vote_weights_overflows(name, n_classes):
    graph, accuracy = DelegationGraph.direct(3), OverallAverage.empty(3)
    weights = checked_weights(lambda *_: HUGE[name], graph, accuracy, n_classes)
    votes = np.array([[0, 1], [1, 1], [1, 1]])
    expected = np.zeros((2, n_classes))
    expected[:, :2] = [[1 / 3, 2 / 3], [0, 1]]
    assert np.allclose(tally(votes, weights, n_classes), expected)
    found = mean_probabilities(one_hot(votes, n_classes), weights, n_classes)
    assert np.allclose(found, expected)
    same = np.full((3, 2, n_classes), 1 / n_classes)
    assert np.allclose(mean_probabilities(same, weights, n_classes), 1 / n_classes)


def test_an_ensemble_with_huge_vote_weights_gives_probabilities(binary):
    X, y = binary
    mechanism = as_mechanism("max", vote_weights=lambda *given: delegated(*given) * 2**60)
    for voting in VOTINGS:
        found = small(mechanism=mechanism, voting=voting).fit(X, y).predict_proba(X)
        assert np.allclose(found.sum(axis=1), 1)
        assert found.min() >= 0


def test_scaled_vote_weights_give_the_same_bits():
    graph, accuracy = DelegationGraph.direct(3), OverallAverage.empty(3)
    probabilities = np.random.default_rng(0).dirichlet([1, 1], size=(3, 50))
    own = np.array([0.1, 3.7, 12.3])
    weights = checked_weights(lambda *_: own * 2.0**1000, graph, accuracy, 2)
    found, plain = (mean_probabilities(probabilities, w, 2) for w in (weights, own))
    assert np.array_equal(found, plain)
