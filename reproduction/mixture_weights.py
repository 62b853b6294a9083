"""Mixture weights: votes that are fitted to the answers of a group, and drawn to equal votes."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reproduction.protocols import Floats, Labels

Votes: TypeAlias = NDArray[np.integer[Any]]
"""Labels, one row per voter."""

N_ITERATIONS = 100
_LEAST = 1e-12


def mixture_weights(likelihoods: Floats, strength: float = 1.0) -> Floats:
    r"""Return the weights of voters, which sum to one, by expectation maximization.

    .. math:: w_i \propto \sum_x \frac{w_i p_i(y|x)}{\sum_j w_j p_j(y|x)} + \frac{\lambda n}{k}

    for the probability :math:`p_i(y|x)` that voter i of k gives to the label of each of n rows, one
    row of ``likelihoods`` per voter. They maximize the likelihood of the mixture, with a Dirichlet
    prior that counts as :math:`\lambda n` rows shared by all voters alike: a ``strength`` of 0 is
    maximum likelihood, 1 is halfway to equal votes, and infinity is equal votes.

    Examples
    --------
    >>> likelihoods = np.array([[0.9, 0.8, 0.9], [0.5, 0.5, 0.5], [0.1, 0.7, 0.2]])
    >>> [mixture_weights(likelihoods, strength).round(2).tolist() for strength in (0, 1, 1e9)]
    [[1.0, 0.0, 0.0], [0.51, 0.27, 0.22], [0.33, 0.33, 0.33]]
    """
    n_voters, n_rows = likelihoods.shape
    weights: Floats = np.full(n_voters, 1 / n_voters)
    if n_rows == 0:
        return weights
    likelihoods = np.maximum(likelihoods, _LEAST)
    for _ in range(N_ITERATIONS):
        share = weights * (likelihoods @ (1 / (weights @ likelihoods))) / n_rows
        weights = (share + strength / n_voters) / (1 + strength)
    return weights


def likelihoods_of_votes(votes: Votes, y: Labels, n_classes: int) -> Floats:
    """Return the probability that each vote gives to the label, one row per voter.

    A vote is right with the accuracy of all votes, smoothed by one answer per class, and otherwise
    all other classes are as probable. So the mixture predicts what the weighted votes do.
    """
    is_right = votes == y
    accuracy = (is_right.sum() + 1) / (is_right.size + n_classes)
    likelihoods: Floats = np.where(is_right, accuracy, (1 - accuracy) / (n_classes - 1))
    return likelihoods
