"""Trials on a Dask cluster: workers run them, and only the driver writes the store."""

import platform
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

from reproduction.methods import Result
from reproduction.process_runner import MAX_ATTEMPTS, WriteBuffer, error_text
from reproduction.trial import Trial
from reproduction.trial_store import Store

_TRIALS_PER_THREAD = 4
_SECONDS_BETWEEN_CHECKS = 1.0
_SECONDS_FOR_AN_ANSWER = 5.0
_NO_DASK = (
    "A cluster needs distributed, which is not installed (extra 'dask'): pip install distributed, "
    "or pip install '.[dask]' in a clone of skliquid."
)
_NO_ADDRESS = (
    "The address of a scheduler must be like tcp://192.168.0.1:8786: {address!r} is not "
    "({reason}). Correct it."
)
_NO_SCHEDULER = (
    "There must be a scheduler at {address}: none answered ({reason}). Start one with "
    "'dask scheduler', or correct the address."
)
_NO_WORKERS = (
    "The scheduler at {address} must have workers: for {timeout:g} s there was none. Start some "
    "with 'dask worker {address}', or raise timeout."
)
_LOST = (
    "The connection to the scheduler at {address} was lost, and with it the state of the cluster: "
    "it was stopped, or cannot be reached. Start it again and run again."
)
_DROPPED = (
    "The scheduler at {address} dropped a trial: {reason}. Scheduler and workers must have the "
    "same packages as this process, and must not be restarted during the run."
)
_KILLED = (
    "A task ended every worker that it ran on, the last at {worker}. If memory ran out, give "
    "workers more of it."
)
_OTHER_CODE = (
    "Workers must have the code and data of the driver: on {machine} there is another version of "
    "skliquid, of its reproduction, of {dataset}, or of a mechanism. Install the same there, set "
    "PYTHONPATH to the root of the repository, and start scheduler and workers again."
)


class ClusterError(RuntimeError):
    """The cluster failed, and not a trial."""


class OtherCodeError(ClusterError):
    """A worker has other code or data than the driver."""

    def __init__(self, dataset: str, machine: str):
        super().__init__(_OTHER_CODE.format(dataset=dataset, machine=machine))


def run_on_cluster(
    trials: Sequence[Trial],
    store: Store,
    *,
    address: str,
    timeout: float = 60,
    report: Callable[[int], None] = lambda _: None,
) -> int:
    """Run ``trials`` on the cluster at ``address`` and store their results; return how many failed.

    A trial that raises is run again, as on one machine, and so is a trial whose worker is lost. A
    trial that ends several workers is stored with that error. ``timeout`` is how many seconds to
    wait for the scheduler, or for a worker if there is none; ``report`` is called with the number
    of trials that have been written to disk since its last call. If the scheduler is lost, or there
    are no workers, or they have other code, ``ClusterError`` is raised after all finished trials
    have been stored.
    """
    if not trials:
        return 0
    buffer = WriteBuffer(store, report)
    with _connect(address, timeout) as client:
        try:
            _run(trials, buffer, client, address, timeout)
        except ClusterError:
            raise
        except Exception as error:
            text = _LOST
            if client.status == "running" and not isinstance(error, _dask().comm.CommClosedError):
                if not isinstance(error, CancelledError):
                    raise
                text = _DROPPED
            raise ClusterError(text.format(address=address, reason=error)) from error
        finally:
            buffer.write()
    return buffer.n_failed


def run_if_same(trial: Trial, key: str) -> Result:
    """Return the result of ``trial``, if the worker's code and data give it the driver's key."""
    if trial.key != key:
        raise OtherCodeError(trial.dataset, platform.node())
    return trial.run()


def _dask() -> Any:
    """Return Dask's module for clusters, which an extra installs."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError(_NO_DASK) from error
    return distributed


def _connect(address: str, timeout: float) -> Any:
    """Return a client of the scheduler at ``address``."""
    try:  # a client would notice too late to close itself silently
        _dask().comm.get_address_host(address)
    except ValueError as error:
        raise ClusterError(_NO_ADDRESS.format(address=address, reason=error)) from error
    try:
        return _dask().Client(address, timeout=timeout, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:
        raise ClusterError(_NO_SCHEDULER.format(address=address, reason=error)) from error


def _run(
    trials: Sequence[Trial], buffer: WriteBuffer, client: Any, address: str, timeout: float
) -> None:
    """Run trials until all of them have a result or an error in ``buffer``."""
    waiting, suspects, running = deque(trials), deque[Trial](), dict[Any, Trial]()
    alone, last_seen = None, monotonic()
    while waiting or running or suspects:
        if n_threads := _n_threads(client):
            last_seen = monotonic()
        elif monotonic() - last_seen > timeout:
            raise ClusterError(_NO_WORKERS.format(address=address, timeout=timeout))
        n_free = _TRIALS_PER_THREAD * n_threads - len(running)
        batch = [waiting.popleft() for _ in range(min(n_free, len(waiting)))]
        if not (batch or running or waiting):
            # A scheduler suspects all trials of a lost worker, also those that were queued behind
            # the one that ended it: in the end, suspects run again, one at a time.
            alone = suspects.popleft()
            batch = [alone]
        running |= _submit(client, batch)
        for trial, result, error in _outcomes(client, running):
            killed = _killed_text(error)
            if killed and trial is not alone:
                suspects.append(trial)
            else:
                buffer.add((trial, result, killed or (error_text(error) if error else None)))


def _n_threads(client: Any) -> int:
    """Return the number of threads of all workers, 0 without workers or without an answer."""
    if client.status != "running":
        raise CancelledError
    with suppress(TimeoutError):  # a scheduler that is being lost does not answer
        cores = client.sync(client.scheduler.ncores, callback_timeout=_SECONDS_FOR_AN_ANSWER)
        return sum(cores.values())
    return 0


def _submit(client: Any, trials: Sequence[Trial]) -> dict[Any, Trial]:
    """Send trials to the workers in one message; return them by their futures."""
    if not trials:
        return {}
    keys = [trial.key for trial in trials]
    futures = client.map(run_if_same, trials, keys, pure=False, retries=MAX_ATTEMPTS - 1)
    return dict(zip(futures, trials, strict=True))


def _outcomes(
    client: Any, running: dict[Any, Trial]
) -> Iterator[tuple[Trial, Result | None, BaseException | None]]:
    """Wait a moment; remove trials that have ended from ``running``, and yield their outcomes.

    A trial whose worker is lost just now has no outcome, and runs again.
    """
    if not running:
        sleep(_SECONDS_BETWEEN_CHECKS / 10)
        return

    async def gather() -> Any:
        return await client.gather(finished, asynchronous=True)

    with suppress(TimeoutError, _dask().KilledWorker):  # the next call will see why
        with client.as_current():  # wait uses the current client
            options = {"timeout": _SECONDS_BETWEEN_CHECKS, "return_when": "FIRST_COMPLETED"}
            ended = _dask().wait(list(running), **options).done
        for future in [future for future in ended if future.status == "error"]:
            trial, error = running.pop(future), future.exception()
            if isinstance(error, OtherCodeError):
                raise error
            if "No module named 'reproduction'" in (str(error), str(error.__cause__)):
                raise OtherCodeError(trial.dataset, "the scheduler or a worker")
            yield trial, None, error
        finished = [future for future in ended if future.status == "finished"]
        results = client.sync(gather, callback_timeout=_SECONDS_FOR_AN_ANSWER)
        for future, result in zip(finished, results, strict=True):
            yield running.pop(future), result, None


def _killed_text(error: BaseException | None) -> str | None:
    """Return the message for a trial that ended its workers, or None for another error."""
    if not isinstance(error, _dask().KilledWorker):
        return None
    worker = getattr(error.last_worker, "address", error.last_worker)
    return _KILLED.format(worker=worker)
