"""Progress of ``skliquid train``, and the figures and the confusion table that it prints."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from skliquid.cli.csv_options import listed
from skliquid.cli.ending import Stopped, handled
from skliquid.streams import Progress, StreamedModel

_MAX_CLASSES = 10


class TrainingProgress:
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


def summary(model: StreamedModel, seconds: float) -> str:
    """Return the size, cost and accuracy of the trained model in a few sentences."""
    ensemble, n_left = model.ensemble, len(model.ensemble.estimator_weights_)
    lines = [f"{model.n_rows:,} rows in {seconds:.1f} s."]
    lines.append(f"{n_left} of {ensemble.n_estimators} voters are left as representatives.")
    if not ensemble.record_.reached_n_final:
        lines.append("For fewer, give more rows, or a smaller --increment-size.")
    lines.append(f"Cost: {ensemble.training_cost_.total:,} sample visits.")
    if model.n_scored:
        lines.append(f"Accuracy on rows not yet trained on: {model.accuracy:.3f}.")
    if model.left_out:
        lines.append(f"Left out: {listed(model.left_out)}.")
    return " ".join(lines)


def held_out_summary(model: StreamedModel) -> str | None:
    """Return the accuracy on held-out rows, beside that of the most frequent class."""
    if model.confusion is None or not model.confusion.any():
        return None
    counts = model.confusion.sum(axis=1)
    share, n_rows = counts.max() / counts.sum(), int(counts.sum())
    always = str(model.classes[counts.argmax()])
    return (
        f"Accuracy on {n_rows:,} held-out rows, never trained on: {model.test_accuracy:.3f} "
        f"(always {always!r}: {share:.3f})."
    )


def confusion_table(confusion: NDArray[np.int64], classes: NDArray[Any]) -> Table:
    """Return how often each class was predicted as which; of many classes, the rare are summed."""
    names, groups = _groups(confusion.sum(axis=1), classes)
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(counts, np.ix_(groups, groups), confusion)
    n_correct = np.bincount(groups, np.diag(confusion))
    table = Table()
    table.add_column("class \\ predicted", overflow="fold")
    for name in names:
        table.add_column(Text(name), justify="right", overflow="fold")
    table.add_column("correct", justify="right")
    for name, row, correct in zip(names, counts, n_correct, strict=True):
        share = f"{correct / row.sum():.0%}" if row.any() else ""
        table.add_row(Text(name), *(f"{count:,}" for count in row), share)
    return table


def _groups(counts: NDArray[np.int64], classes: NDArray[Any]) -> tuple[list[str], NDArray[np.intp]]:
    """Return names of the rows of the table, and in which of them each class is."""
    most = np.sort(np.argsort(-counts, kind="stable")[:_MAX_CLASSES])
    names = [str(classes[k]) for k in most]
    if len(most) < len(classes):
        names.append(f"{len(classes) - len(most)} others")
    groups = np.full(len(classes), len(most))
    groups[most] = np.arange(len(most))
    return names, groups
