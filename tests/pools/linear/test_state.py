import copy

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from skliquid.pools.linear.state import SeparatorState, _draws, shuffle_seeds


@pytest.mark.parametrize(("n_seeds", "n_draws"), [(1000, 4), (20, 227), (20, 228), (5, 1300)])
def test_seeds_are_drawn_as_numpy_draws_them(n_seeds, n_draws):
    large = np.random.default_rng(0).integers(0, 2**32, n_seeds // 2)
    seeds = np.concatenate([np.arange(n_seeds - len(large)), large])
    expected = []
    for seed in seeds:
        generator = np.random.RandomState(seed)
        expected.append([generator.randint(2**31 - 1) for _ in range(n_draws)])
    assert np.array_equal(_draws(seeds, n_draws), expected)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_are_shuffled_by_the_seeds_of_scikit_learn(monkeypatch, n_classes):
    from sklearn.linear_model import _stochastic_gradient

    drawn = []
    fit_binary = _stochastic_gradient.fit_binary

    def spy(*args, random_state, **options):
        drawn.append(np.random.RandomState(random_state).randint(2**31 - 1, size=2)[1])
        return fit_binary(*args, random_state=random_state, **options)

    monkeypatch.setattr(_stochastic_gradient, "fit_binary", spy)
    X, y = np.eye(6), np.arange(6) % n_classes
    SGDClassifier(random_state=11).partial_fit(X, y, classes=range(n_classes))
    seeds = shuffle_seeds(np.array([11]), 1 if n_classes == 2 else n_classes)
    assert seeds.tolist() == drawn


def test_a_state_is_restored_and_reset_for_some_separators_only():
    state = SeparatorState.zeros(3, 5, np.float64, averages=True)
    state.coef[:], state.average[:], state.scalars["intercept"] = 1, 2, 3
    before, chosen = copy.deepcopy(state), np.array([0, 2])
    state.reset(chosen)
    assert state.coef[:, 0].tolist() == [0, 1, 0]
    assert state.scalars["intercept"].tolist() == [0, 3, 0]
    assert state.scalars["steps"][chosen].tolist() == [1, 1]
    state.restore(chosen, before.select(chosen))
    assert np.array_equal(state.coef, before.coef)
    assert np.array_equal(state.average, before.average)
    assert np.array_equal(state.scalars, before.scalars)


def test_an_average_is_shown_by_the_separators_that_have_one():
    state = SeparatorState.zeros(2, 3, np.float64, averages=True)
    state.coef[:], state.average[:] = 1, 2
    state.scalars["intercept"], state.scalars["average_intercept"] = 3, 4
    state.scalars["shows_average"] = [0, 1]
    coef, intercept = state.prediction_arrays()
    assert coef[:, 0].tolist() == [1, 2]
    assert intercept.tolist() == [3, 4]
    plain = SeparatorState.zeros(2, 3, np.float64, averages=False)
    assert plain.prediction_arrays()[0] is plain.coef
