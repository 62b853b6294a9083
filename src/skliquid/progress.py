"""Progress messages of a training that takes long."""

import sys
from collections.abc import Iterable, Iterator
from time import perf_counter

from skliquid.rows import Rows
from skliquid.training import Training

SECONDS_BETWEEN_MESSAGES = 2


def with_progress(
    training: Training, increments: Iterable[Rows], n_increments: int
) -> Iterator[Rows]:
    """Yield increments, and print the state of the training every two seconds."""
    started = last = perf_counter()
    for increment in increments:
        yield increment
        now = perf_counter()
        if now - last >= SECONDS_BETWEEN_MESSAGES:
            last = now
            print_line(f"{_state(training)} of {n_increments}, {now - started:.0f} s")


def print_line(message: str) -> None:
    """Print a line at once, as scikit-learn does when it is verbose."""
    sys.stdout.write(f"[skliquid] {message}\n")
    sys.stdout.flush()


def _state(training: Training) -> str:
    latest, voters = training.record[-1], training.graph.representatives
    accuracy = training.accuracy.mean[voters].mean()
    return (
        f"{latest.n_representatives} representatives of mean accuracy {accuracy:.3f}, "
        f"{training.record.cost.total:,} sample visits, "
        f"increment {latest.increment}"
    )
