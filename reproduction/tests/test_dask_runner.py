"""Experiments on a cluster of processes, some of which are killed."""

import hashlib
from dataclasses import replace

import pytest
from clusters import cluster_of, wait_until
from distributed.comm import CommClosedError

from reproduction import dask_runner
from reproduction.dask_runner import ClusterError, run_if_same, run_on_cluster
from reproduction.process_runner import run_trials
from reproduction.tests.small_results import SMALL
from reproduction.trial import Trial
from reproduction.trial_store import Store

FEW = {"n_estimators": 12}
TRIALS = [Trial("heart", "ours", SMALL | FEW, number) for number in range(40)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with cluster_of(tmp_path_factory.mktemp("cluster"), 2) as cluster:
        yield cluster


def table_digest(path):
    """Return the SHA-256 of all that a store exports, but for the time it took."""
    with Store(path) as store:
        table = store.to_pandas().drop(columns=["seconds", "finished"])
    return hashlib.sha256(table.to_csv(index=False).encode()).hexdigest()


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    path = tmp_path_factory.mktemp("calm") / "t.sqlite"
    with Store(path) as store:
        assert run_trials(TRIALS, store, n_jobs=1) == 0
    return table_digest(path)


def test_a_worker_killed_in_an_experiment_does_not_change_a_result(cluster, calm, tmp_path):
    reported = []

    def report(n_more):
        reported.append(n_more)
        if len(reported) == 1:
            cluster.kill_a_worker()
            cluster.start_workers(1)

    with Store(tmp_path / "t.sqlite") as store:
        assert run_on_cluster(TRIALS, store, address=cluster.address, report=report) == 0
    assert sum(reported) == len(TRIALS)
    assert len(reported) > 1, "nothing was left to be done when the worker was killed"
    assert table_digest(tmp_path / "t.sqlite") == calm


def test_no_more_trials_are_under_way_than_keep_the_workers_busy(cluster, tmp_path, monkeypatch):
    counts = []

    def submit(client, trials):
        futures = original(client, trials)
        counts.append(len(client.futures))
        return futures

    original = dask_runner._submit
    monkeypatch.setattr(dask_runner, "_submit", submit)
    with Store(tmp_path / "t.sqlite") as store:
        run_on_cluster(TRIALS, store, address=cluster.address)
    assert len(counts) > 3
    assert max(counts) < len(TRIALS) / 2


def test_a_worker_with_other_code_runs_nothing(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("reproduction.trial.code_version", lambda: "another")
    with Store(tmp_path / "t.sqlite") as store:
        with pytest.raises(ClusterError, match="Workers must have the code and data"):
            run_on_cluster(TRIALS[:3], store, address=cluster.address)
        assert store.missing(TRIALS[:3]) == TRIALS[:3]


def test_a_trial_that_is_the_same_everywhere_is_run():
    assert run_if_same(TRIALS[0], TRIALS[0].key)["n_increments"] > 1


def test_a_trial_that_fails_or_kills_is_recorded_and_the_others_continue(tmp_path, deadly):
    bad = [replace(deadly(name), method=deadly(name).method | FEW) for name in ("always", "wrong")]
    trials = [*bad, *TRIALS[:4]]
    fragile = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    path = tmp_path / "t.sqlite"
    with cluster_of(tmp_path, 4, **fragile) as cluster, Store(path) as store:
        assert run_on_cluster(trials, store, address=cluster.address) == 2
        errors = [error for _, error in store.errors(trials[:2])]
        assert "A task ended every worker that it ran on" in errors[0]
        assert "no way" in errors[1]
        assert len(store.results(trials)) == 4


def test_a_lost_scheduler_is_reported_and_the_rest_is_done_later(calm, tmp_path):
    path, reported = tmp_path / "t.sqlite", []
    with cluster_of(tmp_path, 1) as cluster, Store(path) as store:

        def report(n_more):
            reported.append(n_more)
            cluster.kill_the_scheduler()

        with pytest.raises(ClusterError, match=r"connection to the scheduler at .* was lost"):
            run_on_cluster(TRIALS, store, address=cluster.address, report=report)
        missing = store.missing(TRIALS)
        assert 0 < len(missing) <= len(TRIALS) - reported[0]
        assert run_trials(missing, store, n_jobs=1) == 0
    assert table_digest(path) == calm


def test_a_cluster_without_workers_is_not_awaited_forever(tmp_path):
    with cluster_of(tmp_path, 1) as cluster, Store(tmp_path / "t.sqlite") as store:
        cluster.kill_a_worker()
        wait_until(lambda: not cluster.client.nthreads())
        with pytest.raises(ClusterError, match=r"must have workers: for 0.5 s there was none"):
            run_on_cluster(TRIALS, store, address=cluster.address, timeout=0.5)
        with pytest.raises(ClusterError, match=r"must be a scheduler at tcp://127.0.0.1:1: none"):
            run_on_cluster(TRIALS, store, address="tcp://127.0.0.1:1", timeout=0.5)


def test_a_worker_without_the_reproduction_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # processes import what is in the folder where they start
    with cluster_of(tmp_path, 1, PYTHONPATH="") as cluster, Store(tmp_path / "t.sqlite") as store:
        with pytest.raises(ClusterError, match=r"Workers must have the code .* on the scheduler"):
            run_on_cluster(TRIALS[:2], store, address=cluster.address)
        assert store.missing(TRIALS[:2]) == TRIALS[:2]


def test_a_scheduler_lost_while_results_arrive_is_reported_in_a_sentence(
    cluster, tmp_path, monkeypatch
):
    def fail(*_):
        raise CommClosedError

    monkeypatch.setattr(dask_runner, "_outcomes", fail)
    with Store(tmp_path / "t.sqlite") as store:
        with pytest.raises(ClusterError, match=f"scheduler at {cluster.address} was lost"):
            run_on_cluster(TRIALS[:2], store, address=cluster.address)
        assert store.missing(TRIALS[:2]) == TRIALS[:2]
