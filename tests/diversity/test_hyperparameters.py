import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.model_selection import ParameterSampler

from skliquid.diversity import DEFAULT_HYPERPARAMETERS, LogUniform
from skliquid.diversity.hyperparameters import draw_hyperparameters


def rng():
    return np.random.RandomState(0)


@pytest.mark.parametrize(("low", "high"), [(1e-6, 1e-2), (1e-2, 2), (1, 1000)])
@pytest.mark.parametrize("size", [None, 50])
def test_log_uniform_numbers_are_those_of_scipy_bit_for_bit(low, high, size):
    ours = LogUniform(low, high).rvs(size, random_state=rng())
    assert np.array_equal(ours, loguniform(low, high).rvs(size=size, random_state=rng()))


def test_hyperparameters_are_drawn_for_each_voter():
    draws = draw_hyperparameters({"alpha": loguniform(1e-6, 1), "loss": ["hinge"]}, 50, rng())
    assert len({draw["alpha"] for draw in draws}) == 50
    few = draw_hyperparameters({"alpha": [1, 2], "loss": ["hinge", "log_loss"]}, 10, rng())
    counts = {tuple(draw.items()): few.count(draw) for draw in few}
    assert len(counts) == 4
    assert set(counts.values()) == {2, 3}


def test_the_default_voters_draw_their_penalty_and_their_step_size():
    ours, random_state = draw_hyperparameters(DEFAULT_HYPERPARAMETERS, 80, rng()), rng()
    expected = {"alpha": loguniform(1e-6, 1e-3), "eta0": loguniform(0.05, 20)}
    for name, distribution in expected.items():
        values = distribution.rvs(size=80, random_state=random_state)
        np.testing.assert_allclose([drawn[name] for drawn in ours], values)


@pytest.mark.parametrize("nothing", [None, {}, []])
def test_without_distributions_there_are_no_draws(nothing):
    assert draw_hyperparameters(nothing, 5, rng()) == []


def test_one_of_several_dicts_is_drawn_from_for_each_voter():
    spaces = [{"alpha": LogUniform(1e-4, 1)}, {"loss": ["hinge", "log_loss"]}]
    draws = draw_hyperparameters(spaces, 30, rng())
    assert {tuple(draw) for draw in draws} == {("alpha",), ("loss",)}
    assert draws == list(ParameterSampler(spaces, 30, random_state=rng()))
