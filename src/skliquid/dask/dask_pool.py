"""DaskPool: voters on the workers of a Dask cluster."""

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.dask import connection
from skliquid.dask.shard import build_shard, versions
from skliquid.dask.sharded_pool import ShardedPool
from skliquid.diversity import VoterSpec
from skliquid.pools.capabilities import sees_rows_once


class DaskPool:
    """Voters in shards on the workers of a Dask cluster, with the same bits as in one process.

    It is the parameter ``pool`` of an ensemble. ``fit`` fetches the remaining representatives, so
    that a fitted ensemble needs no cluster. Between calls of ``partial_fit`` the voters stay on the
    workers, and a copy of the ensemble holds copies of them in this process.

    Parameters
    ----------
    client : distributed.Client or str
        The cluster, or the address of its scheduler. A copy in another process connects to that
        address on first use; if the cluster asks for certificates, pass a client there too.
    n_shards : int, default=None
        Number of parts into which the voters are divided; each part trains on one thread of a
        worker. None means the number of threads of all workers when training starts.
    checkpoint_every : int, default=20
        Increments after which the shards are fetched, or fewer if these take 256 MB. Until then the
        scheduler keeps the increments, to recompute the shards of a lost worker.
    retries : int, default=1
        How often a task that raises is run again. Losing a worker does not count.
    timeout : float, default=60
        Seconds to wait for the scheduler to answer, or for a first worker.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> pool = DaskPool(Client("tcp://192.168.0.1:8786"))  # doctest: +SKIP
    >>> LiquidEnsembleClassifier(pool=pool).fit(X, y)  # doctest: +SKIP
    """

    def __init__(
        self,
        client: Any,
        *,
        n_shards: int | None = None,
        checkpoint_every: int = 20,
        retries: int = 1,
        timeout: float = 60,
    ):
        _check_client(client)
        _check_at_least(1, n_shards=n_shards, checkpoint_every=checkpoint_every)
        _check_at_least(0, retries=retries, timeout=timeout)
        self.n_shards, self.checkpoint_every = n_shards, checkpoint_every
        self.retries, self.timeout = retries, timeout
        is_address = isinstance(client, str)
        self.address: str = client if is_address else connection.address_of(client)
        self._client = None if is_address else client

    @property
    def client(self) -> Any:
        """The connection to the cluster, made on first use."""
        if self._client is None:
            self._client = connection.connect(self.address, timeout=self.timeout)
        return self._client

    def pool_for(self, spec: VoterSpec, classes: NDArray[Any], n_jobs: int | None) -> ShardedPool:
        """Return the voters in shards, whose sizes differ by at most one voter."""
        n_voters = len(spec.seeds)
        n_shards = self.n_shards or sum(self.workers().values())
        members = np.array_split(np.arange(n_voters), min(n_shards, n_voters))
        options = {"name": "auto", "spec": spec, "classes": classes, "n_jobs": n_jobs}
        shards = [connection.serialize(options | {"only": part.tolist()}) for part in members]
        futures = self.submit(build_shard, [(shard, versions()) for shard in shards])
        once = sees_rows_once(spec)
        return ShardedPool(
            self, members, futures, n_jobs=n_jobs, sees_rows_once=once, maps=spec.maps
        )

    def workers(self) -> dict[str, int]:
        """Return the number of threads of each worker."""
        return connection.threads_of_workers(self.client, timeout=self.timeout)

    def submit(
        self, task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], **options: Any
    ) -> list[Any]:
        """Return one future of ``task`` per tuple of arguments.

        The scheduler chooses the workers: a task that is tied to a worker, even loosely, is never
        run once all workers have been lost, even if others join.
        """
        return connection.submit(self.client, task, arguments, retries=self.retries, **options)

    def send(self, value: Any) -> tuple[Any, int]:
        """Return a future of ``value`` as it is now, and its number of bytes."""
        data = connection.serialize(value)  # sent in a task: scattered data is lost with its worker
        return self.submit(pickle.loads, [(data,)])[0], len(data)

    def fetch(self, futures: Sequence[Any]) -> list[Any]:
        """Wait for ``futures`` and return their results, or raise a clear error."""
        return connection.results(self.client, futures, timeout=self.timeout)

    def __repr__(self) -> str:
        return f"DaskPool({self.address!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> "DaskPool":
        return self  # it does not change, and a connection cannot be copied

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_client": None}


def _check_client(client: Any) -> None:
    connection.import_distributed()
    if not isinstance(client, str) and not hasattr(client, "submit"):
        raise TypeError(
            "client must be a dask.distributed.Client or the address of a scheduler: got "
            f"{client!r}. Pass Client('tcp://...')."
        )
    if getattr(client, "asynchronous", False):
        raise ValueError(
            "client must not be asynchronous: training waits for results. Pass "
            "Client(..., asynchronous=False)."
        )
    if getattr(client, "status", "running") != "running":
        raise ValueError(
            f"client must be connected to a scheduler: its status is {client.status!r}. Pass a new "
            "one, or the address of a scheduler."
        )


def _check_at_least(minimum: int, **parameters: float | None) -> None:
    for name, value in parameters.items():
        if value is not None and not value >= minimum:
            raise ValueError(f"{name} must be at least {minimum}: got {value}. Raise it.")
