"""Vote weights: how much each representative counts when the ensemble votes.

Each takes the graph, the accuracies and the number of classes, and returns one number for each
representative, of zero or more and not all zero.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skliquid.accuracy_estimate import Estimate
from skliquid.arrays import Floats
from skliquid.delegation_graph import DelegationGraph

VoteWeights: TypeAlias = Callable[[DelegationGraph, Estimate, int], NDArray[Any]]


def delegated(graph: DelegationGraph, accuracy: Estimate, n_classes: int = 2) -> NDArray[Any]:
    """Return the votes that each representative carries, as in the paper."""
    return graph.weights[graph.representatives]


def log_odds(graph: DelegationGraph, accuracy: Estimate, n_classes: int = 2) -> Floats:
    """Return the logarithm of the odds that each representative is right, beyond those of a guess.

    These are the best weights for voters that err independently, and towards all of the wrong
    classes alike. An answer of each class, one of them right, is added to what was measured; who
    is no better than a guess gets next to no weight.
    """
    voters = graph.representatives
    n, mean = accuracy.n_answers[voters], np.nan_to_num(accuracy.mean[voters])
    p = (mean * n + 1) / (n + n_classes)
    weights: Floats = np.maximum(np.log(p / (1 - p)) + np.log(n_classes - 1), _NEXT_TO_NONE)
    return weights


def delegated_log_odds(graph: DelegationGraph, accuracy: Estimate, n_classes: int = 2) -> Floats:
    """Return the product of the votes carried and the log-odds."""
    return delegated(graph, accuracy) * log_odds(graph, accuracy, n_classes)


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
        factor: object = self.factor
        if not isinstance(factor, Real) or not 0 <= float(factor) <= 1:
            raise ValueError(
                f"factor must be between 0 and 1: got {factor!r}. Give a number like 0.9."
            )

    def __call__(self, graph: DelegationGraph, accuracy: Estimate, n_classes: int = 2) -> Floats:
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


def checked_weights(
    rule: VoteWeights, graph: DelegationGraph, accuracy: Estimate, n_classes: int
) -> NDArray[Any]:
    """Return what ``rule`` gives, which may be a user's own, if votes can be weighed by it."""
    weights = np.asarray(rule(graph, accuracy, n_classes))
    n, wrong = len(graph.representatives), None
    if weights.shape != (n,):
        wrong = f"one number for each of {n} representatives, got shape {weights.shape}"
    elif weights.dtype.kind not in "fiub":
        wrong = f"numbers, got {weights.dtype}"
    elif not np.isfinite(weights.sum()) or weights.min() < 0:
        wrong = f"finite numbers of zero or more, got {weights.tolist()}"
    elif not weights.any():
        wrong = "a positive number for some representative, got zero for all"
    if wrong:
        raise ValueError(f"vote_weights must give {wrong}. Correct {rule!r}.")
    return weights
