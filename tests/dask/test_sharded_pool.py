"""What a sharded pool sends, when, and how often, on a cluster that does everything at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sklearn
from clusters import ClusterOfOne
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skliquid.dask import sharded_pool
from skliquid.dask.shard import Shard, build_shard, versions
from skliquid.dask.sharded_pool import ShardedPool
from skliquid.delegation.rows import Rows
from skliquid.diversity import VoterSpec
from skliquid.pools import pool_for
from skliquid.voters import RandomizedForestClassifier

VOTERS = np.arange(6)


def whole(estimator, **options):
    return pool_for("estimator", VoterSpec([estimator], range(6)), np.array([0, 1]), **options)


def sharded(cluster, estimator, *, sees_rows_once=True):
    members = np.array_split(VOTERS, 3)
    shards = [Shard(whole(estimator, only=part.tolist())) for part in members]
    return ShardedPool(cluster, members, shards, n_jobs=None, sees_rows_once=sees_rows_once)


def test_rows_are_sent_once_to_be_measured_and_trained_on(binary):
    X, y = binary
    cluster = ClusterOfOne(checkpoint_every=100)
    pool = sharded(cluster, SGDClassifier())
    for start in range(0, 150, 50):
        rows = Rows(X[start : start + 50], y[start : start + 50])
        pool.train(VOTERS, rows)
        pool.expect(rows)
        pool.vote(VOTERS, rows.X)
    assert cluster.n_sent == 3


def test_shards_are_sent_again_after_some_increments_or_many_bytes(binary, monkeypatch):
    X, y = binary
    cluster = ClusterOfOne(checkpoint_every=2)
    pool = sharded(cluster, SGDClassifier())
    n_sent = []
    for start in range(0, 200, 50):
        pool.train(VOTERS, Rows(X[start : start + 50], y[start : start + 50]))
        n_sent.append(cluster.n_sent)
    assert n_sent == [1, 5, 6, 10]
    monkeypatch.setattr(sharded_pool, "MAX_BYTES_TO_REPEAT", 1000)
    pool.train(VOTERS, Rows(X[:50], y[:50]))
    assert cluster.n_sent == 14


def test_every_voter_may_have_its_own_row_weights(binary):
    X, y = binary
    weights = np.random.default_rng(0).poisson(1.0, (4, len(y))).astype(float)
    asked = np.array([5, 0, 3, 2])
    pools = [sharded(ClusterOfOne(), SGDClassifier()), whole(SGDClassifier())]
    for pool in pools:
        pool.train(asked, Rows(X, y, weights))
    for one, other in zip(*(pool.estimators(asked) for pool in pools), strict=True):
        assert np.array_equal(one.coef_, other.coef_)


def test_visits_that_cannot_be_known_are_asked_for(binary):
    X, y = binary
    tree = DecisionTreeClassifier(max_depth=2)
    pools = [sharded(ClusterOfOne(), tree, sees_rows_once=False), whole(tree)]
    visits = [[pool.train(VOTERS, Rows(X[:80], y[:80])) for _ in range(2)] for pool in pools]
    assert visits[0] == visits[1] == [480, 960]
    forest = RandomizedForestClassifier(8)  # of which two are grown at first, on all rows so far
    pools = [sharded(ClusterOfOne(), forest, sees_rows_once=False), whole(forest)]
    visits = [[pool.train(VOTERS, Rows(X[:80], y[:80])) for _ in range(2)] for pool in pools]
    assert visits[0] == visits[1] == [2 * 480, 2 * 960]


class ClusterInAThread(ClusterOfOne):
    """Does not share scikit-learn's configuration, as no worker does."""

    def submit(self, task, arguments, **options):
        with ThreadPoolExecutor(1) as worker:
            return worker.submit(super().submit, task, arguments, **options).result()


def test_the_configuration_of_scikit_learn_holds_on_workers_too(binary):
    X, y = binary
    weights = np.linspace(0.1, 2, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        voter = make_pipeline(scaler, GaussianNB().set_fit_request(sample_weight=True))
        pools = [sharded(ClusterInAThread(), voter, sees_rows_once=False), whole(voter)]
        for pool in pools:
            pool.train(VOTERS, Rows(X, y, weights))
    for one, other in zip(*(pool.estimators(VOTERS) for pool in pools), strict=True):
        assert np.array_equal(one[-1].theta_, other[-1].theta_)
    with sklearn.config_context(assume_finite=True):  # or missing values were refused
        pools[0].vote(VOTERS, np.full_like(X, np.nan))


def test_voters_that_were_dropped_do_not_come_back(binary):
    X, y = binary
    pool = sharded(ClusterOfOne(checkpoint_every=100), SGDClassifier())
    pool.train(VOTERS, Rows(X[:80], y[:80]))
    pool.keep(VOTERS[1:4], training_is_over=False)
    pool.train(VOTERS[1:4], Rows(X[80:], y[80:]))
    with pytest.raises(KeyError):
        pool.vote(VOTERS[:1], X)


def test_a_worker_of_another_version_builds_nothing():
    with pytest.raises(RuntimeError, match=r"has numpy .*, not 0.0. Install the same version"):
        build_shard(b"", versions() | {"numpy": "0.0"})
