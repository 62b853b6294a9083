"""``skliquid train``: an ensemble from a file of any size."""

import csv
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, cast

from rich.console import Console
from rich.progress import BarColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from typer import Argument, BadParameter, Exit, Option

from skliquid.cli.listing import listed
from skliquid.cli.refusal import refusing
from skliquid.datasets.columns import suggestion
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.mechanisms import MECHANISMS
from skliquid.streams import Progress, StreamedModel, train_on
from skliquid.streams.column_types import ColumnType
from skliquid.streams.data_paths import data_paths
from skliquid.streams.outputs import check_output, default_name


def _size(text: str) -> int | str:
    """Return a number of representatives, or "auto"."""
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise BadParameter(f"must be 1 or more, or 'auto': got {text!r}. Give a number like 5.")
    return int(text)


def train(
    data: Annotated[Path, Argument(help="A Parquet or CSV file, or a folder of them.")],
    *,
    target: Annotated[str, Option(help="The column that holds the classes.")],
    model: Annotated[Path | None, Option(help="Where to write the model.")] = None,
    mechanism: Annotated[
        str, Option(help="Who delegates to whom; 'skliquid mechanisms' lists them.")
    ] = "proportional_weighted",
    increment_size: Annotated[
        int | None, Option(min=1, help="Rows between delegations; 1000, or fewer in small files.")
    ] = None,
    n_estimators: Annotated[int, Option(min=1, help="Voters at the start.")] = 24,
    n_final: Annotated[
        Any, Option(parser=_size, metavar="N", help="Representatives at the end, or 'auto'.")
    ] = "5",
    seed: Annotated[int, Option(min=0, max=2**32 - 1, help="The same seed, the same model.")] = 0,
    sample_size: Annotated[
        int, Option(min=1, help="First rows, to which scaling and encoding are fitted.")
    ] = 10_000,
    classes: Annotated[
        str | None, Option(help="All classes: 'a,b,\"c, d\"'; without it the target is read first.")
    ] = None,
    class_weight: Annotated[
        str | None, Option(help="'balanced': all classes count the same, however rare.")
    ] = None,
    text: Annotated[list[str] | None, Option(help="A column of numbers that are codes.")] = None,
    number: Annotated[list[str] | None, Option(help="A column to read as numbers.")] = None,
    leave_out: Annotated[list[str] | None, Option(help="A column not to train on.")] = None,
    checkpoint: Annotated[
        Path | None, Option(help="The file to resume from; MODEL.checkpoint by default.")
    ] = None,
    every: Annotated[int, Option(min=1, help="Increments between checkpoints.")] = 100,
    restart: Annotated[bool, Option("--restart", help="Start from scratch.")] = False,
    n_jobs: Annotated[int, Option("--jobs", help="Threads; -1 for all cores.")] = 1,
) -> None:
    """Train an ensemble in one pass over a file or folder, however large (out of core).

    Ctrl-C stops cleanly; the same command resumes from the checkpoint.
    """
    console = Console(markup=False, emoji=False)  # names are printed as they are
    out = model or Path(default_name(data))
    display = _Display(console)
    start = perf_counter()
    with refusing(console), display.shown():
        if mechanism not in MECHANISMS:
            raise ValueError(
                f"--mechanism must be one of {', '.join(MECHANISMS)}: got {mechanism!r}. "
                f"{suggestion(mechanism, MECHANISMS)}"
            )
        labels = None if classes is None else next(csv.reader([classes], skipinitialspace=True))
        inputs = data_paths(data)
        check_output(out, inputs, name="--model")
        checkpoint = checkpoint or out.with_name(out.name + ".checkpoint")
        check_output(checkpoint, [*inputs, out], name="--checkpoint")
        try:
            trained = train_on(
                data,
                target=target,
                ensemble=LiquidEnsembleClassifier(
                    mechanism=mechanism,
                    n_estimators=n_estimators,
                    n_final=n_final,
                    class_weight=class_weight,
                    n_jobs=n_jobs,
                    random_state=seed,
                ),
                increment_size=increment_size,
                classes=labels,
                column_types=_column_types(text=text, number=number, left_out=leave_out),
                sample_size=sample_size,
                checkpoint=checkpoint,
                restart=restart,
                every=every,
                report=display.report,
            )
            trained.save(out)
        except KeyboardInterrupt:
            console.print("Stopped. Run the same command to resume.", soft_wrap=True)
            raise Exit(130) from None
        checkpoint.unlink(missing_ok=True)
    console.print(_summary(trained, perf_counter() - start, out), soft_wrap=True)


def _column_types(**columns: Sequence[str] | None) -> dict[str, ColumnType]:
    column_types: dict[str, ColumnType] = {}
    for column_type, names in columns.items():
        for name in names or ():
            if column_types.setdefault(name, cast(ColumnType, column_type)) != column_type:
                raise ValueError(
                    f"--text, --number and --leave-out must name different columns: got {name!r} "
                    "twice. Choose one."
                )
    return column_types


class _Display:
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
        self.first: tuple[int, float] | None = None  # rows and time when training starts
        self.must_stop = False

    @contextmanager
    def shown(self) -> Iterator[None]:
        before = {n: signal.signal(n, self._stop) for n in (signal.SIGINT, signal.SIGTERM)}
        try:
            with self.bar:
                yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, *_: object) -> None:
        """Finish the current increment; at a second signal, or before training, end at once."""
        if self.must_stop or self.first is None:
            raise KeyboardInterrupt
        self.must_stop = True

    def report(self, progress: Progress) -> None:
        n_rows = progress.n_rows
        if self.first is None:
            self.bar.reset(self.task, total=progress.n_rows_in_all, completed=n_rows)
            self.first = n_rows, perf_counter()
        speed = (n_rows - self.first[0]) / max(perf_counter() - self.first[1], 1e-9)
        state = (
            f"{n_rows:,} rows, {speed:,.0f} per second, "
            f"{progress.n_representatives} representatives, cost {progress.cost:,}, left"
        )
        self.bar.update(self.task, description="Training", completed=n_rows, state=state)
        if self.must_stop:
            raise KeyboardInterrupt


def _summary(model: StreamedModel, seconds: float, out: Path) -> str:
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
    return " ".join([*lines, f"Model: {out}"])
