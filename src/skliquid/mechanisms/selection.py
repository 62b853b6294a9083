r"""Selection functions g: which representatives delegate next.

Each takes the competence of the representatives, the number k of delegators asked for and a
generator, and returns positions in that competence array, at most k.
"""

import numpy as np
from numpy.random import Generator

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.storable import storable


@storable
def nobody(competence: Floats, n_delegators: int, rng: Generator) -> Voters:
    r"""Select no representative: the paper's :math:`g^\text{direct} = \emptyset`."""
    return np.empty(0, dtype=np.intp)


@storable
def at_random(competence: Floats, n_delegators: int, rng: Generator) -> Voters:
    r"""Select representatives uniformly at random: the paper's :math:`g^\text{random}`."""
    return rng.choice(len(competence), n_delegators, replace=False)


@storable
def least_competent(competence: Floats, n_delegators: int, rng: Generator) -> Voters:
    r"""Select the representatives with the lowest competence: the paper's :math:`g^\text{worst}`.

    .. math:: g^\text{worst} = \arg\min_{S \subseteq G(V), |S| = k} \sum_{v_i \in S} q_i

    Ties are broken at random.
    """
    return np.lexsort((rng.random(len(competence)), competence))[:n_delegators]
