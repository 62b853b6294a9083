from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skliquid.voting import gini, largest_share, minimum_majority, tally, winner

weight_lists = st.lists(st.integers(1, 9), min_size=1, max_size=8)


@given(
    arrays(np.intp, (4, 5), elements=st.integers(0, 2)),
    st.lists(st.integers(1, 9), min_size=4, max_size=4),
)
def test_shares_are_weights_summed_by_class(votes, weights):
    shares = tally(votes, np.array(weights), n_classes=3)
    for sample in range(5):
        for label in range(3):
            held = sum(
                w for w, vote in zip(weights, votes[:, sample], strict=True) if vote == label
            )
            assert shares[sample, label] == held / sum(weights)


def test_the_first_class_wins_a_tie():
    assert winner(np.array([[0.5, 0.5], [0.25, 0.75]])).tolist() == [0, 1]


@given(weight_lists)
def test_minimum_majority_is_the_smallest_coalition_with_more_than_half(weights):
    smallest = next(
        size
        for size in range(1, len(weights) + 1)
        for group in combinations(weights, size)
        if 2 * sum(group) > sum(weights)
    )
    assert minimum_majority(np.array(weights)) == smallest


@given(weight_lists)
def test_gini_is_the_mean_difference_over_twice_the_mean(weights):
    n, total = len(weights), sum(weights)
    differences = sum(abs(a - b) for a in weights for b in weights)
    assert np.isclose(gini(np.array(weights)), differences / (2 * n * total))


def test_the_largest_share_is_the_heaviest_voters():
    assert largest_share(np.array([1, 6, 1])) == 0.75
