"""Voters that differ: by features, rows, parameters and maps, the same through every pool."""

import pickle

import numpy as np
import pytest
import scipy.sparse
import sklearn
from scipy.stats import chisquare, loguniform, poisson
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import ParameterSampler
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skliquid import LiquidEnsembleClassifier
from skliquid.pools import (
    OWN_ALPHA,
    EstimatorPool,
    GroupedPool,
    LinearPool,
    SampledPool,
    Variety,
    drawn_params,
    drawn_subspaces,
    pool_for,
)
from skliquid.pools.voters import taken, values_of, voters_of

LOSSES = ["hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron"]
N_VOTERS = 9
VOTERS = np.arange(N_VOTERS)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def assert_same_voters(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(one.coef_, other.coef_)
        assert np.array_equal(one.intercept_, other.intercept_)
        assert (one.n_iter_, one.t_) == (other.n_iter_, other.t_)


@pytest.mark.parametrize("average", [False, 10])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("data", ["dense", "float32", "sparse", "classes"])
def test_own_features_and_own_weights_have_the_bits_of_a_loop(request, loss, data, average):
    X, y = request.getfixturevalue("multiclass" if data == "classes" else "binary")
    X = X.astype(np.float32) if data == "float32" else X
    X = scipy.sparse.csr_matrix(np.where(X > 0.5, X, 0)) if data == "sparse" else X
    rng = np.random.default_rng(0)
    subspaces = drawn_subspaces(N_VOTERS, X.shape[1], X.shape[1] // 2, rng)
    weights = rng.poisson(1.0, (N_VOTERS, len(y))).astype(float)
    make = {"loss": loss, "average": average, "max_iter": 20}
    loop = [SGDClassifier(random_state=seed, **make) for seed in VOTERS]
    pool = LinearPool(list(map(clone, loop)), np.unique(y), subspaces=subspaces)

    some = VOTERS[2:]
    for start in range(0, 120, 40):
        cut = slice(start, start + 40)
        pool.train(some, X[cut], y[cut], weights[some, cut])
        for voter in some:
            own = X[cut][:, subspaces[voter]]
            loop[voter].partial_fit(own, y[cut], np.unique(y), weights[voter, cut])
    assert_same_voters(pool.estimators(some), [loop[voter] for voter in some])
    for voter, votes in zip(some, pool.vote(some, X), strict=True):
        assert np.array_equal(votes, loop[voter].predict(X[:, subspaces[voter]]))

    pool.finish(some, X, y, weights[some])
    for voter in some:
        loop[voter].fit(X[:, subspaces[voter]], y, sample_weight=weights[voter])
    assert_same_voters(pool.estimators(some), [loop[voter] for voter in some])


def test_voters_are_trained_in_blocks_when_there_is_not_room_for_all(binary, monkeypatch):
    X, y = binary
    subspaces = drawn_subspaces(N_VOTERS, X.shape[1], 7, np.random.default_rng(0))

    def coefficients():
        voters = [SGDClassifier(random_state=seed) for seed in VOTERS]
        pool = LinearPool(voters, np.unique(y), subspaces=subspaces)
        pool.finish(VOTERS, X, y)
        return np.vstack([voter.coef_ for voter in pool.estimators(VOTERS)])

    at_once = coefficients()
    monkeypatch.setattr("skliquid.pools.linear_pool._MOST_NUMBERS_TO_COPY", 1)
    assert np.array_equal(coefficients(), at_once)


class Spy:
    """A pool that only remembers the weights it was given."""

    n_jobs = None

    def train(self, voters, X, y, sample_weight):
        self.weights = sample_weight
        return 0


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_rows_drawn_with_replacement_follow_a_poisson_distribution(share):
    spy, n_rows = Spy(), 4000
    pool = SampledPool(spy, range(3), share=share, bootstrap=True)
    pool.train(np.arange(3), np.zeros((n_rows, 1)), np.zeros(n_rows))
    for weights in spy.weights:
        counts = np.bincount(weights.astype(int), minlength=4)
        expected = poisson(share).pmf(range(3)) * n_rows
        observed = [*counts[:3], counts[3:].sum()]
        assert chisquare(observed, [*expected, n_rows - expected.sum()]).pvalue > 1e-3


def test_rows_drawn_without_replacement_come_once_or_not_at_all():
    spy = Spy()
    pool = SampledPool(spy, range(3), share=0.3, bootstrap=False)
    pool.train(np.arange(3), np.zeros((4000, 1)), np.zeros(4000), np.full(4000, 2.0))
    assert set(np.unique(spy.weights)) == {0, 2}
    assert spy.weights.mean() == pytest.approx(0.6, abs=0.05)


def test_a_sample_depends_on_the_voter_alone():
    first, second = Spy(), Spy()
    X, y = np.zeros((50, 1)), np.zeros(50)
    pool = SampledPool(first, range(5), share=1.0, bootstrap=True)
    pool.train(np.arange(5), X, y)
    pool.train(np.array([1, 3]), X, y)
    other = SampledPool(second, range(5), share=1.0, bootstrap=True)
    other.train(np.array([3]), X, y)
    other = pickle.loads(pickle.dumps(other))
    other.sampled = second
    other.train(np.array([3]), X, y)
    assert np.array_equal(first.weights[1], second.weights[0])


def test_nobody_learns_from_nothing():
    spy = Spy()
    SampledPool(spy, range(200), share=0.1, bootstrap=True).train(
        np.arange(200), np.zeros((1, 1)), np.zeros(1)
    )
    assert spy.weights.min() == 1


def test_parameters_are_drawn_for_each_voter():
    draws = drawn_params({"alpha": loguniform(1e-6, 1), "loss": ["hinge"]}, 50, rng())
    assert len({draw["alpha"] for draw in draws}) == 50
    few = drawn_params({"alpha": [1, 2], "loss": ["hinge", "log_loss"]}, 10, rng())
    counts = {tuple(draw.items()): few.count(draw) for draw in few}
    assert len(counts) == 4
    assert set(counts.values()) == {2, 3}


def test_own_alphas_are_those_that_a_search_would_draw():
    alpha = loguniform(1e-6, 1e-2)
    ours = drawn_params(OWN_ALPHA, 80, rng())
    assert ours == list(ParameterSampler({"alpha": alpha}, 80, random_state=0))


def rng():
    return np.random.RandomState(0)


def test_only_parameters_that_a_pool_has_in_common_part_its_voters():
    def n_pools(**distributions):
        params = drawn_params(distributions, 24, rng())
        pool = pool_for(
            "auto", [SGDClassifier()], range(24), np.arange(2), None, variety=Variety(params)
        )
        return len(pool._pools) if isinstance(pool, GroupedPool) else 1

    assert n_pools(alpha=[1e-4, 1e-3], eta0=[0.1, 0.2]) == 1
    assert n_pools(alpha=[1e-4, 0.0]) == 2  # which the rate "optimal" cannot divide by
    assert n_pools(loss=["hinge", "log_loss"], alpha=[1e-4, 1e-3]) == 2


def test_voters_have_the_parameters_and_seeds_they_drew():
    params = [{"alpha": 0.1}, {"alpha": 0.2, "random_state": 9}, {"eta0": 0.3}]
    voters = voters_of([SGDClassifier(alpha=1.0)], [4, 5, 6], params)
    for name in ("alpha", "eta0", "random_state"):
        assert values_of(voters, name).tolist() == [getattr(voter, name) for voter in voters]
    assert [voter.alpha for voter in taken(voters, [2, 0])] == [1.0, 0.1]


VARIETIES = {
    "bootstrap": {"bootstrap": True},
    "half of the rows": {"max_samples": 0.5},
    "some rows": {"max_samples": 100},
    "half of the features": {"max_features": 0.5},
    "own parameters": {
        "param_distributions": {"alpha": loguniform(1e-6, 1e-1), "loss": ["hinge", "log_loss"]}
    },
    "maps": {
        "feature_maps": ["passthrough", RBFSampler(gamma=0.01), RBFSampler(gamma=0.1)],
    },
    "everything": {
        "bootstrap": True,
        "max_samples": 0.8,
        "max_features": 5,
        "param_distributions": {"alpha": loguniform(1e-6, 1e-1), "average": [False, True]},
        "feature_maps": ["passthrough", RBFSampler(gamma=0.01, n_components=20)],
    },
}


@pytest.mark.parametrize("variety", VARIETIES)
@pytest.mark.parametrize("data", ["binary", "multiclass"])
def test_ensembles_are_the_same_through_every_pool(request, variety, data):
    X, y = request.getfixturevalue(data)
    options = {"max_features": 2} if data == "multiclass" else {}
    params = VARIETIES[variety] | (options if "max_features" in VARIETIES[variety] else {})

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
    votes = np.zeros((len(y), len(ours.classes_)))
    for estimator, features, weight in zip(
        ours.estimators_, ours.estimators_features_, ours.estimator_weights_, strict=True
    ):
        votes[np.arange(len(y)), estimator.predict(X[:, features])] += weight
        assert len(features) in (X.shape[1], getattr(estimator, "n_features_in_", None))
    assert np.allclose(votes / votes.sum(axis=1, keepdims=True), ours.predict_proba(X))


@pytest.mark.parametrize("variety", ["bootstrap", "half of the features", "maps"])
def test_a_stream_gives_the_same_bits_as_its_copy_that_was_saved(binary, variety):
    X, y = binary
    ensemble = LiquidEnsembleClassifier(n_estimators=24, random_state=0, **VARIETIES[variety])
    for start in range(0, 200, 50):
        ensemble.partial_fit(X[start : start + 50], y[start : start + 50], classes=[0, 1])
    copy = pickle.loads(pickle.dumps(ensemble))
    for each in (ensemble, copy):
        for start in range(200, 400, 50):
            each.partial_fit(X[start : start + 50], y[start : start + 50])
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


def test_a_map_is_fitted_once_and_used_once_an_increment(binary):
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
        n_estimators=20, feature_maps=[Counting()], increment_size=100, random_state=0
    ).fit(X, y)
    assert Counting.fits == 1
    assert Counting.transforms == 6 + 1  # six increments, and all rows for the final fit


def test_maps_give_arrays_whatever_output_is_set(binary):
    X, y = binary
    plain, framed = (
        LiquidEnsembleClassifier(n_estimators=20, feature_maps=maps, random_state=0)
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
    expected = [each.predict(X) for each in ensemble.estimators_]
    for later in ("pandas", "polars"):
        with sklearn.config_context(transform_output=later):
            votes = [each.predict(X) for each in ensemble.estimators_]
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
    assert_same_voters(linear.estimators_, loop.estimators_)
    assert linear.training_cost_ == loop.training_cost_


def test_rows_that_were_not_drawn_are_not_shown_to_voters_fitted_anew(binary):
    ensemble = LiquidEnsembleClassifier(
        Picky(max_depth=2), n_estimators=3, n_final=2, bootstrap=True, random_state=0
    )
    assert ensemble.fit(*binary).score(*binary) > 0.8


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_features": 0}, "'max_features' parameter .* Got 0 instead"),
        ({"param_distributions": {"alfa": [1]}}, "Invalid parameter 'alfa'"),
        ({"param_distributions": [1]}, "param_distributions must be a dict or a list of dicts: 1"),
        ({"param_distributions": {"alpha": ["x", 1.0]}}, "'alpha' parameter .* Got 'x'"),
        ({"param_distributions": {"alpha": [-1.0, 1.0]}}, "'alpha' parameter .* Got -1.0"),
        ({"param_distributions": {"eta0": [0.1, -1.0]}}, "'eta0' parameter .* Got -1.0"),
        ({"feature_maps": ["nonsense"]}, "feature_maps must hold transformers.* 'nonsense'"),
        ({"feature_maps": [None]}, "feature_maps must hold transformers, or 'passthrough'"),
        ({"feature_maps": [RBFSampler]}, "feature_maps .* Give objects such as"),
        ({"feature_maps": [GaussianNB()]}, r"feature_maps must hold transformers.* GaussianNB\(\)"),
    ],
)
def test_what_cannot_be_drawn_is_refused(binary, params, message):
    with pytest.raises((ValueError, TypeError), match=message):
        LiquidEnsembleClassifier(n_estimators=20, **params).fit(*binary)


def test_a_stream_has_no_number_of_rows_to_draw_from(binary):
    with pytest.raises(ValueError, match=r"max_samples must be a share in partial_fit"):
        LiquidEnsembleClassifier(max_samples=10).partial_fit(*binary, classes=[0, 1])


def test_the_estimator_pool_gives_each_voter_its_own(binary):
    X, y = binary
    subspaces = drawn_subspaces(2, X.shape[1], 3, np.random.default_rng(0))
    pool = EstimatorPool([GaussianNB(), GaussianNB()], np.unique(y), subspaces=subspaces)
    pool.train(np.arange(2), X, y)
    alone = GaussianNB().fit(X[:, subspaces[1]], y)
    assert np.array_equal(pool.vote(np.arange(2), X)[1], alone.predict(X[:, subspaces[1]]))
