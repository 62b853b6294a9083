"""Votes, hard and soft: what the ensemble predicts, and how much each representative counts."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats, Labels, Voters, Votes
from skliquid.delegation_graph import DelegationGraph
from skliquid.estimates import Estimate

VoteWeights: TypeAlias = Callable[[DelegationGraph, Estimate, int], NDArray[Any]]
"""How much each representative counts: zero or more, and not zero for all."""

LEAST_SHARE = 2.0**-53
"""Below it, the logarithm of a share is not taken."""

_WHOLE_IN_A_SINGLE, _WHOLE_IN_A_DOUBLE = 2**24, 2**53
_LEAST_WEIGHT = 1e-6
_FARTHEST, _LARGE = 1e300, 1e200


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


def mean_probabilities(probabilities: Floats, weights: NDArray[Any], n_classes: int) -> Floats:
    r"""Return the weighted mean of the voters' class probabilities, one row per sample.

    .. math:: S(x) = \sum_i w_i p_i(x) \,/\, \sum_i w_i

    Examples
    --------
    >>> probabilities = np.array([[[0.9, 0.1]], [[0.5, 0.5]]])
    >>> mean_probabilities(probabilities, np.array([3, 1]), n_classes=2).round(2).tolist()
    [[0.8, 0.2]]
    """
    sums = np.einsum("v,vnc->nc", weights.astype(np.float64), probabilities)
    mean: Floats = sums / weights.sum()
    return mean


def most_probable(probabilities: Floats) -> Votes:
    """Return the class that each voter finds most probable, in a tie the first."""
    is_binary = probabilities.shape[2] == 2
    votes: Votes = (
        (probabilities[:, :, 1] > probabilities[:, :, 0]).view(np.uint8)  # faster than argmax
        if is_binary
        else probabilities.argmax(axis=2)
    )
    return votes


def one_hot(votes: Votes, n_classes: int) -> Floats:
    """Return votes as probabilities: one for the class of the vote, zero for the others."""
    probabilities: Floats = (votes[:, :, None] == np.arange(n_classes)).astype(np.float64)
    return probabilities


def _as_they_are(answers: Any, *_: Any) -> Any:
    return answers


class Voting(NamedTuple):
    """How the answers of voters become the ensemble's class probabilities."""

    method: str  # of a pool, which returns the answers of voters
    shares: Callable[[Any, NDArray[Any], int], Floats]  # the ensemble's probabilities
    votes: Callable[[Any], Votes]  # the class that each voter votes for
    probabilities: Callable[[Any, int], Floats]  # each voter's probabilities

    @property
    def is_soft(self) -> bool:
        """Whether answers are probabilities, which can be calibrated."""
        return self.method == "probabilities"


VOTINGS: dict[str, Voting] = {
    "soft": Voting("probabilities", mean_probabilities, most_probable, _as_they_are),
    "hard": Voting("vote", tally, _as_they_are, one_hot),
}
"""Soft votes are class probabilities and hard votes are classes, as in ``VotingClassifier``."""


def tempered(shares: Floats, power: float) -> Floats:
    r"""Return class probabilities at the inverse temperature ``power``.

    .. math:: S_c^\beta \,/\, \sum_k S_k^\beta

    Below 1, probabilities come closer to each other; the order of classes stays.

    Examples
    --------
    >>> tempered(np.array([[0.9, 0.1]]), 0.5).round(2).tolist()
    [[0.75, 0.25]]
    """
    if power == 1:
        return shares
    powers = np.maximum(shares, LEAST_SHARE) ** power
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def decision_values(shares: Floats, power: float = 1.0) -> Floats:
    r"""Return the log-odds of each class at an inverse temperature; infinite where it is certain.

    .. math:: \beta \log S_c - \log \sum_{k \neq c} S_k^\beta

    Examples
    --------
    >>> decision_values(np.array([[0.25, 0.75], [1.0, 0.0]])).round(3).tolist()
    [[-1.099, 1.099], [inf, -inf]]
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


def refined(values: Floats, margins: Floats, power: float = 1.0) -> Floats:
    r"""Return ``values`` with finite numbers where they are infinite, ranked by ``margins``.

    .. math:: \max(\beta, 1) \, (\pm 850 + 100 \, m / (1 + |m|))

    No log-odds of floating-point numbers are beyond 745, so these come first and last.
    """
    margins = np.clip(np.nan_to_num(margins), -_FARTHEST, _FARTHEST)  # products may overflow
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


def delegated(graph: DelegationGraph, accuracy: Estimate, n_classes: int = 2) -> NDArray[Any]:
    """Return the votes that each representative carries: the paper's w."""
    return graph.weights[graph.representatives]


def log_odds(graph: DelegationGraph, accuracy: Estimate, n_classes: int = 2) -> Floats:
    r"""Return the log-odds that each representative is correct, relative to random guessing.

    .. math:: \log \frac{p_i}{1 - p_i} + \log (C - 1), \quad p_i = \frac{q_i m_i + 1}{m_i + C}

    for :math:`C` classes and a voter of accuracy :math:`q_i` on :math:`m_i` rows. :math:`p_i` is
    smoothed by one answer per class, one of them correct. These weights are optimal for voters
    that err independently and towards all wrong classes alike. A voter that is no better than a
    random guess gets a weight next to zero.
    """
    voters = graph.representatives
    n, mean = accuracy.n_answers[voters], np.nan_to_num(accuracy.mean[voters])
    p = (mean * n + 1) / (n + n_classes)
    weights: Floats = np.maximum(np.log(p / (1 - p)) + np.log(n_classes - 1), _LEAST_WEIGHT)
    return weights


def delegated_log_odds(graph: DelegationGraph, accuracy: Estimate, n_classes: int = 2) -> Floats:
    """Return the product of the votes carried and the log-odds."""
    return delegated(graph, accuracy) * log_odds(graph, accuracy, n_classes)


VOTE_WEIGHTS: dict[str, VoteWeights] = {
    "delegated": delegated,
    "log_odds": log_odds,
    "delegated_log_odds": delegated_log_odds,
}


def as_vote_weights(vote_weights: str | VoteWeights) -> VoteWeights:
    """Return the function that a name or a function stands for."""
    if isinstance(vote_weights, str):
        if vote_weights in VOTE_WEIGHTS:
            return VOTE_WEIGHTS[vote_weights]
        raise ValueError(
            f"vote_weights must be one of {', '.join(VOTE_WEIGHTS)}, or a function: got "
            f"{vote_weights!r}. Choose one of these names."
        )
    if isinstance(vote_weights, type):
        raise TypeError(
            f"vote_weights must be an object: {vote_weights!r} is a class. Call it, as in "
            f"{vote_weights.__name__}(...)."
        )
    try:
        inspect.signature(vote_weights).bind("graph", "accuracy", "n_classes")
    except ValueError:
        pass  # some compiled functions have no signature
    except TypeError as error:
        raise TypeError(
            "vote_weights must be a function of graph, accuracy and n_classes: got "
            f"{vote_weights!r} ({error}). Give it three parameters."
        ) from error
    return vote_weights


def checked_weights(
    vote_weights: str | VoteWeights, graph: DelegationGraph, accuracy: Estimate, n_classes: int
) -> NDArray[Any]:
    """Return the vote weight of each representative; a user's function may give wrong ones."""
    weights = np.asarray(as_vote_weights(vote_weights)(graph, accuracy, n_classes))
    weights = weights.astype(np.float64) if weights.dtype.kind == "f" else weights
    n, wrong = len(graph.representatives), None
    if weights.shape != (n,):
        wrong = f"one number for each of {n} representatives, got shape {weights.shape}"
    elif weights.dtype.kind not in "fiub":
        wrong = f"numbers, got {weights.dtype}"
    elif not np.isfinite(weights).all() or weights.min() < 0:
        wrong = f"finite numbers of zero or more, got {weights.tolist()}"
    elif not weights.any():
        wrong = "a positive number for some representative, got zero for all"
    if wrong:
        raise ValueError(f"vote_weights must give {wrong}. Correct {vote_weights!r}.")
    return _without_overflow(weights)


def _without_overflow(weights: NDArray[Any]) -> NDArray[Any]:
    """Return weights whose sums neither overflow nor vanish, divided by a power of two if not."""
    most, is_float = weights.max(), weights.dtype.kind == "f"
    least, end = (1 / _LARGE, _LARGE) if is_float else (0, _WHOLE_IN_A_DOUBLE / len(weights))
    if least < most < end:
        return weights
    scaled: Floats = np.ldexp(weights.astype(np.float64), -np.frexp(most)[1])
    return scaled
