"""Clusters: a connection to a Dask scheduler, and answers that come, or fail in plain words."""

import warnings
from collections.abc import Collection, Sequence
from concurrent.futures import CancelledError
from time import monotonic, sleep
from typing import Any, Literal

_SECONDS_BETWEEN_LOOKS = 1.0
_LOST = (
    "The connection to the scheduler at {address} was lost, and with it what the cluster held: it "
    "was stopped, or cannot be reached. Start it again and run again."
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
    "packages as this process, and must not be restarted while it waits."
)
_KILLED = (
    "A task ended every worker that it ran on, the last at {worker}. If memory ran out, give "
    "workers more of it, or smaller tasks: more shards, or smaller increments."
)


class ClusterError(RuntimeError):
    """The cluster cannot do what it was asked for, through no fault of the data."""


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
    try:  # a client would find this out too late to close itself without a word
        dask.comm.get_address_host(address)
    except ValueError as error:
        raise ClusterError(_NO_ADDRESS.format(address=address, reason=error)) from error
    try:
        return dask.Client(address, timeout=timeout, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:
        raise ClusterError(_NO_SCHEDULER.format(address=address, reason=error)) from error


def address_of(client: Any) -> str:
    """Return where the scheduler of ``client`` is."""
    address: str = client.scheduler.address
    return address


def threads_of_workers(client: Any, *, timeout: float) -> dict[str, int]:
    """Return how many threads each worker has, as soon as there is one."""
    watch = _Watch(client, timeout)
    while not (threads := watch.look()):
        sleep(_SECONDS_BETWEEN_LOOKS / 10)
    return threads


def submitted(
    client: Any, function: Any, arguments: Sequence[tuple[Any, ...]], **options: Any
) -> list[Any]:
    """Return the results to come of ``function``, one for each tuple of arguments.

    All are sent in one message, and each runs again if its worker is lost.
    """
    with warnings.catch_warnings():
        # data travel in tasks on purpose: what was scattered is lost with its worker
        warnings.filterwarnings("ignore", message="Sending large graph")
        try:
            futures: list[Any] = client.map(
                function, *zip(*arguments, strict=True), pure=False, **options
            )
        except (CancelledError, OSError, _closed()) as error:
            raise _lost(client, error) from error
    return futures


def packed(value: Any) -> bytes:
    """Return ``value`` as bytes, also what was defined in a notebook.

    Schedulers look into the tasks that pass through them. Into bytes they cannot, and so need not
    know what users trained.
    """
    parcel: bytes = distributed().protocol.pickle.dumps(value)
    return parcel


def done(
    client: Any,
    futures: Collection[Any],
    *,
    timeout: float,
    wait_for: Literal["ALL_COMPLETED", "FIRST_COMPLETED"] = "ALL_COMPLETED",
) -> set[Any]:
    """Return those of ``futures`` that have ended, well or not, when all or the first have."""
    dask, watch = distributed(), _Watch(client, timeout)
    while True:
        try:
            with client.as_current():  # or another client would be asked
                ended: set[Any] = dask.wait(
                    futures, timeout=_SECONDS_BETWEEN_LOOKS, return_when=wait_for
                ).done
        except TimeoutError:
            watch.look()
        except CancelledError as error:
            raise _lost(client, error) from error
        else:
            return ended


def results(client: Any, futures: Sequence[Any], *, timeout: float) -> list[Any]:
    """Return what ``futures`` give, or raise what the first that failed raised."""
    patience, watch = _SECONDS_BETWEEN_LOOKS, _Watch(client, timeout)

    async def gather() -> list[Any]:
        answers: list[Any] = await client.gather(list(futures), asynchronous=True)
        return answers

    while True:
        done(client, futures, timeout=timeout)
        try:
            answers: list[Any] = client.sync(gather, callback_timeout=patience)
        except TimeoutError:
            watch.look()
            patience *= 2  # large answers take their time
        except CancelledError as error:
            raise _lost(client, error) from error
        except distributed().comm.CommClosedError as error:  # while answers were on their way
            raise ClusterError(_LOST.format(address=_known_address(client))) from error
        except distributed().KilledWorker as error:
            raise ClusterError(words_for(error)) from error
        else:
            return answers


def words_for(error: BaseException) -> str | None:
    """Return what to say of a task that ended its workers, or None of any other error."""
    if not isinstance(error, distributed().KilledWorker):
        return None
    worker = getattr(error.last_worker, "address", error.last_worker)
    return _KILLED.format(worker=worker)


class _Watch:
    """Looks whether there is still somebody to wait for."""

    def __init__(self, client: Any, timeout: float):
        self.client, self.timeout, self.seen = client, timeout, monotonic()

    def look(self) -> dict[str, int]:
        """Return the workers, and raise when the scheduler is lost or has had none for too long."""
        if self.client.status != "running":
            raise _lost(self.client)
        try:
            threads: dict[str, int] = self.client.nthreads()
        except (OSError, CancelledError, AttributeError) as error:
            # without its scheduler a client lacks attributes too
            raise ClusterError(_LOST.format(address=_known_address(self.client))) from error
        if threads:
            self.seen = monotonic()
        elif monotonic() - self.seen > self.timeout:
            address = address_of(self.client)
            raise ClusterError(_NO_WORKERS.format(address=address, timeout=self.timeout))
        return threads


def _known_address(client: Any) -> str:
    return str(getattr(getattr(client, "scheduler", None), "address", "its address"))


def _lost(client: Any, error: BaseException | None = None) -> ClusterError:
    address = _known_address(client)
    if client.status == "running" and error is not None:
        return ClusterError(_DROPPED.format(address=address, reason=error))
    return ClusterError(_LOST.format(address=address))


def _closed() -> Any:
    """Return the error of a client that was closed."""
    return getattr(distributed().client, "ClosedClientError", OSError)
