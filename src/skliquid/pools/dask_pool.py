"""DaskPool: a plan for voters on the workers of a Dask cluster."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.cluster import (
    address_of,
    connected,
    distributed,
    packed,
    results,
    submitted,
    threads_of_workers,
)
from skliquid.pools.grouped_pool import knows_visits
from skliquid.pools.shard import built, opened, versions
from skliquid.pools.sharded_pool import ShardedPool
from skliquid.pools.voters import Variety

_ALIKE = Variety()


class DaskPool:
    """Voters in shards on the workers of a Dask cluster, with the bits of one machine.

    It is given as the parameter ``pool`` of an ensemble. ``fit`` brings the representatives that
    are left to this process, so that a fitted ensemble needs no cluster; between calls of
    ``partial_fit`` the voters stay on the workers, and a copy of the ensemble brings copies of them
    here.

    Parameters
    ----------
    client : distributed.Client or str
        The cluster, or the address of its scheduler. A copy in another process connects itself to
        that address when it is first needed; a cluster that asks for certificates has to be given
        as a client there too.
    n_shards : int, default=None
        In how many parts voters are held; one trains on one thread of a worker. None means the
        number of threads that all workers have when training starts.
    checkpoint_every : int, default=20
        After how many increments the shards are brought here, or sooner if the increments since
        have 256 MB. Until then the scheduler keeps these increments, to compute again what a lost
        worker held.
    retries : int, default=1
        How often a task that raises is tried again. The loss of a worker is not counted here.
    timeout : float, default=60
        For how many seconds to wait for a scheduler to answer, or for a first worker.

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
        """The connection to the cluster, made when first asked for."""
        if self._client is None:
            self._client = connected(self.address, timeout=self.timeout)
        return self._client

    def pool_for(
        self,
        kinds: Sequence[Any],
        seeds: Sequence[int],
        classes: NDArray[Any],
        n_jobs: int | None,
        *,
        variety: Variety = _ALIKE,
    ) -> ShardedPool:
        """Return the voters, in shards of one size but for a voter."""
        n_shards = self.n_shards or sum(self.workers().values())
        members = np.array_split(np.arange(len(seeds)), min(n_shards, len(seeds)))
        asked = {
            "name": "auto",
            "kinds": list(kinds),
            "seeds": list(seeds),
            "classes": classes,
            "n_jobs": n_jobs,
            "variety": variety,
        }
        return ShardedPool(
            self,
            members,
            self.submit(
                built,
                [(packed(asked | {"only": some.tolist()}), versions()) for some in members],
            ),
            n_jobs=n_jobs,
            knows_visits=knows_visits(kinds, seeds, variety),
            maps=variety.maps,
        )

    # What a sharded pool asks of the cluster

    def workers(self) -> dict[str, int]:
        """Return the workers, with the number of threads of each."""
        return threads_of_workers(self.client, timeout=self.timeout)

    def submit(
        self, task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], **options: Any
    ) -> list[Any]:
        """Return results to come of ``task``, which is run again if its worker is lost.

        Where is left to the scheduler: a task that is tied to a worker, even loosely, is never run
        once all workers have been lost, whoever comes after them.
        """
        return submitted(self.client, task, arguments, retries=self.retries, **options)

    def send(self, value: Any) -> tuple[Any, int]:
        """Return ``value`` as a result to come, and its number of bytes.

        It is packed at once, since the caller may change it, and travels in a task: what is merely
        put on a worker is gone with it.
        """
        parcel = packed(value)
        return self.submit(opened, [(parcel,)])[0], len(parcel)

    def fetch(self, futures: Sequence[Any]) -> list[Any]:
        """Return results as they are there, or raise in plain words."""
        return results(self.client, futures, timeout=self.timeout)

    # Copies

    def __repr__(self) -> str:
        return f"DaskPool({self.address!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> "DaskPool":
        return self  # a plan does not change, and a connection cannot be copied

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_client": None}


def _check_client(client: Any) -> None:
    distributed()
    if not isinstance(client, str) and not hasattr(client, "submit"):
        raise TypeError(
            f"client must be a dask.distributed.Client or the address of a scheduler: {client!r} "
            "is neither. Give Client('tcp://...')."
        )
    if getattr(client, "asynchronous", False):
        raise ValueError(
            "client must not be asynchronous: training waits for answers. Give "
            "Client(..., asynchronous=False)."
        )
    if getattr(client, "status", "running") != "running":
        raise ValueError(
            f"client must be connected to a scheduler: its status is {client.status!r}. Give a new "
            "one, or the address of a scheduler."
        )


def _check_at_least(least: int, **given: float | None) -> None:
    for name, value in given.items():
        if value is not None and not value >= least:
            raise ValueError(f"{name} must be at least {least}: got {value}. Raise it.")
