"""Paths of data: the files of a folder, and their format."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from skliquid.datasets.csv_dialect import GivenDialect
from skliquid.streams import parquet_format
from skliquid.streams.column_types import ColumnTypes
from skliquid.streams.csv_format import CsvFormat

FORMATS = dict.fromkeys((".parquet", ".pq"), "Parquet")
FORMATS |= dict.fromkeys((".csv", ".csv.gz", ".tsv", ".tsv.gz"), "CSV")
"""The formats of files, by the end of their names."""


class FileFormat(Protocol):
    """What reads files of one format."""

    def read_types(self, path: Path) -> ColumnTypes:
        """Return what each column holds."""

    def count_rows(self, path: Path) -> int:
        """Return the number of rows."""

    def read_batches(
        self, path: Path, column_types: ColumnTypes, start: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows from ``start`` on, in their order."""


def data_paths(path: Path) -> list[Path]:
    """Return the file, or the data files of a folder in the order of their names."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        problem = "is a broken link" if path.is_symlink() else f"is not, seen from {Path.cwd()}"
        raise FileNotFoundError(
            f"path must be an existing file or folder: {path} {problem}. Correct the path."
        )
    entries = [entry for entry in sorted(path.iterdir()) if not entry.name.startswith((".", "_"))]
    for entry in entries:  # these must not be ignored silently
        if entry.is_dir() and any(map(_is_data, entry.rglob("*"))):
            raise ValueError(
                f"A folder of data must hold its files directly: {entry} is a folder with data "
                "files. Give a folder without subfolders of data, or move the files."
            )
        if not entry.exists() and _is_data(entry):
            raise ValueError(f"Files of a folder must exist: {entry} is a broken link. Remove it.")
    paths = [entry for entry in entries if entry.is_file() and _is_data(entry)]
    if not paths:
        raise ValueError(
            f"A folder of data must hold files that end in {', '.join(FORMATS)}: {path} holds "
            "none. Correct the path."
        )
    return paths


def _is_data(path: Path) -> bool:
    return path.name.lower().endswith(tuple(FORMATS))


def format_of(paths: Sequence[Path], given: GivenDialect) -> FileFormat:
    """Return what reads ``paths``, which must be of one format, CSV files in a dialect."""
    formats = {FORMATS[end] for end in FORMATS for p in paths if p.name.lower().endswith(end)}
    if not formats:
        raise ValueError(
            f"A data file must end in {', '.join(FORMATS)}: {paths[0]} does not. Rename it, or "
            "write it in one of these formats."
        )
    if len(formats) > 1:
        raise ValueError(
            f"The files of a folder must be of one format: {paths[0].parent} holds CSV and "
            "Parquet. Move the files of one format."
        )
    if formats == {"CSV"}:
        return CsvFormat(given.checked())
    if given != GivenDialect():
        raise ValueError(
            "separator, decimal and encoding are for CSV files (--sep, --decimal, --encoding): "
            f"{paths[0]} is a Parquet file. Leave them out."
        )
    return parquet_format
