"""Reports: progress, figures and tables that commands print, and the predictions they write."""

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow.csv import CSVWriter
from pyarrow.parquet import ParquetWriter
from rich.console import Console
from rich.progress import BarColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.status import Status
from rich.table import Table
from rich.text import Text

from skliquid.cli.ending import Stopped, handled
from skliquid.files.atomic_write import atomic_write
from skliquid.files.checkpoint import check_output
from skliquid.sources.csv_dialect import GivenDialect, read_dialect
from skliquid.sources.file_paths import FORMATS, format_of, is_query
from skliquid.streams import Progress, StreamedModel
from skliquid.streams.model import Predictions
from skliquid.tables.column_report import ColumnReport
from skliquid.validation.checks import printable

WRITERS: dict[str, Any] = {".csv": CSVWriter, ".parquet": ParquetWriter}
"""Writers of predictions, by the ending of a file."""

_MAX_CLASSES = 10
_MAX_COLUMNS = 100
_SECONDS_PER_LINE = 10
_STAGES = {
    "counting": "Counting rows of each class",
    "reading": "Reading",
    "choosing": "Choosing voters",
    "growing": "Growing voters",
    "training": "Training",
    "scoring": "Scoring held-out rows",
}
_MAX_COUNTED, _MAX_SHOWN, _MAX_LENGTH_SHOWN = 10_000, 3, 30
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


def unusual_dialect(paths: Sequence[Path], given: GivenDialect) -> str | None:
    """Return how the first CSV file is read, if not with commas, decimal points and UTF-8."""
    if not paths or format_of(paths) != "CSV":
        return None
    dialect, notes = read_dialect(paths[0], given.validate()), []
    if dialect.separator != ",":
        notes.append(f"{_SEPARATORS.get(dialect.separator, repr(dialect.separator))} between cells")
    if dialect.decimal != ".":
        notes.append("decimal commas")
    if dialect.encoding != "utf-8":
        notes.append(dialect.encoding.upper())
    return f"{printable(paths[0])} is read with {', '.join(notes)}." if notes else None


def default_name(data: str) -> str:
    """Return the name of the model of a file or folder: ``sales.skliquid`` for ``sales.csv``."""
    stem = "query" if is_query(data) else Path(data).resolve().name or "model"
    ending = next((end for end in FORMATS if stem.lower().endswith(end)), "")
    return f"{stem[: len(stem) - len(ending)]}.skliquid"


@contextmanager
def plain_warnings(console: Console) -> Iterator[None]:
    """Print warnings as lines, except assumptions about columns: the table of columns has them."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if not str(message).startswith("Assumptions about columns"):
            console.print(f"Note: {printable(message)}", soft_wrap=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def listed(columns: Iterable[str]) -> str:
    """Return the names of columns as text."""
    return ", ".join(printable(name) or "a column without a name" for name in columns)


# Training


class TrainingProgress:
    """How far training is, as a bar or as lines, and the handler of Ctrl-C."""

    def __init__(self, console: Console):
        columns = ("{task.description}", BarColumn(20), "{task.percentage:>3.0f} %", _TimeLeft())
        self.console = console
        self.bar = Bar(*columns, console=console, transient=True, disable=not console.is_terminal)
        self.task = self.bar.add_task("Reading", total=None)
        self.stage = ""
        self.first = 0.0, perf_counter()  # share and time when this stage starts
        self.stage_began = perf_counter()
        self.last_line = perf_counter()
        self.columns_shown = False
        self.signal = 0  # that asked to stop

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the bar, and let signals end training after an increment."""
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
        """Show the columns once, then the progress of training; stop after a signal."""
        if progress.columns and not self.columns_shown:
            self.console.print(column_table(progress.columns))
            self.columns_shown = True
        share, stage = progress.share, progress.stage
        if self.stage != stage:
            now = perf_counter()  # voters grow from nothing, and other stages may be resumed
            start = (0.0, self.stage_began) if stage == "growing" else (share, now)
            self.bar.reset(self.task, total=1)
            self.stage, self.first, self.stage_began = stage, start, now
        text = ": ".join(filter(None, [_STAGES[stage], _state(progress)]))
        self.bar.update(self.task, description=text, completed=share)
        if not self.console.is_terminal and perf_counter() - self.last_line >= _SECONDS_PER_LINE:
            self.last_line = perf_counter()
            self.console.print(f"{text}, {share:.0%}{self._time_left(share)}")
        if self.signal:
            raise Stopped(self.signal)

    def _time_left(self, share: float) -> str:
        before, start = self.first
        if share == before:
            return ""
        seconds = (perf_counter() - start) * (1 - share) / (share - before)
        most = "at most " if self.stage == "growing" else ""
        return f", {most}{timedelta(seconds=round(seconds))} left"

    def say(self, text: str) -> None:
        """Show what is being done, which Ctrl-C ends at once."""
        self.stage = ""
        self.bar.reset(self.task, total=None, description=text)
        if not self.console.is_terminal:
            self.console.print(text)


def _state(progress: Progress) -> str:
    """Return the state of training in words."""
    if progress.stage == "counting":
        return ""
    if progress.stage not in ("choosing", "growing"):
        return f"{progress.n_rows:,} of {progress.n_rows_in_all:,} rows"
    voters = "1 representative" if progress.n_representatives == 1 else "representatives"
    count = "" if progress.n_representatives == 1 else f"{progress.n_representatives} "
    loss = f", log-loss {progress.log_loss:.4f}" if progress.log_loss >= 0 else ""
    return f"{progress.n_rows:,} rows, {count}{voters}{loss}"


class _TimeLeft(TimeRemainingColumn):
    """The time left, in words."""

    def render(self, task: Any) -> Text:
        """Return the time left."""
        return Text(f"{super().render(task)} left") if task.total else Text("")


def column_table(columns: Sequence[ColumnReport]) -> Table:
    """Return a table of the types, contents and notes of columns."""
    n_rows = max((column.n_rows for column in columns), default=0)
    title = f"What was understood of {n_rows:,} rows"
    table = Table("column", "type", title=title, title_justify="left")
    table.add_column("distinct", justify="right")
    table.add_column("missing", justify="right")
    table.add_column("example", overflow="fold")
    table.add_column("notes", overflow="fold")
    for name, column_type, n_distinct, n_missing, example, notes, _ in columns[:_MAX_COLUMNS]:
        counts = ("", "") if column_type == "left out" else (f"{n_distinct:,}", f"{n_missing:,}")
        texts = (name or "(no name)", column_type, *counts, example, "; ".join(notes))
        table.add_row(*(Text(printable(text)) for text in texts))
    if len(columns) > _MAX_COLUMNS:
        table.add_row(f"{len(columns) - _MAX_COLUMNS:,} more")
    return table


def print_results(console: Console, trained: StreamedModel, seconds: float) -> None:
    """Print the size, cost and accuracy of the trained model."""
    console.print(summary(trained, seconds), soft_wrap=True)
    if trained.confusion is not None and (score := held_out_summary(trained)):
        console.print(score, soft_wrap=True)
        console.print(confusion_table(trained.confusion, trained.classes))


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
    if model.n_unlabelled:
        lines.append(f"{model.n_unlabelled:,} rows without a label were skipped.")
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
    names = [printable(classes[k]) for k in most]
    if len(most) < len(classes):
        names.append(f"{len(classes) - len(most)} others")
    groups = np.full(len(classes), len(most))
    groups[most] = np.arange(len(most))
    return names, groups


# Predictions


def prediction_status(console: Console, out: Path | None) -> Status:
    """Return the progress display, or a silent one if predictions are printed to the terminal."""
    are_printed = out is None and sys.stdout.isatty()
    return Console(quiet=True).status("") if are_printed else console.status("Loading the model")


def check_out(out: Path, inputs: Sequence[Path]) -> None:
    """Raise unless predictions can be written to ``out``, which is none of ``inputs``."""
    if out.suffix.lower() not in WRITERS:
        raise ValueError(f"--out must end in {' or '.join(WRITERS)}: got {out}. Rename it.")
    check_output(out, inputs, name="--out")


def prediction_table(part: Predictions, labels: Sequence[str]) -> pa.Table:
    """Return the ids and predictions of some rows, and the probabilities of ``labels``."""
    columns = {f"proba_{label}": part.probabilities[:, k] for k, label in enumerate(labels)}
    predicted = pa.table({"prediction": part.classes} | columns)
    for name in part.ids.column_names:
        if name in predicted.column_names:
            raise ValueError(
                f"--id must not be the name of a column of the output: got {name!r}. Rename it in "
                "the data."
            )
    columns = {name: part.ids[name] for name in part.ids.column_names}
    return pa.table(columns | {name: predicted[name] for name in predicted.column_names})


@contextmanager
def table_writer(out: Path | None, schema: pa.Schema) -> Iterator[Callable[[pa.Table], None]]:
    """Yield a function that writes tables; ``out`` appears only after everything is written."""
    if out is None:
        with CSVWriter(sys.stdout.buffer, schema) as screen:
            yield screen.write_table
        return
    with atomic_write(out) as file, WRITERS[out.suffix.lower()](file, schema) as writer:
        yield writer.write_table


class PredictionSummary:
    """Counts of all predictions so far, in memory that does not grow with them."""

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()
        self.unseen: dict[str, Counter[str]] = {}  # rows by column and unknown category
        self.start = perf_counter()

    def add(self, part: Predictions) -> None:
        """Count some more rows."""
        self.totals.update(rows=len(part.classes), labelled=part.n_labelled)
        self.totals.update(correct=part.n_correct, unknown=part.n_unknown)
        for name, counts in part.unseen.items():
            known = self.unseen.setdefault(name, Counter())
            for category, n_rows in counts.items():  # many categories must not fill the memory
                known[category if len(known) < _MAX_COUNTED else ""] += n_rows

    def speed(self) -> str:
        """Return the number of rows so far and the rows per second."""
        speed = self.totals["rows"] / (perf_counter() - self.start)
        return f"{self.totals['rows']:,} rows, {speed:,.0f} per second"

    def lines(self) -> list[str]:
        """Return the final report: totals, then one line per column with unseen categories."""
        parts = [f"{self.totals['rows']:,} rows in {perf_counter() - self.start:.1f} s."]
        if n_labelled := self.totals["labelled"]:
            share = self.totals["correct"] / n_labelled
            parts.append(f"Accuracy on the {n_labelled:,} rows with a label: {share:.4f}.")
        if self.totals["unknown"]:
            parts.append(f"{self.totals['unknown']:,} labels are not a class of the model.")
        return [" ".join(parts), *map(self._describe_unseen, self.unseen)]

    def _describe_unseen(self, name: str) -> str:
        counts = self.unseen[name]
        plural = "category" if len(counts) == 1 else "categories"
        shown = [repr(category[:_MAX_LENGTH_SHOWN]) for category in list(counts)[:_MAX_SHOWN]]
        dots = ["..."] if len(counts) > _MAX_SHOWN else []
        return (
            f"{printable(name)}: {counts.total():,} rows with {len(counts):,} {plural} that the "
            f"model does not know ({', '.join(shown + dots)})."
        )
