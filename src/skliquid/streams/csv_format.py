"""CSV files, a few thousand rows at a time."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from skliquid.datasets.table import MISSING
from skliquid.streams.kinds import ARROW_TYPES, Kinds, kinds_of, way_out
from skliquid.streams.reason import reason

_BLOCK = 1 << 20
_FIRST_BLOCK = 8 << 20
"""Bytes from which the kinds of columns are inferred."""


def csv_kinds(path: Path) -> Kinds:
    """Return what each column holds, as its first eight megabytes tell."""
    try:
        with _opened(path, csv.ConvertOptions(**_CONVERSION), _FIRST_BLOCK) as reader:
            _check_text(reader.schema, path)
            return kinds_of(reader.schema, path)
    except (pa.ArrowException, OSError) as error:
        if "Expected" in str(error):
            raise ValueError(_explained(error, path, {}, 0)) from error
        raise ValueError(
            f"A file that ends in .csv must be a CSV file whose first line names the columns: "
            f"{path} is not ({reason(error)}). Mend it, or correct its name."
        ) from error


def _check_text(schema: pa.Schema, path: Path) -> None:
    """Raise if bytes are not UTF-8, which makes a column one of bytes, or its name unreadable."""
    try:
        columns = zip(schema.names, schema.types, strict=True)
        strange = [f"column {name!r}" for name, each in columns if pa.types.is_binary(each)]
    except UnicodeDecodeError:
        strange = ["the first line"]
    if strange:
        raise ValueError(
            f"Each row must be text in UTF-8: {strange[0]} of {path} has bytes that are not. "
            "Write the file again in UTF-8."
        )


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
    "null_values": sorted(MISSING),
    "strings_can_be_null": True,
    "quoted_strings_can_be_null": True,
}


def _opened(path: Path, options: csv.ConvertOptions, block_size: int) -> csv.CSVStreamingReader:
    is_packed = path.name.lower().endswith(".gz")
    return csv.open_csv(
        pa.input_stream(path, compression="gzip" if is_packed else None),
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
        f"Mend the value, or train with {way_out(name, 'text')}."
    )
