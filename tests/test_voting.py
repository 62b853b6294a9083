from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skliquid import DelegationGraph, LiquidEnsembleClassifier
from skliquid.estimates import MeanEstimate, Measurement
from skliquid.mechanisms import as_mechanism
from skliquid.voting import (
    VOTE_WEIGHTS,
    checked_weights,
    delegated,
    delegated_log_odds,
    gini,
    largest_share,
    log_odds,
    minimum_majority,
    tally,
    winner,
)

GRAPH = DelegationGraph.direct(5).delegate([0, 1], to=[1, 4]).delegate([2], to=[3])


def estimate(*accuracy, n_rows):
    """Return the estimate of voters that had this accuracy on so many rows."""
    measured = Measurement(np.array(accuracy), n_rows, is_count=True)
    return MeanEstimate.empty(len(accuracy)).update(np.arange(len(accuracy)), measured)


ACCURACY = estimate(0.1, 0.2, 0.3, 0.5, 0.9, n_rows=10)

weight_lists = st.lists(st.integers(1, 9), min_size=1, max_size=8)


@given(
    arrays(np.intp, (4, 5), elements=st.integers(0, 2)),
    st.lists(st.integers(1, 9), min_size=4, max_size=4),
)
def test_shares_are_weights_summed_by_class(votes, weights):
    shares = tally(votes, np.array(weights), n_classes=3)
    for sample in range(5):
        for label in range(3):
            held = sum(
                w for w, vote in zip(weights, votes[:, sample], strict=True) if vote == label
            )
            assert shares[sample, label] == held / sum(weights)


def test_the_first_class_wins_a_tie():
    assert winner(np.array([[0.5, 0.5], [0.25, 0.75]])).tolist() == [0, 1]


@given(weight_lists)
def test_minimum_majority_is_the_smallest_coalition_with_more_than_half(weights):
    smallest = next(
        size
        for size in range(1, len(weights) + 1)
        for group in combinations(weights, size)
        if 2 * sum(group) > sum(weights)
    )
    assert minimum_majority(np.array(weights)) == smallest


@given(weight_lists)
def test_gini_is_the_mean_difference_over_twice_the_mean(weights):
    n, total = len(weights), sum(weights)
    differences = sum(abs(a - b) for a in weights for b in weights)
    assert np.isclose(gini(np.array(weights)), differences / (2 * n * total))


def test_the_largest_share_is_the_heaviest_voters():
    assert largest_share(np.array([1, 6, 1])) == 0.75


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
    accuracy = estimate(*right, n_rows=n_rows)
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
    nothing = MeanEstimate.empty(5)
    assert log_odds(GRAPH, nothing, n_classes).tolist() == [1e-6, 1e-6]


def test_log_odds_compare_with_a_random_guess_among_all_classes():
    accuracy = estimate(0.1, 0.5, n_rows=90)
    guess, good = log_odds(DelegationGraph.direct(2), accuracy, 10)
    assert guess == 1e-6
    assert good == pytest.approx(np.log(46 / 54 * 9))


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
        checked_weights(weights, training.graph, training.accuracy, 2),
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
