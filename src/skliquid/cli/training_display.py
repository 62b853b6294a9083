"""What ``skliquid train`` shows while it works."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from skliquid.cli.signals import Stopped, handled
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
        self.signal = 0  # that asked to stop

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the line, and let signals end training after an increment."""
        try:
            with handled(self._stop), self.bar:
                yield
        except OSError:
            if self.signal:  # the terminal was closed, and the line cannot be removed from it
                raise Stopped(self.signal) from None
            raise

    def _stop(self, number: int, _: FrameType | None) -> None:
        """Finish the current increment; at a second signal, or before training, end at once."""
        if self.signal or not self.stage:
            raise Stopped(number)
        self.signal = number

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
        if self.signal:
            raise Stopped(self.signal)

    def say(self, text: str) -> None:
        """Show what is being done, which Ctrl-C ends at once."""
        self.stage = ""
        self.bar.reset(self.task, total=None, description=text, state="")
