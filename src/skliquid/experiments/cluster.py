"""Trials on a cluster: workers run them, and only the driver writes the store."""

import platform
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from skliquid.cluster import (
    ClusterError,
    connected,
    done,
    results,
    submitted,
    threads_of_workers,
    words_for,
)
from skliquid.experiments.methods import Result
from skliquid.experiments.runner import MOST_ATTEMPTS, Ledger, text_of
from skliquid.experiments.store import Store
from skliquid.experiments.trial import Trial

_TRIALS_A_THREAD = 4
_OTHER_CODE = (
    "Workers must have the code and data that the driver has: on {machine} there is another "
    "version of skliquid, of {dataset}, or of a mechanism. Install the same there and start the "
    "workers again."
)


class OtherCodeError(RuntimeError):
    """A worker would run another trial than it was asked for."""


def run_on_cluster(
    trials: Sequence[Trial],
    store: Store,
    *,
    address: str,
    timeout: float = 60,
    report: Callable[[int], None] = lambda _: None,
) -> int:
    """Run ``trials`` on the cluster at ``address`` and store what they give.

    A trial that raises is tried again, as on one machine, and so is one whose worker is lost. One
    that ends its workers over and over is stored with that as its error.

    Parameters
    ----------
    trials : sequence of Trial
        What to run.
    store : Store
        Where results go; nobody but this process writes to it.
    address : str
        Where the scheduler is.
    timeout : float
        For how many seconds to wait for the scheduler, or for a worker when there is none.
    report : callable
        Is told how many more trials are on disk.

    Returns
    -------
    n_failed : int
        How many failed.

    Raises
    ------
    ClusterError
        When the scheduler is lost, or there are no workers, or they have other code. What was
        finished is stored by then.
    """
    if not trials:
        return 0
    ledger = Ledger(store, report)
    with connected(address, timeout=timeout) as client:
        waiting, running = deque(trials), dict[Any, Trial]()
        try:
            while waiting or running:
                _fill(client, waiting, running, timeout)
                ended = done(client, list(running), timeout=timeout, wait_for="FIRST_COMPLETED")
                _record(client, {each: running.pop(each) for each in ended}, ledger, timeout)
        finally:
            ledger.write()
    return ledger.n_failed


def _fill(client: Any, waiting: deque[Trial], running: dict[Any, Trial], timeout: float) -> None:
    """Give the workers as much to do as keeps them busy, and the scheduler no more to remember."""
    n_threads = sum(threads_of_workers(client, timeout=timeout).values())
    while waiting and len(running) < _TRIALS_A_THREAD * n_threads:
        trial = waiting.popleft()
        future = submitted(client, run_as_asked, trial, trial.key, retries=MOST_ATTEMPTS - 1)
        running[future] = trial


def run_as_asked(trial: Trial, key: str) -> Result:
    """Return the result of ``trial``, if it is here what it is where it was asked for."""
    if trial.key != key:
        raise OtherCodeError(platform.node())
    return trial.run()


def _record(client: Any, ended: dict[Any, Trial], ledger: Ledger, timeout: float) -> None:
    well = [future for future in ended if future.status == "finished"]
    for future, result in zip(well, results(client, well, timeout=timeout), strict=True):
        ledger.add((ended[future], result, None))
    for future in ended.keys() - well:
        ledger.add((ended[future], None, _error_of(future, ended[future])))


def _error_of(future: Any, trial: Trial) -> str:
    error = future.exception()
    if isinstance(error, OtherCodeError):
        raise ClusterError(_OTHER_CODE.format(machine=error, dataset=trial.dataset)) from error
    return words_for(error) or text_of(error)
