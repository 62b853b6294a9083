import itertools
import math
from inspect import signature

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliquid import LiquidEnsembleClassifier
from skliquid.theory import (
    delegation_cost,
    every_delegation_harms,
    expected_training_cost,
    group_accuracy,
    harmful_state_fraction,
    incorrect_pivotal_voters,
    n_increments,
    pivotal_examples,
    pivotal_states,
    pivotal_voters,
    total_states,
)

SIZES = (11, 21, 31, 41, 51)

# The paper's table of the bound, n down and m across
PUBLISHED = {
    11: "7.7e-08 2.6e-14 8.9e-21 3.0e-27 1.0e-33",
    21: "3.0e-09 5.5e-17 9.9e-25 1.8e-32 3.2e-40",
    31: "4.0e-10 1.1e-18 3.3e-27 9.6e-36 2.7e-44",
    41: "9.2e-11 6.9e-20 5.2e-29 3.9e-38 2.9e-47",
    51: "2.8e-11 7.5e-21 1.9e-30 5.2e-40 1.3e-49",
}


def as_printed(pivotal, total):
    """A ratio below one, rounded to three digits of which the third is cut, by integers alone."""
    exponent = 1
    while pivotal * 10**exponent < total:
        exponent += 1
    digits = (2 * pivotal * 10 ** (exponent + 2) + total) // (2 * total)
    return f"{digits // 100}.{digits // 10 % 10}e-{exponent:02d}"


@pytest.mark.parametrize("n", SIZES)
def test_all_entries_of_the_papers_table(n):
    ours = [as_printed(pivotal_states(n, m), total_states(n, m)) for m in SIZES]
    assert ours == PUBLISHED[n].split()


def test_rounding_instead_of_cutting_would_differ_from_the_paper():
    rounded = [f"{harmful_state_fraction(n, m):.1e}" for n in SIZES for m in SIZES]
    published = [entry for n in SIZES for entry in PUBLISHED[n].split()]
    assert 0 < sum(a != b for a, b in zip(rounded, published, strict=True)) < 25


def test_the_counts_are_the_sums_of_the_theorem():
    assert pivotal_states(3, 3) == math.comb(3, 2) ** 2 + math.comb(3, 2) ** 3 == 36
    assert total_states(3, 3) == 2**6 + 2**9 == 576
    assert harmful_state_fraction(3, 3) == 36 / 576
    assert isinstance(pivotal_states(51, 51), int)
    numpy_integers = np.int64(11), np.int64(31)
    assert harmful_state_fraction(*numpy_integers) == harmful_state_fraction(11, 31)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 12])
@pytest.mark.parametrize("m", [2, 3, 8, 40])
def test_the_counts_are_the_sums_of_powers(n, m):
    powers = range(2, m + 1)
    assert pivotal_states(n, m) == sum(math.comb(n, (n + 1) // 2) ** k for k in powers)
    assert total_states(n, m) == sum(2 ** (n * k) for k in powers)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 50])
def test_the_fraction_is_zero_only_where_the_exact_one_is(n):
    fractions = [harmful_state_fraction(n, m) for m in range(100, 1120, 5)]
    exact = [pivotal_states(n, m) / total_states(n, m) for m in range(100, 1120, 5)]
    assert fractions == exact
    assert fractions[0] > 0 == fractions[-1]


@pytest.mark.parametrize(("n", "m"), [(350, 1400), (2001, 3000), (5000, 10**9)])
def test_fractions_too_small_for_a_float_take_no_time(n, m):
    assert harmful_state_fraction(n, m) == 0


# The two states of the paper's figure of pivotal voters, built after its caption, since the source
# has no picture: in (a) all voters are pivotal but of the examples only m4 and m5, in (b) all are.
STATE_A = np.array(
    [
        [1, 0, 1, 1, 0],
        [1, 0, 1, 1, 0],
        [1, 1, 1, 1, 1],
        [1, 0, 1, 0, 1],
        [1, 1, 0, 0, 1],
    ]
)
STATE_B = np.array(
    [
        [1, 1, 0, 1, 0],
        [1, 1, 0, 1, 0],
        [1, 0, 1, 1, 1],
        [0, 1, 1, 0, 1],
        [0, 0, 1, 0, 1],
    ]
)


def test_the_two_states_of_the_papers_figure():
    assert pivotal_examples(STATE_A).tolist() == [False, False, False, True, True]
    assert pivotal_examples(STATE_B).all()
    for state in (STATE_A, STATE_B):
        assert pivotal_voters(state).any(axis=1).all()
    without = np.delete(STATE_A, [0, 1, 2], axis=1)
    assert pivotal_voters(without).any(axis=1).all()


def test_the_lemma_does_not_hold_in_reverse():
    # as the paper notes: v1 may delegate to v2 in both states without harm
    for state in (STATE_A, STATE_B):
        after = group_accuracy(state, weights=[0, 2, 1, 1, 1])
        assert after == group_accuracy(state)
        assert not every_delegation_harms(state)


def test_a_pivotal_voter_is_correct_and_an_incorrect_pivotal_voter_is_wrong():
    correct = np.array([[1, 0], [1, 1], [0, 0]])
    assert pivotal_voters(correct).tolist() == [[True, False], [True, False], [False, False]]
    lacking = [[False, True], [False, False], [False, True]]
    assert incorrect_pivotal_voters(correct).tolist() == lacking


@pytest.mark.parametrize(("n", "m"), [(2, 2), (2, 3), (3, 3)])
def test_lemma_1_by_brute_force(n, m):
    harmful = [state for state in all_states(n, m) if every_delegation_harms(state)]
    assert harmful
    for state in harmful:
        assert pivotal_voters(state).any(axis=1).all()


@pytest.mark.parametrize(("n", "m"), [(2, 3), (3, 3), (4, 2), (5, 2)])
def test_the_proof_of_lemma_1_by_brute_force(n, m):
    # a voter that is pivotal on no example may delegate to any other without harm
    for state in all_states(n, m):
        for idle in np.flatnonzero(~pivotal_voters(state).any(axis=1)):
            for other in np.delete(np.arange(n), idle):
                weights = np.ones(n, dtype=int)
                weights[[idle, other]] = 0, 2
                assert group_accuracy(state, weights) >= group_accuracy(state)


def all_states(n, m):
    return (np.array(cells).reshape(n, m) for cells in itertools.product([0, 1], repeat=n * m))


@pytest.mark.parametrize(("n", "m", "n_harmful"), [(2, 2, 2), (2, 3, 18), (3, 3, 6), (4, 3, 0)])
def test_how_many_states_are_harmful(n, m, n_harmful):
    assert sum(map(every_delegation_harms, all_states(n, m))) == n_harmful


def test_the_papers_ratio_does_not_bound_the_fraction_of_whole_states():
    # see docs/reproduction.md
    harmful = sum(map(every_delegation_harms, all_states(2, 3))) / 2**6
    assert harmful == 0.28125
    assert harmful_state_fraction(2, 3) == 0.15


def test_group_accuracy_counts_the_quota():
    assert group_accuracy([[1, 1, 0, 0], [1, 0, 1, 0]]) == 0.75  # half of two voters suffice
    assert group_accuracy([[1, 0], [0, 1], [0, 1]]) == 0.5
    assert group_accuracy([[1, 0], [0, 1], [0, 1]], weights=[3, 0, 0]) == 0.5


@given(st.integers(2, 500), st.data())
def test_delegation_cost_is_the_geometric_series(n, data):
    n_final = data.draw(st.integers(1, n))
    rate = data.draw(st.floats(0.01, 0.99))
    z = n_increments(n, n_final, rate)
    assert n * (1 - rate) ** z == pytest.approx(n_final)
    assert delegation_cost(n, n_final, rate, 7) == pytest.approx(
        7 * (n - (1 - rate) * n_final) / rate
    )


def test_delegation_cost_with_whole_increments_is_the_sum():
    # 16 voters halve to 2 in three increments: 16 + 8 + 4 + 2
    assert n_increments(16, 2, 0.5) == pytest.approx(3)
    assert delegation_cost(16, 2, 0.5, increment_size=10) == pytest.approx(300)


def test_the_expected_cost_of_halving_is_the_papers_but_for_the_last_term():
    # the library stops once two are left; the paper's series trains them once more
    cost = expected_training_cost(
        10_000, n_estimators=16, n_final=2, delegation_rate=0.5, increment_size=10, n_passes=4
    )
    assert cost.increments == delegation_cost(16, 2, 0.5, 10) - 2 * 10
    assert cost.final_fit == 2 * 4 * 10_000
    assert cost.total == cost.increments + cost.final_fit


def test_the_expected_cost_has_the_defaults_of_the_ensemble():
    defaults = LiquidEnsembleClassifier().get_params()
    shared = signature(expected_training_cost).parameters.keys() & defaults.keys()
    assert len(shared) == 5
    for name in shared:
        assert signature(expected_training_cost).parameters[name].default == defaults[name]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: n_increments(5, 9, 0.1), "9 representatives cannot remain of 5 voters"),
        (lambda: n_increments(5, 0, 0.1), "n_final must be a whole number of 1 or more: got 0"),
        (lambda: delegation_cost(5, 2, 0), "rate must be above 0 and below 1"),
        (lambda: delegation_cost(5, 2, 1), "rate must be above 0 and below 1"),
        (lambda: n_increments(10, 2, "a"), "rate must be above 0 and below 1: got 'a'"),
        (lambda: harmful_state_fraction(5, 1), "m must be a whole number of 2 or more: got 1"),
        (lambda: harmful_state_fraction(0, 5), "n must be a whole number of 1 or more: got 0"),
        (lambda: harmful_state_fraction(2.5, 5), "n must be a whole number of 1 or more: got 2.5"),
        (lambda: delegation_cost(9, 2, 0.5, -5), "increment_size must be a whole number"),
        (lambda: group_accuracy([[1, 0], [0, 1]], [1]), "weights must hold a whole number"),
        (lambda: group_accuracy([[1, 0], [0, 1]], [0.5, 0.5]), "weights must hold a whole number"),
        (lambda: group_accuracy([[1, 0], [0, 1]], [0, 0]), "weights must hold .* not all zero"),
        (lambda: group_accuracy([[1, 0], [0, 1]], [3, -1]), "weights must hold .* zero or more"),
        (lambda: pivotal_examples([1, 0]), "correct must be a matrix of zeros and ones"),
        (lambda: pivotal_voters([[2, 0]]), "correct must be a matrix of zeros and ones"),
        (lambda: expected_training_cost(0), "n_samples must be a whole number of 1 or more: got 0"),
        (
            lambda: expected_training_cost(9, increment_size=0),
            "increment_size must be a whole number",
        ),
        (lambda: expected_training_cost(9, n_final=0), "n_final must be a whole number"),
        (lambda: expected_training_cost(9, n_passes=-3), "n_passes must be .* or more: got -3"),
        (lambda: expected_training_cost(9, n_passes=np.nan), "n_passes must be .* more: got nan"),
        (lambda: expected_training_cost(9, n_passes=np.inf), "n_passes must be .* more: got inf"),
        (lambda: expected_training_cost(9, n_passes="2"), "n_passes must be .* more: got '2'"),
        (lambda: expected_training_cost(9, n_estimators=5, n_final=6), "n_final must not exceed"),
    ],
)
def test_wrong_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
