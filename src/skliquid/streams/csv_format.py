"""CSV format: column types, row counts and batches of rows of CSV files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from skliquid.streams.column_types import (
    ARROW_TYPES,
    ColumnTypes,
    file_column_types,
    reason,
    way_out,
)
from skliquid.streams.csv_dialect import FIRST_BYTES, MISSING, Dialect, GivenDialect, find_dialect

_BLOCK = 1 << 20
_FIRST_BLOCK = 8 << 20  # bytes from which the types of columns are inferred
_READ_AS = ARROW_TYPES | {"id": pa.string()}
_ERRORS = (pa.ArrowException, OSError, UnicodeError)
_OTHER_ENCODING = (
    "Give its encoding, such as encoding='cp1252' (on the command line --encoding cp1252), or "
    "write the file again in UTF-8."
)


@dataclass(eq=False)
class CsvFormat:
    """Reads CSV files, each in the dialect that is given or found."""

    given: GivenDialect
    _dialects: dict[Path, Dialect] = field(default_factory=dict)

    def dialect(self, path: Path) -> Dialect:
        """Return the dialect of a file."""
        if path not in self._dialects:
            try:
                with _open_bytes(path) as file:
                    first_bytes = file.read(FIRST_BYTES)
            except _ERRORS as error:
                raise ValueError(self._explain(error, path, {}, 0)) from error
            is_whole = len(first_bytes) < FIRST_BYTES
            self._dialects[path] = find_dialect(first_bytes, self.given, path, is_whole=is_whole)
        return self._dialects[path]

    def read_types(self, path: Path) -> ColumnTypes:
        """Return the type of each column, inferred from the first eight megabytes."""
        try:
            with _open(path, self.dialect(path), {}, _FIRST_BLOCK) as reader:
                _check_text(reader.schema, path)
                return file_column_types(reader.schema, path)
        except _ERRORS as error:
            raise ValueError(self._explain(error, path, {}, 0)) from error

    def count_rows(self, path: Path) -> int:
        """Return the number of rows, after reading the whole file."""
        first = next(iter(self.read_types(path)))
        return sum(len(batch) for batch in self.read_batches(path, {first: "text"}, 0))

    def read_batches(
        self, path: Path, column_types: ColumnTypes, start: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows from ``start`` on, in their order; other columns are not converted."""
        n_read = 0
        try:
            with _open(path, self.dialect(path), column_types, _BLOCK) as reader:
                for batch in reader:
                    if start < n_read + len(batch):
                        yield batch.slice(max(start - n_read, 0))
                    n_read += len(batch)
        except _ERRORS as error:
            raise ValueError(self._explain(error, path, column_types, n_read)) from error

    def _explain(
        self, error: BaseException, path: Path, column_types: ColumnTypes, n_read: int
    ) -> str:
        column = re.search(r"In CSV column #(\d+)", str(error))
        value = re.search(r"invalid value '(.*)'", str(error), flags=re.DOTALL)
        if column is None or value is None:
            return _explain_other(error, path, self._dialects.get(path), n_read)
        name = list(self.read_types(path))[int(column[1])]
        other_mark = "." if self.dialect(path).decimal == "," else ","
        is_marked = re.fullmatch(rf"\s*[+-]?\d*{re.escape(other_mark)}\d+\s*", value[1])
        mark = f"give decimal={other_mark!r} (--decimal {other_mark}), or " if is_marked else ""
        return (
            f"A column must hold values of one type: column {name!r} of {path} is read as "
            f"{column_types[name]!r}, and holds {value[1]!r} some rows after row {n_read}. Correct "
            f"the value, or {mark}{way_out(name, 'text')}."
        )


def _explain_other(error: BaseException, path: Path, dialect: Dialect | None, n_read: int) -> str:
    problem = f"{path} cannot be read some rows after row {n_read} ({reason(error)})"
    if isinstance(error, UnicodeError) or "UTF8" in str(error):
        encoding = dialect.encoding if dialect else "utf-8"
        return f"A CSV file must be text in {encoding.upper()}: {problem}. {_OTHER_ENCODING}"
    separator = repr(dialect.separator) if dialect else "a separator"
    return (
        "A CSV file must have the names of the columns in its first line, and as many cells in "
        f"each row: {problem}. It was read with {separator} between cells. Correct it, or give "
        "another separator (--sep); within a cell, it needs quotes around the cell."
    )


def _check_text(schema: pa.Schema, path: Path) -> None:
    """Raise if bytes are not UTF-8: the type of a column is then binary, or a name unreadable."""
    try:
        columns = zip(schema.names, schema.types, strict=True)
        invalid = [f"column {name!r}" for name, t in columns if pa.types.is_binary(t)]
    except UnicodeDecodeError:
        invalid = ["the first line"]
    if invalid:
        raise ValueError(
            "A CSV file must be text in UTF-8, unless its encoding is given: "
            f"{invalid[0]} of {path} has bytes that are not. {_OTHER_ENCODING}"
        )


def _open_bytes(path: Path) -> pa.NativeFile:
    is_compressed = path.name.lower().endswith(".gz")
    return pa.input_stream(path, compression="gzip" if is_compressed else None)


def _open(
    path: Path, dialect: Dialect, column_types: ColumnTypes, block_size: int
) -> csv.CSVStreamingReader:
    return csv.open_csv(
        _open_bytes(path),
        read_options=csv.ReadOptions(
            block_size=block_size, encoding=dialect.encoding, skip_rows=dialect.n_skipped
        ),
        parse_options=csv.ParseOptions(delimiter=dialect.separator, newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            null_values=sorted(MISSING),
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
            decimal_point=dialect.decimal,
            column_types={name: _READ_AS[column_types[name]] for name in column_types},
            include_columns=list(column_types),
        ),
    )
