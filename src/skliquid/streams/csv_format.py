"""CSV files, a few thousand rows at a time."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from skliquid.streams.kinds import ARROW_TYPES, Kinds, kinds_of
from skliquid.streams.reason import reason

_BLOCK = 1 << 20
_FIRST_BLOCK = 8 << 20
"""Bytes from which the kinds of columns are inferred."""

MISSING = ["", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL"]
"""What a cell without a value may hold."""


def csv_kinds(path: Path) -> Kinds:
    """Return what each column holds, as its first eight megabytes tell."""
    try:
        with _opened(path, csv.ConvertOptions(**_CONVERSION), _FIRST_BLOCK) as reader:
            return kinds_of(reader.schema, path)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(
            f"A file that ends in .csv must be a CSV file whose first line names the columns: "
            f"{path} is not ({reason(error)}). Mend it, or correct its name."
        ) from error


def csv_n_rows(path: Path) -> int:
    """Return the number of rows, for which the whole file is read."""
    first = next(iter(csv_kinds(path)))
    return sum(len(batch) for batch in csv_batches(path, [first], {first: "text"}, 0))


def csv_batches(
    path: Path, columns: Sequence[str], kinds: Kinds, start: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows from ``start`` on, in their order; only ``columns`` are converted."""
    options = csv.ConvertOptions(
        **_CONVERSION,
        include_columns=list(columns),
        column_types={name: ARROW_TYPES[kinds[name]] for name in columns},
    )
    n_read = 0
    try:
        with _opened(path, options, _BLOCK) as reader:
            for batch in reader:
                if start < n_read + len(batch):
                    yield batch.slice(max(start - n_read, 0))
                n_read += len(batch)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(_explained(error, path, kinds, n_read)) from error


_CONVERSION = {
    "null_values": MISSING,
    "strings_can_be_null": True,
    "quoted_strings_can_be_null": True,
}


def _opened(path: Path, options: csv.ConvertOptions, block_size: int) -> csv.CSVStreamingReader:
    return csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=block_size),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=options,
    )


def _explained(error: BaseException, path: Path, kinds: Kinds, n_read: int) -> str:
    column = re.search(r"In CSV column #(\d+)", str(error))
    value = re.search(r"invalid value '(.*)'", str(error), flags=re.DOTALL)
    if column is None or value is None:
        return (
            f"Each row must be text in UTF-8 with as many cells as there are columns: a row of "
            f"{path}, some rows after row {n_read}, cannot be read ({reason(error)}). Mend the "
            "row; a comma within a cell needs quotes around the cell."
        )
    name = list(csv_kinds(path))[int(column[1])]
    return (
        f"A column must hold the same kind of values throughout: column {name!r} of {path} is "
        f"taken for the kind {kinds[name]!r}, and holds {value[1]!r} some rows after row {n_read}. "
        f"Mend the value, or give kinds={{{name!r}: 'text'}}."
    )
