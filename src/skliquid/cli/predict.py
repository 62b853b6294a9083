"""``skliquid predict``: the classes of a file of any size."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import pyarrow as pa
import typer
from pyarrow.csv import CSVWriter
from pyarrow.parquet import ParquetWriter
from rich.console import Console

from skliquid.cli.outputs import check_output, listed
from skliquid.cli.refusal import refusing
from skliquid.streams import load_model
from skliquid.streams.files import data_paths
from skliquid.streams.model import Predictions
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
    n_rows = n_right = n_known = 0
    start = perf_counter()
    with refusing(console):
        if out is not None:
            _check_ending(out)
            check_output(out, [model, *data_paths(data)], option="--out")
        trained = load_model(model)
        labels = [str(label) for label in trained.ensemble.classes_] if proba else []
        if unused := trained.unused(data):
            console.print(f"Not looked at: {listed(unused)}.", markup=False, soft_wrap=True)
        parts = trained.predictions(data)
        schema = _table(trained.no_predictions, labels).schema
        with _written(out, schema) as write, console.status("Predicting") as status:
            for part in parts:
                write(_table(part, labels))
                n_rows += len(part.classes)
                n_right, n_known = n_right + part.n_right, n_known + part.n_known
                status.update(f"{n_rows:,} rows, {n_rows / (perf_counter() - start):,.0f} a second")
    text = f"{n_rows:,} rows in {perf_counter() - start:.1f} s."
    if n_known:
        text += f" Accuracy on the {n_known:,} whose class is known: {n_right / n_known:.4f}."
    console.print(text, markup=False, soft_wrap=True)


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
