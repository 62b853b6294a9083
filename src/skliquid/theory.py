"""The paper's formulas: how often delegation must harm, and what training costs."""

import math
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skliquid.increments import slices
from skliquid.record import TrainingCost
from skliquid.schedules import Rate, Schedule, as_schedule, asks_again, n_asked

# Chance of harm from delegation (Section 4). A vote matrix has a row a voter and a column an
# example, and is true where the voter is right on the example.


def quota(n: int) -> int:
    """Return how many of ``n`` equal voters must be right for the group to be right."""
    return math.ceil(n / 2)


def pivotal_examples(correct: ArrayLike) -> NDArray[np.bool_]:
    """Return which examples the group gets right by the smallest margin.

    Examples
    --------
    >>> pivotal_examples([[1, 1], [1, 1], [0, 1]]).tolist()
    [True, False]
    """
    correct = _vote_matrix(correct)
    pivotal: NDArray[np.bool_] = correct.sum(axis=0) == quota(len(correct))
    return pivotal


def pivotal_voters(correct: ArrayLike) -> NDArray[np.bool_]:
    """Return, for each voter and example, whether the voter is pivotal on it: right, as needed."""
    return _vote_matrix(correct) & pivotal_examples(correct)


def incorrect_pivotal_voters(correct: ArrayLike) -> NDArray[np.bool_]:
    """Return, for each voter and example, whether one more right vote, this one's, is lacking."""
    correct = _vote_matrix(correct)
    lacking: NDArray[np.bool_] = correct.sum(axis=0) == quota(len(correct)) - 1
    return ~correct & lacking


def group_accuracy(correct: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Return the share of examples on which the voters that are right carry the quota."""
    correct = _vote_matrix(correct)
    weights = np.ones(len(correct), dtype=np.intp) if weights is None else np.asarray(weights)
    if weights.shape != (len(correct),) or weights.dtype.kind not in "iu":
        raise ValueError(
            f"weights must hold a whole number of votes for each of {len(correct)} voters: got "
            f"{weights.tolist()}. Give one integer a voter."
        )
    if weights.min() < 0 or not weights.any():
        raise ValueError(
            f"weights must be zero or more, and not all zero: got {weights.tolist()}. Give those "
            "who delegate 0 and their gurus what they carry."
        )
    return float(np.mean(weights @ correct >= quota(int(weights.sum()))))


def every_delegation_harms(correct: ArrayLike) -> bool:
    """Return whether any one voter's delegation to any other lowers the group's accuracy.

    This tries them all. Lemma 1 says that it can only be so when every voter is pivotal on
    some example.
    """
    correct = _vote_matrix(correct)
    n = len(correct)
    before = group_accuracy(correct)
    for delegator in range(n):
        for other in range(n):
            weights = np.ones(n, dtype=np.intp)
            weights[[delegator, other]] = 0, 2
            if delegator != other and group_accuracy(correct, weights) >= before:
                return False
    return n > 1


def pivotal_states(n: int, m: int) -> int:
    """Return the paper's s^pivotal: ways to vote on pivotal examples, every voter being pivotal.

    It is a loose upper bound, as in Theorem 1: the sum of C(n, ceil(n / 2))^k for k = 2..m.
    """
    n, m = _count("n", n), _count("m", m, least=2)
    return _sum_of_powers(math.comb(n, quota(n)), m)


def total_states(n: int, m: int) -> int:
    """Return the paper's s^total: ways to vote on the same examples, the sum of 2^(n k)."""
    n, m = _count("n", n), _count("m", m, least=2)
    return _sum_of_powers(2**n, m)


def harmful_state_fraction(n: int, m: int) -> float:
    """Return the paper's bound on the fraction of states where any one delegation harms.

    It is :func:`pivotal_states` by :func:`total_states`. Both are exact integers; only their ratio
    is rounded, to 0.0 where it is nearer to it than to any other float. It compares pivotal columns
    alone; ``docs/findings.md`` shows that, of whole states, the fraction is larger.

    Examples
    --------
    >>> f"{harmful_state_fraction(11, 21):.1e}"
    '2.6e-14'
    """
    n, m = _count("n", n), _count("m", m, least=2)
    pivotal = math.comb(n, quota(n))
    halvings = n - (pivotal - 1).bit_length()  # pivotal is at most 2^n, halved so often
    # pivotal^m is the largest of m - 1 powers, so the fraction is below m / 2^(halvings m)
    if halvings * m - m.bit_length() >= 1075:  # half the smallest float is 2^-1075
        return 0.0
    return pivotal_states(n, m) / total_states(n, m)


def _sum_of_powers(base: int, m: int) -> int:
    """Return base^2 + ... + base^m, a geometric series."""
    return m - 1 if base == 1 else (base ** (m + 1) - base**2) // (base - 1)


# Ensemble training cost (Section 5)


def n_increments(n: int, n_final: int, rate: float) -> float:
    """Return the paper's z: increments until ``n_final`` of ``n`` voters are left.

    Examples
    --------
    >>> round(n_increments(350, 10, 0.2), 2)
    15.93
    """
    n, n_final = _count("n", n), _count("n_final", n_final)
    _check_n_final(n_final, n, name="n")
    _check_rate(rate)
    return math.log(n_final / n) / math.log(1 - rate) if n > n_final else 0.0


def delegation_cost(n: int, n_final: int, rate: float, increment_size: int = 1) -> float:
    """Return the paper's lower bound on the sample visits of the increments.

    It is u n (1 - r^(z + 1)) / (1 - r), with r = 1 - rate.

    Examples
    --------
    >>> round(delegation_cost(350, 10, 0.2), 6)
    1710.0
    """
    z = n_increments(n, n_final, rate)
    increment_size = _count("increment_size", increment_size)
    return increment_size * n * (1 - math.pow(1 - rate, z + 1)) / rate


def expected_training_cost(
    n_samples: int,
    *,
    n_estimators: int = 80,
    n_final: int = 12,
    delegation_rate: float | Rate | Schedule | Literal["auto"] = "auto",
    increment_size: int | Literal["auto"] = "auto",
    final_fit: Literal["scratch", "warm", "none"] = "scratch",
    n_passes: float = 1,
) -> TrainingCost:
    """Return what ``LiquidEnsembleClassifier.fit`` costs, before it is trained.

    Parameters and their defaults are those of the ensemble, on ``n_samples`` rows; a rate of 0 is
    Direct. ``n_passes`` is how often a voter goes over the data in its final fit, the paper's e:
    ``n_iter_`` of one that was fitted on such data, 1 for a tree.

    The answer is exact when voters learn by increments, everyone asked to delegate has a better one
    to choose (with ``competence="training"``), and ``n_passes`` is right. Where voters have to
    stay, training costs more.

    Examples
    --------
    >>> cost = expected_training_cost(
    ...     2300, n_estimators=350, n_final=10, delegation_rate=0.2, n_passes=20
    ... )
    >>> cost, cost.total
    (TrainingCost(increments=79626, final_fit=460000), 539626)
    """
    _check_plan(final_fit, n_passes)
    n_samples, n_estimators = _count("n_samples", n_samples), _count("n_estimators", n_estimators)
    n_final = _count("n_final", n_final)
    _check_n_final(n_final, n_estimators, name="n_estimators")
    size = increment_size if increment_size == "auto" else _count("increment_size", increment_size)
    cuts = slices(n_samples, size)
    last = len(cuts)
    schedule = as_schedule(
        delegation_rate, n_voters=n_estimators, n_final=n_final, n_increments=last
    )
    visits, left = 0, n_estimators
    for t, cut in enumerate(cuts, start=1):
        visits += left * (cut.stop - cut.start)
        left -= n_asked(schedule, t, left, n_final)
        if final_fit != "none" and not asks_again(schedule, range(t + 1, last + 1), left, n_final):
            break
    return TrainingCost(visits, 0 if final_fit == "none" else round(left * n_passes * n_samples))


def _vote_matrix(correct: ArrayLike) -> NDArray[np.bool_]:
    matrix: NDArray[Any] = np.asarray(correct)
    if matrix.ndim != 2 or matrix.size == 0 or not np.isin(matrix, (0, 1)).all():
        raise ValueError(
            "correct must be a matrix of zeros and ones, a row a voter and a column an example: "
            f"got {correct!r}. Give it at least one of each."
        )
    return matrix.astype(bool)


def _count(name: str, value: object, *, least: int = 1) -> int:
    """Return ``value`` as Python's own integer, which has no largest."""
    if not isinstance(value, Integral) or int(value) < least:
        raise ValueError(
            f"{name} must be a whole number of {least} or more: got {value!r}. "
            f"Give an integer, {least} at the least."
        )
    return int(value)


def _check_n_final(n_final: int, n: int, *, name: str) -> None:
    if n_final > n:
        raise ValueError(
            f"n_final must not exceed {name}: {n_final} representatives cannot remain of {n} "
            f"voters. Lower n_final or raise {name}."
        )


def _check_plan(final_fit: str, n_passes: object) -> None:
    if final_fit not in ("scratch", "warm", "none"):
        raise ValueError(
            f"final_fit must be 'scratch', 'warm' or 'none': {final_fit!r} is none of them. "
            "Choose one of them."
        )
    if not isinstance(n_passes, Real) or not 0 <= float(n_passes) < math.inf:
        raise ValueError(
            f"n_passes must be a number of zero or more: got {n_passes!r}. Give 1 for a tree."
        )


def _check_rate(rate: object) -> None:
    if not isinstance(rate, Real) or not 0 < float(rate) < 1:
        raise ValueError(
            f"rate must be above 0 and below 1: at {rate!r} the number of increments is not "
            "defined. Give a rate like 0.05."
        )
