"""``skliquid train``: an ensemble from a file of any size."""

import csv
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import isnan
from pathlib import Path
from time import perf_counter
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from skliquid.cli.listing import listed
from skliquid.cli.refusal import refusing
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.mechanisms import MECHANISMS
from skliquid.streams import Progress, StreamedModel, train_on
from skliquid.streams.files import data_paths
from skliquid.streams.kinds import Kind
from skliquid.streams.outputs import check_output, default_name


def train(
    data: Annotated[Path, typer.Argument(help="A Parquet or CSV file, or a folder of them.")],
    *,
    target: Annotated[str, typer.Option(help="The column that holds the classes.")],
    model: Annotated[Path | None, typer.Option(help="Where the model goes.")] = None,
    mechanism: Annotated[
        str, typer.Option(help="Who delegates to whom; 'skliquid mechanisms' lists them.")
    ] = "proportional_weighted",
    increment_size: Annotated[
        int | None,
        typer.Option(min=1, help="Rows between delegations; 1000, or less if the file is small."),
    ] = None,
    n_estimators: Annotated[int, typer.Option(min=1, help="Voters at the start.")] = 80,
    n_final: Annotated[int, typer.Option(min=1, help="Representatives at the end.")] = 12,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="The same seed gives the same model.")
    ] = 0,
    sample_size: Annotated[
        int, typer.Option(min=1, help="First rows, to which scaling and coding are fitted.")
    ] = 10_000,
    classes: Annotated[
        str | None,
        typer.Option(help="All classes: 'a,b,\"c, d\"'; otherwise the target is read first."),
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="A column of numbers that are codes, not amounts.")
    ] = None,
    number: Annotated[list[str] | None, typer.Option(help="A column to take for numbers.")] = None,
    leave_out: Annotated[list[str] | None, typer.Option(help="A column not to learn from.")] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="What a stopped run goes on from; MODEL.checkpoint by default."),
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="Increments between checkpoints.")] = 100,
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin anew, even if there is a checkpoint.")
    ] = False,
    n_jobs: Annotated[int, typer.Option("--jobs", help="Threads; -1 for all cores.")] = 1,
) -> None:
    """Train an ensemble in one pass over a file or folder, however large.

    Ctrl-C stops cleanly; the same command goes on where the last one stopped.
    """
    console = Console()
    out = model or Path(default_name(data))
    display = _Display(console)
    start = perf_counter()
    with refusing(console), display.shown():
        _check_mechanism(mechanism)
        inputs = data_paths(data)
        check_output(out, inputs, name="--model")
        kept = checkpoint or out.with_name(out.name + ".checkpoint")
        check_output(kept, [*inputs, out], name="--checkpoint")
        try:
            trained = train_on(
                data,
                target=target,
                ensemble=LiquidEnsembleClassifier(
                    mechanism=mechanism,
                    n_estimators=n_estimators,
                    n_final=n_final,
                    n_jobs=n_jobs,
                    random_state=seed,
                ),
                increment_size=increment_size,
                classes=None if classes is None else _labels(classes),
                kinds=_kinds(text=text, number=number, left_out=leave_out),
                sample_size=sample_size,
                checkpoint=kept,
                restart=restart,
                every=every,
                report=display.report,
            )
            trained.save(out)
        except KeyboardInterrupt:
            console.print("Stopped. Run the same command to go on.", soft_wrap=True)
            raise typer.Exit(130) from None
    kept.unlink(missing_ok=True)
    summary = _summary(display, trained, perf_counter() - start, out)
    console.print(summary, markup=False, soft_wrap=True)


def _labels(words: str) -> list[str]:
    """Return the labels of a line; one with a comma has quotes around it."""
    return next(csv.reader([words], skipinitialspace=True))


def _kinds(**wishes: Sequence[str] | None) -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    for kind, names in wishes.items():
        for name in names or ():
            if kinds.setdefault(name, cast(Kind, kind)) != kind:
                raise ValueError(
                    f"--text, --number and --leave-out must name different columns: {name!r} is "
                    "named by two of them. Choose one."
                )
    return kinds


def _check_mechanism(name: str) -> None:
    if name not in MECHANISMS:
        meant = get_close_matches(name, MECHANISMS, n=1)
        way_out = f"Did you mean {meant[0]!r}?" if meant else "Choose one of them."
        raise ValueError(
            f"--mechanism must be one of {', '.join(MECHANISMS)}: {name!r} is none. {way_out}"
        )


@dataclass
class _Display:
    """The line that shows how far training is, and the ear for Ctrl-C."""

    console: Console
    last: Progress | None = None
    n_rows_before: int = 0
    start: float = 0
    is_asked_to_stop: bool = False
    bar: Bar = field(init=False)
    task: TaskID = field(init=False)

    def __post_init__(self) -> None:
        self.bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[state]}"),
            TimeRemainingColumn(),
            console=self.console,
            transient=True,
        )
        self.task = self.bar.add_task("Reading the target", total=None, state="")

    @contextmanager
    def shown(self) -> Iterator[None]:
        before = {each: signal.signal(each, self._heard) for each in _SIGNALS}
        try:
            with self.bar:
                yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _heard(self, *_: object) -> None:
        """Let the increment at hand be finished; at a second signal, or before any, end at once."""
        if self.is_asked_to_stop or self.last is None:
            raise KeyboardInterrupt
        self.is_asked_to_stop = True

    def report(self, progress: Progress) -> None:
        if self.last is None:
            self.bar.reset(self.task, total=progress.n_rows_in_all, completed=progress.n_rows)
            self.n_rows_before, self.start = progress.n_rows, perf_counter()
        self.last = progress
        seconds = max(perf_counter() - self.start, 1e-9)
        speed = (progress.n_rows - self.n_rows_before) / seconds
        state = (
            f"{progress.n_rows:,} rows, {speed:,.0f} a second, "
            f"{progress.n_representatives} representatives, cost {progress.cost:,}, left"
        )
        self.bar.update(self.task, description="Training", completed=progress.n_rows, state=state)
        if self.is_asked_to_stop:
            raise KeyboardInterrupt


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _summary(display: _Display, model: StreamedModel, seconds: float, out: Path) -> str:
    ensemble = model.ensemble
    n_left = len(ensemble.estimator_weights_)
    lines = [f"{ensemble.n_samples_seen_:,} rows in {seconds:.1f} s."]
    lines.append(f"{n_left} of {ensemble.n_estimators} voters are left as representatives.")
    if n_left > ensemble.n_final:
        lines.append("For fewer, give more rows, or a smaller --increment-size.")
    if display.last is not None:
        lines.append(f"Cost: {display.last.cost:,} sample visits.")
    if not isnan(model.accuracy):
        lines.append(f"Accuracy on rows not yet trained on: {model.accuracy:.3f}.")
    if model.left_out:
        lines.append(f"Left out: {listed(model.left_out)}.")
    return " ".join([*lines, f"Model: {out}"])
