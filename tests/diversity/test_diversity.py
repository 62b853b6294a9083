"""Ensembles of diverse voters: by features, rows, hyperparameters and maps."""

import pickle

import numpy as np
import pytest
import sklearn
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skliquid import Diversity, LiquidEnsembleClassifier
from skliquid.delegation.votes import tempered
from skliquid.diversity import Spread
from skliquid.pools.predictions import probabilities_of
from skliquid.presets import ESTIMATORS
from skliquid.voters import BoostedTreesClassifier

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


DIVERSITIES = {
    "bootstrap": {"bootstrap": True},
    "half of the rows": {"max_samples": 0.5},
    "some rows": {"max_samples": 100},
    "half of the features": {"max_features": 0.5},
    "own hyperparameters": {
        "diversity": Diversity(
            param_distributions={"alpha": loguniform(1e-6, 1e-1), "loss": ["hinge", "log_loss"]}
        )
    },
    "maps": {
        "diversity": Diversity(
            feature_maps=["passthrough", RBFSampler(gamma=0.01), RBFSampler(gamma=0.1)]
        )
    },
    "everything": {
        "bootstrap": True,
        "max_samples": 0.8,
        "max_features": 5,
        "diversity": Diversity(
            param_distributions={"alpha": loguniform(1e-6, 1e-1), "average": [False, True]},
            feature_maps=["passthrough", RBFSampler(gamma=0.01, n_components=20)],
        ),
    },
}


@pytest.mark.parametrize("name", DIVERSITIES)
@pytest.mark.parametrize("data", ["binary", "multiclass"])
def test_ensembles_are_the_same_through_every_pool(request, name, data):
    X, y = request.getfixturevalue(data)
    options = {"max_features": 2} if data == "multiclass" else {}
    params = DIVERSITIES[name] | (options if "max_features" in DIVERSITIES[name] else {})

    def fitted(**more):
        ensemble = LiquidEnsembleClassifier(
            SGDClassifier(), n_estimators=24, n_final=5, random_state=0, **params, **more
        )
        return ensemble.fit(X, y)

    ours, theirs, threads = fitted(), fitted(pool="estimator"), fitted(n_jobs=2)
    for other in (theirs, threads):
        assert np.array_equal(ours.delegation_graph_.delegation, other.delegation_graph_.delegation)
        assert np.array_equal(ours.predict_proba(X), other.predict_proba(X))
        assert ours.training_cost_ == other.training_cost_
    copy = pickle.loads(pickle.dumps(ours))
    assert np.array_equal(copy.predict_proba(X), ours.predict_proba(X))
    mean = np.zeros((len(y), len(ours.classes_)))
    for estimator, features, weight in zip(
        ours.estimators_, ours.estimators_features_, ours.vote_weights_, strict=True
    ):
        mean += weight / 24 * probabilities_of(estimator, X[:, features], ours.classes_)
        assert len(features) in (X.shape[1], getattr(estimator, "n_features_in_", None))
    assert np.allclose(tempered(mean, 1 / ours.temperature_), ours.predict_proba(X))


@pytest.mark.parametrize("name", ["bootstrap", "half of the features", "maps"])
def test_a_stream_gives_the_same_bits_as_its_copy_that_was_saved(binary, name):
    X, y = binary
    ensemble = LiquidEnsembleClassifier(n_estimators=24, random_state=0, **DIVERSITIES[name])
    for start in range(0, 200, 50):
        ensemble.partial_fit(X[start : start + 50], y[start : start + 50], classes=[0, 1])
    copy = pickle.loads(pickle.dumps(ensemble))
    for model in (ensemble, copy):
        for start in range(200, 400, 50):
            model.partial_fit(X[start : start + 50], y[start : start + 50])
    assert np.array_equal(copy.predict_proba(X), ensemble.predict_proba(X))


@pytest.mark.parametrize(
    "estimator", [DecisionTreeClassifier(max_depth=3), GaussianNB(), KNeighborsClassifier(3)]
)
def test_any_voter_can_have_its_own_rows_and_features(binary, estimator):
    X, y = binary
    ensemble = LiquidEnsembleClassifier(
        estimator,
        n_estimators=8,
        n_final=3,
        increment_size=100,
        bootstrap=True,
        max_features=0.3,
        random_state=0,
    )
    assert ensemble.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.85
    assert {len(features) for features in ensemble.estimators_features_} == {9}


def test_a_map_is_fitted_once_and_used_once_per_increment(binary):
    X, y = binary

    class Counting(RBFSampler):
        fits, transforms = 0, 0

        def fit(self, X, y=None):
            Counting.fits += 1
            return super().fit(X, y)

        def transform(self, X):
            Counting.transforms += 1
            return super().transform(X)

    LiquidEnsembleClassifier(
        n_estimators=20,
        diversity=Diversity(feature_maps=[Counting()]),
        increment_size=100,
        random_state=0,
    ).fit(X, y)
    assert Counting.fits == 1
    assert Counting.transforms == 6 + 1  # six increments, and all rows for the final fit


def test_maps_give_arrays_whatever_output_is_set(binary):
    X, y = binary
    plain, framed = (
        LiquidEnsembleClassifier(
            n_estimators=20, diversity=Diversity(feature_maps=maps), random_state=0
        )
        for maps in (
            [StandardScaler(), Nystroem(n_components=9)],
            [StandardScaler().set_output(transform="pandas"), Nystroem(n_components=9)],
        )
    )
    with sklearn.config_context(transform_output="pandas"):
        framed.fit(X, y)
    assert np.array_equal(plain.fit(X, y).predict_proba(X), framed.predict_proba(X))


@pytest.mark.parametrize("at_fit", ["default", "pandas", "polars"])
def test_estimators_of_the_default_take_rows_whatever_output_is_set(binary, at_fit):
    X, y = binary
    with sklearn.config_context(transform_output=at_fit):
        ensemble = LiquidEnsembleClassifier(n_estimators=20, random_state=0).fit(X, y)
    expected = [voter.predict(X) for voter in ensemble.estimators_]
    for later in ("pandas", "polars"):
        with sklearn.config_context(transform_output=later):
            votes = [voter.predict(X) for voter in ensemble.estimators_]
        assert np.array_equal(votes, expected)


class Picky(DecisionTreeClassifier):
    def fit(self, X, y, sample_weight=None):
        assert sample_weight.min() > 0
        return super().fit(X, y, sample_weight)


def test_voters_that_drew_one_class_are_the_same_through_every_pool():
    X, y = np.random.default_rng(0).normal(size=(12, 3)), np.repeat([0, 1], [10, 2])
    few_of_one_class = {"bootstrap": True, "increment_size": 4, "random_state": 0}
    linear, loop = (
        LiquidEnsembleClassifier(
            SGDClassifier(), n_estimators=20, n_final=5, pool=pool, **few_of_one_class
        ).fit(X, y)
        for pool in ("linear", "estimator")
    )
    for ours, theirs in zip(linear.estimators_, loop.estimators_, strict=True):
        assert np.array_equal(ours.coef_, theirs.coef_)
        assert (ours.n_iter_, ours.t_) == (theirs.n_iter_, theirs.t_)
    assert linear.training_cost_ == loop.training_cost_


def test_voters_that_are_refitted_do_not_see_rows_of_weight_zero(binary):
    ensemble = LiquidEnsembleClassifier(
        Picky(max_depth=2), n_estimators=3, n_final=2, bootstrap=True, random_state=0
    )
    assert ensemble.fit(*binary).score(*binary) > 0.8


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"param_distributions": {"random_state": [1, None]}},
            "must not draw random_state, .* got",
        ),
        ({"feature_maps": np.array(["a", "b"])}, "feature_maps must be a list of .* Give a list"),
        ({"feature_maps": "fast"}, "feature_maps must be a list of .* got 'fast'. Give a list"),
        ({"param_distributions": {"alfa": [1]}}, "Invalid parameter 'alfa'"),
        (
            {"param_distributions": [1]},
            "param_distributions must be a dict or a list of dicts: got 1",
        ),
        (
            {"param_distributions": {"alpha": [1.0]}},
            "Invalid parameter 'alpha' for estimator RandomizedForestClassifier",
        ),
        ({"param_distributions": {"linear__alfa": [1]}}, "Invalid parameter 'alfa'"),
        ({"param_distributions": {"lineal__alpha": [1]}}, "Invalid parameter 'lineal'"),
        ({"param_distributions": {"linear__alpha": ["x", 1.0]}}, "'alpha' parameter .* Got 'x'"),
        ({"param_distributions": {"linear__alpha": [-1.0, 1]}}, "'alpha' parameter .* Got -1.0"),
        ({"param_distributions": {"linear__eta0": [0.1, -1.0]}}, "'eta0' parameter .* Got -1.0"),
        ({"param_distributions": {"forest__splitter": ["best", "x"]}}, "splitter must be .* 'x'"),
        ({"param_distributions": {"boosted__max_depth": [5, 17]}}, "max_depth must be .* got 17"),
        (
            {"param_distributions": {"forest__random_state": [1]}},
            "must not draw random_state, .* got",
        ),
        (
            {"feature_maps": {"lineal": "fourier"}},
            "names of estimators as keys: got 'lineal', which is not among .*'linear', 'forest'",
        ),
        ({"feature_maps": {"linear": "fast"}}, "feature_maps must be a list of .* got 'fast'"),
        ({"feature_maps": {"linear": {}}}, "feature_maps must be a list of .* got {}. Give a list"),
        ({"feature_maps": {"forest": [None]}}, "feature_maps must hold transformers, or 'pass"),
        ({"feature_maps": ["nonsense"]}, "feature_maps must hold transformers.* 'nonsense'"),
        ({"feature_maps": [None]}, "feature_maps must hold transformers, or 'passthrough'"),
        ({"feature_maps": [RBFSampler]}, "feature_maps .* Give objects such as"),
        ({"feature_maps": [GaussianNB()]}, r"feature_maps must hold transformers.* GaussianNB\(\)"),
    ],
)
def test_what_cannot_be_drawn_is_refused(binary, params, message):
    with pytest.raises((ValueError, TypeError), match=message):
        LiquidEnsembleClassifier(n_estimators=20, diversity=Diversity(**params)).fit(*binary)


def test_one_estimator_has_no_name_by_which_maps_are_given(binary):
    diversity = Diversity(feature_maps={"estimator": "fourier"})
    with pytest.raises(ValueError, match=r"got 'estimator', which is not among \[\]. Correct it"):
        LiquidEnsembleClassifier(SGDClassifier(), diversity=diversity).fit(*binary)


def test_one_estimator_draws_parameters_of_what_is_inside_it(binary):
    diversity = Diversity(param_distributions={"estimator__max_depth": [1, 2]})
    bagged = BaggingClassifier(DecisionTreeClassifier(), n_estimators=2)
    ensemble = LiquidEnsembleClassifier(
        bagged, n_estimators=4, n_final=4, diversity=diversity, random_state=0
    ).fit(*binary)
    assert {voter.estimator.max_depth for voter in ensemble.estimators_} == {1, 2}


def test_a_stream_has_no_number_of_rows_to_draw_from(binary):
    with pytest.raises(ValueError, match=r"max_samples must be a share in partial_fit"):
        LiquidEnsembleClassifier(max_samples=10).partial_fit(*binary, classes=[0, 1])


def test_no_diversity_is_none_of_it(binary):
    X, y = binary
    plain = LiquidEnsembleClassifier(n_estimators=20, diversity=None, random_state=0).fit(X, y)
    for voter in plain.estimators_:
        (default,) = (one for _, one in ESTIMATORS if type(one) is type(voter))
        assert voter.get_params() | {"random_state": None} == default.get_params()
    assert len(plain.estimators_) == plain.n_final
    nothing = Diversity(param_distributions=None, feature_maps=None)
    same = clone(plain).set_params(diversity=nothing).fit(X, y)
    assert np.array_equal(plain.predict_proba(X), same.predict_proba(X))


def test_a_diversity_is_set_and_cloned_like_an_estimator(binary):
    drawn = {"linear__alpha": [1e-3], "forest__min_samples_leaf": [7]}
    ensemble = LiquidEnsembleClassifier(
        n_estimators=12,
        mechanism="direct",
        diversity=Diversity(param_distributions=drawn),
        random_state=0,
    )
    copy = clone(ensemble).set_params(diversity__feature_maps=None)
    assert ensemble.diversity.feature_maps == "auto"
    assert copy.get_params()["diversity__feature_maps"] is None
    linear, forest, boosted = (copy.fit(*binary).estimators_[kind::3] for kind in range(3))
    assert {voter.alpha for voter in linear} == {1e-3}
    assert {voter.min_samples_leaf for voter in forest} == {7}
    assert {voter.max_depth for voter in boosted} == {BoostedTreesClassifier().max_depth}


def test_each_estimator_in_a_list_has_its_own_hyperparameters_and_maps(binary):
    named = [("sgd", SGDClassifier()), ("tree", DecisionTreeClassifier()), ("bayes", GaussianNB())]
    diversity = Diversity(
        param_distributions={"sgd__alpha": [1e-2, 1e-3], "tree__max_depth": Spread((2, 3))},
        feature_maps={"sgd": [RBFSampler(n_components=5)], "bayes": ["passthrough", Nystroem()]},
    )
    ours, theirs = (
        LiquidEnsembleClassifier(
            named,
            n_estimators=12,
            n_final=12,
            diversity=diversity,
            max_features=7,
            pool=pool,
            random_state=0,
        ).fit(*binary)
        for pool in ("auto", "estimator")
    )
    sgd, tree, bayes = (ours.estimators_[kind::3] for kind in range(3))
    assert [voter[-1].alpha for voter in sgd].count(1e-2) == 2
    assert {type(voter[0]) for voter in sgd} == {RBFSampler}
    assert [voter.max_depth for voter in tree].count(2) == 2
    assert [hasattr(voter, "steps") for voter in bayes] == [False, True] * 2
    widths = [len(features) for features in ours.estimators_features_]
    assert widths == [30, 7, 7, 30, 7, 30] * 2  # voters with a map see all that comes out of it
    assert np.array_equal(ours.predict_proba(binary[0]), theirs.predict_proba(binary[0]))
