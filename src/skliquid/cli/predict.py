"""``skliquid predict``: predict the class of each row of a file of any size."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import pyarrow as pa
from pyarrow.csv import CSVWriter
from pyarrow.parquet import ParquetWriter
from rich.console import Console
from rich.status import Status
from typer import Argument, Option

from skliquid.cli.csv_options import Decimal, Encoding, Separator, listed, unusual_dialect
from skliquid.cli.ending import refusing
from skliquid.files.atomic_write import atomic_write
from skliquid.streams import load_model
from skliquid.streams.column_encoding import UnseenCount
from skliquid.streams.csv_dialect import GivenDialect
from skliquid.streams.file_paths import check_output, data_paths
from skliquid.streams.model import Predictions

_WRITERS: dict[str, Any] = {".csv": CSVWriter, ".parquet": ParquetWriter}


def predict(
    model: Annotated[Path, Argument(help="A file that 'skliquid train' wrote.")],
    data: Annotated[Path, Argument(help="A Parquet, CSV or TSV file, or a folder of them.")],
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
    console = Console(stderr=True, markup=False, emoji=False)
    summary = PredictionSummary()
    with refusing(console), _status(console, out) as status:
        inputs, given = data_paths(data), GivenDialect(sep, decimal, encoding)
        if out is not None:
            _check_out(out, [model, *inputs])
        trained = load_model(model)
        status.update("Reading the first rows")
        parts = trained.predictions(data, ids=id_column or None, **given._asdict())
        ids = set(id_column or ())
        unused = [name for name in trained.unused(data, **given._asdict()) if name not in ids]
        ignored = f"Ignored: {listed(unused)}." if unused else None
        for note in filter(None, (unusual_dialect(inputs, given), ignored)):
            console.print(note, soft_wrap=True)
        labels = [str(label) for label in trained.ensemble.classes_] if proba else []
        first = next(parts)
        schema = _table(first, labels).schema
        with _table_writer(out, schema) as write:
            for part in chain([first], parts):
                write(_table(part, labels).cast(schema))
                summary.add(part)
                status.update(summary.speed())
    for line in summary.lines():
        console.print(line, soft_wrap=True)


def _status(console: Console, out: Path | None) -> Status:
    """Return the progress display, or a silent one if predictions are printed to the terminal."""
    are_printed = out is None and sys.stdout.isatty()
    return Console(quiet=True).status("") if are_printed else console.status("Loading the model")


def _check_out(out: Path, inputs: Sequence[Path]) -> None:
    if out.suffix.lower() not in _WRITERS:
        raise ValueError(f"--out must end in {' or '.join(_WRITERS)}: got {out}. Rename it.")
    check_output(out, inputs, name="--out")


def _table(part: Predictions, labels: Sequence[str]) -> pa.Table:
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
def _table_writer(out: Path | None, schema: pa.Schema) -> Iterator[Callable[[pa.Table], None]]:
    """Yield a function that writes tables; ``out`` appears only after everything is written."""
    if out is None:
        with CSVWriter(sys.stdout.buffer, schema) as screen:
            yield screen.write_table
        return
    with atomic_write(out) as file, _WRITERS[out.suffix.lower()](file, schema) as writer:
        yield writer.write_table


class PredictionSummary:
    """Counts of all predictions so far, in memory that does not grow with them."""

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()
        self.unseen: dict[str, UnseenCount] = {}
        self.start = perf_counter()

    def add(self, part: Predictions) -> None:
        """Count some more rows."""
        self.totals.update(rows=len(part.classes), labelled=part.n_labelled)
        self.totals.update(correct=part.n_correct, unknown=part.n_unknown)
        for name, unseen in part.unseen.items():
            self.unseen.setdefault(name, UnseenCount()).add(unseen)

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
        return [" ".join(parts), *(f"{name}: {self.unseen[name]}." for name in self.unseen)]
