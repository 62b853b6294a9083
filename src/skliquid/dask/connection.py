"""Connection: a client of a Dask scheduler, with clear errors when the cluster fails."""

import warnings
from collections.abc import Sequence
from concurrent.futures import CancelledError
from time import monotonic, sleep
from typing import Any

from skliquid.validation.checks import missing_extra

_SECONDS_BETWEEN_CHECKS = 1.0
_SECONDS_FOR_AN_ANSWER = 5.0


class ClusterError(RuntimeError):
    """The cluster failed, and the data is not the reason."""


def import_distributed() -> Any:
    """Return the package ``distributed``, or raise an error that says how to install it."""
    try:
        import distributed
    except ImportError as error:
        raise missing_extra("A cluster", "distributed", "dask") from error
    return distributed


def connect(address: str, *, timeout: float) -> Any:
    """Return a client of the scheduler at ``address``."""
    dask = import_distributed()
    try:  # a client would notice too late to close itself silently
        dask.comm.get_address_host(address)
    except ValueError as error:
        raise ClusterError(
            f"The address of a scheduler must be like tcp://192.168.0.1:8786: got {address!r} "
            f"({error}). Correct it."
        ) from error
    try:
        return dask.Client(address, timeout=timeout, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:
        raise ClusterError(
            f"There must be a scheduler at {address}: none answered ({error}). Start one with "
            "'dask scheduler', or correct the address."
        ) from error


def address_of(client: Any) -> str:
    """Return the address of the scheduler of ``client``, if it still has one."""
    return str(getattr(getattr(client, "scheduler", None), "address", "its address"))


def threads_of_workers(client: Any, *, timeout: float) -> dict[str, int]:
    """Return the number of threads of each worker, after waiting for a first worker."""
    watch = _Watch(client, timeout)
    while not (threads := watch.check()):
        sleep(_SECONDS_BETWEEN_CHECKS / 10)
    return threads


def submit(
    client: Any, function: Any, arguments: Sequence[tuple[Any, ...]], **options: Any
) -> list[Any]:
    """Return a future of ``function`` per tuple of arguments; it survives the loss of a worker."""
    closed = getattr(import_distributed().client, "ClosedClientError", OSError)
    with warnings.catch_warnings():
        # data is sent in tasks on purpose: scattered data is lost with its worker
        warnings.filterwarnings("ignore", message="Sending large graph")
        try:
            return list(client.map(function, *zip(*arguments, strict=True), pure=False, **options))
        except (CancelledError, OSError, closed) as error:
            raise _lost_error(client, error) from error


def serialize(value: Any) -> bytes:
    """Return ``value`` as bytes, even if its class was defined in a notebook.

    The scheduler does not unpickle bytes, and so needs none of the user's packages.
    """
    return bytes(import_distributed().protocol.pickle.dumps(value))


def results(client: Any, futures: Sequence[Any], *, timeout: float) -> list[Any]:
    """Return the results of ``futures``, or raise the error of the first that failed."""
    dask, watch = import_distributed(), _Watch(client, timeout)
    patience = _SECONDS_BETWEEN_CHECKS

    async def gather() -> Any:
        return await client.gather(list(futures), asynchronous=True)

    while True:
        _wait(client, futures, timeout)
        try:
            return list(client.sync(gather, callback_timeout=patience))
        except TimeoutError:
            watch.check()
            patience *= 2  # large results take longer
        except CancelledError as error:
            raise _lost_error(client, error) from error
        except dask.comm.CommClosedError as error:  # during the transfer
            raise _lost_error(client) from error
        except dask.KilledWorker as error:
            worker = getattr(error.last_worker, "address", error.last_worker)
            raise ClusterError(
                f"A task ended every worker that it ran on, the last at {worker}. If memory ran "
                "out, give workers more of it, or smaller tasks: more shards or smaller increments."
            ) from error


def _wait(client: Any, futures: Sequence[Any], timeout: float) -> Any:
    """Wait until all ``futures`` have finished or failed."""
    dask, watch = import_distributed(), _Watch(client, timeout)
    while True:
        try:
            with client.as_current():  # otherwise the default client is used
                return dask.wait(futures, _SECONDS_BETWEEN_CHECKS)
        except TimeoutError:
            watch.check()
        except CancelledError as error:
            raise _lost_error(client, error) from error


class _Watch:
    """Checks while waiting whether there are still a scheduler and workers."""

    def __init__(self, client: Any, timeout: float):
        self.client, self.timeout, self.seen = client, timeout, monotonic()

    def check(self) -> dict[str, int]:
        """Return the workers; raise if the scheduler is lost or has had none for too long."""
        if self.client.status != "running":
            raise _lost_error(self.client)
        try:
            threads: dict[str, int] = self.client.sync(
                self.client.scheduler.ncores, callback_timeout=_SECONDS_FOR_AN_ANSWER
            )
        except TimeoutError:  # a scheduler that is lost just now never answers
            threads = {}
        except (OSError, CancelledError, AttributeError) as error:  # it has no scheduler any more
            raise _lost_error(self.client) from error
        if threads:
            self.seen = monotonic()
        elif monotonic() - self.seen > self.timeout:
            address = address_of(self.client)
            raise ClusterError(
                f"The scheduler at {address} must have workers: for {self.timeout:g} s there was "
                f"none. Start some with 'dask worker {address}', or raise timeout."
            )
        return threads


def _lost_error(client: Any, error: BaseException | None = None) -> ClusterError:
    if client.status == "running" and error is not None:
        return ClusterError(
            f"The scheduler at {address_of(client)} dropped a task: {error}. Scheduler and workers "
            "must have the same packages as this process, and must not be restarted during the run."
        )
    return ClusterError(
        f"The connection to the scheduler at {address_of(client)} was lost, and with it the state "
        "of the cluster: it was stopped, or cannot be reached. Start it again and run again."
    )
