"""Which pool holds which voter."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid

from skliquid import Diversity, LiquidEnsembleClassifier
from skliquid.delegation.votes import one_hot
from skliquid.diversity import VoterSpec
from skliquid.diversity.hyperparameters import draw_hyperparameters
from skliquid.pools import (
    EstimatorPool,
    GroupedPool,
    LinearPool,
    VoterPool,
    check_pool_supports,
    choosing,
    pool_for,
)

LOSSES = ["hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron"]


def test_a_list_of_losses_has_a_linear_pool_for_each(binary):
    X, y = binary
    voters = [(loss, SGDClassifier(loss=loss)) for loss in LOSSES]
    voters.append(("l1", SGDClassifier(penalty="l1")))
    options = {"n_estimators": 30, "n_final": 5, "random_state": 0}
    both = [
        LiquidEnsembleClassifier(voters, pool=pool, **options).fit(X, y)
        for pool in ("auto", "estimator")
    ]
    parts = both[0]._fitted.training.pool.pools
    assert [type(part) for part in parts] == [LinearPool] * 5 + [EstimatorPool]
    assert np.array_equal(both[0].predict_proba(X), both[1].predict_proba(X))
    assert pickle.loads(pickle.dumps(both[0])).score(X, y) == both[1].score(X, y)


def test_auto_takes_the_linear_pool_where_it_can():
    def chosen(n, *estimators, name="auto"):
        return type(pool_for(name, VoterSpec(estimators, range(n)), np.array([0, 1])))

    assert chosen(1, SGDClassifier()) is LinearPool
    assert chosen(2, SGDClassifier(), name="linear") is LinearPool
    assert chosen(20, SGDClassifier(), name="estimator") is EstimatorPool
    assert chosen(20, SGDClassifier(penalty="l1")) is EstimatorPool
    assert chosen(20, SGDClassifier(), SGDClassifier(alpha=1.0)) is LinearPool
    assert chosen(20, SGDClassifier(), SGDClassifier(loss="log_loss")) is GroupedPool


def test_only_hyperparameters_that_a_pool_holds_once_divide_its_voters():
    def n_pools(**distributions):
        params = draw_hyperparameters(distributions, 24, np.random.RandomState(0))
        pool = pool_for("auto", VoterSpec([SGDClassifier()], range(24), params), np.arange(2))
        return len(pool.pools) if isinstance(pool, GroupedPool) else 1

    assert n_pools(alpha=[1e-4, 1e-3], eta0=[0.1, 0.2]) == 1
    assert n_pools(alpha=[1e-4, 0.0]) == 2  # which the learning rate "optimal" cannot divide by
    assert n_pools(loss=["hinge", "log_loss"], alpha=[1e-4, 1e-3]) == 2


# A pool that a stranger adds


class CentroidPool(VoterPool):
    """Voters that are ``NearestCentroid``, all in one array: sums and numbers of rows by class."""

    name = "centroid"

    def __init__(self, voters, classes, n_jobs=None, subspaces=None, shared=None):
        self.voters, self.classes, self.subspaces = voters, classes, subspaces
        self.sums, self.counts = None, np.zeros((len(voters), len(classes)))

    @classmethod
    def unsupported_parameter(cls, estimator):
        if type(estimator) is not NearestCentroid:
            return f"estimator={type(estimator).__name__}(...)"
        return None if estimator.metric == "euclidean" else f"metric={estimator.metric!r}"

    def train(self, voters, rows):
        if self.sums is None:
            n_seen = rows.X.shape[1] if self.subspaces is None else self.subspaces.shape[1]
            self.sums = np.zeros((*self.counts.shape, n_seen))
        for k, voter in enumerate(voters):
            seen, importance = self._seen(voter, rows.X), rows.for_voter(k).sample_weight
            by_class = np.eye(len(self.classes))[rows.y].T
            by_class = by_class if importance is None else by_class * importance
            self.sums[voter] += by_class @ seen
            self.counts[voter] += by_class.sum(axis=1)
        return len(voters) * rows.n_rows

    def finish(self, voters, rows, max_passes=None):
        self.sums[voters] = self.counts[voters] = 0
        return self.train(voters, rows)

    def vote(self, voters, X):
        distances = [
            np.linalg.norm(self._seen(voter, X)[:, None] - self._centroids(voter), axis=2)
            for voter in voters
        ]
        return np.nanargmin(distances, axis=2)

    def probabilities(self, voters, X):
        return one_hot(self.vote(voters, X), len(self.classes))

    def estimators(self, voters):
        return [self._fitted(voter) for voter in voters]

    def _fitted(self, voter):
        centroids, labels = self._centroids(voter), np.tile(self.classes, 2)
        return clone(self.voters[voter]).fit(np.vstack([centroids - 1, centroids + 1]), labels)

    def _seen(self, voter, X):
        return X if self.subspaces is None else X[:, self.subspaces[voter]]

    def _centroids(self, voter):
        with np.errstate(invalid="ignore"):  # a class without rows has no centroid
            return self.sums[voter] / self.counts[voter][:, None]


@pytest.fixture
def with_centroids(monkeypatch):
    monkeypatch.setattr(choosing, "POOLS", [CentroidPool, *choosing.POOLS])


@pytest.mark.usefixtures("with_centroids")
def test_a_new_pool_takes_the_voters_it_accepts_and_no_others():
    def chosen(*estimators):
        pool = pool_for("auto", VoterSpec(estimators, range(8)), np.array([0, 1]))
        return [type(part) for part in pool.pools or [pool]]

    assert chosen(NearestCentroid()) == [CentroidPool]
    assert chosen(NearestCentroid(metric="manhattan")) == [EstimatorPool]
    assert chosen(SGDClassifier()) == [LinearPool]
    mixed = NearestCentroid(), SGDClassifier(), GaussianNB()
    assert chosen(*mixed) == [CentroidPool, LinearPool, EstimatorPool]
    assert choosing.pool_names() == ["auto", "centroid", "linear", "trees", "estimator"]
    check_pool_supports("centroid", [NearestCentroid()])
    with pytest.raises(ValueError, match=r"pool='centroid' must .* support metric='manhattan'"):
        check_pool_supports("centroid", [NearestCentroid(metric="manhattan")])


@pytest.mark.usefixtures("with_centroids")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_features": 0.5},
        {"estimator": [("centroid", NearestCentroid()), ("sgd", SGDClassifier())]},
        {"diversity": Diversity(feature_maps=["passthrough", RBFSampler(gamma=0.01)])},
    ],
    ids=["alone", "features", "mixed", "maps"],
)
def test_an_ensemble_trains_through_a_new_pool(binary, options):
    X, y = binary
    settings = {"estimator": NearestCentroid(), "n_estimators": 12, "n_final": 3}
    settings |= {"bootstrap": True, "voting": "hard", "random_state": 0}
    ours, theirs = (
        LiquidEnsembleClassifier(**settings | options, pool=pool).fit(X, y)
        for pool in ("auto", "estimator")
    )
    pool = ours._fitted.training.pool.pools[0]  # within the sampled pool
    assert CentroidPool in [type(part) for part in pool.pools or [pool]]
    assert np.array_equal(ours.delegation_graph_.delegation, theirs.delegation_graph_.delegation)
    assert np.array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert [type(voter) for voter in ours.estimators_] == [type(v) for v in theirs.estimators_]
    assert ours.score(X, y) > 0.85
