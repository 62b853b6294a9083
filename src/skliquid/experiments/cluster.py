"""Trials on a cluster: workers run them, and only the driver writes the store."""

import platform
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
        run = _Run(client, ledger, timeout, deque(trials))
        try:
            while run.goes_on():
                run.take_next()
        finally:
            ledger.write()
    return ledger.n_failed


def run_as_asked(trial: Trial, key: str) -> Result:
    """Return the result of ``trial``, if it is here what it is where it was asked for."""
    if trial.key != key:
        raise OtherCodeError(platform.node())
    return trial.run()


@dataclass
class _Run:
    """Trials that wait, run, or are suspected to end their workers.

    A scheduler suspects all trials that a lost worker had, also those that were in line behind the
    one that ended it. So when all else is done, suspects run again, one at a time.
    """

    client: Any
    ledger: Ledger
    timeout: float
    waiting: deque[Trial]
    running: dict[Any, Trial] = field(default_factory=dict)
    suspects: deque[Trial] = field(default_factory=deque)
    runs_alone: bool = False

    def goes_on(self) -> bool:
        """Give the workers something to do, and return whether there is anything left."""
        if self.waiting:
            n_threads = sum(threads_of_workers(self.client, timeout=self.timeout).values())
            # enough to keep them busy, and no more for the scheduler to remember
            n_more = _TRIALS_A_THREAD * n_threads - len(self.running)
            n_more = max(min(n_more, len(self.waiting)), 0)
            self._submit([self.waiting.popleft() for _ in range(n_more)])
        self.runs_alone = not self.running and bool(self.suspects)
        if self.runs_alone:
            self._submit([self.suspects.popleft()])
        return bool(self.running)

    def take_next(self) -> None:
        """Wait until some trials have ended, and write down what became of them."""
        running, timeout = list(self.running), self.timeout
        ended = done(self.client, running, timeout=timeout, wait_for="FIRST_COMPLETED")
        well = [future for future in ended if future.status == "finished"]
        found = results(self.client, well, timeout=timeout) if well else []
        for future, result in zip(well, found, strict=True):
            self.ledger.add((self.running.pop(future), result, None))
        for future in ended.difference(well):
            self._take_failed(self.running.pop(future), future.exception())

    def _submit(self, trials: Sequence[Trial]) -> None:
        if not trials:
            return
        asked = [(trial, trial.key) for trial in trials]
        futures = submitted(self.client, run_as_asked, asked, retries=MOST_ATTEMPTS - 1)
        self.running.update(zip(futures, trials, strict=True))

    def _take_failed(self, trial: Trial, error: Any) -> None:
        if isinstance(error, OtherCodeError):
            told = _OTHER_CODE.format(machine=error, dataset=trial.dataset)
            raise ClusterError(told) from error
        killed = words_for(error)
        if killed and not self.runs_alone:
            self.suspects.append(trial)
        else:
            self.ledger.add((trial, None, killed or text_of(error)))
