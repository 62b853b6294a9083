"""Probability functions p: how likely each candidate is to be chosen.

Each takes the gain of every candidate (its accuracy minus the delegator's) and a weight, that of
the candidate's guru or the candidate's own (``Mechanism.weight_of``), and returns likelihoods,
which need not sum to one. All zero means that no candidate is strictly better, and the delegator
stays a representative.
"""

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats


def none(gain: Floats, weight: Floats) -> Floats:
    """Give no candidate a chance: the paper's p^direct, whose only choice is the voter itself."""
    return np.zeros_like(gain)


def any_candidate(gain: Floats, weight: Floats) -> Floats:
    """Give all candidates the same chance: the paper's p^random."""
    return np.ones_like(gain)


def best_of_the_lightest(gain: Floats, weight: Floats) -> Floats:
    """Choose, of the better candidates with the least weight, the most accurate: the paper's p^max.

    The paper compares the candidates' own weights, w_j, which are 0 for earlier delegators; its
    Proportional Weighted divides by the weight of their gurus instead.
    """
    weight = np.where(gain > 0, weight, np.inf)
    gain = np.where(weight == np.minimum.reduce(weight, initial=np.inf), gain, 0)
    best: NDArray[np.bool_] = (gain > 0) & (gain == np.maximum.reduce(gain, initial=0))
    return best.astype(np.float64)


def better(gain: Floats, weight: Floats) -> Floats:
    """Give all better candidates the same chance: the paper's p^rand_better."""
    return (gain > 0).astype(np.float64)


def gain_of_the_better(gain: Floats, weight: Floats) -> Floats:
    """Weigh better candidates by their gain: the paper's p^prop_better."""
    return np.maximum(gain, 0)


def gain_per_weight(gain: Floats, weight: Floats) -> Floats:
    """Weigh better candidates by their gain over their weight: the paper's p^prop_weighted."""
    return np.maximum(gain, 0) / weight
