"""Theory: the paper's formulas for the harm of delegation and for training cost."""

import itertools
import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skliquid import presets
from skliquid.delegation.record import TrainingCost
from skliquid.mechanisms.schedules import Rate, Schedule, as_schedule, asks_again, n_asked
from skliquid.validation.checks import check_count, check_n_final, check_number

# Chance of harm from delegation (Section 4). The matrix P has one row per voter and one column per
# example; p_ij is 1 where voter i is correct on example j.


def quota(n: int) -> int:
    r"""Return how many of ``n`` voters of equal weight must be correct for the group to be.

    .. math:: \lceil n / 2 \rceil
    """
    return math.ceil(n / 2)


def pivotal_examples(correct: ArrayLike) -> NDArray[np.bool_]:
    r"""Return which examples the group classifies correctly by the smallest margin.

    .. math:: \sum_{i=1}^{n} p_{ij} = \left\lceil \frac{n}{2} \right\rceil

    Examples
    --------
    >>> pivotal_examples([[1, 1], [1, 1], [0, 1]]).tolist()
    [True, False]
    """
    correct = _vote_matrix(correct)
    pivotal: NDArray[np.bool_] = correct.sum(axis=0) == quota(len(correct))
    return pivotal


def pivotal_voters(correct: ArrayLike) -> NDArray[np.bool_]:
    """Return, per voter and example, whether the voter is correct on a pivotal example."""
    return _vote_matrix(correct) & pivotal_examples(correct)


def incorrect_pivotal_voters(correct: ArrayLike) -> NDArray[np.bool_]:
    r"""Return, per voter and example, whether the voter is wrong where one vote is missing.

    .. math:: p_{ij} = 0, \quad \sum_{i=1}^{n} p_{ij} = \left\lceil \frac{n}{2} \right\rceil - 1
    """
    correct = _vote_matrix(correct)
    misses_one: NDArray[np.bool_] = correct.sum(axis=0) == quota(len(correct)) - 1
    return ~correct & misses_one


def group_accuracy(correct: ArrayLike, weights: ArrayLike | None = None) -> float:
    r"""Return the share of examples on which the correct voters carry the quota.

    .. math:: \frac{1}{m} \sum_{j=1}^{m}
        \left[ \sum_i w_i p_{ij} \geq \left\lceil \tfrac{1}{2} \sum_i w_i \right\rceil \right]
    """
    correct = _vote_matrix(correct)
    weights = np.ones(len(correct), dtype=np.intp) if weights is None else np.asarray(weights)
    are_votes = weights.shape == (len(correct),) and weights.dtype.kind in "iu"
    if not are_votes or weights.min() < 0 or not weights.any():
        raise ValueError(
            f"weights must hold a whole number of votes for each of {len(correct)} voters, zero or "
            f"more and not all zero: got {weights.tolist()}. Give delegators 0, and their gurus "
            "the votes they carry."
        )
    return float(np.mean(weights @ correct >= quota(int(weights.sum()))))


def every_delegation_harms(correct: ArrayLike) -> bool:
    """Return whether every single delegation lowers the group's accuracy, by trying them all.

    By Lemma 1 this requires that every voter is pivotal on at least one example.
    """
    correct = _vote_matrix(correct)
    n = len(correct)
    before = group_accuracy(correct)
    for delegator_and_delegate in itertools.permutations(range(n), 2):
        weights = np.ones(n, dtype=np.intp)
        weights[list(delegator_and_delegate)] = 0, 2
        if group_accuracy(correct, weights) >= before:
            return False
    return n > 1


def pivotal_states(n: int, m: int) -> int:
    r"""Return in how many ways pivotal examples can be classified with every voter pivotal.

    It is the loose upper bound of Theorem 1:

    .. math:: s_{n, m}^\text{pivotal} = \sum_{m_p=2}^{m} \binom{n}{\lceil n/2 \rceil}^{m_p}
    """
    n, m = check_count("n", n), check_count("m", m, least=2)
    return _sum_of_powers(math.comb(n, quota(n)), m)


def total_states(n: int, m: int) -> int:
    r"""Return in how many ways the same examples can be classified.

    .. math:: s_{n, m}^\text{total} = \sum_{m_p=2}^{m} 2^{n m_p}
    """
    n, m = check_count("n", n), check_count("m", m, least=2)
    return _sum_of_powers(2**n, m)


def harmful_state_fraction(n: int, m: int) -> float:
    r"""Return the paper's bound on the fraction of states where every single delegation harms.

    .. math:: s_{n, m}^\text{pivotal} / s_{n, m}^\text{total}

    Both are exact integers; only their ratio is rounded. It compares pivotal columns alone;
    ``docs/reproduction.md`` shows that, of whole states, the fraction is larger.

    Examples
    --------
    >>> f"{harmful_state_fraction(11, 21):.1e}"
    '2.6e-14'
    """
    n, m = check_count("n", n), check_count("m", m, least=2)
    pivotal = math.comb(n, quota(n))
    halvings = n - (pivotal - 1).bit_length()  # pivotal is at most 2^(n - halvings)
    # pivotal^m is the largest of m - 1 powers, so the fraction is below m / 2^(halvings m)
    if halvings * m - m.bit_length() >= 1075:  # half the smallest float is 2^-1075
        return 0.0
    return pivotal_states(n, m) / total_states(n, m)


def _sum_of_powers(base: int, m: int) -> int:
    """Return the geometric series base^2 + ... + base^m."""
    return m - 1 if base == 1 else (base ** (m + 1) - base**2) // (base - 1)


# Ensemble training cost (Section 5)


def n_increments(n: int, n_final: int, rate: float) -> float:
    r"""Return the paper's z: increments until ``n_final`` of ``n`` voters are left.

    .. math:: z = \frac{\log(n^\text{final} / n)}{\log r}, \quad r = 1 - \text{rate}

    Examples
    --------
    >>> round(n_increments(350, 10, 0.2), 2)
    15.93
    """
    check_n_final(n_final, n, limit="n")
    check_number("rate", rate, "above 0 and below 1", lambda rate: 0 < rate < 1, like=0.05)
    return math.log(n_final / n) / math.log(1 - rate) if n > n_final else 0.0


def delegation_cost(n: int, n_final: int, rate: float, increment_size: int = 1) -> float:
    r"""Return the paper's lower bound on the sample visits of the increments.

    .. math:: \sum_{i=0}^{z} u n r^i = u n \frac{1 - r^{z + 1}}{1 - r}, \quad r = 1 - \text{rate}

    Examples
    --------
    >>> round(delegation_cost(350, 10, 0.2), 6)
    1710.0
    """
    z = n_increments(n, n_final, rate)
    increment_size = check_count("increment_size", increment_size)
    return increment_size * n * (1 - math.pow(1 - rate, z + 1)) / rate


def expected_training_cost(
    n_samples: int,
    *,
    n_estimators: int = 24,
    n_final: int = 5,
    delegation_rate: float | Rate | Schedule | Literal["auto"] = "auto",
    increment_size: int | Literal["auto"] = "auto",
    final_fit: bool = True,
    n_passes: float = 1,
) -> TrainingCost:
    r"""Return the expected training cost of ``LiquidEnsembleClassifier.fit``.

    .. math:: TC = \sum_t u_t \, |G_t(V)| + \sum_{v_i \in V^\text{final}} m e_i

    for increments of :math:`u_t` rows and :math:`G_t(V)`, the representatives at increment t.
    Parameters and their defaults are those of the ensemble, on ``n_samples`` rows; a rate of 0 is
    Direct. ``n_passes`` is the paper's e, how often a voter goes over the data in its final fit:
    ``n_iter_`` of a voter fitted on similar data, 1 for a tree.

    The cost is exact when voters have ``partial_fit``, every delegator has a better candidate (with
    ``competence="training"``), and ``n_passes`` is right. Where voters stay representatives for
    lack of a better candidate, training costs more.

    Examples
    --------
    >>> cost = expected_training_cost(
    ...     2300, n_estimators=350, n_final=10, delegation_rate=0.2, n_passes=20
    ... )
    >>> cost, cost.total
    (TrainingCost(increments=79626, final_fit=460000), 539626)
    """
    check_n_final(n_final, n_estimators, limit="n_estimators")
    check_number("n_passes", n_passes, "zero or more", lambda n: 0 <= n < math.inf, like=1)
    if increment_size != "auto":
        check_count("increment_size", increment_size)
    cuts = presets.increments(check_count("n_samples", n_samples), increment_size)
    last = len(cuts)
    schedule = as_schedule(
        delegation_rate, n_voters=n_estimators, n_final=n_final, n_increments=last
    )
    visits, left = 0, n_estimators
    for t, cut in enumerate(cuts, start=1):
        visits += left * (cut.stop - cut.start)
        left -= n_asked(schedule, t, left, n_final)
        if final_fit and not asks_again(schedule, range(t + 1, last + 1), left, n_final):
            break
    return TrainingCost(visits, round(left * n_passes * n_samples) if final_fit else 0)


def _vote_matrix(correct: ArrayLike) -> NDArray[np.bool_]:
    matrix: NDArray[Any] = np.asarray(correct)
    if matrix.ndim != 2 or matrix.size == 0 or not np.isin(matrix, (0, 1)).all():
        raise ValueError(
            "correct must be a matrix of zeros and ones, one row per voter and one column per "
            f"example: got {correct!r}. Give at least one of each."
        )
    return matrix.astype(bool)
