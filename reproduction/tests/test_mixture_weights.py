import numpy as np
import pytest

from reproduction.mixture_weights import likelihoods_of_votes, mixture_weights


def random_likelihoods(n_voters=4, n_rows=300):
    return np.random.default_rng(0).uniform(0.05, 0.95, (n_voters, n_rows))


def test_maximum_likelihood_is_not_improved_by_any_small_change():
    likelihoods = random_likelihoods()
    weights = mixture_weights(likelihoods, strength=0)
    best = np.log(weights @ likelihoods).mean()
    for voter in range(4):
        other = 0.99 * weights + 0.01 * np.eye(4)[voter]
        assert np.log(other @ likelihoods).mean() <= best + 1e-9


def test_the_prior_is_that_of_dirichlet():
    likelihoods, strength = random_likelihoods(), 0.5

    def posterior(weights):
        return np.log(weights @ likelihoods).mean() + strength * np.log(weights).mean()

    weights = mixture_weights(likelihoods, strength)
    for voter in range(4):
        assert posterior(0.99 * weights + 0.01 * np.eye(4)[voter]) < posterior(weights)


def test_the_better_voter_weighs_more_and_less_so_with_a_stronger_prior():
    likelihoods = np.stack([np.full(50, 0.8), np.full(50, 0.3)])
    weights = [mixture_weights(likelihoods, strength)[0] for strength in (0, 1, 10)]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] == pytest.approx(1)
    assert weights[-1] > 0.5


def test_without_rows_votes_are_equal():
    assert mixture_weights(np.empty((3, 0)), strength=0).tolist() == [1 / 3] * 3


def test_votes_that_are_certain_and_wrong_give_finite_weights():
    weights = mixture_weights(np.zeros((2, 5)), strength=0)
    assert weights.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_likelihoods_of_votes_are_the_accuracy_of_the_group(n_classes):
    votes, y = np.array([[0, 1, 0], [1, 1, 1]]), np.array([0, 1, 1])
    right = (4 + 1) / (6 + n_classes)
    wrong = (1 - right) / (n_classes - 1)
    expected = [[right, right, wrong], [wrong, right, right]]
    np.testing.assert_allclose(likelihoods_of_votes(votes, y, n_classes), expected)
