"""Clusters that fail, or cannot be reached, end in an error that says so."""

from types import SimpleNamespace

import dask.array as da
import numpy as np
import pytest
from clusters import cluster_of, end_this_process, wait_until
from distributed import Client

from skliquid import DaskLiquidEnsembleClassifier
from skliquid.dask import Cluster, ClusterError

X = np.random.default_rng(0).normal(size=(90, 3))
ROWS = da.from_array(X, chunks=(30, 3)), da.from_array((X[:, 0] > 0).astype(int), chunks=30)


def fit(client, **options):
    return DaskLiquidEnsembleClassifier(client, random_state=0, **options).fit(*ROWS)


def test_a_cluster_that_fails_step_by_step_raises_clear_errors(tmp_path, monkeypatch):
    fragile = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with cluster_of(tmp_path, 1, **fragile) as cluster:
        fitted = fit(cluster.client)
        with monkeypatch.context() as patched:
            message = r"must have the package versions of this process.*has skliquid .*Install"
            patched.setattr("skliquid.dask.cluster._versions", _of_another_version)
            with pytest.raises(ClusterError, match=message):
                fit(cluster.client)
            with Cluster(cluster.client) as tasks, pytest.raises(ClusterError, match=message):
                next(tasks.map(abs, [(-1,)]))
        with monkeypatch.context() as patched:
            patched.setattr("skliquid.dask.partitions._count", end_this_process)
            asked = DaskLiquidEnsembleClassifier(cluster.client)
            with pytest.raises(ClusterError, match="A task ended every worker that it ran on"):
                asked.fit(*(column.rechunk(-1) for column in ROWS))
        wait_until(lambda: not cluster.client.nthreads())
        no_workers = r"must have workers: for 0.5 s there was none. Start some with 'dask worker"
        for use in (lambda: fit(cluster.client, timeout=0.5), lambda: fitted.score(*ROWS)):
            fitted.timeout = 0.5
            with pytest.raises(ClusterError, match=no_workers):
                use()
        with Client(cluster.address, set_as_default=False) as closed:
            pass
        with pytest.raises(ValueError, match=r"client must be connected.*its status is 'closed'"):
            fit(closed)
        cluster.kill_the_scheduler()
        wait_until(lambda: cluster.client.status != "running")
        with pytest.raises(ValueError, match="client must be connected to a scheduler"):
            fit(cluster.client)
        with pytest.raises(ClusterError, match=r"must be a scheduler at .*: none answered"):
            fit(cluster.address, timeout=0.5)
        with pytest.raises(ClusterError, match=r"must be a scheduler at .*: none answered"):
            fitted.set_params(client=cluster.address).score(*ROWS)


def _of_another_version():
    return {"skliquid": "0.0.1", "sklearn": "0.0.1", "numpy": "0.0.1"}


def test_results_come_in_the_order_of_their_calls(tmp_path):
    with cluster_of(tmp_path, 2) as cluster:
        with Cluster(cluster.address) as tasks:
            assert list(tasks.map(pow, [(k, 2) for k in range(9)])) == [k**2 for k in range(9)]
            assert tasks.client.status == "running"
            with pytest.raises(ZeroDivisionError):
                list(tasks.map(divmod, [(1, 1), (1, 0)]))
        assert tasks.client.status == "closed"  # it was its own
        assert cluster.client.status == "running"


@pytest.mark.parametrize("address", ["tcp://x", "[/bad", "foo://a:1", ""])
def test_an_invalid_address_is_refused_at_once(address):
    with pytest.raises(ClusterError, match=r"address of a scheduler must be like tcp://.*Correct"):
        fit(address)


@pytest.mark.parametrize(
    ("client", "error"),
    [
        (3, "client must be a dask.distributed.Client or the address"),
        (SimpleNamespace(submit=1, scheduler=1, asynchronous=True), "must not be asynchronous"),
        (
            SimpleNamespace(submit=None, status="closed", scheduler=None),
            "client must be connected to a scheduler: its status is 'closed'. Pass a new",
        ),
        (None, "client must be given if there is no default client. Start one with"),
    ],
)
def test_invalid_clients_are_refused(client, error):
    with pytest.raises((TypeError, ValueError), match=error):
        fit(client)


@pytest.mark.parametrize("timeout", [-1, "long", None])
def test_invalid_timeouts_are_refused(timeout):
    with pytest.raises((TypeError, ValueError), match="timeout must be"):
        fit("tcp://127.0.0.1:1", timeout=timeout)
