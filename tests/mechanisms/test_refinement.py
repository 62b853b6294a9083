import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliquid import DelegationGraph, LiquidEnsembleClassifier, Mechanism
from skliquid.competence import Competence
from skliquid.estimates import wilson
from skliquid.mechanisms import Knowledge, Situation, as_mechanism
from skliquid.mechanisms.probability import better
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
        competence=Competence(memory=2),
        max_features=0.2,
        random_state=0,
    ).fit(X, y)
    graph = ensemble.delegation_graph_
    assert ensemble.score(X, y) > 0.85
    assert len(graph.representatives) < 30
    if capped in options["refinements"]:
        assert graph.weights.max() <= 6
