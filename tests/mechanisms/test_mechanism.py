import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliquid import DelegationGraph, Mechanism
from skliquid.mechanisms import CANDIDATES, MECHANISMS, Knowledge, as_mechanism
from skliquid.mechanisms.mechanism import _drawn
from skliquid.mechanisms.probability import better
from skliquid.mechanisms.selection import least_competent

ONE_WAY = [name for name, mechanism in MECHANISMS.items() if not mechanism.is_revocable]


def rng():
    return np.random.default_rng(0)


@st.composite
def states(draw):
    """A graph after some random delegations, and accuracies with many ties."""
    n_voters = draw(st.integers(2, 12))
    accuracy = np.array(draw(st.lists(st.integers(0, 4), min_size=n_voters, max_size=n_voters))) / 4
    graph = MECHANISMS["random"].delegate(
        DelegationGraph.direct(n_voters),
        accuracy,
        draw(st.integers(0, n_voters - 1)),
        np.random.default_rng(draw(st.integers(0, 99))),
    )
    return graph, accuracy


@pytest.mark.parametrize("candidates", CANDIDATES)
@pytest.mark.parametrize("name", ONE_WAY)
@given(states(), st.data())
def test_laws_of_delegation(name, candidates, state, data):
    graph, accuracy = state
    n_asked = data.draw(st.integers(0, len(graph.representatives) - 1))
    knowledge = Knowledge(np.full(len(accuracy), 40))
    mechanism = as_mechanism(name, candidates=candidates)
    after = mechanism.delegate(graph, accuracy, n_asked, rng(), knowledge=knowledge)

    delegators = np.flatnonzero(graph.delegation != after.delegation)
    weights = graph.weights.copy()  # what each gives up arrives at its new guru, and nowhere else
    for delegator in delegators:
        weights[after.gurus[delegator]] += graph.weights[delegator]
        weights[delegator] = 0
    assert after.weights.tolist() == weights.tolist()
    assert len(delegators) <= n_asked
    assert set(delegators) <= set(graph.representatives)
    if candidates == "representatives":
        assert set(after.delegation[delegators]) <= set(graph.representatives)
    if name == "direct":
        assert len(delegators) == 0
    elif name == "random":
        assert len(delegators) == n_asked
    else:
        assert np.all(accuracy[after.delegation[delegators]] > accuracy[delegators])


def test_the_weakest_chooses_first_and_the_next_sees_its_weight():
    seen = []

    def spy(gain, weight):
        seen.append((gain.tolist(), weight.tolist()))
        return (gain == gain.max()).astype(float)

    accuracy = np.array([0.5, 0.25, 1.0])
    after = Mechanism(least_competent, spy).delegate(DelegationGraph.direct(3), accuracy, 2, rng())
    assert seen == [([0.25, 0.75], [1, 1]), ([0.5], [2])]
    assert after.delegation.tolist() == [2, 2, 2]


def test_delegators_are_handled_weakest_first_however_they_were_selected():
    gains = []

    def spy(gain, weight):
        gains.append(gain.max())
        return np.ones_like(gain)

    accuracy = np.array([0.4, 0.1, 0.3, 0.2, 0.0])
    mechanism = Mechanism(lambda *_: np.array([2, 4, 1, 3]), spy)
    mechanism.delegate(DelegationGraph.direct(5), accuracy, 4, rng())
    assert gains == pytest.approx([0.4, 0.3, 0.2, 0.1])


def test_a_delegator_without_a_better_candidate_stays():
    equal = np.full(4, 0.5)
    for name in ("max", "random_better", "proportional_better", "proportional_weighted"):
        after = MECHANISMS[name].delegate(DelegationGraph.direct(4), equal, 3, rng())
        assert len(after.representatives) == 4


@pytest.mark.parametrize("candidates", CANDIDATES)
@pytest.mark.parametrize("name", ONE_WAY)
def test_the_last_representative_has_no_candidate_and_stays(name, candidates):
    graph = DelegationGraph.direct(2).delegate([0], to=[1])
    mechanism = as_mechanism(name, candidates=candidates)
    assert mechanism.delegate(graph, np.array([0.9, 0.1]), 1, rng()) is graph


def test_a_voter_whose_guru_is_the_delegator_is_no_candidate():
    # 1 delegated to 0 long ago and its stale accuracy is the best; 0 may only choose 2
    graph = DelegationGraph.direct(3).delegate([1], to=[0])
    accuracy = np.array([0.1, 0.9, 0.2])
    mechanism = as_mechanism("max", candidates="voters")
    after = mechanism.delegate(graph, accuracy, 1, rng())
    assert after.delegation.tolist() == [2, 0, 2]


def test_with_voters_as_candidates_the_weight_goes_to_the_guru():
    # 1 is the best but delegates to 2, which is no better than 0 by now
    graph = DelegationGraph.direct(4).delegate([1], to=[2])
    accuracy = np.array([0.3, 0.9, 0.3, 0.3])
    chooses_1 = Mechanism(lambda *_: np.array([0]), better, candidates="voters")
    after = chooses_1.delegate(graph, accuracy, 1, rng())
    assert after.delegation.tolist() == [1, 2, 2, 3]
    assert after.weights.tolist() == [0, 0, 3, 1]


@pytest.mark.parametrize(
    ("likelihood", "message"),
    [
        (lambda gain, weight: -gain, "likelihoods of zero or more, got -0.5"),
        (lambda gain, weight: gain * np.nan, r"finite likelihoods, got \[nan\]"),
        (lambda gain, weight: gain / 0, r"finite likelihoods, got \[inf\]"),
        (lambda gain, weight: gain * 0, "a positive likelihood for some candidate"),
        (lambda gain, weight: np.ones(3), r"one likelihood for each of 1 candidates, got shape"),
        (lambda gain, weight: ["much"], "numbers as likelihoods"),
    ],
)
def test_wrong_likelihoods_are_refused(likelihood, message):
    mechanism = Mechanism(least_competent, likelihood)
    with (
        pytest.raises(ValueError, match=f"mechanism must give .*{message}"),
        np.errstate(divide="ignore"),
    ):
        mechanism.delegate(DelegationGraph.direct(2), np.array([0.25, 0.75]), 1, rng())


def test_likelihoods_with_an_infinite_sum_are_refused():
    huge = Mechanism(least_competent, lambda gain, weight: np.full(len(gain), 1e308))
    with (
        pytest.raises(ValueError, match=r"likelihoods with a finite sum, got 1e\+308 among them"),
        np.errstate(over="ignore"),
    ):
        huge.delegate(DelegationGraph.direct(3), np.array([0.2, 0.4, 0.6]), 1, rng())


@pytest.mark.parametrize("likelihood", [np.int64(2**62), np.float16(60_000), np.True_])
def test_likelihoods_of_any_type_are_summed_without_overflow(likelihood):
    mechanism = Mechanism(least_competent, lambda gain, weight: np.full(len(gain), likelihood))
    chosen = [
        mechanism.delegate(DelegationGraph.direct(4), np.arange(4), 1, generator).delegation[0]
        for generator in map(np.random.default_rng, range(30))
    ]
    assert set(chosen) == {1, 2, 3}


@pytest.mark.parametrize(
    ("selected", "message"),
    [
        ([0, 1], "at most the 1 asked for, got 2"),
        ([2], "positions among 2 representatives"),
        ([-1], "positions among 2 representatives"),
        ([0.5], "a list of integers"),
        ([[0]], "a list of integers"),
    ],
)
def test_wrong_selections_are_refused(selected, message):
    mechanism = Mechanism(lambda *_: np.array(selected), MECHANISMS["random"].probability)
    with pytest.raises(ValueError, match=f"mechanism must select .*{message}"):
        mechanism.delegate(DelegationGraph.direct(2), np.array([0.25, 0.75]), 1, rng())


class LeastDraws:
    """A generator that draws the least number possible."""

    def random(self, size=None):
        return 0.0 if size is None else np.zeros(size)


def test_a_candidate_without_a_chance_is_not_chosen_by_the_least_draw():
    mechanism = Mechanism(least_competent, lambda gain, weight: np.array([0, 0, 1, 1]))
    after = mechanism.delegate(DelegationGraph.direct(5), np.arange(5), 1, LeastDraws())
    assert after.delegation.tolist() == [3, 1, 2, 3, 4]


def test_delegators_are_measured_only_if_they_may_return():
    graph = DelegationGraph.direct(3).delegate([0], to=[2])
    assert MECHANISMS["max"].measured_voters(graph).tolist() == [1, 2]
    assert MECHANISMS["learning_slopes"].measured_voters(graph).tolist() == [0, 1, 2]


def test_no_voter_delegates_twice():
    mechanism = Mechanism(lambda *_: np.array([0, 0]), MECHANISMS["random"].probability)
    with pytest.raises(ValueError, match="distinct"):
        mechanism.delegate(DelegationGraph.direct(3), np.ones(3), 2, rng())


def test_mechanisms_pickle_compare_and_print():
    for name, mechanism in MECHANISMS.items():
        assert pickle.loads(pickle.dumps(mechanism)) == mechanism, name
    assert "least_competent" in repr(MECHANISMS["max"])


@pytest.mark.parametrize("wrong", [("max", "max"), (least_competent, "max"), (None, better)])
def test_a_mechanism_is_a_pair_of_functions(wrong):
    with pytest.raises(TypeError, match=r"pair \(selection, probability\) of functions, got"):
        Mechanism(*wrong)


@pytest.mark.parametrize("together", [tuple, list])
def test_a_refinement_may_be_a_plain_function(together):
    def not_the_best(situation):
        return situation.competence[situation.choices] < 0.8

    picky = Mechanism(least_competent, better, together([not_the_best]))
    assert picky == Mechanism(least_competent, better, (not_the_best,))
    accuracy = np.array([0.25, 0.5, 0.9])
    after = picky.delegate(DelegationGraph.direct(3), accuracy, 1, rng())
    assert after.delegation.tolist() == [1, 1, 2]


@pytest.mark.parametrize("wrong", [better, (dict,), (0.2,), None, "capped"])
def test_refinements_are_a_tuple_of_functions(wrong):
    with pytest.raises(TypeError, match="refinements must be a tuple of functions, got"):
        Mechanism(least_competent, better, wrong)


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ([1.0], r"one factor for each of 2 candidates, got shape \(1,\)"),
        (1.0, r"one factor for each of 2 candidates, got shape \(\)"),
        (["a", "b"], "numbers as factors"),
        ([1, np.nan], r"finite factors, got \[nan\]"),
        ([np.inf, np.nan], r"finite factors, got \[inf\]"),
        ([1, -2], "factors of zero or more, got -2"),
    ],
)
def test_wrong_factors_are_refused(factors, message):
    mechanism = Mechanism(least_competent, better, (lambda situation: factors,))
    with pytest.raises(ValueError, match=f"refinements must give {message}"):
        mechanism.delegate(DelegationGraph.direct(3), np.array([0.2, 0.4, 0.6]), 1, rng())


def test_max_compares_the_candidates_own_weight_or_that_of_their_gurus():
    # 3 delegates to 4, which carries two votes; 3 itself carries none, and is better than 0
    graph = DelegationGraph.direct(5).delegate([3], to=[4])
    accuracy = np.array([0.2, 0.5, 0.6, 0.4, 0.9])
    chosen = {}
    for weight_of in ("candidate", "guru"):
        mechanism = as_mechanism("max", weight_of=weight_of, candidates="voters")
        after = mechanism.delegate(graph, accuracy, 1, rng())
        chosen[weight_of] = int(after.delegation[0])
    assert chosen == {"candidate": 3, "guru": 2}
    assert MECHANISMS["max"].weight_of == "candidate"


def test_a_delegator_of_this_increment_weighs_nothing_for_the_next():
    # 0 chooses first and carries nothing afterwards, so it is the lightest of the voters above 1
    seen = []

    def spy(gain, weight):
        seen.append(weight.tolist())
        return (gain == gain.max()).astype(float)

    mechanism = Mechanism(least_competent, spy, weight_of="candidate", candidates="voters")
    accuracy = np.array([0.1, 0.2, 0.3])
    mechanism.delegate(DelegationGraph.direct(3), accuracy, 2, rng())
    assert seen == [[1, 1], [0, 2]]


def test_representatives_weigh_the_same_whichever_weight_is_compared():
    accuracy = np.random.default_rng(1).integers(0, 10, 30) / 10
    graphs = [
        as_mechanism("max", weight_of=weight_of).delegate(
            DelegationGraph.direct(30), accuracy, 20, rng()
        )
        for weight_of in ("guru", "candidate")
    ]
    assert graphs[0].delegation.tolist() == graphs[1].delegation.tolist()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"weight_of": "own"}, "weight_of must be 'guru' or 'candidate': got 'own'"),
        ({"candidates": "all"}, "candidates must be 'representatives' or 'voters': got 'all'"),
        ({"vote_weights": "even"}, r"vote_weights must be one of auto, delegated, .*: got 'even'"),
    ],
)
def test_unknown_options_are_refused(option, message):
    with pytest.raises(ValueError, match=message):
        Mechanism(least_competent, better, **option)


def test_negative_likelihoods_are_named_even_when_all_sum_to_zero():
    mechanism = Mechanism(least_competent, lambda gain, weight: np.array([1, -1]))
    with pytest.raises(ValueError, match="likelihoods of zero or more, got -1"):
        mechanism.delegate(DelegationGraph.direct(3), np.array([0.2, 0.4, 0.6]), 1, rng())


@pytest.mark.parametrize("likelihood", [5e-324, 1e-320, 1e-300, 1e300])
def test_candidates_are_drawn_however_small_their_likelihoods_are(likelihood):
    likelihoods = likelihood * np.array([1, 1, 0, 2, 0])
    mechanism = Mechanism(least_competent, lambda *_: likelihoods)
    accuracy, generator = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95]), rng()
    drawn = [
        mechanism.delegate(DelegationGraph.direct(6), accuracy, 1, generator).delegation[0]
        for _ in range(2000)
    ]
    shares = np.bincount(drawn, minlength=6) / 2000
    assert np.allclose(shares, [0, 0.25, 0.25, 0, 0.5, 0], atol=0.05)


def test_a_draw_that_is_rounded_to_the_total_takes_the_last_that_is_likely():
    class NearlyOne:
        def random(self, *_):
            return np.nextafter(1.0, 0)

    sums = np.array([0.0, 1.0, 1.0]) * (1 + 2.0**-52)
    assert _drawn(sums, NearlyOne()) == 1
