import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from skliquid import DelegationGraph, LiquidEnsembleClassifier, Mechanism
from skliquid.mechanisms import (
    MECHANISMS,
    BetterBeyondChance,
    Knowledge,
    Situation,
    WeightCap,
)
from skliquid.mechanisms.probability import better
from skliquid.mechanisms.refinement import hoeffding, wilson
from skliquid.mechanisms.selection import least_accurate


def situation(accuracy, weight, knowledge=None, own_weight=1.0):
    """Voter 0 chooses among all others."""
    n = len(accuracy)
    return Situation(
        0,
        np.arange(1, n),
        np.array(accuracy),
        np.array(weight, dtype=float),
        own_weight,
        int(sum(weight) + own_weight),
        knowledge or Knowledge(),
    )


@given(st.integers(3, 40), st.floats(0.05, 1), st.integers(0, 99))
def test_nobody_ever_carries_more_than_the_cap(n_voters, share, seed):
    rng = np.random.default_rng(seed)
    capped = Mechanism(least_accurate, better, (WeightCap(share),))
    graph, accuracy = DelegationGraph.direct(n_voters), rng.random(n_voters)
    for _ in range(4):
        graph = capped.delegate(graph, accuracy, len(graph.representatives) - 1, rng)
    assert graph.weights.sum() == n_voters
    assert graph.weights.max() <= max(share * n_voters, 1) + 1e-9


def test_without_a_cap_a_dictator_may_arise():
    rng, accuracy = np.random.default_rng(0), np.arange(20) / 20
    free = Mechanism(least_accurate, better)
    assert free.delegate(DelegationGraph.direct(20), accuracy, 19, rng).weights.max() == 20


def test_the_cap_counts_what_the_delegator_brings():
    accuracy = [0.1, 0.9, 0.8, 0.7]
    assert WeightCap(0.5)(situation(accuracy, [2, 1, 1], own_weight=2)).tolist() == [0, 1, 1]


@pytest.mark.parametrize("bound", ["wilson", "hoeffding"])
def test_only_those_better_beyond_chance_are_chosen(bound):
    accuracy = [0.5, 0.55, 0.6, 0.9]
    few, many = (Knowledge(np.full(4, n)) for n in (10, 100_000))
    gate = BetterBeyondChance(0.1, bound)
    assert gate(situation(accuracy, [1, 1, 1], few)).tolist()[:2] == [0, 0]
    assert gate(situation(accuracy, [1, 1, 1], many)).tolist() == [1, 1, 1]


def test_wilson_is_the_interval_of_scipy():
    for right, n in [(0, 5), (3, 9), (40, 40), (333, 1000)]:
        theirs = binomtest(right, n).proportion_ci(0.9, method="wilson")
        ours = wilson(np.array([right / n]), np.array([n]), 0.1)
        assert np.allclose(np.ravel(ours), [theirs.low, theirs.high], atol=1e-12)


@pytest.mark.parametrize("interval", [wilson, hoeffding])
def test_intervals_hold_about_as_often_as_they_say(interval):
    n, p, level = 50, 0.7, 0.1
    right = np.arange(n + 1)
    low, high = interval(right / n, np.full(n + 1, n), level)
    covered = binom.pmf(right, n, p)[(low <= p) & (p <= high)].sum()
    assert covered > 1 - level - 0.02


@pytest.mark.parametrize("level", [0.1, 1])
@pytest.mark.parametrize("bound", ["wilson", "hoeffding"])
def test_who_answered_no_rows_is_neither_better_nor_worse(bound, level):
    known = Knowledge(np.array([0, 900, 0]))
    gate = BetterBeyondChance(level, bound)
    assert gate(situation([0.1, 0.9, 0.9], [1, 1], known)).tolist() == [0, 0]
    known = Knowledge(np.array([900, 0, 900]))
    assert gate(situation([0.1, 0.9, 0.9], [1, 1], known)).tolist() == [0, 1]


def test_chance_does_not_overflow_with_many_rows():
    n = np.array([2**33])
    assert np.allclose(wilson(np.array([0.6]), n, 0.1), 0.6, atol=1e-4)


def test_confidence_copes_with_candidates_that_were_long_not_asked(binary):
    X, y = binary
    ensemble = LiquidEnsembleClassifier(
        n_estimators=30,
        n_final=2,
        mechanism="confident",
        candidates="voters",
        memory=2,
        max_features=0.2,
        random_state=0,
    ).fit(X, y)
    assert len(ensemble.delegation_graph_.representatives) < 30


def test_voters_of_equal_worth_stay_apart_from_delegation():
    """Gated by chance, delegation stops by itself when those left are as good as each other."""
    rng = np.random.default_rng(0)
    gated = MECHANISMS["confident"]
    right = np.concatenate([rng.binomial(400, 0.6, 10), rng.binomial(400, 0.8, 10)])
    graph = gated.delegate(
        DelegationGraph.direct(20),
        right / 400,
        19,
        rng,
        knowledge=Knowledge(np.full(20, 400)),
    )
    assert set(graph.representatives) <= set(range(10, 20))
    assert len(graph.representatives) >= 8


@pytest.mark.parametrize("name", ["capped", "confident"])
def test_each_is_a_name_that_trains(binary, name):
    X, y = binary
    ensemble = LiquidEnsembleClassifier(
        n_estimators=30, n_final=3, mechanism=name, max_features=0.2, random_state=0
    ).fit(X, y)
    graph = ensemble.delegation_graph_
    assert ensemble.score(X, y) > 0.85
    assert graph.weights.sum() == 30
    assert len(graph.representatives) < 30
    if name == "capped":
        assert graph.weights.max() <= 6


def test_what_is_not_known_is_asked_for():
    with pytest.raises(ValueError, match="knowledge must hold"):
        MECHANISMS["confident"].delegate(
            DelegationGraph.direct(3), np.array([0.1, 0.5, 0.9]), 1, np.random.default_rng(0)
        )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WeightCap(0), "share must be above 0"),
        (lambda: WeightCap("a"), "share must be above 0 and at most 1: got 'a'"),
        (lambda: BetterBeyondChance(2), "level must be above 0"),
        (lambda: BetterBeyondChance(0.1, "bayes"), "bound must be one of wilson, hoeffding"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
