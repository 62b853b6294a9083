"""Trials on a Dask cluster: workers run them, and only the driver writes the store."""

import platform
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from skliquid import cluster
from skliquid.experiments.methods import Result
from skliquid.experiments.runner import MOST_ATTEMPTS, Ledger, error_text
from skliquid.experiments.store import Store
from skliquid.experiments.trial import Trial

_TRIALS_PER_THREAD = 4
_OTHER_CODE = (
    "Workers must have the code and data that the driver has: on {machine} there is another "
    "version of skliquid, of {dataset}, or of a mechanism. Install the same there and start the "
    "workers again."
)


class OtherCodeError(cluster.ClusterError):
    """A worker has other code or data than the driver."""


def run_on_cluster(
    trials: Sequence[Trial],
    store: Store,
    *,
    address: str,
    timeout: float = 60,
    report: Callable[[int], None] = lambda _: None,
) -> int:
    """Run ``trials`` on the cluster at ``address`` and store their results; return how many failed.

    A trial that raises is tried again, as on one machine, and so is one whose worker is lost. A
    trial that ends several workers is stored with that as its error. ``timeout`` is how many
    seconds to wait for the scheduler, or for a worker when there is none; ``report`` is called with
    the number of trials that have been written to disk since its last call.

    Raises
    ------
    ClusterError
        When the scheduler is lost, or there are no workers, or they have other code. All trials
        that have finished are stored before.
    """
    if not trials:
        return 0
    ledger = Ledger(store, report)
    with cluster.connected(address, timeout=timeout) as client:
        run = _Run(client, ledger, timeout, deque(trials))
        try:
            while run.submit_more():
                run.take_next()
        finally:
            ledger.write()
    return ledger.n_failed


def run_if_same(trial: Trial, key: str) -> Result:
    """Return the result of ``trial``, if code and data of the worker give it the driver's key."""
    if trial.key != key:
        raise OtherCodeError(_OTHER_CODE.format(machine=platform.node(), dataset=trial.dataset))
    return trial.run()


@dataclass
class _Run:
    """Trials that wait, run, or are suspected to end their workers.

    A scheduler suspects all trials of a lost worker, also those that were queued behind the one
    that ended it. So after all other trials, suspects run again, one at a time.
    """

    client: Any
    ledger: Ledger
    timeout: float
    waiting: deque[Trial]
    running: dict[Any, Trial] = field(default_factory=dict)
    suspects: deque[Trial] = field(default_factory=deque)
    runs_alone: bool = False

    def submit_more(self) -> bool:
        """Keep the workers busy, and return whether any trial is running."""
        if self.waiting:
            n_threads = sum(cluster.threads_of_workers(self.client, timeout=self.timeout).values())
            # enough to keep them busy, and no more for the scheduler to remember
            n_free = max(_TRIALS_PER_THREAD * n_threads - len(self.running), 0)
            self._submit([self.waiting.popleft() for _ in range(min(n_free, len(self.waiting)))])
        self.runs_alone = not self.running and bool(self.suspects)
        if self.runs_alone:
            self._submit([self.suspects.popleft()])
        return bool(self.running)

    def take_next(self) -> None:
        """Wait until a trial has ended, and record the outcome of all that have."""
        running, timeout = list(self.running), self.timeout
        ended = cluster.done(self.client, running, timeout=timeout, wait_for="FIRST_COMPLETED")
        finished = [future for future in ended if future.status == "finished"]
        values = cluster.results(self.client, finished, timeout=timeout) if finished else []
        for future, result in zip(finished, values, strict=True):
            self.ledger.add((self.running.pop(future), result, None))
        for future in ended.difference(finished):
            self._take_failed(self.running.pop(future), future.exception())

    def _submit(self, trials: Sequence[Trial]) -> None:
        if trials:
            keyed = [(trial, trial.key) for trial in trials]
            futures = cluster.submitted(self.client, run_if_same, keyed, retries=MOST_ATTEMPTS - 1)
            self.running.update(zip(futures, trials, strict=True))

    def _take_failed(self, trial: Trial, error: Any) -> None:
        if isinstance(error, OtherCodeError):
            raise error
        killed = cluster.words_for(error)
        if killed and not self.runs_alone:
            self.suspects.append(trial)
        else:
            self.ledger.add((trial, None, killed or error_text(error)))
