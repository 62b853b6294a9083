"""CSV files, a few thousand rows at a time."""

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from skliquid.datasets.table import MISSING
from skliquid.streams.column_types import ARROW_TYPES, ColumnTypes, file_column_types, way_out
from skliquid.streams.reason import reason

_BLOCK = 1 << 20
_FIRST_BLOCK = 8 << 20
"""Bytes from which the types of columns are inferred."""


def read_types(path: Path) -> ColumnTypes:
    """Return what each column holds, inferred from the first eight megabytes."""
    try:
        with _opened(path, {}, _FIRST_BLOCK) as reader:
            _check_text(reader.schema, path)
            return file_column_types(reader.schema, path)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(_explained(error, path, {}, 0)) from error


def _check_text(schema: pa.Schema, path: Path) -> None:
    """Raise if bytes are not UTF-8, which makes a column one of bytes, or its name unreadable."""
    try:
        columns = zip(schema.names, schema.types, strict=True)
        invalid = [f"column {name!r}" for name, t in columns if pa.types.is_binary(t)]
    except UnicodeDecodeError:
        invalid = ["the first line"]
    if invalid:
        raise ValueError(
            f"A CSV file must be text in UTF-8: {invalid[0]} of {path} has bytes that are not. "
            "Write the file again in UTF-8."
        )


def count_rows(path: Path) -> int:
    """Return the number of rows, for which the whole file is read."""
    first = next(iter(read_types(path)))
    return sum(len(batch) for batch in read_batches(path, {first: "text"}, 0))


def read_batches(path: Path, column_types: ColumnTypes, start: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows from ``start`` on, in their order; other columns are not converted."""
    n_read = 0
    try:
        with _opened(path, column_types, _BLOCK) as reader:
            for batch in reader:
                if start < n_read + len(batch):
                    yield batch.slice(max(start - n_read, 0))
                n_read += len(batch)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(_explained(error, path, column_types, n_read)) from error


def _opened(path: Path, column_types: ColumnTypes, block_size: int) -> csv.CSVStreamingReader:
    is_compressed = path.name.lower().endswith(".gz")
    return csv.open_csv(
        pa.input_stream(path, compression="gzip" if is_compressed else None),
        read_options=csv.ReadOptions(block_size=block_size),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            null_values=sorted(MISSING),
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
            column_types={name: ARROW_TYPES[column_types[name]] for name in column_types},
            include_columns=list(column_types),
        ),
    )


def _explained(error: BaseException, path: Path, column_types: ColumnTypes, n_read: int) -> str:
    column = re.search(r"In CSV column #(\d+)", str(error))
    value = re.search(r"invalid value '(.*)'", str(error), flags=re.DOTALL)
    if column is None or value is None:
        return (
            "A CSV file must be text in UTF-8 with the names of the columns in its first line, and "
            f"as many cells in each row: {path} cannot be read some rows after row {n_read} "
            f"({reason(error)}). Correct it; a comma within a cell needs quotes around the cell."
        )
    name = list(read_types(path))[int(column[1])]
    return (
        f"A column must hold values of one type: column {name!r} of {path} is read as "
        f"{column_types[name]!r}, and holds {value[1]!r} some rows after row {n_read}. Correct the "
        f"value, or {way_out(name, 'text')}."
    )
