"""Vote weights: how much each representative counts when the ensemble votes.

Each takes the graph and the accuracies, and returns one number for each representative.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skliquid.accuracy_estimate import Estimate
from skliquid.arrays import Floats
from skliquid.delegation_graph import DelegationGraph

VoteWeights: TypeAlias = Callable[[DelegationGraph, Estimate], NDArray[Any]]


def delegated(graph: DelegationGraph, accuracy: Estimate) -> NDArray[Any]:
    """Return the votes that each representative carries, as in the paper."""
    return graph.weights[graph.representatives]


def log_odds(graph: DelegationGraph, accuracy: Estimate) -> Floats:
    """Return the logarithm of the odds that each representative is right.

    These are the best weights for voters that err independently. A right and a wrong answer are
    added to what was measured; who is no better than a coin gets next to no weight.
    """
    voters = graph.representatives
    n, mean = accuracy.n_answers[voters], np.nan_to_num(accuracy.mean[voters], nan=0.5)
    p = (mean * n + 1) / (n + 2)
    return np.maximum(np.log(p / (1 - p)), _NEXT_TO_NONE)


def delegated_log_odds(graph: DelegationGraph, accuracy: Estimate) -> Floats:
    """Return the product of the votes carried and the log-odds."""
    return delegated(graph, accuracy) * log_odds(graph, accuracy)


@dataclass(frozen=True)
class Viscous:
    """Votes that lose strength on their way, by a factor for each delegation.

    With 1 nothing is lost; with 0 only a representative's own vote counts.

    Examples
    --------
    >>> from skliquid.accuracy_estimate import estimate_of
    >>> chain = DelegationGraph.direct(3).delegate([0], to=[1]).delegate([1], to=[2])
    >>> Viscous(0.5)(chain, estimate_of(3)).tolist()
    [1.75]
    """

    factor: float = 0.9

    def __post_init__(self) -> None:
        if not 0 <= self.factor <= 1:
            raise ValueError(
                f"factor must be between 0 and 1: got {self.factor!r}. Give a number like 0.9."
            )

    def __call__(self, graph: DelegationGraph, accuracy: Estimate) -> Floats:
        """Return what arrives at each representative."""
        strength = self.factor ** graph.distances.astype(np.float64)
        arrived: Floats = np.zeros(graph.n_voters)
        np.add.at(arrived, graph.gurus, strength)
        return arrived[graph.representatives]


VOTE_WEIGHTS: dict[str, VoteWeights] = {
    "delegated": delegated,
    "log_odds": log_odds,
    "delegated_log_odds": delegated_log_odds,
    "viscous": Viscous(),
}

_NEXT_TO_NONE = 1e-6
