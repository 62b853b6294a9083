"""Each method beside a transcription of its formula in plain loops."""

import math

import numpy as np
import pytest

from skliquid.pruning_methods import PRUNING_METHODS, drep, l1, margin_distance


def answers(seed, n_voters=12, n_rows=40, n_classes=3):
    """Return probabilities of voters that are better than chance, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    p = (
        rng.random((n_voters, n_rows, n_classes))
        + rng.random((n_voters, 1, 1)) * np.eye(n_classes)[y]
    )
    return p / p.sum(axis=2, keepdims=True), y


def vote(p, i, j):
    return max(range(p.shape[2]), key=lambda c: (p[i, j, c], -c))


def majority(p, group, j):
    counts = [sum(vote(p, i, j) == c for i in group) for c in range(p.shape[2])]
    return counts.index(max(counts))


def error_of(p, y, group):
    return sum(majority(p, group, j) != y[j] for j in range(len(y)))


def one_by_one(p, n_final, loss):
    """Return the voters, of which each has the lowest loss beside those before."""
    chosen = []
    while len(chosen) < n_final:
        others = [i for i in range(len(p)) if i not in chosen]
        chosen.append(min(others, key=lambda i: (loss(i, chosen), i)))
    return chosen


def greedy(p, y, n_final):
    chosen = []
    for k in range(1, n_final + 1):

        def loss(i, k=k):
            total = 0.0
            for j in range(len(y)):
                for c in range(p.shape[2]):
                    mean = (p[i, j, c] + sum(p[s, j, c] for s in chosen)) / k
                    total += ((y[j] == c) - mean) ** 2
            return total

        chosen.append(min(range(len(p)), key=loss))
    return chosen


def reduced_error(p, y, n_final):
    return one_by_one(p, n_final, lambda i, chosen: error_of(p, y, [*chosen, i]))


def complementariness(p, y, n_final):
    def loss(i, chosen):
        corrected = 0
        for j in range(len(y)):
            is_wrong = not chosen or majority(p, chosen, j) != y[j]
            corrected += vote(p, i, j) == y[j] and is_wrong
        return -corrected

    return one_by_one(p, n_final, loss)


def signature(p, y, i):
    return [1 if vote(p, i, j) == y[j] else -1 for j in range(len(y))]


def margin_distances(p, y, n_final):
    signatures = [signature(p, y, i) for i in range(len(p))]

    def loss(i, chosen):
        total = 0.0
        for j in range(len(y)):
            margin = (signatures[i][j] + sum(signatures[s][j] for s in chosen)) / len(p)
            total += (0.075 - margin) ** 2
        return round(total, 9)

    return one_by_one(p, n_final, loss)


def orientation(p, y, n_final):
    signatures = [signature(p, y, i) for i in range(len(p))]
    mean = [sum(column) / len(p) for column in zip(*signatures, strict=True)]
    factor = sum(mean) / sum(m * m for m in mean)
    reference = [1 - factor * m for m in mean]

    def angle(i):
        product = sum(a * b for a, b in zip(signatures[i], reference, strict=True))
        length = math.sqrt(len(y)) * math.sqrt(sum(r * r for r in reference))
        return round(math.acos(product / length), 9), i

    return sorted(range(len(p)), key=angle)[:n_final]


def drep_with(rho):
    def method(p, y, n_final):
        chosen = []
        while len(chosen) < n_final:
            others = [i for i in range(len(p)) if i not in chosen]
            if chosen:

                def agreement(i):
                    return sum(vote(p, i, j) == majority(p, chosen, j) for j in range(len(y)))

                others = sorted(others, key=agreement)[: math.ceil(rho * len(others))]
            chosen.append(min(sorted(others), key=lambda i: error_of(p, y, [*chosen, i])))
        return chosen

    return method


def individual_error(p, y, n_final):
    return sorted(range(len(p)), key=lambda i: error_of(p, y, [i]))[:n_final]


def kappa(p, y, n_final):
    n, classes = len(y), range(p.shape[2])

    def kappa_of(pair):
        first, second = ([vote(p, i, j) for j in range(n)] for i in pair)
        agreement = sum(a == b for a, b in zip(first, second, strict=True)) / n
        chance = sum(first.count(c) / n * second.count(c) / n for c in classes)
        return (agreement - chance) / (1 - chance)

    pairs = [(i, k) for i in range(len(p)) for k in range(i + 1, len(p))]
    chosen = []
    for pair in sorted(pairs, key=kappa_of):
        chosen += [i for i in pair if i not in chosen and len(chosen) < n_final]
    return chosen[:n_final]


TRANSCRIPTIONS = {
    "greedy": greedy,
    "reduced_error": reduced_error,
    "complementariness": complementariness,
    "margin_distance": margin_distances,
    "orientation": orientation,
    "drep": drep_with(0.4),
    "individual_error": individual_error,
    "kappa": kappa,
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", TRANSCRIPTIONS)
def test_a_method_is_its_published_formula(name, seed, n_classes):
    p, y = answers(seed, n_classes=n_classes)
    for n_final in (1, 4, 11):
        chosen = TRANSCRIPTIONS[name](p, y, n_final)
        votes = PRUNING_METHODS[name](p, y, n_final)
        assert votes.tolist() == [chosen.count(i) for i in range(len(p))]


def test_every_method_but_l1_has_a_transcription():
    assert {*TRANSCRIPTIONS, "l1"} == set(PRUNING_METHODS)


def lasso(p, y, penalty):
    """Return the votes by coordinate descent, one voter after the other."""
    label = np.eye(p.shape[2])[y]
    votes = [0.0] * len(p)
    for _ in range(3000):
        for i in range(len(p)):
            others = sum(votes[k] * p[k] for k in range(len(p)) if k != i)
            slope = np.sum(p[i] * (label - others)) - penalty
            votes[i] = max(slope, 0.0) / np.sum(p[i] ** 2)
    return np.array(votes)


@pytest.mark.parametrize("seed", range(2))
def test_l1_votes_minimize_the_penalized_brier_score(seed):
    p, y = answers(seed, n_voters=6)
    label = np.eye(3)[y]
    for n_final in (1, 2, 3):
        found = l1(p, y, n_final)
        slopes = [np.sum(p[i] * (label - np.einsum("v,vnc->nc", found, p))) for i in range(6)]
        penalty = max(slopes)
        assert np.allclose(lasso(p, y, penalty), found, atol=1e-6)
        assert 1 <= np.count_nonzero(found) <= n_final
        if np.count_nonzero(lasso(p, y, 0.0)) > n_final:
            assert np.count_nonzero(lasso(p, y, 0.98 * penalty) > 1e-9) > n_final


def test_l1_keeps_one_of_two_equal_voters():
    p, y = answers(0, n_voters=6)
    assert np.count_nonzero(l1(np.concatenate([p, p]), y, 12)) <= 6


def test_parameters_of_methods_count():
    p, y = answers(1)
    for rho in (0.2, 1.0):
        votes = drep(p, y, 5, rho=rho)
        assert np.flatnonzero(votes).tolist() == sorted(drep_with(rho)(p, y, 5))
    assert np.array_equal(drep(p, y, 5, rho=1.0), PRUNING_METHODS["reduced_error"](p, y, 5))
    assert not np.array_equal(margin_distance(p, y, 5, margin=2.0), margin_distance(p, y, 5))


def test_voters_that_all_agree_are_chosen_in_order():
    p, y = np.tile([0.0, 1.0], (4, 10, 1)), np.ones(10, dtype=int)
    for name, method in PRUNING_METHODS.items():
        votes = method(p, y, 1)
        assert np.flatnonzero(votes).tolist() == [0], name
    for method in PRUNING_METHODS.values():
        assert np.count_nonzero(method(p[:1], y, 1)) == 1
