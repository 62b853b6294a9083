import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import loguniform
from sklearn.model_selection import ParameterSampler

from skliquid.diversity import DefaultsWithout, LogUniform, Spread
from skliquid.diversity.hyperparameters import distributions_by_name, draw_hyperparameters
from skliquid.presets import default_hyperparameters


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


# Values that are dealt out


@given(st.integers(1, 7), st.integers(0, 40), st.integers(0, 99))
def test_a_spread_has_each_value_equally_often(n_values, size, seed):
    drawn = Spread(tuple(range(n_values))).rvs(size, np.random.RandomState(seed))
    counts = np.bincount(drawn.astype(int), minlength=n_values)
    assert len(drawn) == size
    assert counts.max() - counts.min() <= 1


def test_a_spread_begins_anywhere_and_has_no_order():
    spread = Spread(("a", "b", "c"))
    draws = [spread.rvs(7, np.random.RandomState(seed)).tolist() for seed in range(200)]
    assert {Counter(draw).most_common(1)[0][0] for draw in draws} == {"a", "b", "c"}
    firsts = Counter(draw[0] for draw in draws)
    assert min(firsts.values()) > 40
    assert draws[0] == spread.rvs(7, np.random.RandomState(0)).tolist()
    assert {spread.rvs(random_state=np.random.RandomState(seed)) for seed in range(20)} == {*"abc"}


def test_the_values_of_a_spread_may_be_of_any_type_and_stay_so():
    values = ("sqrt", 0.25, 3, None, (5, 5), (10,))
    drawn = draw_hyperparameters({"x": Spread(values)}, 12, rng())
    assert Counter(draw["x"] for draw in drawn) == dict.fromkeys(values, 2)
    assert {type(draw["x"]) for draw in drawn} == {str, float, int, type(None), tuple}
    assert pickle.loads(pickle.dumps(Spread(values))) == Spread(values)


def test_spreads_may_be_drawn_together_with_lists():
    drawn = draw_hyperparameters({"x": Spread((1, 2)), "y": [3, 4]}, 20, rng())
    assert {(draw["x"], draw["y"]) for draw in drawn} == {(1, 3), (1, 4), (2, 3), (2, 4)}


# By the names of estimators


def test_hyperparameters_belong_to_the_estimator_they_are_named_after():
    by_name = distributions_by_name({"a__x": [1], "b__y__z": [2], "a__y": [3]}, ["a", "b", "c"])
    assert by_name == {"a": {"x": [1], "y": [3]}, "b": {"y__z": [2]}}


@pytest.mark.parametrize(
    "shared", [{"alpha": [1]}, {"a__x": [1], "alpha": [1]}, {"z__x": [1]}, {"a": [1]}, {}, None, []]
)
def test_hyperparameters_without_names_belong_to_all_voters(shared):
    assert distributions_by_name(shared, ["a", "b"]) is None


# Defaults without those that are set


def test_defaults_are_drawn_but_for_what_is_set():
    drawn = default_hyperparameters(10**6, 3)
    some = DefaultsWithout(("linear__alpha", "forest")).applied_to(drawn)
    assert some == {
        key: drawn[key]
        for key in drawn
        if key != "linear__alpha" and not key.startswith("forest__")
    }
    assert DefaultsWithout(("linear", "forest", "boosted")).applied_to(drawn) == {}


@pytest.mark.parametrize("nothing", [None, {}, []])
def test_without_distributions_there_are_no_draws(nothing):
    assert draw_hyperparameters(nothing, 5, rng()) == []


def test_one_of_several_dicts_is_drawn_from_for_each_voter():
    spaces = [{"alpha": LogUniform(1e-4, 1)}, {"loss": ["hinge", "log_loss"]}]
    draws = draw_hyperparameters(spaces, 30, rng())
    assert {tuple(draw) for draw in draws} == {("alpha",), ("loss",)}
    assert draws == list(ParameterSampler(spaces, 30, random_state=rng()))
