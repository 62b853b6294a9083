import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliquid import DelegationGraph, LiquidEnsembleClassifier, Mechanism
from skliquid.delegation.competence import CompetenceMeasure
from skliquid.delegation.running_averages import Measurement, RecentAverage, wilson
from skliquid.mechanisms import Knowledge, Situation, as_mechanism
from skliquid.mechanisms.probability import any_candidate, better
from skliquid.mechanisms.selection import least_competent

# Two refinements as users write them: a cap on weights, and only significantly better candidates


def capped(situation, share=0.2):
    return situation.weight + situation.own_weight <= share * situation.n_voters + 1e-9


def confident(situation):
    low, high = wilson(situation.competence, situation.knowledge.n_answers, 0.1)
    return low[situation.choices] > high[situation.delegator]


@given(st.integers(3, 40), st.floats(0.05, 1), st.integers(0, 99))
def test_no_voter_carries_more_than_a_cap_allows(n_voters, share, seed):
    rng = np.random.default_rng(seed)
    mechanism = Mechanism(least_competent, better, (lambda situation: capped(situation, share),))
    graph, accuracy = DelegationGraph.direct(n_voters), rng.random(n_voters)
    for _ in range(4):
        graph = mechanism.delegate(graph, accuracy, len(graph.representatives) - 1, rng)
    assert graph.weights.sum() == n_voters
    assert graph.weights.max() <= max(share * n_voters, 1) + 1e-9


def test_without_a_cap_a_dictator_may_arise():
    rng, accuracy = np.random.default_rng(0), np.arange(20) / 20
    free = Mechanism(least_competent, better)
    assert free.delegate(DelegationGraph.direct(20), accuracy, 19, rng).weights.max() == 20


def test_a_situation_is_that_of_the_delegator():
    situations = []

    def spy(situation):
        situations.append(situation)
        return np.ones(len(situation.choices))

    graph, accuracy = DelegationGraph([1, 1, 2, 3]), np.array([0.1, 0.2, 0.5, 0.9])
    knowledge, rng = Knowledge(np.arange(4)), np.random.default_rng(0)
    mechanism = Mechanism(least_competent, better, (spy,))
    mechanism.delegate(graph, accuracy, 1, rng, knowledge=knowledge)
    (situation,) = situations
    assert isinstance(situation, Situation)
    assert (situation.delegator, situation.choices.tolist()) == (1, [2, 3])
    assert (situation.weight.tolist(), situation.own_weight, situation.n_voters) == ([1, 1], 2, 4)
    assert situation.competence is accuracy
    assert situation.gain.tolist() == pytest.approx([0.3, 0.7])
    assert situation.knowledge is knowledge


def test_knowledge_is_all_that_an_estimate_knows_besides_its_averages():
    estimate = RecentAverage.empty(2, window=3)
    for values in ([0.2, 0.5], [0.6, 0.4]):
        measured = Measurement(np.array(values), 10, variance=np.array([0.01, 0.02]))
        estimate = estimate.update(np.arange(2), measured)
    known = Knowledge.of(estimate)
    assert known.n_answers.tolist() == [20, 20]
    np.testing.assert_allclose(known.slope, [0.4, -0.1])
    np.testing.assert_allclose(known.variance, [0.005, 0.01])


def test_the_factors_of_several_refinements_are_multiplied():
    refinements = (lambda situation: [1, 1, 0], lambda situation: [0, 1, 1])
    picky = Mechanism(lambda *_: [0], any_candidate, refinements)
    for seed in range(9):
        rng = np.random.default_rng(seed)
        after = picky.delegate(DelegationGraph.direct(4), np.zeros(4), 1, rng)
        assert after.delegation.tolist() == [2, 1, 2, 3]


def test_large_integer_factors_do_not_overflow():
    large = Mechanism(
        least_competent, better, [lambda situation: np.full(len(situation.choices), 2**40)] * 2
    )
    after = large.delegate(DelegationGraph.direct(2), np.arange(2), 1, np.random.default_rng(0))
    assert after.delegation.tolist() == [1, 1]


def test_delegation_ends_by_itself_among_voters_that_do_not_differ_significantly():
    rng = np.random.default_rng(0)
    mechanism = as_mechanism("proportional_weighted", refinements=(confident,))
    n_correct = np.concatenate([rng.binomial(400, 0.6, 10), rng.binomial(400, 0.8, 10)])
    knowledge = Knowledge(np.full(20, 400))
    graph = DelegationGraph.direct(20)
    graph = mechanism.delegate(graph, n_correct / 400, 19, rng, knowledge=knowledge)
    assert set(graph.representatives) <= set(range(10, 20))
    assert len(graph.representatives) >= 8


@pytest.mark.parametrize(
    "options", [{"refinements": (capped,)}, {"refinements": [confident], "candidates": "voters"}]
)
def test_ensembles_train_with_refinements(binary, options):
    X, y = binary
    ensemble = LiquidEnsembleClassifier(
        n_estimators=30,
        n_final=3,
        mechanism=as_mechanism("proportional_weighted", **options),
        competence=CompetenceMeasure(memory=2),
        max_features=0.2,
        random_state=0,
    ).fit(X, y)
    graph = ensemble.delegation_graph_
    assert ensemble.score(X, y) > 0.85
    assert len(graph.representatives) < 30
    if capped in options["refinements"]:
        assert graph.weights.max() <= 6
