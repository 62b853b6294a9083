from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliquid.delegation.running_averages import (
    RESOLUTION,
    DecayedAverage,
    Measurement,
    OverallAverage,
    RecentAverage,
    confidence_interval,
    wilson,
)


def counted(accuracy, n_rows):
    """Return the measurement of voters that had this accuracy on so many rows."""
    return Measurement(np.array(accuracy), n_rows, is_count=True)


@st.composite
def histories(draw):
    """Sizes of increments, and the correct answers of two voters at each."""
    sizes = draw(st.lists(st.integers(1, 60), min_size=1, max_size=12))
    return [(n, draw(st.integers(0, n)), draw(st.integers(0, n))) for n in sizes]


def estimated(history):
    estimate = OverallAverage.empty(2)
    for n_rows, *n_correct in history:
        estimate = estimate.update(np.arange(2), counted(np.array(n_correct) / n_rows, n_rows))
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
    estimate = OverallAverage.empty(3).update(np.arange(2), counted([0.5, 1.0], 4))
    later = estimate.update(np.array([1]), counted([0.0], 4))
    assert later.mean[:2].tolist() == [0.5, 0.5]
    assert np.isnan(later.mean[2])
    assert estimate.mean[1] == 1.0


def test_the_denominator_is_bounded_for_increments_of_any_sizes():
    sizes = [n for n in range(500, 1500) if all(n % k for k in range(2, 39))]  # primes
    estimate, exact = OverallAverage.empty(2), Fraction(0)
    for n in sizes:
        estimate = estimate.update(np.arange(2), counted(np.array([n // 3, n // 3]) / n, n))
        exact += Fraction(n // 3, n)
    assert estimate.denominator == 2**256
    assert estimate.mean[0] == estimate.mean[1] == float(exact / len(sizes))


@given(histories(), st.integers(1, 6))
def test_a_window_counts_the_rows_of_its_increments(history, window):
    estimate = RecentAverage.empty(2, window)
    for n_rows, *n_correct in history:
        estimate = estimate.update(np.arange(2), counted(np.array(n_correct) / n_rows, n_rows))
    recent = history[-window:]
    n_answers = sum(n for n, *_ in recent)
    assert estimate.n_answers.tolist() == [n_answers, n_answers]
    for voter, mean in enumerate(estimate.mean):
        assert mean == sum(n_correct[voter] for _, *n_correct in recent) / n_answers


def test_slopes_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    accuracy = rng.integers(0, 101, size=(7, 3)) / 100
    estimate = RecentAverage.empty(3, window=5)
    for row in accuracy:
        estimate = estimate.update(np.arange(3), counted(row, 100))
    expected = np.polyfit(np.arange(5), accuracy[-5:], 1)[0]
    np.testing.assert_allclose(estimate.slope, expected, atol=1e-12)


def test_slopes_skip_increments_without_a_measurement():
    estimate = RecentAverage.empty(2, window=4)
    for voters, accuracy in [([0, 1], [0.1, 0.5]), ([0], [0.9]), ([0, 1], [0.5, 0.7])]:
        estimate = estimate.update(np.array(voters), counted(accuracy, 10))
    np.testing.assert_allclose(estimate.slope, [0.2, 0.1])
    assert np.isnan(RecentAverage.empty(2, 4).slope).all()


def test_a_voter_that_left_the_window_keeps_its_last_average():
    estimate = RecentAverage.empty(2, window=1).update(np.arange(2), counted([0.5, 0.2], 10))
    estimate = estimate.update(np.array([0]), counted([0.9], 10))
    assert estimate.mean.tolist() == [0.9, 0.2]
    assert estimate.n_answers.tolist() == [10, 0]


@given(histories())
def test_decay_weighs_rows_by_their_age(history):
    estimate = DecayedAverage.empty(2, 0.8)
    for n_rows, *n_correct in history:
        estimate = estimate.update(np.arange(2), counted(np.array(n_correct) / n_rows, n_rows))
    factors = 0.8 ** np.arange(len(history))[::-1]
    answers = factors @ np.array([n for n, *_ in history])
    right = factors @ np.array([n_correct for _, *n_correct in history])
    np.testing.assert_allclose(estimate.mean, right / answers)
    assert estimate.n_answers.tolist() == [round(answers)] * 2


# Competences that are no counts


def measured(values, variance, n_rows=50):
    return Measurement(np.array(values), n_rows, np.array(variance))


@pytest.mark.parametrize(
    "empty",
    [
        OverallAverage.empty(2),
        RecentAverage.empty(2, window=2),
        DecayedAverage.empty(2, factor=0.999999),
    ],
    ids=["mean", "recent", "decayed"],
)
def test_means_and_variances_are_those_of_the_average(empty):
    estimate = empty
    for values, variance in ([0.1, -0.2], [4e-4, 1e-4]), ([0.3, -0.4], [2e-4, 3e-4]):
        estimate = estimate.update(np.arange(2), measured(values, variance))
    np.testing.assert_allclose(estimate.mean, [0.2, -0.3], rtol=1e-5)
    np.testing.assert_allclose(estimate.variance, [1.5e-4, 1e-4], rtol=1e-5)
    assert estimate.n_answers.tolist() == [100, 100]


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=30))
def test_equal_contributions_have_equal_averages_in_any_order(values):
    forth, back = (OverallAverage.empty(1) for _ in range(2))
    for one, other in zip(values, values[::-1], strict=True):
        forth = forth.update(np.arange(1), measured([one], [0.1]))
        back = back.update(np.arange(1), measured([other], [0.1]))
    assert forth.mean == back.mean
    assert abs(forth.mean[0] - np.mean(values)) <= 1 / RESOLUTION


def test_counts_and_weighted_accuracies_can_be_averaged():
    estimate = OverallAverage.empty(1).update(np.arange(1), counted([0.5], 10))
    estimate = estimate.update(np.arange(1), Measurement(np.array([0.25]), 7.3))
    assert estimate.mean.tolist() == [0.375]
    assert estimate.n_answers.tolist() == [17]
    assert estimate.variance is None


def test_intervals_are_wider_with_a_larger_variance_and_a_smaller_level():
    mean, n = np.array([0.1, 0.1]), np.array([50, 50])
    low, high = confidence_interval(mean, n, np.array([1e-4, 4e-4]), 0.1)
    np.testing.assert_allclose((high - low) / 2, [0.01645, 0.0329], rtol=1e-3)
    np.testing.assert_allclose((high + low) / 2, 0.1)
    stricter, _ = confidence_interval(mean, n, np.array([1e-4, 4e-4]), 0.01)
    assert np.all(stricter < low)
    assert np.array_equal(confidence_interval(mean, n, None, 0.1), wilson(mean, n, 0.1))
