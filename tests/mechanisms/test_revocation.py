import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from skliquid import DelegationGraph
from skliquid.delegation.running_averages import wilson
from skliquid.mechanisms import (
    CANDIDATES,
    MECHANISMS,
    PAPER_MECHANISMS,
    BetterThanGuru,
    FastestLearners,
    Knowledge,
    as_mechanism,
    revocable,
)


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
@pytest.mark.parametrize("name", PAPER_MECHANISMS)
@given(states(), st.data())
def test_laws_of_revocable_delegation(name, returns, candidates, state, data):
    graph, accuracy, knowledge = state
    n_asked = data.draw(st.integers(0, len(graph.representatives) - 1))
    mechanism = revocable(as_mechanism(name, candidates=candidates), returns)
    after = mechanism.delegate(graph, accuracy, n_asked, rng(), knowledge=knowledge)
    assert after.weights.sum() == graph.n_voters  # weight is conserved
    n_before, n_after = len(graph.representatives), len(after.representatives)
    assert n_after >= n_before - n_asked
    if name == "random":  # for each voter that returns another delegates
        assert n_after == n_before - n_asked
    assert mechanism.measured_voters(graph).tolist() == list(range(graph.n_voters))


@given(states())
def test_delegators_return_that_are_significantly_better_than_their_guru(state):
    graph, accuracy, knowledge = state
    returning, measure = BetterThanGuru(0.1)(graph, accuracy, 1, rng(), knowledge)
    low, high = wilson(accuracy, knowledge.n_answers, 0.1)
    expected = [v for v in range(graph.n_voters) if low[v] > high[graph.gurus[v]]]
    assert returning.tolist() == expected
    assert measure is accuracy


def test_a_rule_of_return_knows_how_many_representatives_the_schedule_leaves():
    calls = []

    def spy(*arguments):
        calls.append(arguments)
        return np.array([0]), np.array([0.9, 0.2, 0.1, 0.8])

    graph, accuracy = DelegationGraph([1, 1, 2, 3]), np.full(4, 0.5)
    knowledge, generator = Knowledge(), rng()
    after = revocable("max", spy).delegate(graph, accuracy, 1, generator, knowledge=knowledge)
    assert calls == [(graph, accuracy, 2, generator, knowledge)]
    # 0 returns and, by the new values, the two weakest of the four delegate
    assert after.representatives.tolist() == [0, 3]


def test_a_voter_returns_with_its_followers_and_another_delegates_in_its_place():
    graph = DelegationGraph([1, 3, 2, 3])  # 0 follows 1, 1 follows 3
    accuracy = np.array([0.5, 0.9, 0.95, 0.6])
    knowledge = Knowledge(np.full(4, 1000))
    after = revocable("max").delegate(graph, accuracy, 0, rng(), knowledge=knowledge)
    # 1 is better than 3, and returns with the vote of 0; now 3 is the weakest of three
    assert after.delegation.tolist() == [1, 1, 2, 2]
    assert after.weights.tolist() == [0, 2, 2, 0]


def test_no_voter_returns_for_a_difference_that_is_not_significant():
    graph, accuracy = DelegationGraph([1, 1, 2]), np.array([0.62, 0.6, 0.5])
    for n_answers, returns in [(100, []), (100_000, [0])]:
        knowledge = Knowledge(np.full(3, n_answers))
        assert BetterThanGuru()(graph, accuracy, 1, rng(), knowledge)[0].tolist() == returns


def test_no_voter_returns_before_anything_is_known_or_for_a_tie():
    graph, accuracy = DelegationGraph([1, 1, 2]), np.array([0.6, 0.6, 0.5])
    far_better = np.array([0.9, 0.1, 0.5])
    assert BetterThanGuru()(graph, far_better, 1, rng(), Knowledge())[0].tolist() == []
    every_difference_counts = BetterThanGuru(level=1)
    knowledge = Knowledge(np.full(3, 100))
    assert every_difference_counts(graph, accuracy, 1, rng(), knowledge)[0].tolist() == []


def test_contributions_are_compared_by_their_own_variance():
    graph, contribution = DelegationGraph([1, 1, 2]), np.array([0.05, 0.01, 0.0])
    for variance, returns in [(1e-6, [0]), (1e-2, [])]:
        knowledge = Knowledge(np.full(3, 100), variance=np.full(3, variance))
        assert BetterThanGuru()(graph, contribution, 1, rng(), knowledge)[0].tolist() == returns


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
    # besides these there are ties with the slowest of them, and no slower voter
    assert knowledge.slope[after.representatives].min() >= bar


def test_slopes_decide_and_not_accuracies():
    graph = DelegationGraph.direct(3)
    accuracy, slope = np.array([0.9, 0.5, 0.6]), np.array([-0.1, 0.1, 0.0])
    knowledge = Knowledge(np.full(3, 100), slope=slope)
    after = MECHANISMS["learning_slopes"].delegate(graph, accuracy, 2, rng(), knowledge=knowledge)
    assert after.representatives.tolist() == [1]
    turned = Knowledge(np.full(3, 100), slope=-slope)
    again = MECHANISMS["learning_slopes"].delegate(after, accuracy, 0, rng(), knowledge=turned)
    assert again.representatives.tolist() == [0]


def test_no_voter_moves_before_slopes_are_known():
    graph = DelegationGraph.direct(3)
    knowledge = Knowledge(np.full(3, 100), slope=np.full(3, np.nan))
    mechanism = MECHANISMS["learning_slopes"]
    assert mechanism.delegate(graph, np.ones(3), 2, rng(), knowledge=knowledge) is graph
    message = r"number of increments, 2 .* Set competence=CompetenceMeasure\(memory=20\)"
    with pytest.raises(ValueError, match=f"memory must be a {message}"):
        mechanism.delegate(graph, np.ones(3), 2, rng())


def test_names_mechanisms_and_pairs_can_be_made_revocable():
    plain = MECHANISMS["random_better"]
    pair = (plain.selection, plain.probability)
    assert revocable("random_better") == revocable(plain) == revocable(pair)
    assert revocable("max").is_revocable
    assert not plain.is_revocable
    assert as_mechanism(revocable(plain)) == revocable(plain)
    assert revocable(as_mechanism("max", vote_weights="log_odds")).vote_weights == "log_odds"
    for wrong in (0.0, 1.5):
        with pytest.raises(ValueError, match=f"level must be above 0 .*: got {wrong}.* like 0.1"):
            BetterThanGuru(wrong)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (["best"], ValueError, r"mechanism must be one of direct, .*: got 'best'"),
        ([("max", "max")], TypeError, "mechanism must be a pair"),
        (["max", "best"], TypeError, "returns must be a function .*, got 'best'"),
        (["max", BetterThanGuru], TypeError, "returns must be a function"),
    ],
)
def test_wrong_mechanisms_and_returns_are_refused(wrong, error, message):
    with pytest.raises(error, match=message):
        revocable(*wrong)


# Wilson's interval


def test_wilson_is_the_interval_of_scipy():
    for n_correct, n in [(0, 5), (3, 9), (40, 40), (333, 1000)]:
        theirs = binomtest(n_correct, n).proportion_ci(0.9, method="wilson")
        ours = wilson(np.array([n_correct / n]), np.array([n]), 0.1)
        assert np.allclose(np.ravel(ours), [theirs.low, theirs.high], atol=1e-12)


def test_wilson_holds_about_as_often_as_its_level_says():
    n, p, level = 50, 0.7, 0.1
    n_correct = np.arange(n + 1)
    low, high = wilson(n_correct / n, np.full(n + 1, n), level)
    covered = binom.pmf(n_correct, n, p)[(low <= p) & (p <= high)].sum()
    assert covered > 1 - level - 0.02


def test_wilson_does_not_overflow_with_many_rows():
    assert np.allclose(wilson(np.array([0.6]), np.array([2**33]), 0.1), 0.6, atol=1e-4)


@pytest.mark.parametrize("level", [0.1, 1])
@pytest.mark.parametrize("n_answers", [[0, 900], [900, 0]])
def test_without_answers_no_voter_is_significantly_better(level, n_answers):
    graph, accuracy = DelegationGraph([1, 1]), np.array([0.6, 0.5])
    knowledge = Knowledge(np.array(n_answers))
    assert BetterThanGuru(level)(graph, accuracy, 1, rng(), knowledge)[0].tolist() == []
