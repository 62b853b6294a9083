"""``skliquid predict``: the classes of a file of any size."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import pyarrow as pa
import typer
from pyarrow.csv import CSVWriter
from pyarrow.parquet import ParquetWriter
from rich.console import Console

from skliquid.cli.listing import listed
from skliquid.cli.refusal import refusing
from skliquid.streams import load_model
from skliquid.streams.files import data_paths
from skliquid.streams.model import Predictions
from skliquid.streams.outputs import check_output
from skliquid.streams.reason import reason


def predict(
    model: Annotated[Path, typer.Argument(help="A file that 'skliquid train' wrote; trusted.")],
    data: Annotated[Path, typer.Argument(help="A Parquet or CSV file, or a folder of them.")],
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="A .csv or .parquet file; without it, CSV to the screen."),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Also the share of the weight of each class.")
    ] = False,
) -> None:
    """Predict the class of each row, and tell the accuracy if the target is there."""
    console = Console(stderr=True)
    seen = _Seen()
    start = perf_counter()
    with refusing(console):
        if out is not None:
            _check_ending(out)
            check_output(out, [model, *data_paths(data)], name="--out")
        trained = load_model(model)
        labels = [str(label) for label in trained.ensemble.classes_] if proba else []
        if unused := trained.unused(data):
            console.print(f"Not looked at: {listed(unused)}.", markup=False, soft_wrap=True)
        parts = trained.predictions(data)
        schema = _table(trained.no_predictions, labels).schema
        with _written(out, schema) as write, console.status("Predicting") as status:
            for part in parts:
                write(_table(part, labels))
                seen.add(part)
                speed = seen.n_rows / (perf_counter() - start)
                status.update(f"{seen.n_rows:,} rows, {speed:,.0f} a second")
    text = seen.summary(perf_counter() - start)
    console.print(text, markup=False, soft_wrap=True)


@dataclass
class _Seen:
    """What the predictions so far come to."""

    n_rows: int = 0
    n_right: int = 0
    n_known: int = 0
    n_strange: int = 0
    strange: frozenset[str] | None = None

    def add(self, part: Predictions) -> None:
        self.n_rows += len(part.classes)
        self.n_right += part.n_right
        self.n_known += part.n_known
        self.n_strange += part.n_strange
        self.strange = part.strange if self.strange is None else self.strange & part.strange

    def summary(self, seconds: float) -> str:
        lines = [f"{self.n_rows:,} rows in {seconds:.1f} s."]
        if self.n_known:
            share = self.n_right / self.n_known
            lines.append(f"Accuracy on the {self.n_known:,} whose class is known: {share:.4f}.")
        if self.n_strange:
            lines.append(f"{self.n_strange:,} labels are no class of the model.")
        if self.strange:
            lines.append(f"Training saw none of the categories of: {listed(sorted(self.strange))}.")
        return " ".join(lines)


def _table(part: Predictions, labels: list[str]) -> pa.Table:
    columns: dict[str, Any] = {"prediction": part.classes}
    columns |= {f"proba_{label}": part.shares[:, k] for k, label in enumerate(labels)}
    return pa.table(columns)


@contextmanager
def _written(out: Path | None, schema: pa.Schema) -> Iterator[Callable[[pa.Table], None]]:
    """Yield what writes tables; a file is there when all is written, and not before."""
    if out is None:
        with CSVWriter(sys.stdout.buffer, schema) as to_screen:
            yield to_screen.write_table
        return
    part = out.with_name(out.name + ".part")
    try:
        with _WRITERS[out.suffix.lower()](part, schema) as writer:
            yield writer.write_table
        part.replace(out)
    except OSError as error:
        raise OSError(f"{out} cannot be written ({reason(error)}).") from error
    finally:
        part.unlink(missing_ok=True)


_WRITERS: dict[str, Any] = {".csv": CSVWriter, ".parquet": ParquetWriter}


def _check_ending(out: Path) -> None:
    if out.suffix.lower() not in _WRITERS:
        raise ValueError(
            f"--out must end in {' or '.join(_WRITERS)}: {out} does not. Give another name."
        )
