"""Votes: hard and soft votes of the ensemble, and how concentrated their weight is."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats, Labels, Voters, Votes

LEAST_SHARE = 2.0**-53
"""The smallest share of which a logarithm is computed."""

_WHOLE_IN_A_SINGLE = 2**24
_MAX_MARGIN = 1e300


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


def mean_probabilities(
    probabilities: Floats,
    weights: NDArray[Any],
    n_classes: int,  # noqa: ARG001 (as in tally)
) -> Floats:
    r"""Return the weighted mean of the voters' class probabilities, one row per sample.

    .. math:: S(x) = \sum_i w_i p_i(x) \,/\, \sum_i w_i
    """
    sums = np.einsum("v,vnc->nc", weights.astype(np.float64), probabilities)
    mean: Floats = sums / weights.sum()
    return mean


def most_probable(probabilities: Floats) -> Votes:
    """Return the class that each voter finds most probable, in a tie the first."""
    if probabilities.shape[2] == 2:  # faster than argmax
        return (probabilities[:, :, 1] > probabilities[:, :, 0]).view(np.uint8)
    votes: Votes = probabilities.argmax(axis=2)
    return votes


def one_hot(votes: Votes, n_classes: int) -> Floats:
    """Return votes as probabilities: one for the class voted for, zero for the others."""
    probabilities: Floats = (votes[:, :, None] == np.arange(n_classes)).astype(np.float64)
    return probabilities


def _unchanged(answers: Any, *_: Any) -> Any:
    return answers


class Voting(NamedTuple):
    """How the answers of voters become the ensemble's class probabilities."""

    method: str  # of a pool, for the answers of voters
    shares: Callable[[Any, NDArray[Any], int], Floats]  # the ensemble's probabilities
    votes: Callable[[Any], Votes]  # the class that each voter votes for
    probabilities: Callable[[Any, int], Floats]  # each voter's probabilities

    @property
    def is_soft(self) -> bool:
        """Whether answers are probabilities, which can be calibrated."""
        return self.method == "probabilities"


VOTINGS: dict[str, Voting] = {
    "soft": Voting("probabilities", mean_probabilities, most_probable, _unchanged),
    "hard": Voting("vote", tally, _unchanged, one_hot),
}
"""Soft votes are class probabilities and hard votes are classes, as in ``VotingClassifier``."""


def tempered(shares: Floats, power: float) -> Floats:
    r"""Return class probabilities at the inverse temperature ``power``.

    .. math:: S_c^\beta \,/\, \sum_k S_k^\beta

    Below 1, probabilities come closer to each other; the order of classes stays.
    """
    if power == 1:
        return shares
    powers = np.maximum(shares, LEAST_SHARE) ** power
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def decision_values(shares: Floats, power: float = 1.0) -> Floats:
    r"""Return the log-odds of each class at an inverse temperature; infinite where it is certain.

    .. math:: \beta \log S_c - \log \sum_{k \neq c} S_k^\beta
    """
    with np.errstate(divide="ignore"):
        logs = power * np.log(shares)
        if shares.shape[1] == 2:
            return logs - logs[:, ::-1]
        largest, rows = logs.max(axis=1, keepdims=True), np.arange(len(logs))
        total, first = np.logaddexp.reduce(logs, axis=1, keepdims=True), logs.argmax(axis=1)
        values = logs - total - np.log1p(-np.minimum(np.exp(logs - total), 0.75))
        logs_of_others = np.where(np.arange(logs.shape[1]) == first[:, None], -np.inf, logs)
        of_first = logs[rows, first] - np.logaddexp.reduce(logs_of_others, axis=1)
    return np.where(logs == largest, of_first[:, None], values)  # which are exact below a half


def with_margins(values: Floats, margins: Floats, power: float = 1.0) -> Floats:
    r"""Return ``values`` with finite numbers where they are infinite, ranked by ``margins``.

    .. math:: \max(\beta, 1) \, (\pm 850 + 100 \, m / (1 + |m|))

    No log-odds of floating-point numbers are beyond 745, so these come first and last.
    """
    # linear voters on huge rows give infinite margins: test_margins_that_overflowed_are_ranked_too
    margins = np.clip(np.nan_to_num(margins), -_MAX_MARGIN, _MAX_MARGIN)
    beyond = np.copysign(850.0, values) + 100 * margins / (1 + np.abs(margins))
    beyond *= max(power, 1.0)
    return np.where(np.isinf(values), beyond, values)


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
