from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skliquid.competence import AccuracyEstimate, after_training, before_training


@st.composite
def histories(draw):
    """Sizes of increments, and right answers of two voters at each."""
    sizes = draw(st.lists(st.integers(1, 60), min_size=1, max_size=12))
    return [(n, draw(st.integers(0, n)), draw(st.integers(0, n))) for n in sizes]


def estimated(history):
    estimate = AccuracyEstimate.of_nothing(2)
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
    estimate = AccuracyEstimate.of_nothing(3).update(np.arange(2), np.array([0.5, 1.0]), 4)
    later = estimate.update(np.array([1]), np.array([0.0]), 4)
    assert later.mean[:2].tolist() == [0.5, 0.5]
    assert np.isnan(later.mean[2])
    assert estimate.mean[1] == 1.0


def test_competence_is_measured_after_or_before_training():
    events = []

    def train():
        events.append("train")
        return 7

    def measure():
        events.append("measure")
        return np.array([0.5])

    assert after_training(train, measure, False) == (np.array([0.5]), 7)
    assert before_training(train, measure, True) == (np.array([0.5]), 7)
    assert before_training(train, measure, False) == (None, 7)
    assert events == ["train", "measure", "measure", "train", "train"]
