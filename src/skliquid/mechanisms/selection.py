r"""Selection functions g: which representatives delegate next.

Each takes the accuracy of the representatives, the number of delegators asked for and a generator,
and returns positions in that accuracy array, at most as many as asked for.
"""

import numpy as np
from numpy.random import Generator

from skliquid.arrays import Floats, Voters


def nobody(accuracy: Floats, n_delegators: int, rng: Generator) -> Voters:
    r"""Select no representative: the paper's g^direct.

    .. math:: g^\text{direct}(V, d) = \emptyset
    """
    return np.empty(0, dtype=np.intp)


def at_random(accuracy: Floats, n_delegators: int, rng: Generator) -> Voters:
    r"""Select representatives uniformly at random: the paper's g^random.

    .. math:: g^\text{random}(V, d) \sim \mathrm{Uniform}\{S \subseteq G(V) : |S| = k\}

    for :math:`k` delegators.
    """
    return rng.choice(len(accuracy), n_delegators, replace=False)


def least_accurate(accuracy: Floats, n_delegators: int, rng: Generator) -> Voters:
    r"""Select the representatives with the lowest accuracy, ties at random: the paper's g^worst.

    .. math:: g^\text{worst}(V, d) = \arg\min_{S \subseteq G(V), |S| = k} \sum_{v_i \in S} q_i

    for :math:`k` delegators.
    """
    return np.lexsort((rng.random(len(accuracy)), accuracy))[:n_delegators]
