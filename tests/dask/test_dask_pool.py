"""Voters on a cluster of processes: the bits of one machine, whatever happens to a worker."""

import copy
import gc
import hashlib
import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from clusters import Deadly, cluster_of, wait_until
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skliquid import DaskPool, Diversity, LiquidEnsembleClassifier, load, save
from skliquid.dask import ClusterError
from skliquid.mechanisms import Mechanism
from skliquid.mechanisms.probability import better
from skliquid.mechanisms.selection import least_competent
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SGD = SGDClassifier(max_iter=20)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Three workers, of which tests may kill one if they start another."""
    with cluster_of(tmp_path_factory.mktemp("cluster"), 3) as cluster:
        yield cluster


def ensemble(**changes):
    settings = {"n_estimators": 24, "n_final": 4, "increment_size": 40, "random_state": 0}
    return LiquidEnsembleClassifier(**settings | changes)


def numbers_of(estimator):
    """Return the arrays that a fitted voter consists of."""
    if hasattr(estimator, "steps"):
        return [part for _, step in estimator.steps for part in numbers_of(step)]
    arrays = [
        value for _, value in sorted(vars(estimator).items()) if isinstance(value, np.ndarray)
    ]
    grown = getattr(estimator, "trees_", None)
    if grown is not None:
        return [*arrays, *(np.frombuffer(b"".join(tree), dtype=np.uint8) for tree in grown.trees)]
    tree = getattr(estimator, "tree_", None)
    return arrays if tree is None else [*arrays, tree.threshold, tree.feature, tree.value]


def digest(fitted):
    """Return the SHA-256 of all numbers of the representatives, and of the record."""
    sha = hashlib.sha256()
    for estimator in fitted.estimators_:
        for array in numbers_of(estimator):
            sha.update(np.ascontiguousarray(array).tobytes())
    for increment in fitted.record_:
        sha.update(increment.accuracy.tobytes())
        sha.update(increment.graph.delegation.tobytes())
    sha.update(str((fitted.training_cost_, fitted.record_[-1].eval_accuracy)).encode())
    return sha.hexdigest()


SETTINGS = {
    "default": {},
    "linear": {"estimator": SGD, "final_fit": False, "competence": "training"},
    "mixed": {"estimator": [("sgd", SGD), ("bayes", GaussianNB()), ("average", SGD)]},
    "trees": {"estimator": DecisionTreeClassifier(max_depth=4), "n_estimators": 7},
    "own hyperparameters": {
        "estimator": SGD,
        "diversity": Diversity(param_distributions={"early_stopping": [False, True]}),
    },
    "maps": {
        "estimator": SGD,
        "diversity": Diversity(feature_maps=["passthrough", RBFSampler(n_components=20)]),
    },
    "bootstrap": {"estimator": [("sgd", SGD), ("bayes", GaussianNB())], "bootstrap": True},
    "own rows and features": {"estimator": SGD, "max_samples": 0.5, "max_features": 0.5},
    "forests and boosted trees": {
        "estimator": [
            ("forest", RandomizedForestClassifier(3)),
            ("boosted", BoostedTreesClassifier(6, max_rows=150)),
        ],
        "bootstrap": True,
        "max_features": 0.5,
    },
}


@pytest.mark.parametrize("name", SETTINGS)
def test_fit_gives_the_bits_of_one_machine(cluster, binary, name):
    X, y = binary
    data = {"sample_weight": np.linspace(0, 2, 400), "eval_set": (X[400:], y[400:])}
    here = ensemble(**SETTINGS[name]).fit(X[:400], y[:400], **data)
    there = ensemble(**SETTINGS[name], pool=DaskPool(cluster.client)).fit(X[:400], y[:400], **data)
    assert digest(there) == digest(here)
    assert np.array_equal(there.predict_proba(X), here.predict_proba(X))


def test_voters_grow_with_the_bits_of_one_machine(cluster):
    X = np.random.default_rng(0).normal(size=(10_000, 4))
    y = (X[:, 0] * X[:, 1] + np.sign(X[:, 2] * X[:, 3]) > 0).astype(int)
    here = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    there = LiquidEnsembleClassifier(random_state=0, pool=DaskPool(cluster.client)).fit(X, y)
    assert np.isfinite(here.record_[-1].log_loss)
    assert np.array_equal(there.predict_proba(X), here.predict_proba(X))


@pytest.mark.parametrize(
    "name", ["default", "mixed", "trees", "bootstrap", "forests and boosted trees"]
)
def test_partial_fit_gives_the_bits_of_one_machine(cluster, binary, name):
    X, y = binary
    pool = DaskPool(cluster.client, checkpoint_every=3)
    here, there = ensemble(**SETTINGS[name]), ensemble(**SETTINGS[name], pool=pool)
    buffer = np.empty((50, X.shape[1]))
    for start in range(0, 350, 50):
        buffer[:] = X[start : start + 50]
        there.partial_fit(buffer, y[start : start + 50], classes=[0, 1])
        buffer[:] = np.nan  # the caller may use its array again
        here.partial_fit(X[start : start + 50], y[start : start + 50], classes=[0, 1])
    assert digest(there) == digest(here)
    assert np.array_equal(there.predict(X), here.predict(X))


@pytest.mark.parametrize("data", ["binary", "multiclass"])
@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_soft_votes_by_contribution_have_the_bits_of_one_machine(cluster, request, data, way):
    X, y = (part[:300] for part in request.getfixturevalue(data))
    asked = {
        **SETTINGS["mixed"],
        "competence": "contribution",
        "voting": "soft",
        "class_weight": {0: 3.0},
        "n_final": "auto",
        "increment_size": 20,
    }
    here, there = ensemble(**asked), ensemble(**asked, pool=DaskPool(cluster.client))
    for trained in (here, there):
        if way == "fit":
            trained.fit(X, y)
        for start in range(0, 120, 40) if way == "partial_fit" else ():
            rows = slice(start, start + 40)
            trained.partial_fit(X[rows], y[rows], classes=np.unique(y))
    assert digest(there) == digest(here)
    assert there.temperature_ == here.temperature_ != 1
    assert np.array_equal(there.delegation_graph_.delegation, here.delegation_graph_.delegation)
    assert len(here.estimators_) < 24
    for rows in (X, 1000 * X):  # the margins of rows that are certain are asked for, too
        for method in ("predict_proba", "decision_function", "predict"):
            assert np.array_equal(getattr(there, method)(rows), getattr(here, method)(rows))


def test_more_than_two_classes_and_a_budget(cluster, multiclass):
    X, y = multiclass
    fits = [
        ensemble(pool=pool, max_cost=9000, n_final=6).fit(X, y)
        for pool in ("auto", DaskPool(cluster.client, n_shards=5))
    ]
    assert digest(fits[0]) == digest(fits[1])
    assert fits[0].record_.stopped == fits[1].record_.stopped


def test_a_fitted_ensemble_needs_no_cluster(cluster, binary):
    X, y = binary
    fitted = ensemble(pool=DaskPool(cluster.client)).fit(X, y)
    alike = ensemble().fit(X, y)
    gc.collect()  # what other tests left behind
    wait_until(lambda: not cluster.client.futures)
    for twin in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), fitted):
        assert digest(twin) == digest(alike)
        assert np.array_equal(twin.predict(X), alike.predict(X))
    assert not cluster.client.futures
    assert len(pickle.dumps(fitted)) < 1.5 * len(pickle.dumps(alike))  # maps are there once


def test_a_copy_continues_where_the_original_is_and_on_one_machine(cluster, binary):
    X, y = binary
    original = ensemble(pool=DaskPool(cluster.client)).partial_fit(X[:150], y[:150], classes=[0, 1])
    twin = pickle.loads(pickle.dumps(original))
    for trained in (original, twin):
        trained.partial_fit(X[150:300], y[150:300])
    assert digest(twin) == digest(original)
    assert np.array_equal(twin.predict(X), original.predict(X))


def test_a_model_from_a_cluster_is_saved_with_the_bits_of_one_machine(cluster, binary, tmp_path):
    X, y = binary
    for fit in (
        lambda model: model.fit(X, y),
        lambda model: model.partial_fit(X[:150], y[:150], classes=[0, 1]),
    ):
        there, here = fit(ensemble(pool=DaskPool(cluster.client, n_shards=3))), fit(ensemble())
        save(there, tmp_path / "a")
        loaded = load(tmp_path / "a")
        assert loaded.pool == "auto"
        assert np.array_equal(loaded.predict_proba(X), here.predict_proba(X))
        for model in (loaded, here):
            model.partial_fit(X[150:300], y[150:300])
        assert np.array_equal(loaded.predict_proba(X), here.predict_proba(X))


def test_a_dask_pool_can_be_cloned_printed_and_sent(cluster):
    asked = ensemble(pool=DaskPool(cluster.client, n_shards=2))
    assert clone(asked).pool.client is cluster.client
    assert cluster.address in repr(asked)
    assert asked.get_params()["pool"].n_shards == 2
    sent = pickle.loads(pickle.dumps(asked)).pool
    assert (sent.address, sent.n_shards) == (cluster.address, 2)
    with sent.client as client:
        assert client is not cluster.client
        assert sorted(sent.workers()) == sorted(cluster.client.nthreads())


def killing(cluster, at_call):
    """Return a mechanism that kills a worker while its step is under way."""
    calls = iter(range(10_000))

    def better_and_killing(gain, weight):
        if next(calls) == at_call:
            cluster.kill_a_worker()
            cluster.start_workers(1)
        return better(gain, weight)

    return Mechanism(least_competent, better_and_killing)


@pytest.mark.parametrize(
    "asked",
    [{"estimator": SGD}, {"estimator": DecisionTreeClassifier(max_depth=4), "n_estimators": 8}],
)
def test_a_worker_killed_in_training_does_not_change_a_bit(cluster, binary, asked):
    X, y = binary
    asked = asked | {"bootstrap": True, "delegation_rate": 0.1}
    calm = ensemble(**asked, mechanism=Mechanism(least_competent, better)).fit(X, y)
    pool = DaskPool(cluster.client, checkpoint_every=6)
    n_dead = len(cluster.workers) - len(cluster.living())
    disturbed = ensemble(**asked, mechanism=killing(cluster, at_call=2), pool=pool).fit(X, y)
    assert len(cluster.workers) - len(cluster.living()) == n_dead + 1
    assert digest(disturbed) == digest(calm)


def test_all_workers_killed_between_increments_do_not_change_a_bit(cluster, binary):
    X, y = binary
    asked = {"estimator": SGD, "n_estimators": 12}
    calm, disturbed = ensemble(**asked), ensemble(**asked, pool=DaskPool(cluster.client))
    for start in range(0, 400, 80):
        rows = slice(start, start + 80)
        for trained in (calm, disturbed):
            trained.partial_fit(X[rows], y[rows], classes=[0, 1])
        if start == 240:
            while cluster.living():
                cluster.kill_a_worker()
            cluster.start_workers(3)
    assert digest(disturbed) == digest(calm)


def test_what_a_voter_raises_is_raised_here(cluster, binary):
    asked = ensemble(estimator=Deadly(is_deadly=False), pool=DaskPool(cluster.client))
    with pytest.raises(ValueError, match="no way"):
        asked.fit(*binary)
    asked = ensemble(estimator=SGDClassifier(alpha=-1.0), pool=DaskPool(cluster.client))
    with pytest.raises(ValueError, match="alpha"):
        asked.fit(*binary)


def test_a_cluster_that_fails_step_by_step_raises_clear_errors(tmp_path, binary):
    X, y = binary
    fragile = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with cluster_of(tmp_path, 1, **fragile) as cluster:
        with pytest.raises(ClusterError, match="A task ended every worker that it ran on"):
            ensemble(estimator=Deadly(), pool=DaskPool(cluster.client)).fit(X, y)
        wait_until(lambda: not cluster.client.nthreads())
        with pytest.raises(ClusterError, match=r"must have workers: for 0.5 s there was none"):
            ensemble(pool=DaskPool(cluster.client, timeout=0.5)).fit(X, y)
        cluster.start_workers(1)
        pool = DaskPool(cluster.client)
        under_way = ensemble(estimator=SGD, n_estimators=6, pool=pool)
        under_way.partial_fit(X[:50], y[:50], classes=[0, 1]).predict(X)
        cluster.kill_a_worker()
        pool.timeout = 0.5
        with pytest.raises(ClusterError, match=r"must have workers: for 0.5 s there was none"):
            under_way.predict(X)
        cluster.kill_the_scheduler()
        wait_until(lambda: cluster.client.status != "running")
        with pytest.raises(ClusterError, match=r"connection to the scheduler at .* was lost"):
            under_way.partial_fit(X[50:], y[50:])
        with pytest.raises(ValueError, match="must not continue after a call that failed"):
            under_way.partial_fit(X[50:], y[50:])
        with pytest.raises(ClusterError, match=r"must be a scheduler at .*: none answered"):
            ensemble(pool=DaskPool(cluster.address, timeout=0.5)).fit(X, y)


@pytest.mark.parametrize("address", ["tcp://x", "[/bad", "foo://a:1", ""])
def test_an_invalid_address_is_refused_at_once(address):
    with pytest.raises(
        ClusterError, match=r"address of a scheduler must be like tcp://.*Correct it"
    ):
        DaskPool(address).workers()


@pytest.mark.parametrize(
    ("client", "options", "error"),
    [
        (3, {}, "client must be a dask.distributed.Client or the address"),
        ("tcp://nowhere:1", {"n_shards": 0}, "n_shards must be at least 1: got 0"),
        ("tcp://nowhere:1", {"checkpoint_every": 0}, "checkpoint_every must be at least 1: got 0"),
        ("tcp://nowhere:1", {"retries": -1}, "retries must be at least 0: got -1"),
        ("tcp://nowhere:1", {"timeout": -1}, "timeout must be at least 0: got -1"),
        (
            SimpleNamespace(submit=None, status="closed", scheduler=None),
            {},
            "client must be connected to a scheduler: its status is 'closed'. Pass a new",
        ),
    ],
)
def test_invalid_parameters_are_refused(client, options, error):
    with pytest.raises((TypeError, ValueError), match=error):
        DaskPool(client, **options)


def test_without_the_extra_all_else_works_and_an_error_names_it():
    code = """
import sys
from types import SimpleNamespace
sys.modules["dask"] = sys.modules["distributed"] = None
from skliquid import DaskPool, Diversity, LiquidEnsembleClassifier, load, save
LiquidEnsembleClassifier(n_estimators=3, n_final=1).fit([[0.0], [1.0]] * 30, [0, 1] * 30)
try:
    DaskPool("tcp://127.0.0.1:8786")
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install '.[dask]'" in done.stdout
