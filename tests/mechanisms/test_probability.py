"""Each mechanism chooses as the paper's formula says: chi-square against many draws."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chisquare

from skliquid import DelegationGraph, Mechanism
from skliquid.mechanisms import MECHANISMS

# Voter 0 is the worst and delegates. 1 and 2 tie with it or nearly so; 6 and 7 delegated earlier.
CORRECT = np.array([4, 4, 5, 7, 9, 9, 8, 9])
GRAPH = DelegationGraph.direct(8).delegate([6, 7], to=[3, 4])  # weights 1 1 1 2 2 1 0 0


def better(gain, weight):
    return [j for j in gain if gain[j] > 0]


def p_random(gain, weight):
    return {j: Fraction(1, len(gain)) for j in gain}


def p_max(gain, weight):
    least = min(weight[j] for j in better(gain, weight))
    lightest = [j for j in better(gain, weight) if weight[j] == least]
    best = [j for j in lightest if gain[j] == max(gain[k] for k in lightest)]
    return {j: Fraction(1, len(best)) for j in best}


def p_rand_better(gain, weight):
    return {j: Fraction(1, len(better(gain, weight))) for j in better(gain, weight)}


def p_prop_better(gain, weight):
    total = sum(gain[k] for k in better(gain, weight))
    return {j: Fraction(int(gain[j]), int(total)) for j in better(gain, weight)}


def p_prop_weighted(gain, weight):
    raw = {j: p / int(weight[j]) for j, p in p_prop_better(gain, weight).items()}
    return {j: p / sum(raw.values()) for j, p in raw.items()}


FORMULAS = {
    "random": p_random,
    "max": p_max,
    "random_better": p_rand_better,
    "proportional_better": p_prop_better,
    "proportional_weighted": p_prop_weighted,
}


@pytest.mark.parametrize(
    ("candidates", "choices"), [("representatives", range(1, 6)), ("voters", range(1, 8))]
)
@pytest.mark.parametrize("name", FORMULAS)
def test_choices_follow_the_formula(name, candidates, choices):
    gain = {j: CORRECT[j] - CORRECT[0] for j in choices}
    weight = {j: GRAPH.weights[GRAPH.gurus[j]] for j in choices}
    expected = np.zeros(8)
    for j, probability in FORMULAS[name](gain, weight).items():
        expected[j] = float(probability)

    only_0 = Mechanism(
        lambda accuracy, n, rng: np.array([0]), MECHANISMS[name].probability, candidates=candidates
    )
    rng, n_draws = np.random.default_rng(3), 8000
    chosen = [only_0.delegate(GRAPH, CORRECT / 10, 1, rng).delegation[0] for _ in range(n_draws)]
    observed = np.bincount(chosen, minlength=8)
    assert not observed[expected == 0].any()
    possible = expected > 0
    if possible.sum() > 1:
        assert chisquare(observed[possible], n_draws * expected[possible]).pvalue > 1e-3


@pytest.mark.parametrize("name", FORMULAS)
def test_likelihoods_are_those_of_the_formula_up_to_a_factor(name):
    gain = np.array([-2.0, 0.0, 1.0, 3.0, 5.0, 5.0])
    weight = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 1.0])
    expected = np.zeros(6)
    for j, probability in FORMULAS[name](dict(enumerate(gain)), dict(enumerate(weight))).items():
        expected[j] = float(probability)
    likelihood = MECHANISMS[name].probability(gain, weight)
    np.testing.assert_allclose(likelihood / likelihood.sum(), expected)


@pytest.mark.parametrize("name", MECHANISMS)
def test_without_candidates_there_are_no_likelihoods(name):
    likelihood = MECHANISMS[name].probability(np.zeros(0), np.zeros(0))
    assert (likelihood.shape, likelihood.dtype) == ((0,), np.float64)


def test_max_takes_the_most_accurate_of_the_lightest():
    probability = MECHANISMS["max"].probability
    gain, weight = np.array([0.3, 0.1, 0.2, -0.1, 0.2]), np.array([2.0, 1, 1, 1, 1])
    assert probability(gain, weight).tolist() == [0, 0, 1, 0, 1]


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, mechanism in MECHANISMS.items()
        if name not in ("direct", "random") and not mechanism.is_revocable
    ],
)
@given(arrays(np.float64, st.integers(1, 8), elements=st.floats(-1, 0)))
def test_candidates_that_are_not_better_have_no_chance(name, gain):
    weight = np.arange(1.0, len(gain) + 1)
    assert not MECHANISMS[name].probability(gain, weight).any()


def test_direct_gives_nobody_a_chance():
    assert MECHANISMS["direct"].probability(np.ones(3), np.ones(3)).tolist() == [0, 0, 0]
