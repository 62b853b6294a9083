"""Progress: what training says of itself when it takes long."""

import sys
from collections.abc import Iterable, Iterator
from time import perf_counter

from skliquid.increments import Rows
from skliquid.training import Training

SECONDS_WITHOUT_A_WORD = 2


def told(training: Training, increments: Iterable[Rows], n_increments: int) -> Iterator[Rows]:
    """Yield increments, and say every two seconds what became of them."""
    started = last = perf_counter()
    for increment in increments:
        yield increment
        now = perf_counter()
        if now - last >= SECONDS_WITHOUT_A_WORD:
            last = now
            say(f"{_state(training)} of {n_increments}, {now - started:.0f} s")


def say(what: str) -> None:
    """Write a line, as scikit-learn does when it is verbose."""
    sys.stdout.write(f"[skliquid] {what}\n")
    sys.stdout.flush()


def _state(training: Training) -> str:
    latest = training.record[-1]
    return (
        f"{latest.n_representatives} representatives of mean accuracy "
        f"{latest.mean_accuracy.mean():.3f}, {training.record.cost.total:,} sample visits, "
        f"increment {latest.increment}"
    )
