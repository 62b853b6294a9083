"""Trials in parallel processes on one machine, which may fail or be killed."""

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

from reproduction.methods import Result
from reproduction.trial import Trial
from reproduction.trial_store import Outcome, Store

MAX_ATTEMPTS = 3
_SECONDS_BETWEEN_WRITES = 0.5
_ERROR_LENGTH = 2000
_TERMINAL_SIGNALS = [getattr(signal, n) for n in ("SIGINT", "SIGHUP") if hasattr(signal, n)]
"""Signals that a terminal sends to all processes; only the driver reacts, and ends its workers."""


@dataclass
class WriteBuffer:
    """Outcomes that are not on disk yet; they are written every half second."""

    store: Store
    report: Callable[[int], None]
    n_failed: int = 0
    waiting: list[Outcome] = field(default_factory=list)
    last_write: float = field(default_factory=monotonic)

    def add(self, outcome: Outcome) -> None:
        """Add the outcome of a trial, and write all of them if the last write was long ago."""
        self.waiting.append(outcome)
        self.n_failed += outcome[2] is not None
        if monotonic() - self.last_write > _SECONDS_BETWEEN_WRITES:
            self.write()

    def write(self) -> None:
        """Write all outcomes to disk."""
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
    """Run ``trials`` in ``n_jobs`` processes and store their results; return how many failed.

    ``report`` is called with the number of trials that have been written to disk since its last
    call. A trial that fails, or whose process dies, is run again, up to ``MAX_ATTEMPTS`` times, and
    then stored with its error. Each process runs one trial at a time: if it dies, it is clear which
    trial that was.
    """
    waiting = deque((trial, 1) for trial in trials)
    idle = [_new_process() for _ in range(min(n_jobs, len(trials)))]
    running: dict[Future[Result], tuple[ProcessPoolExecutor, Trial, int]] = {}
    buffer = WriteBuffer(store, report)
    try:
        while waiting or running:
            while waiting and idle:
                (trial, attempt), process = waiting.popleft(), idle.pop()
                with _terminal_signals_blocked():
                    running[process.submit(trial.run)] = process, trial, attempt
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                process, trial, attempt = running.pop(future)
                error = future.exception()
                if isinstance(error, BrokenProcessPool):
                    _end(process)
                    process = _new_process()
                idle.append(process)
                if error is None:
                    buffer.add((trial, future.result(), None))
                elif attempt < MAX_ATTEMPTS:
                    waiting.append((trial, attempt + 1))
                else:
                    buffer.add((trial, None, error_text(error)))
    finally:
        try:
            buffer.write()
        finally:  # also if the disk is full
            for process in [*idle, *(process for process, _, _ in running.values())]:
                _end(process)
    return buffer.n_failed


def error_text(error: BaseException) -> str:
    """Return an error and its traceback as text."""
    if isinstance(error, BrokenProcessPool):
        return "The process died: it was killed, or ran out of memory."
    return "".join(traceback.format_exception(error))[-_ERROR_LENGTH:]


def _new_process() -> ProcessPoolExecutor:
    with _terminal_signals_blocked():  # the first process also starts a resource tracker
        return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_prepare_process)


@contextmanager
def _terminal_signals_blocked() -> Iterator[None]:
    """Start no process that a terminal can interrupt, not even while it imports modules."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _TERMINAL_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare_process() -> None:
    for number in _TERMINAL_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if driver := parent_process():
        threading.Thread(target=_exit_after, args=(driver.sentinel,), daemon=True).start()


def _exit_after(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _end(executor: ProcessPoolExecutor) -> None:
    for process in list((executor._processes or {}).values()):  # noqa: SLF001 (there is no public way)
        process.terminate()
    executor.shutdown(wait=False, cancel_futures=True)
