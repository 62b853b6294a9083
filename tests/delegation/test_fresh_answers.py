from itertools import pairwise

import numpy as np
import pytest

from skliquid.delegation.fresh_answers import FreshAnswers
from skliquid.delegation.rows import Rows


def answers(n_voters=3, n_rows=200, weight=None, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    probabilities = rng.dirichlet(np.ones(3), size=(n_voters, n_rows))
    probabilities[:, np.arange(n_rows), y] += 0.2
    probabilities /= probabilities.sum(axis=2, keepdims=True)
    rows = Rows(np.zeros((n_rows, 1)), y, weight)
    return FreshAnswers(np.arange(n_voters), probabilities, np.ones(n_voters), rows)


def brier(found, voters):
    shares = found.probabilities[voters].mean(axis=0)
    shares[np.arange(found.rows.n_rows), found.rows.y] -= 1
    return np.average((shares**2).sum(axis=1), weights=found.rows.sample_weight)


@pytest.mark.parametrize("n_voters", [2, 3, 5])
@pytest.mark.parametrize("weight", [None, np.linspace(0, 2, 200)], ids=["equal", "weighted"])
def test_a_contribution_is_what_the_group_loses_without_the_voter(weight, n_voters):
    found = answers(n_voters, weight=weight)
    whole = brier(found, list(range(n_voters)))
    for voter in range(n_voters):
        lost = brier(found, [k for k in range(n_voters) if k != voter]) - whole
        assert found.contributions[voter] * 2 / (n_voters - 1) == pytest.approx(lost)


def test_a_voter_alone_has_no_contribution():
    assert np.isnan(answers(n_voters=1).contributions).all()


def test_log_loss_and_accuracy_count_rows_by_their_weights():
    weight = np.repeat([1.0, 0.0], 100)
    found = answers(weight=weight)
    shares, y = found.shares[:100], found.rows.y[:100]
    assert found.log_loss == pytest.approx(-np.log(shares[np.arange(100), y]).mean())
    right = found.probabilities[:, :100].argmax(axis=2) == y
    np.testing.assert_allclose(found.accuracy, right.mean(axis=1))


def test_an_improvement_must_be_larger_than_its_share_and_its_noise():
    before = answers(n_rows=2_000)
    better = before._replace(probabilities=before.probabilities.copy())
    better.probabilities[:, np.arange(2_000), before.rows.y] += 0.1
    better = better._replace(
        probabilities=better.probabilities / better.probabilities.sum(axis=2, keepdims=True)
    )
    assert better.improve_on(before, 0.01, 2.0)
    assert not better.improve_on(before, 0.9, 2.0)
    assert not before.improve_on(before, 0.0, 1.0)
    assert not before.improve_on(better, 0.0, 1.0)


def test_noise_is_no_improvement():
    found = [answers(n_rows=300, seed=seed) for seed in range(20)]
    rows = found[0].rows
    pairs = [(a._replace(rows=rows), b._replace(rows=rows)) for a, b in pairwise(found)]
    assert sum(a.improve_on(b, 0.0, 3.0) for a, b in pairs[1:]) <= 2
