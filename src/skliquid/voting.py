"""Weighted votes: what the ensemble predicts, and how concentrated its weight is."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats, Labels, Voters, Votes

_WHOLE_IN_A_SINGLE = 2**24


def tally(votes: Votes, weights: NDArray[Any], n_classes: int) -> Floats:
    r"""Return the share of the weight that each class receives, one row per sample.

    Class c receives :math:`\sum_{i : f_i(x) = c} w_i / \sum_i w_i`, where :math:`f_i(x)` is the
    vote of voter i on sample x.

    Examples
    --------
    >>> tally(np.array([[0, 1], [1, 1]]), np.array([3, 1]), n_classes=2).tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    n_samples = votes.shape[1]
    if n_classes == 2:
        total = weights.sum()
        is_exact = weights.dtype.kind in "iu" and total < _WHOLE_IN_A_SINGLE
        dtype = np.float32 if is_exact else np.float64
        second = (weights.astype(dtype) @ votes.astype(dtype)).astype(np.float64)
        both: Floats = np.stack([total - second, second], axis=1) / total
        return both
    cells = votes + n_classes * np.arange(n_samples)
    carried = np.repeat(weights, n_samples)
    sums = np.bincount(cells.ravel(), weights=carried, minlength=n_classes * n_samples)
    shares: Floats = sums.reshape(n_samples, n_classes) / weights.sum()
    return shares


def winner(shares: Floats) -> Labels:
    """Return the class with the largest share; ties go to the first in sorted order."""
    first_of_the_largest: Labels = np.argmax(shares, axis=1)
    return first_of_the_largest


def minimum_majority(weights: Voters) -> int:
    r"""Return the size of the smallest group of voters that holds more than half of the weight.

    .. math:: \min \{|S| : S \subseteq V, \; \sum_{i \in S} w_i > \tfrac{1}{2} \sum_i w_i\}

    Examples
    --------
    >>> minimum_majority(np.array([1, 1, 1, 1])), minimum_majority(np.array([5, 1, 1, 1]))
    (3, 1)
    """
    held = np.cumsum(np.sort(weights)[::-1])
    return int(np.searchsorted(2 * held, held[-1], side="right")) + 1


def largest_share(weights: Voters) -> float:
    """Return the share of the weight that the heaviest voter holds."""
    return float(weights.max() / weights.sum())


def gini(weights: Voters) -> float:
    r"""Return the Gini coefficient of the weights: 0 when all are equal, near 1 for a dictator.

    .. math:: \frac{\sum_i \sum_j |w_i - w_j|}{2 n \sum_i w_i}

    Examples
    --------
    >>> gini(np.array([2, 2, 2])), gini(np.array([0, 0, 0, 8]))
    (0.0, 0.75)
    """
    n = len(weights)
    ranks = 2 * np.arange(1, n + 1) - n - 1
    return float(ranks @ np.sort(weights) / (n * weights.sum()))
