import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliquid import DelegationGraph, Mechanism
from skliquid.mechanisms import (
    CANDIDATES,
    MECHANISMS,
    OF_THE_PAPER,
    BetterThanGuru,
    FastestLearners,
    Knowledge,
    Revocable,
    as_mechanism,
)
from skliquid.mechanisms.refinement import wilson


def rng(seed=0):
    return np.random.default_rng(seed)


@st.composite
def states(draw):
    """A graph in which some delegate, accuracies and slopes with ties among them."""
    n = draw(st.integers(2, 8))
    graph = DelegationGraph(
        [draw(st.integers(i, n - 1)) if draw(st.booleans()) else i for i in range(n)]
    )
    numbers = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    accuracy, slope = np.array(draw(numbers)) / 4, (np.array(draw(numbers)) - 2) / 100
    return graph, accuracy, Knowledge(np.full(n, draw(st.integers(1, 400))), slope)


@pytest.mark.parametrize("candidates", CANDIDATES)
@pytest.mark.parametrize("returns", [BetterThanGuru(), FastestLearners()])
@pytest.mark.parametrize("name", [*OF_THE_PAPER, "capped"])
@given(states(), st.data())
def test_laws_of_revocable_delegation(name, returns, candidates, state, data):
    graph, accuracy, knowledge = state
    n_asked = data.draw(st.integers(0, len(graph.representatives) - 1))
    mechanism = Revocable(MECHANISMS[name], returns)
    after = mechanism.delegate(
        graph, accuracy, n_asked, rng(), CANDIDATES[candidates], knowledge=knowledge
    )
    assert after.weights.sum() == graph.n_voters  # weight is conserved
    n_before, n_after = len(graph.representatives), len(after.representatives)
    assert n_after >= n_before - n_asked
    if name == "random":  # for whoever returns another delegates
        assert n_after == n_before - n_asked
    assert mechanism.scored(graph).tolist() == list(range(graph.n_voters))


@given(states())
def test_those_return_who_are_better_than_their_guru_beyond_chance(state):
    graph, accuracy, knowledge = state
    returning, measure = BetterThanGuru(0.1)(graph, accuracy, 1, rng(), knowledge)
    low, high = wilson(accuracy, knowledge.n_answers, 0.1)
    expected = [v for v in range(graph.n_voters) if low[v] > high[graph.gurus[v]]]
    assert returning.tolist() == expected
    assert measure is accuracy


def test_one_that_returns_takes_its_followers_along_and_another_delegates_for_it():
    graph = DelegationGraph([1, 3, 2, 3])  # 0 follows 1, 1 follows 3
    accuracy = np.array([0.5, 0.9, 0.95, 0.6])
    known = Knowledge(np.full(4, 1000))
    after = as_mechanism("max", revocable=True).delegate(graph, accuracy, 0, rng(), knowledge=known)
    # 1 is better than 3, and returns with the vote of 0; now 3 is the weakest of three
    assert after.delegation.tolist() == [1, 1, 2, 2]
    assert after.weights.tolist() == [0, 2, 2, 0]


def test_nobody_returns_while_chance_may_explain_it():
    graph, accuracy = DelegationGraph([1, 1, 2]), np.array([0.62, 0.6, 0.5])
    for n_answers, returns in [(100, []), (100_000, [0])]:
        known = Knowledge(np.full(3, n_answers))
        assert BetterThanGuru()(graph, accuracy, 1, rng(), known)[0].tolist() == returns


def test_hoeffding_asks_for_more_rows_than_wilson():
    graph, accuracy = DelegationGraph([1, 1]), np.array([0.98, 0.9])
    known = Knowledge(np.array([300, 300]))
    for bound, returns in [("wilson", [0]), ("hoeffding", [])]:
        back, _ = BetterThanGuru(0.1, bound)(graph, accuracy, 1, rng(), known)
        assert back.tolist() == returns


@given(states(), st.data())
def test_the_fastest_learners_represent(state, data):
    graph, accuracy, knowledge = state
    n_asked = data.draw(st.integers(0, len(graph.representatives) - 1))
    after = MECHANISMS["learning_slopes"].delegate(
        graph, accuracy, n_asked, rng(), knowledge=knowledge
    )
    k = len(graph.representatives) - n_asked
    bar = np.sort(knowledge.slope)[::-1][k - 1]
    assert set(np.flatnonzero(knowledge.slope > bar)) <= set(after.representatives)
    # beside these there are ties with the slowest of them, and nobody slower
    assert knowledge.slope[after.representatives].min() >= bar


def test_slopes_decide_and_not_accuracies():
    graph = DelegationGraph.direct(3)
    accuracy, slope = np.array([0.9, 0.5, 0.6]), np.array([-0.1, 0.1, 0.0])
    known = Knowledge(np.full(3, 100), slope=slope)
    after = MECHANISMS["learning_slopes"].delegate(graph, accuracy, 2, rng(), knowledge=known)
    assert after.representatives.tolist() == [1]
    turned = Knowledge(np.full(3, 100), slope=-slope)
    again = MECHANISMS["learning_slopes"].delegate(after, accuracy, 0, rng(), knowledge=turned)
    assert again.representatives.tolist() == [0]


def test_nobody_moves_before_slopes_are_known():
    graph = DelegationGraph.direct(3)
    known = Knowledge(np.full(3, 100), slope=np.full(3, np.nan))
    mechanism = MECHANISMS["learning_slopes"]
    assert mechanism.delegate(graph, np.ones(3), 2, rng(), knowledge=known) is graph
    with pytest.raises(ValueError, match="memory must be a number of increments"):
        mechanism.delegate(graph, np.ones(3), 2, rng())


def test_only_what_is_not_revocable_yet_is_made_so():
    plain, slopes = MECHANISMS["max"], MECHANISMS["learning_slopes"]
    assert as_mechanism("max", revocable=True) == Revocable(plain)
    assert as_mechanism("max") is plain
    assert as_mechanism("learning_slopes", revocable=True) is slopes
    assert as_mechanism(Revocable(plain)) == Revocable(plain)
    assert isinstance(as_mechanism((plain.selection, plain.probability)), Mechanism)
    assert not plain.is_revocable
    with pytest.raises(ValueError, match="level must be above 0"):
        BetterThanGuru(0.0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["max"], "mechanism must be a Mechanism that is not revocable yet, got 'max'"),
        ([(min, max)], "mechanism must be a Mechanism"),
        ([MECHANISMS["learning_slopes"]], "mechanism must be a Mechanism"),
        ([MECHANISMS["max"], None], "returns must be a function .*, got None"),
        ([MECHANISMS["max"], BetterThanGuru], "returns must be a function"),
    ],
)
def test_what_cannot_be_revocable_is_refused(wrong, message):
    with pytest.raises(TypeError, match=message):
        Revocable(*wrong)
