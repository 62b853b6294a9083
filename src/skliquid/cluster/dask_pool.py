"""DaskPool: voters on the workers of a Dask cluster."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.cluster.connection import (
    address_of,
    connected,
    distributed,
    packed,
    results,
    submitted,
    threads_of_workers,
)
from skliquid.cluster.shard import built, opened, versions
from skliquid.cluster.sharded_pool import ShardedPool
from skliquid.diversity import VoterSpec
from skliquid.pools import sees_rows_once


class DaskPool:
    """Voters in shards on the workers of a Dask cluster, with the same bits as in one process.

    It is the parameter ``pool`` of an ensemble. ``fit`` fetches the remaining representatives, so
    that a fitted ensemble needs no cluster. Between calls of ``partial_fit`` the voters stay on the
    workers, and a copy of the ensemble holds copies of them in this process.

    Parameters
    ----------
    client : distributed.Client or str
        The cluster, or the address of its scheduler. A copy in another process connects to that
        address on first use; a cluster that asks for certificates has to be given as a client
        there too.
    n_shards : int, default=None
        Number of parts in which voters are held; each trains on one thread of a worker. None means
        the number of threads of all workers when training starts.
    checkpoint_every : int, default=20
        Number of increments after which the shards are fetched, or fewer if these increments take
        256 MB. Until then the scheduler keeps the increments, to recompute what a lost worker held.
    retries : int, default=1
        How often a task that raises is tried again. Losing a worker does not count.
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
        self.address: str = client if is_address else address_of(client)
        self._client = None if is_address else client

    @property
    def client(self) -> Any:
        """The connection to the cluster, made on first use."""
        if self._client is None:
            self._client = connected(self.address, timeout=self.timeout)
        return self._client

    def pool_for(self, spec: VoterSpec, classes: NDArray[Any], n_jobs: int | None) -> ShardedPool:
        """Return the voters, in shards of equal size but for one voter."""
        n_voters = len(spec.seeds)
        n_shards = self.n_shards or sum(self.workers().values())
        members = np.array_split(np.arange(n_voters), min(n_shards, n_voters))
        arguments = {"name": "auto", "spec": spec, "classes": classes, "n_jobs": n_jobs}
        packages = [packed(arguments | {"only": part.tolist()}) for part in members]
        return ShardedPool(
            self,
            members,
            self.submit(built, [(package, versions()) for package in packages]),
            n_jobs=n_jobs,
            sees_rows_once=sees_rows_once(spec),
            maps=spec.maps,
        )

    # What a sharded pool needs of the cluster

    def workers(self) -> dict[str, int]:
        """Return the workers, with the number of threads of each."""
        return threads_of_workers(self.client, timeout=self.timeout)

    def submit(
        self, task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], **options: Any
    ) -> list[Any]:
        """Return futures of ``task``, which is run again if its worker is lost.

        The scheduler chooses the workers: a task that is tied to a worker, even loosely, is never
        run once all workers have been lost, even if others join.
        """
        return submitted(self.client, task, arguments, retries=self.retries, **options)

    def send(self, value: Any) -> tuple[Any, int]:
        """Return a future of ``value``, and its number of bytes.

        It is packed at once, since the caller may change it, and sent in a task: scattered data is
        lost with its worker.
        """
        package = packed(value)
        return self.submit(opened, [(package,)])[0], len(package)

    def fetch(self, futures: Sequence[Any]) -> list[Any]:
        """Wait for results and return them, or raise a clear error."""
        return results(self.client, futures, timeout=self.timeout)

    # Copies

    def __repr__(self) -> str:
        return f"DaskPool({self.address!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> "DaskPool":
        return self  # it does not change, and a connection cannot be copied

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_client": None}


def _check_client(client: Any) -> None:
    distributed()
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


def _check_at_least(least: int, **given: float | None) -> None:
    for name, value in given.items():
        if value is not None and not value >= least:
            raise ValueError(f"{name} must be at least {least}: got {value}. Raise it.")
