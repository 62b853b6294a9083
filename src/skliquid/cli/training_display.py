"""What ``skliquid train`` shows while it works."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from skliquid.streams import Progress


class TrainingDisplay:
    """The line that shows how far training is, and the handler of Ctrl-C."""

    def __init__(self, console: Console):
        columns = (
            "{task.description}",
            BarColumn(24),
            "{task.fields[state]}",
            TimeRemainingColumn(),
        )
        self.bar = Bar(*columns, console=console, transient=True)
        self.task = self.bar.add_task("Reading the target", total=None, state="")
        self.stage = ""
        self.first = 0, 0.0  # rows and time when this stage starts
        self.must_stop = False

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the line, and let Ctrl-C end training after an increment."""
        before = {n: signal.signal(n, self._stop) for n in (signal.SIGINT, signal.SIGTERM)}
        try:
            with self.bar:
                yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, *_: object) -> None:
        """Finish the current increment; at a second signal, or before training, end at once."""
        if self.must_stop or not self.stage:
            raise KeyboardInterrupt
        self.must_stop = True

    def report(self, progress: Progress) -> None:
        """Update the line, and stop if that was asked for."""
        n_rows = progress.n_rows
        if self.stage != progress.stage:
            self.bar.reset(self.task, total=progress.n_rows_in_all, completed=n_rows)
            self.stage, self.first = progress.stage, (n_rows, perf_counter())
        speed = (n_rows - self.first[0]) / max(perf_counter() - self.first[1], 1e-9)
        state = f"{n_rows:,} rows, {speed:,.0f} per second, "
        if progress.stage == "training":
            state += f"{progress.n_representatives} representatives, cost {progress.cost:,}, "
        description = "Training" if progress.stage == "training" else "Scoring held-out rows"
        self.bar.update(self.task, description=description, completed=n_rows, state=f"{state}left")
        if self.must_stop:
            raise KeyboardInterrupt

    def say(self, text: str) -> None:
        """Show what is being done, which Ctrl-C ends at once."""
        self.stage = ""
        self.bar.reset(self.task, total=None, description=text, state="")
