"""``skliquid predict``: the classes of the rows of a file of any size."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow.csv import CSVWriter
from pyarrow.parquet import ParquetWriter
from rich.console import Console
from typer import Argument, Option

from skliquid.cli.listing import listed
from skliquid.cli.refusal import refusing
from skliquid.streams import load_model
from skliquid.streams.data_paths import data_paths
from skliquid.streams.outputs import check_output
from skliquid.streams.reason import reason

_WRITERS: dict[str, Any] = {".csv": CSVWriter, ".parquet": ParquetWriter}


def predict(
    model: Annotated[Path, Argument(help="A file that 'skliquid train' wrote; trusted.")],
    data: Annotated[Path, Argument(help="A Parquet or CSV file, or a folder of them.")],
    *,
    out: Annotated[Path | None, Option(help="A .csv or .parquet file, or the screen.")] = None,
    proba: Annotated[bool, Option("--proba", help="Also write the class probabilities.")] = False,
) -> None:
    """Predict the class of each row, and report the accuracy if the target is there."""
    console = Console(stderr=True, markup=False, emoji=False)
    totals: Counter[str] = Counter()
    unseen: frozenset[str] | None = None
    start = perf_counter()
    with refusing(console):
        if out is not None:
            if out.suffix.lower() not in _WRITERS:
                raise ValueError(
                    f"--out must end in {' or '.join(_WRITERS)}: got {out}. Rename it."
                )
            check_output(out, [model, *data_paths(data)], name="--out")
        trained = load_model(model)
        classes = trained.ensemble.classes_
        labels = [str(label) for label in classes] if proba else []
        if unused := trained.unused(data):
            console.print(f"Ignored: {listed(unused)}.", soft_wrap=True)
        parts = trained.predictions(data)
        schema = _table(classes[:0], np.empty((0, len(classes))), labels).schema
        with _written(out, schema) as write, console.status("Predicting") as status:
            for part in parts:
                write(_table(part.classes, part.probabilities, labels))
                totals.update(rows=len(part.classes), labelled=part.n_labelled)
                totals.update(correct=part.n_correct, unknown=part.n_unknown)
                unseen = part.unseen if unseen is None else unseen & part.unseen
                speed = totals["rows"] / (perf_counter() - start)
                status.update(f"{totals['rows']:,} rows, {speed:,.0f} per second")
    console.print(_summary(totals, unseen or frozenset(), perf_counter() - start), soft_wrap=True)


def _summary(totals: Counter[str], unseen: frozenset[str], seconds: float) -> str:
    lines = [f"{totals['rows']:,} rows in {seconds:.1f} s."]
    if n_labelled := totals["labelled"]:
        share = totals["correct"] / n_labelled
        lines.append(f"Accuracy on the {n_labelled:,} rows with a label: {share:.4f}.")
    if totals["unknown"]:
        lines.append(f"{totals['unknown']:,} labels are not a class of the model.")
    if unseen:
        lines.append(f"No category is in the training data in: {listed(sorted(unseen))}.")
    return " ".join(lines)


def _table(classes: NDArray[Any], probabilities: NDArray[Any], labels: list[str]) -> pa.Table:
    columns = {f"proba_{label}": probabilities[:, k] for k, label in enumerate(labels)}
    return pa.table({"prediction": classes} | columns)


@contextmanager
def _written(out: Path | None, schema: pa.Schema) -> Iterator[Callable[[pa.Table], None]]:
    """Yield a function that writes tables; the file exists when all is written, and not before."""
    if out is None:
        with CSVWriter(sys.stdout.buffer, schema) as screen:
            yield screen.write_table
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
