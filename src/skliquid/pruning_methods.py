r"""Pruning methods: classical ways to choose voters from a fitted ensemble, beside delegation.

A method is a function ``method(probabilities, y, n_final)``. It gets the class probabilities of all
voters, of shape (n_voters, n_rows, n_classes), the labels as positions of classes, and the number
of voters to keep. It returns one number per voter: its votes, zero where it is left out; at most
``n_final`` are positive. :func:`~skliquid.prune` gives it the voters in random order, so that ties,
which go to the first voter, are broken by ``random_state``. With hard votes, probabilities are one
for the class that a voter votes for, and zero for the others.

Below, :math:`h_i(x_j)` is the vote of voter i, of M, on row j, of N; :math:`p_{ij}` are its class
probabilities, :math:`y_j` is the label, and :math:`e_j` the label as a vector. :math:`H_S` is the
majority vote of the voters in S. Its ties go to the first class.
"""

import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram

from skliquid.delegation.arrays import Floats, Labels
from skliquid.delegation.storable import storable
from skliquid.delegation.votes import most_probable, one_hot
from skliquid.mechanisms.vote_weights import check_weights

PruningMethod: TypeAlias = Callable[[Floats, Labels, int], NDArray[Any]]
"""A function ``method(probabilities, y, n_final)`` that returns the votes of each voter."""


@storable
def greedy(probabilities: Floats, y: Labels, n_final: int) -> NDArray[np.intp]:
    r"""Return votes by greedy selection with replacement, for the lowest Brier score.

    In step k, the voter is chosen, perhaps not for the first time, that minimizes

    .. math:: \sum_j \left| e_j - \frac1k \left( p_{ij} + \sum_{s \in S} p_{sj} \right) \right|^2

    S are the voters chosen so far. After ``n_final`` steps, each voter has a vote for each time
    that it was chosen, so fewer than ``n_final`` voters may be left.

    Reference: Caruana, Niculescu-Mizil, Crew and Ksikes, *Ensemble selection from libraries of
    models*, ICML 2004.
    """
    label = np.eye(probabilities.shape[2])[y]
    squares = np.einsum("vnc,vnc->v", probabilities, probabilities)
    chosen: list[int] = []
    for k in range(1, n_final + 1):
        rest = k * label - probabilities[chosen].sum(axis=0)
        chosen.append(int(np.argmin(squares - 2 * np.einsum("vnc,nc->v", probabilities, rest))))
    return np.bincount(chosen, minlength=len(probabilities))


@storable
def reduced_error(probabilities: Floats, y: Labels, n_final: int) -> NDArray[np.intp]:
    r"""Return one vote for each voter of a group that grows by the lowest error.

    In each step, the voter joins the group S that minimizes the error of the majority vote

    .. math:: \frac1N \sum_j [H_{S \cup \{i\}}(x_j) \neq y_j]

    Reference: Margineantu and Dietterich, *Pruning adaptive boosting*, ICML 1997, without
    backfitting.
    """
    votes = one_hot(most_probable(probabilities), probabilities.shape[2])

    def n_right(chosen: list[int]) -> Any:
        counts = votes[chosen].sum(axis=0)
        return [np.sum((counts + own).argmax(axis=1) == y) for own in votes]

    return _one_by_one(n_right, len(votes), n_final)


@storable
def complementariness(probabilities: Floats, y: Labels, n_final: int) -> NDArray[np.intp]:
    r"""Return one vote for each voter of a group that grows by voters that correct it.

    In each step, the voter joins the group S that is right on most rows on which S is wrong:

    .. math:: \sum_j [h_i(x_j) = y_j \text{ and } H_S(x_j) \neq y_j]

    The first voter is the most accurate.

    Reference: Martínez-Muñoz and Suárez, *Aggregation ordering in bagging*, AIA 2004.
    """
    votes = one_hot(most_probable(probabilities), probabilities.shape[2])
    is_right = most_probable(probabilities) == y

    def n_corrected(chosen: list[int]) -> Any:
        is_wrong = votes[chosen].sum(axis=0).argmax(axis=1) != y
        return (is_right & (is_wrong | (not chosen))).sum(axis=1)

    return _one_by_one(n_corrected, len(votes), n_final)


@storable
def margin_distance(
    probabilities: Floats, y: Labels, n_final: int, *, margin: float = 0.075
) -> NDArray[np.intp]:
    r"""Return one vote for each voter of a group that grows towards a small margin on all rows.

    The signature of a voter is :math:`c_{ij} = 1` where it is right, and -1 where it is wrong. In
    each step, the voter joins the group S that minimizes the distance from the margin o = 0.075:

    .. math:: \sum_j \left( o - \frac1M \left( c_{ij} + \sum_{s \in S} c_{sj} \right) \right)^2

    Reference: Martínez-Muñoz and Suárez, *Aggregation ordering in bagging*, AIA 2004; the margin is
    that of Martínez-Muñoz, Hernández-Lobato and Suárez, *An analysis of ensemble pruning techniques
    based on ordered aggregation*, TPAMI 2009.
    """
    signatures = _signatures(probabilities, y)

    def nearness(chosen: list[int]) -> Any:
        margins = (signatures + signatures[chosen].sum(axis=0)) / len(signatures)
        return -np.square(margin - margins).sum(axis=1)

    return _one_by_one(nearness, len(signatures), n_final)


@storable
def orientation(probabilities: Floats, y: Labels, n_final: int) -> NDArray[np.intp]:
    r"""Return one vote for each voter whose signature is nearest to a direction.

    With the signatures :math:`c_i` as in :func:`margin_distance`, their mean c, and a vector 1 of
    ones, voters are ordered by the angle between :math:`c_i` and

    .. math:: c_\text{ref} = 1 - \frac{1 \cdot c}{c \cdot c} \, c

    the part of 1 that is orthogonal to c: voters come first that are right where the group is not.

    Reference: Martínez-Muñoz and Suárez, *Pruning in ordered bagging ensembles*, ICML 2006.
    """
    signatures = _signatures(probabilities, y)
    mean = signatures.mean(axis=0)
    reference = 1 - mean.sum() / (mean @ mean or 1.0) * mean
    return _first(signatures @ reference, n_final)  # all signatures have the same length


@storable
def drep(probabilities: Floats, y: Labels, n_final: int, *, rho: float = 0.4) -> NDArray[np.intp]:
    r"""Return one vote for each voter of a group that grows by error among different voters.

    The first voter is the most accurate. In each further step, the others are ordered by how often
    they agree with the group S,

    .. math:: \frac1N \sum_j [h_i(x_j) = H_S(x_j)]

    and of the share ``rho`` that agrees least, the voter joins that minimizes the error of the
    majority vote, as in :func:`reduced_error`. The paper stops when that error no longer
    decreases; here, ``n_final`` voters are chosen.

    Reference: Li, Yu and Zhou, *Diversity regularized ensemble pruning*, ECML PKDD 2012, who choose
    ``rho`` between 0.2 and 0.5.
    """
    classes = most_probable(probabilities)
    votes = one_hot(classes, probabilities.shape[2])

    def n_right(chosen: list[int]) -> Any:
        counts, candidates = votes[chosen].sum(axis=0), np.arange(len(votes))
        if chosen:
            agreement = (classes == counts.argmax(axis=1)).sum(axis=1)
            others = np.setdiff1d(candidates, chosen)
            ordered = others[np.argsort(agreement[others], kind="stable")]
            candidates = ordered[: int(np.ceil(rho * len(others)))]
        scores = np.full(len(votes), -1)
        for voter in candidates.tolist():
            scores[voter] = np.sum((counts + votes[voter]).argmax(axis=1) == y)
        return scores

    return _one_by_one(n_right, len(votes), n_final)


@storable
def individual_error(probabilities: Floats, y: Labels, n_final: int) -> NDArray[np.intp]:
    r"""Return one vote for each of the voters with the lowest error.

    .. math:: \frac1N \sum_j [h_i(x_j) \neq y_j]

    Reference: the ranking-based methods of Tsoumakas, Partalas and Vlahavas, *An ensemble pruning
    primer*, 2009.
    """
    return _first((most_probable(probabilities) == y).sum(axis=1), n_final)


@storable
def kappa(probabilities: Floats, y: Labels, n_final: int) -> NDArray[np.intp]:  # noqa: ARG001
    r"""Return one vote for each voter of the pairs that agree least beyond chance.

    Pairs are taken by their :math:`\kappa`, the lowest first, until ``n_final`` voters are chosen:

    .. math:: \kappa_{ij} = \frac{\Theta_1 - \Theta_2}{1 - \Theta_2}, \quad
        \Theta_1 = \frac1N \sum_k [h_i(x_k) = h_j(x_k)], \quad \Theta_2 = \sum_c q_{ic} \, q_{jc}

    :math:`q_{ic}` is the share of rows on which voter i votes for class c. Labels do not count.

    Reference: Margineantu and Dietterich, *Pruning adaptive boosting*, ICML 1997.
    """
    votes = one_hot(most_probable(probabilities), probabilities.shape[2])
    flat, shares = votes.reshape(len(votes), -1), votes.mean(axis=1)
    agreement, chance = flat @ flat.T / votes.shape[1], shares @ shares.T
    below = chance < 1  # else both vote for one class throughout
    kappas = np.where(below, (agreement - chance) / np.where(below, 1 - chance, 1), 1)
    pairs = np.stack(np.triu_indices(len(votes), 1), axis=1)
    order = np.argsort(kappas[pairs[:, 0], pairs[:, 1]], kind="stable")
    chosen = list(dict.fromkeys([*pairs[order].ravel().tolist(), 0]))  # 0: where there is one voter
    return np.bincount(chosen[:n_final], minlength=len(votes))


@storable
def l1(probabilities: Floats, y: Labels, n_final: int) -> Floats:
    r"""Return votes that minimize the Brier score with an L1 penalty, none of them negative.

    .. math:: \min_{w \ge 0} \; \frac{1}{2} \sum_j \left| e_j - \sum_i w_i \, p_{ij} \right|^2 +
        \lambda \sum_i w_i

    :math:`\lambda` is the smallest on the path of least angle regression, which begins without
    votes, before more than ``n_final`` are positive.

    Reference: Breiman, *Stacked regressions*, Machine Learning 1996, with the penalty of
    Tibshirani, *Regression shrinkage and selection via the lasso*, JRSS B 1996.
    """
    flat = probabilities.reshape(len(probabilities), -1).astype(np.float64)
    label = np.eye(probabilities.shape[2])[y].ravel()
    gram, products = flat @ flat.T, flat @ label
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of two equal voters, one is left out
        _, _, path = lars_path_gram(
            products, gram, n_samples=len(label), method="lasso", positive=True
        )
    n_positive = (path > 0).sum(axis=0)
    n_points = int(np.argmax(n_positive > n_final)) or len(n_positive)
    votes: Floats = np.maximum(path[:, n_points - 1], 0)
    return votes


PRUNING_METHODS: dict[str, PruningMethod] = {
    "greedy": greedy,
    "reduced_error": reduced_error,
    "complementariness": complementariness,
    "margin_distance": margin_distance,
    "orientation": orientation,
    "drep": drep,
    "individual_error": individual_error,
    "kappa": kappa,
    "l1": l1,
}
"""Methods by name, for the parameter ``method`` of :func:`~skliquid.prune`."""


def as_pruning_method(method: str | PruningMethod) -> PruningMethod:
    """Return the function that a name or a function stands for."""
    return PRUNING_METHODS[method] if isinstance(method, str) else method


def checked_votes(votes: Any, method: PruningMethod, n_voters: int, n_final: int) -> NDArray[Any]:
    """Return the votes that a method gave, after checks of a user's function."""
    checked = check_weights(votes, n_voters, "method", method, of="voter")
    n_positive = np.count_nonzero(checked)
    if n_positive > n_final:
        raise ValueError(
            f"method must give votes to at most n_final={n_final} voters: got votes for "
            f"{n_positive}. Correct {method!r}."
        )
    return checked


def _signatures(probabilities: Floats, y: Labels) -> Floats:
    """Return 1 where a voter is right, and -1 where it is wrong."""
    signatures: Floats = np.where(most_probable(probabilities) == y, 1.0, -1.0)
    return signatures


def _first(scores: NDArray[Any], n_final: int) -> NDArray[np.intp]:
    """Return one vote for each of the voters with the highest scores."""
    return np.bincount(np.argsort(-scores, kind="stable")[:n_final], minlength=len(scores))


def _one_by_one(
    criterion: Callable[[list[int]], Any], n_voters: int, n_final: int
) -> NDArray[np.intp]:
    """Return one vote for each voter that was added because its score was the highest."""
    chosen: list[int] = []
    for _ in range(n_final):
        scores = np.asarray(criterion(chosen), dtype=np.float64)
        scores[chosen] = -np.inf
        chosen.append(int(scores.argmax()))
    return np.bincount(chosen, minlength=n_voters)
