import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import loguniform
from sklearn.model_selection import ParameterSampler

from skliquid.composition import DEFAULT_ESTIMATORS
from skliquid.diversity import DefaultsWithout, LogUniform, Spread, default_hyperparameters
from skliquid.diversity.hyperparameters import distributions_by_name, draw_hyperparameters


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


def test_the_default_linear_voters_draw_their_penalty_and_their_step_size():
    defaults = distributions_by_name(default_hyperparameters(1000), ["linear", "forest", "boosted"])
    ours, random_state = draw_hyperparameters(defaults["linear"], 80, rng()), rng()
    expected = {"alpha": loguniform(1e-6, 1e-3), "eta0": loguniform(0.05, 20)}
    assert ours[0].keys() == expected.keys()
    for name, distribution in expected.items():
        values = distribution.rvs(size=80, random_state=random_state)
        np.testing.assert_allclose([drawn[name] for drawn in ours], values)


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


# What the default voters draw

SIZES = [None, 30, 20_000, 20_001, 50_000, 50_001, 99_999, 100_001, 400_000, 10**7]


@pytest.mark.parametrize("n_rows", SIZES)
@pytest.mark.parametrize("n_columns", [1, 500, 501, 10_000])
def test_every_default_hyperparameter_is_one_of_a_default_voter(n_rows, n_columns):
    estimators = dict(DEFAULT_ESTIMATORS)
    drawn = default_hyperparameters(n_rows, n_columns)
    by_name = distributions_by_name(drawn, list(estimators))
    assert by_name.keys() == estimators.keys()
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    for name, distributions in by_name.items():
        for params in draw_hyperparameters(distributions, 12, rng()):
            voter = type(estimators[name])().set_params(**params)
            voter.partial_fit(X, y, classes=[0, 1])  # which checks them
    some = default_hyperparameters(n_rows, n_columns, names=["boosted"])
    assert some == {key: drawn[key] for key in drawn if key.startswith("boosted__")}


def only(n_rows, key):
    """Return the value that all default voters have, None if they have the estimator's own."""
    found = default_hyperparameters(n_rows).get(key)
    return found and found.values[0]


def test_default_voters_take_less_work_on_many_rows():
    sizes = SIZES[1:]
    steps = [n_rows * (only(n_rows, "linear__max_iter") or 10) for n_rows in sizes]
    assert max(steps) == sizes[-1]  # a million steps, or one pass
    assert all(n <= max(10**6, n_rows) for n, n_rows in zip(steps, sizes, strict=True))
    for key, most in (("forest__max_rows", 50_000), ("boosted__max_rows", 200_000)):
        limits = [only(n_rows, key) or n_rows for n_rows in sizes]
        assert limits == sorted(limits)
        assert limits[-1] == most
        assert all(n <= n_rows for n, n_rows in zip(limits, sizes, strict=True))


def test_default_voters_have_more_trees_for_more_classes():
    def n_trees(n_classes, n_rows=1000):
        drawn = default_hyperparameters(n_rows, n_classes=n_classes)
        return [drawn[f"{name}__n_estimators"].values[0] for name in ("forest", "boosted")]

    assert n_trees(1) == n_trees(2)
    assert n_trees(8) == [2 * n for n in n_trees(2)]
    assert n_trees(32) == n_trees(1000) == [4 * n for n in n_trees(2)]
    assert n_trees(2, n_rows=10**5) > n_trees(2)


def test_the_default_trees_of_a_stream_keep_a_bounded_number_of_rows():
    assert only(None, "forest__max_rows") == only(None, "boosted__max_rows") == 20_000
    assert default_hyperparameters().keys() == default_hyperparameters(10**6).keys() - {
        "linear__max_iter",
        "linear__tol",
    }


def test_defaults_are_drawn_but_for_what_is_set():
    drawn = default_hyperparameters(10**6, 3)
    some = DefaultsWithout(("linear__alpha", "forest")).resolved(n_rows=10**6, n_columns=3)
    assert some == {
        key: drawn[key]
        for key in drawn
        if key != "linear__alpha" and not key.startswith("forest__")
    }
    assert DefaultsWithout(("linear", "forest", "boosted")).resolved() == {}


@pytest.mark.parametrize("nothing", [None, {}, []])
def test_without_distributions_there_are_no_draws(nothing):
    assert draw_hyperparameters(nothing, 5, rng()) == []


def test_one_of_several_dicts_is_drawn_from_for_each_voter():
    spaces = [{"alpha": LogUniform(1e-4, 1)}, {"loss": ["hinge", "log_loss"]}]
    draws = draw_hyperparameters(spaces, 30, rng())
    assert {tuple(draw) for draw in draws} == {("alpha",), ("loss",)}
    assert draws == list(ParameterSampler(spaces, 30, random_state=rng()))
