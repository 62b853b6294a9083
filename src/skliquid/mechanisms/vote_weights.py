"""Vote weights: the weight of each representative in the vote of the ensemble."""

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.running_averages import RunningAverage
from skliquid.delegation.storable import storable

VoteWeights: TypeAlias = Callable[[DelegationGraph, RunningAverage, int], NDArray[Any]]
"""A function that returns one number per representative: zero or more, not zero for all."""

_MIN_LOG_ODDS = 1e-6
_MAX_INTEGER, _MAX_FLOAT = 2**53, 1e200


@storable
def delegated(graph: DelegationGraph, accuracy: RunningAverage, n_classes: int = 2) -> NDArray[Any]:
    """Return the votes that each representative carries: the paper's w."""
    return graph.weights[graph.representatives]


@storable
def equal(graph: DelegationGraph, accuracy: RunningAverage, n_classes: int = 2) -> NDArray[Any]:
    """Return one vote for each representative."""
    return np.ones(len(graph.representatives), dtype=np.int64)


@storable
def log_odds(graph: DelegationGraph, accuracy: RunningAverage, n_classes: int = 2) -> Floats:
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
    weights: Floats = np.maximum(np.log(p / (1 - p)) + np.log(n_classes - 1), _MIN_LOG_ODDS)
    return weights


@storable
def delegated_log_odds(
    graph: DelegationGraph, accuracy: RunningAverage, n_classes: int = 2
) -> Floats:
    """Return the product of the votes carried and the log-odds."""
    return delegated(graph, accuracy) * log_odds(graph, accuracy, n_classes)


VOTE_WEIGHTS: dict[str, VoteWeights] = {
    "delegated": delegated,
    "equal": equal,
    "log_odds": log_odds,
    "delegated_log_odds": delegated_log_odds,
}


def as_vote_weights(vote_weights: str | VoteWeights) -> VoteWeights:
    """Return the function that a name or a function stands for."""
    if isinstance(vote_weights, str):
        if vote_weights in VOTE_WEIGHTS:
            return VOTE_WEIGHTS[vote_weights]
        raise ValueError(
            f"vote_weights must be one of auto, {', '.join(VOTE_WEIGHTS)}, or a function: got "
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
    vote_weights: str | VoteWeights,
    graph: DelegationGraph,
    accuracy: RunningAverage,
    n_classes: int,
) -> NDArray[Any]:
    """Return the vote weights, after checks of a user's function."""
    weights = as_vote_weights(vote_weights)(graph, accuracy, n_classes)
    n = len(graph.representatives)
    return check_weights(weights, n, "vote_weights", vote_weights, of="representative")


def check_weights(weights: Any, n: int, name: str, function: Any, *, of: str) -> NDArray[Any]:
    """Return the weights that a user's ``function`` gave ``n`` voters, after checking them."""
    weights = np.asarray(weights)
    weights = weights.astype(np.float64) if weights.dtype.kind == "f" else weights
    wrong = None
    if weights.shape != (n,):
        wrong = f"one number for each of {n} {of}s, got shape {weights.shape}"
    elif weights.dtype.kind not in "fiub":
        wrong = f"numbers, got {weights.dtype}"
    elif not np.isfinite(weights).all() or weights.min() < 0:
        wrong = f"finite numbers of zero or more, got {weights.tolist()}"
    elif not weights.any():
        wrong = f"a positive number for some {of}, got zero for all"
    if wrong:
        raise ValueError(f"{name} must give {wrong}. Correct {function!r}.")
    return _without_overflow(weights)


def _without_overflow(weights: NDArray[Any]) -> NDArray[Any]:
    """Return the weights, divided by a power of two if their sum would overflow or vanish.

    A user's function may return any finite numbers, as
    ``test_an_ensemble_with_huge_vote_weights_gives_probabilities`` shows.
    """
    largest, is_float = weights.max(), weights.dtype.kind == "f"
    low, high = (1 / _MAX_FLOAT, _MAX_FLOAT) if is_float else (0, _MAX_INTEGER / len(weights))
    if low < largest < high:
        return weights
    scaled: Floats = np.ldexp(weights.astype(np.float64), -np.frexp(largest)[1])
    return scaled
