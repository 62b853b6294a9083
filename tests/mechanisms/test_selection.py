import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from skliquid.mechanisms.selection import at_random, least_competent, nobody

accuracies = st.lists(st.sampled_from([0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=20)


def test_nobody_selects_nobody():
    selected = nobody(np.array([0.1, 0.9]), 1, np.random.default_rng(0))
    assert (selected.tolist(), selected.dtype.kind) == ([], "i")


@pytest.mark.parametrize("selection", [at_random, least_competent])
@given(accuracies, st.data())
def test_as_many_are_selected_as_asked_for(selection, accuracy, data):
    n = data.draw(st.integers(0, len(accuracy)))
    selected = selection(np.array(accuracy), n, np.random.default_rng(0))
    assert len(set(selected.tolist())) == len(selected) == n


@given(accuracies, st.data())
def test_nobody_left_is_worse_than_the_least_competent(accuracy, data):
    n = data.draw(st.integers(1, len(accuracy)))
    accuracy = np.array(accuracy)
    selected = least_competent(accuracy, n, np.random.default_rng(0))
    left = np.delete(accuracy, selected)
    assert accuracy[selected].max() <= left.min(initial=1)


@pytest.mark.parametrize(
    ("selection", "accuracy", "probability"),
    [
        (at_random, [0.1, 0.5, 0.9, 0.9], [0.5, 0.5, 0.5, 0.5]),
        (least_competent, [0.1, 0.5, 0.5, 0.5], [1, 1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_ties_are_broken_evenly_and_not_by_index(selection, accuracy, probability):
    rng, n_draws = np.random.default_rng(7), 6000
    selected = np.concatenate([selection(np.array(accuracy), 2, rng) for _ in range(n_draws)])
    observed = np.bincount(selected, minlength=4)
    assert chisquare(observed, n_draws * np.array(probability)).pvalue > 1e-3
