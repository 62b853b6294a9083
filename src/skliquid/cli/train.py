"""``skliquid train``: an ensemble from a file of any size."""

import csv
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, cast

from rich.console import Console
from typer import Argument, BadParameter, Option

from skliquid.cli.csv_options import Decimal, Encoding, Separator, unusual_dialect
from skliquid.cli.ending import Stopped, refusing
from skliquid.cli.training_report import (
    TrainingProgress,
    confusion_table,
    held_out_summary,
    summary,
)
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.mechanisms import MECHANISMS
from skliquid.streams import StreamedModel, train_on
from skliquid.streams.column_types import ColumnType
from skliquid.streams.csv_dialect import GivenDialect
from skliquid.streams.file_paths import check_output, data_paths, default_name
from skliquid.streams.lock import file_lock
from skliquid.validation.checks import suggestion


def _size(text: str) -> int | str:
    """Return a number of representatives, or "auto"."""
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise BadParameter(f"must be 1 or more, or 'auto': got {text!r}. Give a number like 5.")
    return int(text)


def train(
    data: Annotated[Path, Argument(help="A Parquet, CSV or TSV file, or a folder of them.")],
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
    id_column: Annotated[
        list[str] | None,
        Option("--id", help="A column not to train on, which 'predict' keeps in its output."),
    ] = None,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    test_size: Annotated[
        float,
        Option(
            min=0,
            max=0.9,
            help="Share of rows, at most some 10,000, held out to score the model; 0 for none.",
        ),
    ] = 0.1,
    replay: Annotated[
        Path | None, Option(help="An HTML file that replays the training in a browser.")
    ] = None,
    checkpoint: Annotated[
        Path | None, Option(help="Where to keep what is learned; MODEL.checkpoint by default.")
    ] = None,
    every: Annotated[int, Option(min=1, help="Increments between checkpoints.")] = 100,
    resume: Annotated[
        bool, Option("--resume", help="Continue from the checkpoint, if there is one.")
    ] = False,
    restart: Annotated[
        bool, Option("--restart", help="Discard the checkpoint, and start from scratch.")
    ] = False,
    n_jobs: Annotated[int, Option("--jobs", help="Threads; -1 for all cores.")] = 1,
) -> None:
    """Train an ensemble in one pass over a file or folder, however large (out of core).

    Random rows are held out: they are never trained on, and score the model at the end.

    Ctrl-C stops cleanly; the same command with --resume continues from the checkpoint.
    """
    console = Console(markup=False, emoji=False)  # names are printed as they are
    out = model or Path(default_name(data))
    display = TrainingProgress(console)
    start = perf_counter()
    with refusing(console), display.shown(), ExitStack() as contexts:
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
        if replay is not None:
            check_output(replay, [*inputs, out, checkpoint], name="--replay")
        if note := unusual_dialect(inputs, GivenDialect(sep, decimal, encoding)):
            console.print(note, soft_wrap=True)
        contexts.enter_context(file_lock(out))
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
                column_types=_column_types(
                    text=text, number=number, left_out=leave_out, id=id_column
                ),
                sample_size=sample_size,
                test_size=test_size,
                separator=sep,
                decimal=decimal,
                encoding=encoding,
                checkpoint=checkpoint,
                resume=resume,
                restart=restart,
                every=every,
                report=display.report,
            )
            trained.save(out)
        except Stopped as stopped:
            if checkpoint.exists():
                stopped.text += " Run the same command with --resume to resume."
            raise
        checkpoint.unlink(missing_ok=True)
        if replay is not None:
            _write_replay(trained, replay, display)
    _print_results(console, trained, perf_counter() - start)
    written = [f"Model: {out}"] if replay is None else [f"Replay: {replay}", f"Model: {out}"]
    console.print(". ".join(written), soft_wrap=True)


def _write_replay(trained: StreamedModel, path: Path, display: TrainingProgress) -> None:
    from skliquid import replay  # only here, for memory

    display.say("Writing the replay")
    replay(trained.ensemble, path)


def _print_results(console: Console, trained: StreamedModel, seconds: float) -> None:
    console.print(summary(trained, seconds), soft_wrap=True)
    if trained.confusion is not None and (score := held_out_summary(trained)):
        console.print(score, soft_wrap=True)
        console.print(confusion_table(trained.confusion, trained.classes))


def _column_types(**columns: Sequence[str] | None) -> dict[str, ColumnType]:
    column_types: dict[str, ColumnType] = {}
    for column_type, names in columns.items():
        for name in names or ():
            if column_types.setdefault(name, cast(ColumnType, column_type)) != column_type:
                raise ValueError(
                    "--text, --number, --leave-out and --id must name different columns: got "
                    f"{name!r} twice. Choose one."
                )
    return column_types
