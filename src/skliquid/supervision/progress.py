"""Progress of a long training: a bar, or lines where no bar can be shown."""

import sys
from collections.abc import Generator, Iterable
from math import isfinite
from time import perf_counter
from typing import Any

from skliquid.training import Training

SECONDS_BETWEEN_MESSAGES = 2


def with_progress(
    training: Training, increments: Iterable[Any], n_increments: int
) -> Generator[Any, None, None]:
    """Yield increments and show the state of the training: by a bar, or a line every two seconds.

    Bars need rich, and a terminal or a notebook.
    """
    bar = _new_bar()
    if bar is None:
        yield from _with_lines(training, increments, n_increments)
        return
    with bar:
        task = bar.add_task("skliquid", total=n_increments, state="")
        for increment in increments:
            try:
                yield increment
            finally:  # after the last one, too
                done = training.record.n_increments
                bar.update(task, completed=done, state=_voters_left(training))


def _with_lines(
    training: Training, increments: Iterable[Any], n_increments: int
) -> Generator[Any, None, None]:
    started = last = perf_counter()
    for increment in increments:
        yield increment
        now = perf_counter()
        if now - last >= SECONDS_BETWEEN_MESSAGES:
            last = now
            state = f"{_voters_left(training)}, {training.record.cost.total:,} sample visits"
            t = f"increment {training.record.n_increments} of {n_increments}"
            print_line(f"{state}, {t}, {now - started:.0f} s")


def _new_bar() -> Any:
    """Return a progress bar that is not shown yet, or None."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TimeRemainingColumn
    except ImportError:
        return None
    console = Console()
    if not (console.is_terminal or console.is_jupyter):
        return None
    columns = ("{task.description}", BarColumn(24), "{task.fields[state]}", TimeRemainingColumn())
    return Progress(*columns, console=console)


def print_line(message: str) -> None:
    """Print a line at once, as scikit-learn does when it is verbose."""
    sys.stdout.write(f"[skliquid] {message}\n")
    sys.stdout.flush()


def _voters_left(training: Training) -> str:
    voters = training.graph.representatives
    accuracy = training.accuracy_average.mean[voters].mean()
    measured = f" of mean accuracy {accuracy:.3f}" if isfinite(accuracy) else ""
    return f"{len(voters)} representatives{measured}"
