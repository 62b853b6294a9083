from types import SimpleNamespace

import pytest
from distributed.comm import CommClosedError

from skliquid.dask import ClusterError, connection


def test_a_scheduler_lost_while_results_arrive_is_reported_in_a_sentence(monkeypatch):
    def sync(*_, **__):
        raise CommClosedError

    scheduler = SimpleNamespace(address="tcp://127.0.0.1:1")
    client = SimpleNamespace(sync=sync, scheduler=scheduler, status="running")
    monkeypatch.setattr(connection, "_wait", lambda *_, **__: None)
    with pytest.raises(ClusterError, match=r"scheduler at tcp://127.0.0.1:1 was lost"):
        connection.results(client, [object()], timeout=1)
