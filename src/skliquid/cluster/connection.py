"""Clusters: a connection to a Dask scheduler, and its results, or errors in plain words."""

import warnings
from collections.abc import Collection, Sequence
from concurrent.futures import CancelledError
from time import monotonic, sleep
from typing import Any

_SECONDS_BETWEEN_CHECKS = 1.0
_SECONDS_FOR_AN_ANSWER = 5.0
_LOST = (
    "The connection to the scheduler at {address} was lost, and with it the state of the cluster: "
    "it was stopped, or cannot be reached. Start it again and run again."
)
_NO_WORKERS = (
    "The scheduler at {address} must have workers: for {timeout:g} s there was none. Start some "
    "with 'dask worker {address}', or raise timeout."
)
_NO_SCHEDULER = (
    "There must be a scheduler at {address}: none answered ({reason}). Start one with "
    "'dask scheduler', or correct the address."
)
_NO_ADDRESS = (
    "The address of a scheduler must be like tcp://192.168.0.1:8786: {address!r} is not "
    "({reason}). Correct it."
)
_DROPPED = (
    "The scheduler at {address} dropped a task: {reason}. Scheduler and workers must have the same "
    "packages as this process, and must not be restarted during the run."
)
_KILLED = (
    "A task ended every worker that it ran on, the last at {worker}. If memory ran out, give "
    "workers more of it, or smaller tasks: more shards, or smaller increments."
)


class ClusterError(RuntimeError):
    """The cluster failed, and the data is not the reason."""


def distributed() -> Any:
    """Return Dask's module for clusters, which an extra installs."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError(
            "A cluster needs dask.distributed, which is not installed: "
            "pip install 'skliquid[dask]'."
        ) from error
    return distributed


def connected(address: str, *, timeout: float) -> Any:
    """Return a client of the scheduler at ``address``."""
    dask = distributed()
    try:  # a client would notice too late to close itself silently
        dask.comm.get_address_host(address)
    except ValueError as error:
        raise ClusterError(_NO_ADDRESS.format(address=address, reason=error)) from error
    try:
        return dask.Client(address, timeout=timeout, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:
        raise ClusterError(_NO_SCHEDULER.format(address=address, reason=error)) from error


def address_of(client: Any) -> str:
    """Return the address of the scheduler of ``client``, if it still has one."""
    return str(getattr(getattr(client, "scheduler", None), "address", "its address"))


def threads_of_workers(client: Any, *, timeout: float) -> dict[str, int]:
    """Return how many threads each worker has, as soon as there is one."""
    watch = _Watch(client, timeout)
    while not (threads := watch.check()):
        sleep(_SECONDS_BETWEEN_CHECKS / 10)
    return threads


def submitted(
    client: Any, function: Any, arguments: Sequence[tuple[Any, ...]], **options: Any
) -> list[Any]:
    """Return the futures of ``function``, one per tuple of arguments, sent in one message.

    Each runs again if its worker is lost.
    """
    closed = getattr(distributed().client, "ClosedClientError", OSError)
    with warnings.catch_warnings():
        # data is sent in tasks on purpose: scattered data is lost with its worker
        warnings.filterwarnings("ignore", message="Sending large graph")
        try:
            return list(client.map(function, *zip(*arguments, strict=True), pure=False, **options))
        except (CancelledError, OSError, closed) as error:
            raise _lost(client, error) from error


def packed(value: Any) -> bytes:
    """Return ``value``, even if it was defined in a notebook, as bytes.

    The scheduler does not unpickle bytes, and so needs none of the user's packages.
    """
    return bytes(distributed().protocol.pickle.dumps(value))


def wait_until_done(client: Any, futures: Collection[Any], *, timeout: float) -> None:
    """Wait until all ``futures`` have finished or failed."""
    dask, watch = distributed(), _Watch(client, timeout)
    while True:
        try:
            with client.as_current():  # otherwise the default client is used
                dask.wait(futures, timeout=_SECONDS_BETWEEN_CHECKS)
                return
        except TimeoutError:
            watch.check()
        except CancelledError as error:
            raise _lost(client, error) from error


def results(client: Any, futures: Sequence[Any], *, timeout: float) -> list[Any]:
    """Return the results of ``futures``, or raise the error of the first that failed."""
    patience, watch = _SECONDS_BETWEEN_CHECKS, _Watch(client, timeout)

    async def gather() -> Any:
        return await client.gather(list(futures), asynchronous=True)

    while True:
        wait_until_done(client, futures, timeout=timeout)
        try:
            return list(client.sync(gather, callback_timeout=patience))
        except TimeoutError:
            watch.check()
            patience *= 2  # large results take longer
        except CancelledError as error:
            raise _lost(client, error) from error
        except distributed().comm.CommClosedError as error:  # during the transfer
            raise _lost(client) from error
        except distributed().KilledWorker as error:
            raise ClusterError(words_for(error)) from error


def words_for(error: BaseException) -> str | None:
    """Return the message for a task that ended its workers, or None for any other error."""
    if not isinstance(error, distributed().KilledWorker):
        return None
    worker = getattr(error.last_worker, "address", error.last_worker)
    return _KILLED.format(worker=worker)


class _Watch:
    """Checks while waiting whether there are still a scheduler and workers."""

    def __init__(self, client: Any, timeout: float):
        self.client, self.timeout, self.seen = client, timeout, monotonic()

    def check(self) -> dict[str, int]:
        """Return the workers, and raise when the scheduler is lost or has had none for too long."""
        if self.client.status != "running":
            raise _lost(self.client)
        try:
            threads: dict[str, int] = self.client.sync(
                self.client.scheduler.ncores, callback_timeout=_SECONDS_FOR_AN_ANSWER
            )
        except TimeoutError:  # a scheduler that is lost just now never answers
            threads = {}
        except (OSError, CancelledError, AttributeError) as error:
            # without its scheduler a client lacks attributes too
            raise _lost(self.client) from error
        if threads:
            self.seen = monotonic()
        elif monotonic() - self.seen > self.timeout:
            address = address_of(self.client)
            raise ClusterError(_NO_WORKERS.format(address=address, timeout=self.timeout))
        return threads


def _lost(client: Any, error: BaseException | None = None) -> ClusterError:
    is_connected = client.status == "running" and error is not None
    text = _DROPPED if is_connected else _LOST
    return ClusterError(text.format(address=address_of(client), reason=error))
