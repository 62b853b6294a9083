r"""Probability functions p: how likely each candidate is to be chosen.

Each takes the gain of every candidate, :math:`q_j - q_i` (its accuracy minus the delegator's), and
a weight, that of the candidate's guru or the candidate's own (``Mechanism.weight_of``). It returns
likelihoods, which need not sum to one. All zero means that no candidate is strictly better,
:math:`N^+(v_i) = \{v_j : q_j > q_i\}` is empty, and the delegator stays a representative.
"""

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import storable


@storable
def none(gain: Floats, weight: Floats) -> Floats:
    r"""Give no candidate a chance: the paper's :math:`p^\text{direct}(v_i, v_j) = [v_i = v_j]`."""
    return np.zeros_like(gain)


@storable
def any_candidate(gain: Floats, weight: Floats) -> Floats:
    r"""Give all candidates the same chance: the paper's :math:`p^\text{random} = 1 / n`."""
    return np.ones_like(gain)


@storable
def best_of_the_lightest(gain: Floats, weight: Floats) -> Floats:
    r"""Choose the most accurate of the lightest better candidates: the paper's p^max.

    .. math::

        h(v_i) = \{q_j : w_j \leq w_k \;\forall v_j, v_k \in N^+(v_i)\}, \quad
        p^\text{max}(v_i, v_j) = [q_j = \max h(v_i)]

    The paper compares the candidates' own weights, :math:`w_j`, which are 0 for earlier delegators;
    its Proportional Weighted divides by the weight of their gurus instead.
    """
    weight = np.where(gain > 0, weight, np.inf)
    gain = np.where(weight == np.minimum.reduce(weight, initial=np.inf), gain, 0)
    best: NDArray[np.bool_] = (gain > 0) & (gain == np.maximum.reduce(gain, initial=0))
    return best.astype(np.float64)


@storable
def better(gain: Floats, weight: Floats) -> Floats:
    r"""Give all better candidates the same chance: the paper's p^rand_better.

    .. math:: p^\text{rand\_better}(v_i, v_j) = [v_j \in N^+(v_i)] \,/\, |N^+(v_i)|
    """
    return (gain > 0).astype(np.float64)


@storable
def gain_of_the_better(gain: Floats, weight: Floats) -> Floats:
    r"""Weigh better candidates by their gain: the paper's p^prop_better.

    .. math:: p^\text{prop\_better}(v_i, v_j) \propto \max(q_j - q_i, 0)
    """
    return np.maximum(gain, 0)


@storable
def gain_per_weight(gain: Floats, weight: Floats) -> Floats:
    r"""Weigh better candidates by their gain over their weight: the paper's p^prop_weighted.

    .. math:: p^\text{prop\_weighted}(v_i, v_j) \propto \max(q_j - q_i, 0) \,/\, w_{d^*(j)}
    """
    return np.maximum(gain, 0) / weight
