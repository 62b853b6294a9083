"""The runner: trials on all cores, whatever happens to a process."""

import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import connection, get_context, parent_process
from time import monotonic

from skliquid.experiments.methods import Result
from skliquid.experiments.store import Outcome, Store
from skliquid.experiments.trial import Trial

MOST_ATTEMPTS = 3
_SECONDS_BETWEEN_WRITES = 0.5
_ERROR_LENGTH = 2000


def _one_process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_prepare_process)


@dataclass
class _Job:
    trial: Trial
    n_attempts: int = 0


@dataclass
class _Worker:
    """One process, which has one trial at a time: when it dies, it is known with which."""

    job: _Job | None = None
    executor: ProcessPoolExecutor = field(default_factory=_one_process)


@dataclass
class Ledger:
    """Outcomes on their way to the disk, written a few at a time."""

    store: Store
    report: Callable[[int], None]
    n_failed: int = 0
    waiting: list[Outcome] = field(default_factory=list)
    last_write: float = field(default_factory=monotonic)

    def add(self, outcome: Outcome) -> None:
        """Take what became of a trial, and write when it is time."""
        self.waiting.append(outcome)
        self.n_failed += outcome[2] is not None
        if monotonic() - self.last_write > _SECONDS_BETWEEN_WRITES:
            self.write()

    def write(self) -> None:
        """Write what is waiting."""
        if self.waiting:
            self.store.add(self.waiting)
            self.report(len(self.waiting))
        self.waiting, self.last_write = [], monotonic()


def run_trials(
    trials: Sequence[Trial],
    store: Store,
    *,
    n_jobs: int,
    report: Callable[[int], None] = lambda _: None,
) -> int:
    """Run ``trials`` in ``n_jobs`` processes and store what they give; return how many failed.

    ``report`` is told how many more trials are on disk. A trial that fails, or whose process dies,
    is tried again, ``MOST_ATTEMPTS`` times in all, and then stored with its error.
    """
    waiting = deque(_Job(trial) for trial in trials)
    idle = [_Worker() for _ in range(min(n_jobs, len(trials)))]
    running: dict[Future[Result], _Worker] = {}
    ledger = Ledger(store, report)
    try:
        while waiting or running:
            while waiting and idle:
                worker = idle.pop()
                worker.job = waiting.popleft()
                running[worker.executor.submit(worker.job.trial.run)] = worker
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                worker = running.pop(future)
                idle.append(worker)
                if outcome := _outcome(future, worker):
                    ledger.add(outcome)
                elif worker.job:
                    waiting.append(worker.job)
    finally:
        ledger.write()
        for worker in [*idle, *running.values()]:
            _end(worker.executor)
    return ledger.n_failed


def _outcome(future: Future[Result], worker: _Worker) -> Outcome | None:
    """Return what became of a worker's trial, or None when it should be tried again."""
    job = worker.job
    assert job is not None
    job.n_attempts += 1
    try:
        return job.trial, future.result(), None
    except BrokenProcessPool:
        error = "The process died: it was killed, or ran out of memory."
        _end(worker.executor)
        worker.executor = _one_process()
    except Exception as raised:
        error = text_of(raised)
    return (job.trial, None, error) if job.n_attempts >= MOST_ATTEMPTS else None


def text_of(raised: BaseException) -> str:
    """Return an error and where it came from, as it is stored."""
    return "".join(traceback.format_exception(raised))[-_ERROR_LENGTH:]


def _prepare_process() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver has heard it, and ends its workers
    threading.Thread(target=_end_with_the_driver, daemon=True).start()


def _end_with_the_driver() -> None:
    driver = parent_process()
    if driver is not None:
        connection.wait([driver.sentinel])
        os._exit(1)


def _end(executor: ProcessPoolExecutor) -> None:
    for process in list((executor._processes or {}).values()):
        process.terminate()
    executor.shutdown(wait=False, cancel_futures=True)


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn a request to end, as a cluster sends it, into the same clean end as Ctrl-C."""
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
