"""Trials on a Dask cluster: workers run them, and only the driver writes the store."""

import platform
from collections import deque
from collections.abc import Callable, Iterator, Sequence
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
    the number of trials that have been written to disk since its last call. ``ClusterError`` is
    raised when the scheduler is lost, or there are no workers, or they have other code; all trials
    that have finished are stored before.
    """
    if not trials:
        return 0
    ledger = Ledger(store, report)
    waiting, running, suspects = deque(trials), dict[Any, Trial](), deque[Trial]()
    with cluster.connected(address, timeout=timeout) as client:
        try:
            while waiting or running or suspects:
                batch = _next_batch(client, waiting, len(running), timeout)
                # A scheduler suspects all trials of a lost worker, also those that were queued
                # behind the one that ended it: in the end, suspects run again, one at a time.
                is_alone = not (batch or running)
                running |= _submit(client, [suspects.popleft()] if is_alone else batch)
                for trial, result, error in _outcomes(client, running, timeout):
                    killed = cluster.words_for(error)
                    if killed and not is_alone:
                        suspects.append(trial)
                    else:
                        ledger.add((trial, result, killed or (error and error_text(error))))
        finally:
            ledger.write()
    return ledger.n_failed


def run_if_same(trial: Trial, key: str) -> Result:
    """Return the result of ``trial``, if code and data of the worker give it the driver's key."""
    if trial.key != key:
        raise OtherCodeError(_OTHER_CODE.format(machine=platform.node(), dataset=trial.dataset))
    return trial.run()


def _next_batch(client: Any, waiting: deque[Trial], n_running: int, timeout: float) -> list[Trial]:
    """Take enough trials to keep the workers busy, and no more for the scheduler to remember."""
    if not waiting:
        return []
    n_threads = sum(cluster.threads_of_workers(client, timeout=timeout).values())
    n_free = max(_TRIALS_PER_THREAD * n_threads - n_running, 0)
    return [waiting.popleft() for _ in range(min(n_free, len(waiting)))]


def _submit(client: Any, trials: Sequence[Trial]) -> dict[Any, Trial]:
    if not trials:
        return {}
    keyed = [(trial, trial.key) for trial in trials]
    futures = cluster.submitted(client, run_if_same, keyed, retries=MOST_ATTEMPTS - 1)
    return dict(zip(futures, trials, strict=True))


def _outcomes(
    client: Any, running: dict[Any, Trial], timeout: float
) -> Iterator[tuple[Trial, Result | None, Any]]:
    """Wait until a trial has ended; yield all that have, with their results or their errors."""
    ended = cluster.done(client, list(running), timeout=timeout, wait_for="FIRST_COMPLETED")
    # a future whose worker is lost just now is in neither state: its trial runs again
    statuses = {future: future.status for future in ended}
    finished = [future for future, status in statuses.items() if status == "finished"]
    results = cluster.results(client, finished, timeout=timeout) if finished else []
    for future, result in zip(finished, results, strict=True):
        yield running.pop(future), result, None
    for future, status in statuses.items():
        if status == "error":
            if isinstance(error := future.exception(), OtherCodeError):
                raise error
            yield running.pop(future), None, error
