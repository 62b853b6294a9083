import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliquid.competence import (
    AccuracyEstimate,
    Competence,
    DecayedAccuracy,
    RecentAccuracy,
    as_competence,
)


def test_competence_is_measured_after_or_before_training():
    events = []

    def train():
        events.append("train")
        return 7

    def measure():
        events.append("measure")
        return np.array([0.5])

    training, prequential = Competence("training"), Competence("prequential")
    assert training(train, measure, False) == (np.array([0.5]), 7)
    assert prequential(train, measure, True) == (np.array([0.5]), 7)
    assert prequential(train, measure, False) == (None, 7)
    assert events == ["train", "measure", "measure", "train", "train"]


def test_memory_chooses_the_estimate():
    estimates = [
        Competence(memory=memory).estimate(3, is_revocable=True) for memory in (None, 5, 0.9)
    ]
    assert list(map(type, estimates)) == [AccuracyEstimate, RecentAccuracy, DecayedAccuracy]


def test_automatic_memory_is_limited_where_delegations_are_revocable():
    assert Competence().estimate(3, is_revocable=True).window == 20
    assert isinstance(Competence().estimate(3, is_revocable=False), AccuracyEstimate)


def test_a_name_stands_for_a_competence():
    assert as_competence("training") == Competence("training", memory="auto")
    forgetful = Competence(memory=0.5)
    assert as_competence(forgetful) is forgetful
    assert pickle.loads(pickle.dumps(forgetful)) == forgetful


@pytest.mark.parametrize("wrong", ["accuracy", None, 3, ["training"]])
def test_unknown_measures_are_refused(wrong):
    with pytest.raises(ValueError, match="competence must be measured as one of prequential, tra"):
        as_competence(wrong)


@pytest.mark.parametrize("memory", [0, -3, 0.0, 1.0, 2.5, float("nan"), "always", [5]])
def test_wrong_memories_are_refused(memory):
    with pytest.raises(ValueError, match=r"memory must be an integer of 1 or more, .*: got "):
        Competence(memory=memory)


@st.composite
def histories(draw):
    """Sizes of increments, and the correct answers of two voters at each."""
    sizes = draw(st.lists(st.integers(1, 60), min_size=1, max_size=12))
    return [(n, draw(st.integers(0, n)), draw(st.integers(0, n))) for n in sizes]


def estimated(history):
    estimate = AccuracyEstimate.empty(2)
    for n_rows, *n_correct in history:
        estimate = estimate.update(np.arange(2), np.array(n_correct) / n_rows, n_rows)
    return estimate.mean


@given(histories())
def test_the_mean_is_the_average_over_increments_to_the_last_bit(history):
    for voter, mean in enumerate(estimated(history)):
        exact = sum(Fraction(n_correct[voter], n) for n, *n_correct in history) / len(history)
        assert mean == float(exact)


def test_equal_averages_are_equal_bits():
    # 0.1 + 0.7 and 0.4 + 0.4 differ in floating point, and so do most such sums
    first, second = estimated([(10, 1, 4), (10, 7, 4)])
    assert first == second == 0.4
    first, second = estimated([(25, 10, 5), (10, 5, 7)])  # 0.4 + 0.5 and 0.2 + 0.7
    assert first == second == 0.45


def test_averages_stay_exact_when_the_denominator_outgrows_a_float():
    sizes = [997, 991, 983, 977, 971, 967]
    history = [(n, n // 2, n // 3) for n in sizes]
    exact = sum(Fraction(n // 3, n) for n in sizes) / len(sizes)
    assert estimated(history)[1] == float(exact)


def test_a_voter_keeps_its_average_when_it_is_no_longer_measured():
    estimate = AccuracyEstimate.empty(3).update(np.arange(2), np.array([0.5, 1.0]), 4)
    later = estimate.update(np.array([1]), np.array([0.0]), 4)
    assert later.mean[:2].tolist() == [0.5, 0.5]
    assert np.isnan(later.mean[2])
    assert estimate.mean[1] == 1.0


def test_the_denominator_is_bounded_for_increments_of_any_sizes():
    sizes = [n for n in range(500, 1500) if all(n % k for k in range(2, 39))]  # primes
    estimate, exact = AccuracyEstimate.empty(2), Fraction(0)
    for n in sizes:
        estimate = estimate.update(np.arange(2), np.array([n // 3, n // 3]) / n, n)
        exact += Fraction(n // 3, n)
    assert estimate.denominator == 2**256
    assert estimate.mean[0] == estimate.mean[1] == float(exact / len(sizes))


@given(histories(), st.integers(1, 6))
def test_a_window_counts_the_rows_of_its_increments(history, window):
    estimate = RecentAccuracy.empty(2, window)
    for n_rows, *n_correct in history:
        estimate = estimate.update(np.arange(2), np.array(n_correct) / n_rows, n_rows)
    recent = history[-window:]
    n_answers = sum(n for n, *_ in recent)
    assert estimate.n_answers.tolist() == [n_answers, n_answers]
    for voter, mean in enumerate(estimate.mean):
        assert mean == sum(n_correct[voter] for _, *n_correct in recent) / n_answers


def test_slopes_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    accuracy = rng.integers(0, 101, size=(7, 3)) / 100
    estimate = RecentAccuracy.empty(3, window=5)
    for row in accuracy:
        estimate = estimate.update(np.arange(3), row, 100)
    expected = np.polyfit(np.arange(5), accuracy[-5:], 1)[0]
    np.testing.assert_allclose(estimate.slope, expected, atol=1e-12)


def test_slopes_skip_increments_without_a_measurement():
    estimate = RecentAccuracy.empty(2, window=4)
    for voters, accuracy in [([0, 1], [0.1, 0.5]), ([0], [0.9]), ([0, 1], [0.5, 0.7])]:
        estimate = estimate.update(np.array(voters), np.array(accuracy), 10)
    np.testing.assert_allclose(estimate.slope, [0.2, 0.1])
    assert np.isnan(RecentAccuracy.empty(2, 4).slope).all()


def test_a_voter_that_left_the_window_keeps_its_last_average():
    estimate = RecentAccuracy.empty(2, window=1).update(np.arange(2), np.array([0.5, 0.2]), 10)
    estimate = estimate.update(np.array([0]), np.array([0.9]), 10)
    assert estimate.mean.tolist() == [0.9, 0.2]
    assert estimate.n_answers.tolist() == [10, 0]


@given(histories())
def test_decay_weighs_rows_by_their_age(history):
    estimate = DecayedAccuracy.empty(2, 0.8)
    for n_rows, *n_correct in history:
        estimate = estimate.update(np.arange(2), np.array(n_correct) / n_rows, n_rows)
    factors = 0.8 ** np.arange(len(history))[::-1]
    answers = factors @ np.array([n for n, *_ in history])
    right = factors @ np.array([n_correct for _, *n_correct in history])
    np.testing.assert_allclose(estimate.mean, right / answers)
    assert estimate.n_answers.tolist() == [round(answers)] * 2
