"""What every pool must do. A new kind of pool is one more entry in POOLS."""

import pickle

import numpy as np
import pytest
from clusters import ClusterOfOne
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skliquid.pools import EstimatorPool, LinearPool, Sample, Variety, pool_for
from skliquid.pools.pool import hold
from skliquid.pools.shard import Shard
from skliquid.pools.sharded_pool import ShardedPool

N_VOTERS = 5
VOTERS = np.arange(N_VOTERS)


def pool_of(estimator, **options):
    def make(classes):
        voters = [type(estimator)(**estimator.get_params()) for _ in VOTERS]
        for voter, seed in zip(voters, range(N_VOTERS), strict=True):
            if "random_state" in voter.get_params():
                voter.set_params(random_state=seed)
        return EstimatorPool(voters, classes, **options)

    return make


def linear(classes):
    return LinearPool([SGDClassifier(random_state=seed) for seed in range(N_VOTERS)], classes)


def grouped(classes):
    kinds = [SGDClassifier(), SGDClassifier(loss="log_loss"), GaussianNB()]
    return pool_for("linear", kinds, range(N_VOTERS), classes, None)


def sharded(classes):
    kinds = [SGDClassifier(), GaussianNB()]
    members = np.array_split(VOTERS, 2)
    shards = [
        Shard(pool_for("linear", kinds, range(N_VOTERS), classes, None, only=some.tolist()))
        for some in members
    ]
    return ShardedPool(ClusterOfOne(), members, shards, n_jobs=None, knows_visits=True)


POOLS = {
    "sharded": sharded,
    "linear": linear,
    "grouped": grouped,
    "SGDClassifier": pool_of(SGDClassifier()),
    "SGDClassifier, 2 jobs": pool_of(SGDClassifier(), n_jobs=2),
    "GaussianNB": pool_of(GaussianNB()),
    "DecisionTreeClassifier": pool_of(DecisionTreeClassifier(max_features=2)),
}


@pytest.fixture(params=POOLS)
def pool_and_data(request, multiclass):
    X, y = multiclass
    classes = np.array(["a", "b", "c"])
    return POOLS[request.param](classes), X, y


def test_votes_are_positions_among_the_classes(pool_and_data):
    pool, X, y = pool_and_data
    pool.train(VOTERS, X, y)
    votes = pool.vote(VOTERS, X)
    assert votes.shape == (N_VOTERS, len(y))
    assert set(np.unique(votes)) <= {0, 1, 2}
    assert np.mean(votes == y) > 0.6


def test_accuracy_is_the_share_of_right_votes(pool_and_data):
    pool, X, y = pool_and_data
    pool.train(VOTERS, X[:60], y[:60])
    asked = np.array([3, 1])
    expected = [np.mean(vote == y) for vote in pool.vote(asked, X)]
    assert pool.accuracy(asked, X, y).tolist() == expected


def test_only_the_voters_named_train(pool_and_data):
    pool, X, y = pool_and_data
    pool.train(VOTERS, X[:50], y[:50])
    before = pool.vote(VOTERS[:3], X)
    pool.train(VOTERS[3:], X[50:], y[50:])
    assert np.array_equal(pool.vote(VOTERS[:3], X), before)


def test_the_final_fit_from_scratch_forgets_the_increments(pool_and_data, request):
    pool, X, y = pool_and_data
    pool.train(VOTERS, X[:50], y[:50])
    pool.finish(VOTERS, X, y)
    fresh = POOLS[request.node.callspec.params["pool_and_data"]](np.array(["a", "b", "c"]))
    fresh.finish(VOTERS, X, y)
    assert np.array_equal(pool.vote(VOTERS, X), fresh.vote(VOTERS, X))


def test_estimators_are_real_and_speak_the_users_labels(pool_and_data):
    pool, X, y = pool_and_data
    pool.train(VOTERS, X, y)
    asked = np.array([4, 0])
    for estimator, votes in zip(pool.estimators(asked), pool.vote(asked, X), strict=True):
        assert estimator.predict(X).tolist() == np.array(["a", "b", "c"])[votes].tolist()


def test_a_pool_forgets_the_voters_it_need_not_keep(pool_and_data):
    pool, X, y = pool_and_data
    pool.train(VOTERS, X, y)
    votes, size = pool.vote(VOTERS[1:2], X), len(pickle.dumps(pool))
    pool.keep(VOTERS[1:2], training_is_over=True)
    assert np.array_equal(pool.vote(VOTERS[1:2], X), votes)
    assert len(pickle.dumps(pool)) < size
    with pytest.raises(KeyError):
        pool.vote(VOTERS[:1], X)


def test_a_pickled_pool_goes_on_with_the_same_bits(pool_and_data):
    pool, X, y = pool_and_data
    pool.train(VOTERS, X[:50], y[:50])
    copy = pickle.loads(pickle.dumps(pool))
    for each in (pool, copy):
        each.train(VOTERS, X[50:100], y[50:100])
    assert np.array_equal(pool.vote(VOTERS, X), copy.vote(VOTERS, X))


@pytest.mark.filterwarnings("error")
def test_classes_may_be_missing_from_an_increment(pool_and_data):
    pool, X, y = pool_and_data
    for rows in (y == 0, y == 1, y < 2, y == 2):
        pool.train(VOTERS, X[rows], y[rows])
        assert pool.accuracy(VOTERS, X, y).shape == (N_VOTERS,)


def test_sample_weights_decide_between_contradictory_rows(pool_and_data):
    pool, X, y = pool_and_data
    other = (y + 1) % 3
    heavy, light = np.ones(len(y)), np.full(len(y), 1e-6)
    twice = np.concatenate([X, X]), np.concatenate([y, other]), np.concatenate([light, heavy])
    pool.train(VOTERS, *twice)
    assert np.mean(pool.vote(VOTERS, X) == other) > 0.6


@pytest.mark.parametrize(
    "variety",
    [
        Variety(sample=Sample(0.7, bootstrap=True)),
        Variety(params=[{"alpha": 10.0**-k} for k in range(N_VOTERS)]),
        Variety(subspaces=np.array([[k % 4, (k + 1) % 4] for k in range(N_VOTERS)])),
        Variety(maps=[None, RBFSampler(n_components=5, random_state=0)]),
    ],
    ids=["sample", "params", "subspaces", "maps"],
)
def test_a_pool_of_some_voters_has_them_as_they_are_among_all(multiclass, variety):
    X, y = multiclass
    for each in variety.maps:
        each is None or each.fit(X)
    asked = ["linear", [SGDClassifier(), SGDClassifier(loss="log_loss")], range(N_VOTERS)]
    whole = pool_for(*asked, np.arange(3), None, variety=variety)
    some = np.array([1, 3, 4])
    part = pool_for(*asked, np.arange(3), None, variety=variety, only=some.tolist())
    for pool, voters in ((whole, VOTERS), (part, np.arange(3))):
        pool.train(voters, X[:70], y[:70])
        pool.finish(voters, X, y)
    ours, theirs = part.estimators(np.arange(3)), whole.estimators(some)
    for one, other in zip(ours, theirs, strict=True):
        assert one.get_params().keys() == other.get_params().keys()
        assert np.array_equal(_linear(one).coef_, _linear(other).coef_)


def _linear(estimator):
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def fitted_anew(name, classes):
    kinds, seeds = [LogisticRegression(), SGDClassifier()], range(N_VOTERS)
    if name == "sharded":
        members = np.array_split(VOTERS, 2)
        shards = [
            Shard(pool_for("linear", kinds, seeds, classes, None, only=some.tolist()))
            for some in members
        ]
        return ShardedPool(ClusterOfOne(), members, shards, n_jobs=None, knows_visits=False)
    variety = Variety(sample=Sample(0.9, bootstrap=False)) if name == "sampled" else Variety()
    return pool_for("linear", kinds, seeds, classes, None, variety=variety)


@pytest.mark.parametrize("name", ["grouped", "sampled", "sharded"])
def test_who_is_fitted_anew_can_be_held_to_passes(multiclass, name):
    X, y = multiclass
    pool = fitted_anew(name, np.array(["a", "b", "c"]))
    hold(pool, 2)
    n_anew, n_by_increments = 3, 2
    assert pool.train(VOTERS, X[:75], y[:75]) == 75 * (2 * n_anew + n_by_increments)
    assert pool.train(VOTERS, X[75:], y[75:]) == 75 * (2 * 2 * n_anew + n_by_increments)
    hold(pool, None)
    assert pool.train(VOTERS, X, y) > 300 * (3 * n_anew) + 150 * n_by_increments
