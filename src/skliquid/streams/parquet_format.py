"""Parquet format: column types, row counts and batches of rows of Parquet files."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow.parquet import ParquetFile

from skliquid.streams.column_types import ColumnTypes, file_column_types, reason

_ROWS_PER_BATCH = 2048
_BUFFER = 1 << 14  # bytes of each column read ahead; without it a whole row group is read at once


class ParquetFormat:
    """Reads Parquet files."""

    def read_types(self, path: Path) -> ColumnTypes:
        """Return the type of each column; numbers that pandas wrote as categories are codes."""
        with _open(path) as file:
            schema = file.schema_arrow
        column_types = file_column_types(schema, path)
        for column in (schema.pandas_metadata or {}).get("columns", []):
            name, is_category = column["field_name"], column.get("pandas_type") == "categorical"
            if is_category and column_types.get(name) == "number":
                column_types[name] = "code"
        return column_types

    def count_rows(self, path: Path) -> int:
        """Return the number of rows, from the footer of the file."""
        with _open(path) as file:
            return int(file.metadata.num_rows)

    def read_batches(
        self, path: Path, column_types: ColumnTypes, start: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows from ``start`` on, in their order; other columns are not read."""
        with _open(path) as file:
            for group in range(file.num_row_groups):
                n_rows = file.metadata.row_group(group).num_rows
                if start < n_rows:
                    yield from _read_group(file, group, list(column_types), start, path)
                start = max(start - n_rows, 0)


def _read_group(
    file: ParquetFile, group: int, columns: list[str], start: int, path: Path
) -> Iterator[pa.RecordBatch]:
    try:
        # no threads: they take memory, and would save little time
        for batch in file.iter_batches(_ROWS_PER_BATCH, [group], columns, use_threads=False):
            if start < len(batch):
                yield batch.slice(start)
            start = max(start - len(batch), 0)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(
            f"Row groups must be readable: row group {group} (counted from 0, of "
            f"{file.num_row_groups}) of {path} is broken ({reason(error)}). Write the file again."
        ) from error
    finally:  # also when no more rows are needed
        pa.default_memory_pool().release_unused()


def _open(path: Path) -> ParquetFile:
    try:
        return ParquetFile(
            path, pre_buffer=False, buffer_size=_BUFFER, page_checksum_verification=True
        )
    except (pa.ArrowException, OSError) as error:
        raise ValueError(
            f"A file that ends in .parquet must be a Parquet file: {path} is not "
            f"({reason(error)}). Write it again, or correct its name."
        ) from error
