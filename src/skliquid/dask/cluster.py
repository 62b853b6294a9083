"""Cluster: pure functions on the workers of a Dask cluster, with clear errors when it fails.

A scheduler runs a function again when the worker that held its result is lost. Therefore no
function changes its arguments, and all that a function needs is in its task: data that were
scattered would be lost with their worker.
"""

import asyncio
import platform
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from functools import partial
from itertools import cycle
from time import monotonic, sleep
from typing import Any, Self

import numpy as np

from skliquid import native
from skliquid.delegation.arrays import Floats
from skliquid.validation.checks import check_number, missing_extra

MIN_CELLS = 10**8
"""Trees that look at fewer cells are grown in this process, in about a second."""

_SECONDS_BETWEEN_CHECKS = 1.0
_SECONDS_FOR_AN_ANSWER = 5.0

Grown = list[tuple[list[Any], int]]  # the trees of each task, and its sample visits


class ClusterError(RuntimeError):
    """The cluster failed, and the data is not the reason."""


class Cluster:
    """A connection to a Dask cluster: of a client, an address, or else the default client.

    It has the functions of :mod:`skliquid.native` that grow trees, and grows them on the workers.
    ``timeout`` is the number of seconds to wait for the scheduler, or for a first worker.
    """

    def __init__(self, client: Any = None, *, timeout: float = 60):
        rule = "a number of seconds, 0 or more"
        check_number("timeout", timeout, rule, lambda seconds: seconds >= 0, like=60)
        self.timeout, self.is_own = timeout, isinstance(client, str)
        self.client = _connect(client, timeout) if self.is_own else _client_of(client)
        self._sent: tuple[Any, Any] = None, None  # rows in bins, and their future

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._sent = None, None
        if self.is_own:
            self.client.close()

    # Functions

    def map(
        self, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]], *sent: Any
    ) -> Iterator[Any]:
        """Yield the results of ``function`` for tuples of arguments, in their order.

        ``sent`` are futures, which precede the arguments.
        """
        submit = partial(self.client.submit, for_workers(function), *sent, pure=False)

        def submit_all() -> list[Any]:
            places: list[dict[str, Any]] = [{}]
            if sent:  # otherwise Dask puts all tasks on the worker that holds them
                threads = self.client.nthreads().items()
                workers = [worker for worker, n_threads in threads for _ in range(n_threads)]
                places = [{"workers": [k], "allow_other_workers": True} for k in workers] or places
            return [submit(*own, **place) for own, place in zip(calls, cycle(places), strict=False)]

        return self._results(self._submit(submit_all))

    def compute(self, tasks: Sequence[Any]) -> Iterator[Any]:
        """Yield the results of delayed functions, in their order."""
        return self._results(self._submit(lambda: self.client.compute(list(tasks))))

    def _submit(self, submit: Callable[[], list[Any]]) -> list[Any]:
        """Return futures; waits for a first worker."""
        distributed = import_distributed()
        watch = _Watch(self.client, self.timeout)
        while not watch.check():
            sleep(_SECONDS_BETWEEN_CHECKS / 10)
        closed = getattr(distributed.client, "ClosedClientError", OSError)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")  # on purpose
            try:
                return submit()
            except (CancelledError, OSError, closed) as error:
                raise _lost_error(self.client, error) from error

    def _results(self, futures: list[Any]) -> Iterator[Any]:
        """Yield results as soon as those before them are there, and free their memory."""
        while futures:
            result = self._result(futures[0])
            futures.pop(0)
            yield result

    def _result(self, future: Any) -> Any:
        watch = _Watch(self.client, self.timeout)
        tasks: list[asyncio.Future[Any]] = []

        async def is_there() -> bool:
            if not tasks:  # it is started once, and runs between checks
                tasks.append(asyncio.ensure_future(self.client.gather(future, asynchronous=True)))
            await asyncio.wait(tasks, timeout=_SECONDS_BETWEEN_CHECKS)
            return bool(tasks[0].done())

        try:
            while not self._soon(is_there):
                watch.check()
            return tasks[0].result()  # not in another try: functions may raise a TimeoutError, too
        except (CancelledError, asyncio.CancelledError) as error:
            raise _lost_error(self.client, error) from error
        except import_distributed().comm.CommClosedError as error:  # during the transfer
            raise _lost_error(self.client) from error
        except import_distributed().KilledWorker as error:
            worker = getattr(error.last_worker, "address", error.last_worker)
            raise ClusterError(
                "A task ended every worker that it ran on, the last at "
                f"{worker}. If memory ran out, give workers more of it, or divide the data "
                "into smaller partitions."
            ) from error
        finally:
            for task in tasks:
                self.client.loop.add_callback(task.cancel)

    def _soon(self, is_there: Callable[[], Any]) -> bool:
        try:
            return bool(self.client.sync(is_there, callback_timeout=_SECONDS_FOR_AN_ANSWER))
        except TimeoutError:
            return False

    # Trees, in place of the native core

    def grow_forest(self, *arguments: Any) -> Grown:
        """Return the tree of each task, and its sample visits."""
        *rows, tasks, _, features = arguments
        records = tasks.view(native.FOREST_TASK)
        if records["n_drawn"].sum() * len(rows[0]) < MIN_CELLS:
            return native.grow_forest(*arguments)
        n_parts = 4 * len(self.client.ncores()) or 1
        parts = np.array_split(records, min(n_parts, len(records)))
        calls = [(part.view(np.uint8), 1, features) for part in parts]
        return [tree for grown in self.map(_grow_forest, calls, self._send(rows)) for tree in grown]

    def grow_sequences(self, *arguments: Any) -> Grown:
        """Return the trees of each task, and its sample visits; update the scores."""
        *rows, tasks, base, scores, _, features = arguments
        records = tasks.view(native.BOOSTING_TASK)
        n_rows_seen = records["n_trees"] * records["n_drawn"]
        if (n_rows_seen * records["n_columns"]).sum() < MIN_CELLS:
            return native.grow_sequences(*arguments)
        calls, places = [], records["scores"].tolist()
        for k, place in enumerate(places):  # -1 means no scores
            one, own = records[k : k + 1].copy(), scores[place : place + 1 if place >= 0 else place]
            one["scores"] = min(place, 0)
            calls.append((one.view(np.uint8), base[k : k + 1], own.copy(), 1, features))
        results = self.map(_grow_sequence, calls, self._send(rows))
        grown: Grown = []
        for place, (trees, own) in zip(places, results, strict=True):
            grown += trees
            if place >= 0:
                scores[place] = own[0]
        return grown

    def _send(self, rows: list[Any]) -> Any:
        """Return a future of rows in bins, which are not sent again if they were the last."""
        if self._sent[0] is not rows[0]:
            futures = self._submit(lambda: [self.client.submit(_rows, *rows, pure=False)])
            self._sent = rows[0], futures[0]
        return self._sent[1]


def import_distributed() -> Any:
    """Return the package ``distributed``, or raise an error that says how to install it."""
    try:
        import distributed
    except ImportError as error:
        raise missing_extra("A cluster", "distributed", "dask") from error
    return distributed


# What runs on workers


def _versions() -> dict[str, str]:
    """Return the versions of packages on which bits may depend."""
    return {name: sys.modules[name].__version__ for name in ("skliquid", "sklearn", "numpy")}


def for_workers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that raises an error if a worker has other versions than the driver."""
    return partial(_run, _versions(), function)


def _run(needed: dict[str, str], function: Callable[..., Any], *arguments: Any) -> Any:
    for name, version in _versions().items():
        if version != needed[name]:
            raise ClusterError(
                "Workers must have the package versions of this process, or bits may differ: "
                f"{platform.node()} has {name} {version}, not {needed[name]}. Install the same "
                "version there and restart the workers."
            )
    return function(*arguments)


def _rows(*rows: Any) -> tuple[Any, ...]:
    return rows


def _grow_forest(rows: tuple[Any, ...], tasks: Any, *options: Any) -> Grown:
    options = _aligned(options)
    return native.grow_forest(*_aligned(rows), tasks.copy(), *options)  # type: ignore[call-arg]


def _grow_sequence(
    rows: tuple[Any, ...], task: Any, base: Floats, scores: Floats, *options: Any
) -> tuple[Grown, Floats]:
    base, scores, *options = _aligned((base, scores.copy(), *options))  # type: ignore[assignment]
    grown = native.grow_sequences(*_aligned(rows), task.copy(), base, scores, *options)  # type: ignore[call-arg]
    return grown, scores


def _aligned(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arrays that the native core can read: a message may hold them at any address."""
    return tuple(
        np.require(one, requirements="A") if isinstance(one, np.ndarray) else one
        for one in arguments
    )


# Connections


def _connect(address: str, timeout: float) -> Any:
    """Return a client of the scheduler at ``address``."""
    distributed = import_distributed()
    try:  # a client would notice too late to close itself silently
        distributed.comm.get_address_host(address)
    except ValueError as error:
        raise ClusterError(
            f"The address of a scheduler must be like tcp://192.168.0.1:8786: got {address!r} "
            f"({error}). Correct it."
        ) from error
    try:
        return distributed.Client(address, timeout=timeout, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:
        raise ClusterError(
            f"There must be a scheduler at {address}: none answered ({error}). Start one with "
            "'dask scheduler', or correct the address."
        ) from error


def _client_of(client: Any) -> Any:
    """Return a client, or the default one, after checks."""
    if client is None:
        try:
            client = import_distributed().default_client()
        except ValueError as error:
            raise ValueError(
                "client must be given if there is no default client. Start one with "
                "dask.distributed.Client(), or give the address of a scheduler."
            ) from error
    if not hasattr(client, "submit") or not hasattr(client, "scheduler"):
        raise TypeError(
            "client must be a dask.distributed.Client or the address of a scheduler: got "
            f"{client!r}. Pass Client('tcp://...')."
        )
    if getattr(client, "asynchronous", False):
        raise ValueError(
            "client must not be asynchronous: training waits for results. Pass "
            "Client(..., asynchronous=False)."
        )
    if client.status != "running":
        raise ValueError(
            f"client must be connected to a scheduler: its status is {client.status!r}. Pass a new "
            "one, or the address of a scheduler."
        )
    return client


class _Watch:
    """Checks while waiting whether there are still a scheduler and workers."""

    def __init__(self, client: Any, timeout: float):
        self.client, self.timeout, self.seen = client, timeout, monotonic()

    def check(self) -> bool:
        """Return whether there are workers; raise if there were none for too long."""
        if self.client.status != "running":
            raise _lost_error(self.client)
        try:
            workers = self.client.sync(
                self.client.scheduler.ncores, callback_timeout=_SECONDS_FOR_AN_ANSWER
            )
        except TimeoutError:  # a scheduler that is busy answers late, and a lost one never
            workers = None
        except (OSError, CancelledError, AttributeError) as error:  # it has no scheduler any more
            raise _lost_error(self.client) from error
        if workers:
            self.seen = monotonic()
        elif monotonic() - self.seen > self.timeout:
            if workers is None:
                raise _lost_error(self.client)
            address = _address_of(self.client)
            raise ClusterError(
                f"The scheduler at {address} must have workers: for {self.timeout:g} s there was "
                f"none. Start some with 'dask worker {address}', or raise timeout."
            )
        return bool(workers)


def _address_of(client: Any) -> str:
    """Return the address of the scheduler of ``client``, if it still has one."""
    return str(getattr(getattr(client, "scheduler", None), "address", "its address"))


def _lost_error(client: Any, error: BaseException | None = None) -> ClusterError:
    if client.status == "running" and error is not None:
        return ClusterError(
            f"The scheduler at {_address_of(client)} dropped a task: {error}. Scheduler and "
            "workers must have the same packages as this process, and must not be restarted "
            "during the run."
        )
    return ClusterError(
        f"The connection to the scheduler at {_address_of(client)} was lost, and with it the state "
        "of the cluster: it was stopped, or cannot be reached. Start it again and run again."
    )
