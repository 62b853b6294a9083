"""Commands of ``skliquid``, and their options.

Modules that take long to import are imported by the command that needs them.
"""

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, TypeAlias

import typer
from typer import Argument, BadParameter, Option

from skliquid import __version__
from skliquid.cli.ending import Stopped, refusing
from skliquid.validation.checks import missing_extra, printable, suggestion

_TYPED = {"tab": "\t", "\\t": "\t"}


def _separator(text: str) -> str:
    return _TYPED.get(text, text)


Data: TypeAlias = Annotated[
    str, Argument(help="A Parquet, CSV or TSV file, a folder of them, or a query: 'SELECT ...'.")
]
Separator: TypeAlias = Annotated[
    Any,
    Option(
        "--sep",
        parser=_separator,
        metavar="CHARACTER",
        help="Between the cells of CSV files, such as ';' or 'tab'; found by default.",
    ),
]
Decimal: TypeAlias = Annotated[
    str | None,
    Option(metavar="MARK", help="The decimal mark of CSV files, ',' or '.'; found by default."),
]
Encoding: TypeAlias = Annotated[
    str | None,
    Option(metavar="NAME", help="Of CSV files, such as cp1252; UTF-8 or UTF-16 by default."),
]


# skliquid train


def _size(text: str) -> int | str:
    """Return a number of representatives, or "auto"."""
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise BadParameter(f"must be 1 or more, or 'auto': got {text!r}. Give a number like 5.")
    return int(text)


_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZE = re.compile(r"(\d+(?:\.\d+)?) *([KMGT]?B?)", re.IGNORECASE)


def _bytes(text: str) -> int:
    """Return a size such as 8GB in bytes."""
    found = _SIZE.fullmatch(text.strip())
    unit = found[2].upper().removesuffix("B") if found else ""
    size = float(found[1]) * _UNITS[f"{unit}B" if unit else ""] if found else 0
    if size < 1:
        raise BadParameter(f"must be a size in bytes: got {text!r}. Give one like 8GB or 500MB.")
    return int(size)


def train(
    data: Data,
    *,
    target: Annotated[str, Option(help="The column that holds the classes.")],
    model: Annotated[Path | None, Option(help="Where to write the model.")] = None,
    mechanism: Annotated[
        str | None, Option(help="Who delegates to whom; 'skliquid mechanisms' lists them.")
    ] = None,
    increment_size: Annotated[
        int | None, Option(min=1, help="Rows between delegations; 1000, or fewer in small files.")
    ] = None,
    n_estimators: Annotated[
        int | None, Option(min=1, help="Voters at the start; 24 by default, or 18 online.")
    ] = None,
    n_final: Annotated[
        Any,
        Option(
            parser=_size,
            metavar="N",
            help="Representatives at the end, or 'auto'; 5 by default, or 6 online.",
        ),
    ] = None,
    max_rows: Annotated[
        int | None,
        Option(min=2, help="Rows to draw from larger data; 1,020,000 by default."),
    ] = None,
    max_memory: Annotated[
        Any,
        Option(
            parser=_bytes,
            metavar="SIZE",
            help="Memory for training, such as 8GB; a quarter of the machine's, at most 4GB.",
        ),
    ] = None,
    seed: Annotated[int, Option(min=0, max=2**32 - 1, help="The same seed, the same model.")] = 0,
    classes: Annotated[
        str | None, Option(help="All classes: 'a,b,\"c, d\"'; without it the target is read first.")
    ] = None,
    class_weight: Annotated[
        str | None, Option(help="'balanced': all classes count the same, however rare.")
    ] = None,
    number: Annotated[list[str] | None, Option(help="A column of numbers.")] = None,
    category: Annotated[
        list[str] | None, Option(help="A column of categories, such as a code of digits.")
    ] = None,
    text: Annotated[list[str] | None, Option(help="A column of texts.")] = None,
    date: Annotated[list[str] | None, Option(help="A column of dates.")] = None,
    drop: Annotated[list[str] | None, Option(help="A column not to train on.")] = None,
    id_column: Annotated[
        list[str] | None,
        Option("--id", help="A column not to train on, which 'predict' keeps in its output."),
    ] = None,
    missing: Annotated[
        list[str] | None, Option(help="A text that stands for a missing value, such as '999'.")
    ] = None,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    test_size: Annotated[
        float,
        Option(
            min=0,
            max=0.9,
            help="Share of each class, at most some 10,000 rows, held out to score the model.",
        ),
    ] = 0.1,
    online: Annotated[
        bool,
        Option("--online", help="In one pass, in the order of the rows: for concept drift."),
    ] = False,
    replay: Annotated[
        Path | None, Option(help="An HTML file that replays the training in a browser.")
    ] = None,
    checkpoint: Annotated[
        Path | None, Option(help="Where to save --online training; MODEL.checkpoint by default.")
    ] = None,
    every: Annotated[int, Option(min=1, help="Increments between checkpoints.")] = 100,
    resume: Annotated[
        bool, Option("--resume", help="Continue from the checkpoint, if there is one.")
    ] = False,
    restart: Annotated[
        bool, Option("--restart", help="Discard the checkpoint, and start from scratch.")
    ] = False,
    scheduler: Annotated[
        str | None, Option(help="The address of a Dask scheduler, whose workers read the files.")
    ] = None,
    n_jobs: Annotated[int, Option("--jobs", help="Threads; -1 for all cores.")] = 1,
) -> None:
    """Train an ensemble on a file, a folder or a query, however large (out of core).

    Of more than 1,020,000 rows, a random sample of that size is trained on.

    A table shows the type of each column; options such as --category correct it.

    Rows of each class are held out: they are never trained on, and score the model at the end.

    Ctrl-C stops cleanly; with --online, the same command with --resume continues.
    """
    from rich.console import Console

    from skliquid.cli.reports import (
        TrainingProgress,
        default_name,
        plain_warnings,
        print_results,
        unusual_dialect,
    )
    from skliquid.files.lock import file_lock
    from skliquid.sources.csv_dialect import GivenDialect
    from skliquid.sources.file_paths import data_paths
    from skliquid.streams import train_on

    console = Console(markup=False, emoji=False, highlight=False)  # names are printed as they are
    out = model or Path(default_name(data))
    display = TrainingProgress(console)
    start = perf_counter()
    with refusing(console), plain_warnings(console), display.shown(), ExitStack() as contexts:
        parameters = _check_parameters(mechanism, n_estimators, n_final, max_rows)
        labels = None if classes is None else next(csv.reader([classes], skipinitialspace=True))
        if not online and (checkpoint or resume or restart):
            raise ValueError(
                "--checkpoint, --resume and --restart must go with --online: other training starts "
                "from scratch. Leave them out, or add --online."
            )
        inputs = data_paths(data)
        kept = [checkpoint or out.with_name(out.name + ".checkpoint")] if online else []
        _check_outputs(inputs, {"--model": out, "--checkpoint": kept, "--replay": replay})
        if unusual := unusual_dialect(inputs, GivenDialect(sep, decimal, encoding)):
            console.print(unusual, soft_wrap=True)
        contexts.enter_context(file_lock(out))
        try:
            trained = train_on(
                data,
                target=target,
                ensemble=_ensemble(
                    parameters, online, class_weight=class_weight, n_jobs=n_jobs, random_state=seed
                ),
                increment_size=increment_size,
                classes=labels,
                column_types=_column_types(
                    {
                        "number": number,
                        "category": category,
                        "text": text,
                        "date": date,
                        "id": id_column,
                        "left out": drop,
                    }
                ),
                missing_values=missing or (),
                online=online,
                max_memory=max_memory,
                scheduler=scheduler,
                test_size=test_size,
                separator=sep,
                decimal=decimal,
                encoding=encoding,
                checkpoint=next(iter(kept), None),
                resume=resume,
                restart=restart,
                every=every,
                report=display.report,
            )
            trained.save(out)
        except Stopped as stopped:
            if any(file.exists() for file in kept):
                stopped.text += " Run the same command with --resume to resume."
            raise
        for file in kept:
            file.unlink(missing_ok=True)
        if replay is not None:
            from skliquid.plotting.replay import replay as write_replay  # only here, for memory

            display.say("Writing the replay")
            write_replay(trained.ensemble, replay)
    print_results(console, trained, perf_counter() - start)
    written = [f"Model: {out}"] if replay is None else [f"Replay: {replay}", f"Model: {out}"]
    console.print(printable(". ".join(written)), soft_wrap=True)


def _check_parameters(
    mechanism: str | None, n_estimators: int | None, n_final: Any, max_rows: int | None
) -> dict[str, Any]:
    """Return the parameters of an ensemble that were given."""
    from skliquid.mechanisms import MECHANISMS

    if mechanism is not None and mechanism not in MECHANISMS:
        raise ValueError(
            f"--mechanism must be one of {', '.join(MECHANISMS)}: got {mechanism!r}. "
            f"{suggestion(mechanism, MECHANISMS)}"
        )
    names = ("mechanism", "n_estimators", "n_final", "max_rows")
    values = (mechanism, n_estimators, n_final, max_rows)
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def _ensemble(chosen: dict[str, Any], online: bool, **parameters: Any) -> Any:
    from skliquid import presets
    from skliquid.ensemble import LiquidEnsembleClassifier

    defaults = presets.for_unscaled_streams() if online else {}
    return LiquidEnsembleClassifier(**defaults | parameters | chosen)


def _check_outputs(inputs: Sequence[Path], outputs: Mapping[str, Any]) -> None:
    """Raise unless files can be written that are neither read nor another output."""
    from skliquid.files.checkpoint import check_output

    needed = list(inputs)
    for name, files in outputs.items():
        for file in files if isinstance(files, list) else [files]:
            if file is not None:
                check_output(file, needed, name=name)
                needed.append(file)


def _column_types(columns: Mapping[str, Sequence[str] | None]) -> dict[str, str]:
    column_types: dict[str, str] = {}
    for column_type, names in columns.items():
        for name in names or ():
            if column_types.setdefault(name, column_type) != column_type:
                raise ValueError(
                    "--number, --category, --text, --date, --drop and --id must name different "
                    f"columns: got {name!r} twice. Choose one."
                )
    return column_types


# skliquid predict


def predict(
    model: Annotated[Path, Argument(help="A file that 'skliquid train' wrote.")],
    data: Data,
    *,
    out: Annotated[Path | None, Option(help="A .csv or .parquet file; default: stdout.")] = None,
    proba: Annotated[bool, Option("--proba", help="Also write the class probabilities.")] = False,
    id_column: Annotated[
        list[str] | None,
        Option("--id", help="A column to keep in the output; by default those of 'train --id'."),
    ] = None,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Predict the class of each row, and report the accuracy if the target is there."""
    from rich.console import Console

    from skliquid.cli import reports
    from skliquid.sources.csv_dialect import GivenDialect
    from skliquid.sources.file_paths import data_paths
    from skliquid.streams import load_model

    console = Console(stderr=True, markup=False, emoji=False)
    summary = reports.PredictionSummary()
    with refusing(console), reports.prediction_status(console, out) as status:
        inputs, given = data_paths(data), GivenDialect(sep, decimal, encoding)
        if out is not None:
            reports.check_out(out, [model, *inputs])
        trained = load_model(model)
        status.update("Reading the first rows")
        parts = trained.predictions(data, ids=id_column or None, **given._asdict())
        labels = [str(label) for label in trained.ensemble.classes_] if proba else []
        first = next(parts)
        ignored = f"Ignored: {reports.listed(first.unused)}." if first.unused else None
        for note in filter(None, (reports.unusual_dialect(inputs, given), ignored)):
            console.print(note, soft_wrap=True)
        schema = reports.prediction_table(first, labels).schema
        with reports.table_writer(out, schema) as write:
            for part in chain([first], parts):
                write(reports.prediction_table(part, labels).cast(schema))
                summary.add(part)
                status.update(summary.speed())
    for line in summary.lines():
        console.print(line, soft_wrap=True)


# skliquid datasets, skliquid mechanisms


def datasets() -> None:
    """List the paper's datasets, and which of them are installed."""
    from skliquid.datasets import DATASET_NAMES

    columns = ("name", "rows", "features", "categorical", "missing", "classes")
    _print_list("The paper's datasets: UCI, CC BY 4.0", columns, map(_dataset_row, DATASET_NAMES))


def _dataset_row(name: str) -> list[str]:
    from skliquid.datasets import available_datasets, load_dataset

    if name not in available_datasets():
        return [name, *["-"] * 4, "not here; downloaded when first loaded"]
    data = load_dataset(name)
    classes = ", ".join(f"{label}: {count}" for label, count in data.class_counts.items())
    n_categorical = data.column_types.count("categorical")
    return [name, *map(str, (data.n_rows, data.n_features, n_categorical, data.n_missing)), classes]


def mechanisms() -> None:
    """List the delegation mechanisms."""
    from skliquid.mechanisms import MECHANISMS

    rows = [
        [
            name,
            _first_line(mechanism.selection),
            _first_line(mechanism.probability),
            _first_line(mechanism.returns) if mechanism.returns else "No voter.",
        ]
        for name, mechanism in MECHANISMS.items()
    ]
    _print_list("Mechanisms", ["name", "who delegates", "to whom", "who returns"], rows)


def _first_line(function: object) -> str:
    return (function.__doc__ or "").strip().splitlines()[0].partition(": the paper's")[0]


def _print_list(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table without cutting text: folded on a screen, at full width in a pipe."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column == columns[0])
    for row in rows:
        table.add_row(*row)
    screen = Console()
    (screen if screen.is_terminal else Console(width=10_000)).print(table)


# All of them

_STREAM = ("duckdb", "pyarrow", "rich", "safetensors")
COMMANDS: dict[Callable[..., None], Sequence[str]] = {
    train: _STREAM,
    predict: _STREAM,
    datasets: ("pandas", "rich"),
    mechanisms: ("rich",),
}
"""Commands, and the packages of the extra ``stream`` that they need."""


def skliquid_app() -> typer.Typer:
    """Return the commands."""
    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True)(_skliquid)
    for command, packages in COMMANDS.items():
        missing = next((package for package in packages if find_spec(package) is None), None)
        app.command(command.__name__)(_refused(command, missing) if missing else command)
    return app


def _skliquid(
    *, version: Annotated[bool, Option("--version", help="Print the version.")] = False
) -> None:
    """Ensembles that prune themselves while they train."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


def _refused(command: Callable[..., None], package: str) -> Callable[[], None]:
    def refused() -> None:
        """Needs the extra stream, which is not installed."""
        feature = f"skliquid {command.__name__}"
        typer.echo(missing_extra(feature, package, "stream"), err=True)
        raise typer.Exit(1)

    return refused
