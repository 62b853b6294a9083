"""What is said of a cluster that fails."""

from types import SimpleNamespace

import pytest
from distributed.comm import CommClosedError

from skliquid import cluster


def test_a_scheduler_that_is_lost_while_answers_come_is_said_in_a_sentence(monkeypatch):
    def sync(*_, **__):
        raise CommClosedError

    scheduler = SimpleNamespace(address="tcp://127.0.0.1:1")
    client = SimpleNamespace(sync=sync, scheduler=scheduler, status="running")
    monkeypatch.setattr(cluster, "done", lambda *_, **__: set())
    with pytest.raises(cluster.ClusterError, match=r"scheduler at tcp://127.0.0.1:1 was lost"):
        cluster.results(client, [object()], timeout=1)
