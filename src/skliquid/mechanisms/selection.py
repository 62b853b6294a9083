"""Selection functions g: which representatives delegate next.

Each takes the accuracy of the representatives, the number of delegators asked for and a generator,
and returns positions in that accuracy array, at most as many as asked for.
"""

import numpy as np
from numpy.random import Generator

from skliquid.arrays import Floats, Voters


def nobody(accuracy: Floats, n_delegators: int, rng: Generator) -> Voters:
    """Select no representative: the paper's g^direct."""
    return np.empty(0, dtype=np.intp)


def at_random(accuracy: Floats, n_delegators: int, rng: Generator) -> Voters:
    """Select representatives uniformly at random: the paper's g^random."""
    return rng.choice(len(accuracy), n_delegators, replace=False)


def least_accurate(accuracy: Floats, n_delegators: int, rng: Generator) -> Voters:
    """Select the representatives with the lowest accuracy, ties at random: the paper's g^worst."""
    return np.lexsort((rng.random(len(accuracy)), accuracy))[:n_delegators]
