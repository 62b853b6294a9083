"""One file or a folder of files as one long table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from os import SEEK_END, PathLike
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from skliquid.streams.category_text import column_as_text, column_as_truth
from skliquid.streams.csv_format import csv_batches, csv_kinds, csv_n_rows
from skliquid.streams.kinds import ARROW_TYPES, Kind, Kinds, kind_of, way_out, with_wishes
from skliquid.streams.parquet_format import parquet_batches, parquet_kinds, parquet_n_rows
from skliquid.streams.reason import reason

_BYTES_OF_A_FINGERPRINT = 1 << 16


class FileFormat(NamedTuple):
    """How files of one format are read."""

    kinds: Callable[[Path], Kinds]
    n_rows: Callable[[Path], int]
    batches: Callable[[Path, Sequence[str], Kinds, int], Iterator[pa.RecordBatch]]


_CSV = FileFormat(csv_kinds, csv_n_rows, csv_batches)
_PARQUET = FileFormat(parquet_kinds, parquet_n_rows, parquet_batches)
FORMATS = {".parquet": _PARQUET, ".pq": _PARQUET, ".csv": _CSV, ".csv.gz": _CSV}


class DataFiles:
    """Rows of one file, or of the files of a folder in the order of their names.

    Parameters
    ----------
    path : str or path
        A Parquet or CSV file, or a folder of files of one of these formats.
    wishes : mapping from str to kind, default=None
        What columns shall be taken for, where this is not what their file says.
    """

    def __init__(self, path: str | PathLike[str], wishes: Mapping[str, Kind] | None = None):
        self.path = Path(path)
        self.paths = data_paths(self.path)
        self._format = _format_of(self.paths, self.path)
        self.kinds = self._agreed_kinds(wishes)

    def _agreed_kinds(self, wishes: Mapping[str, Kind] | None) -> Kinds:
        agreed = with_wishes(self._format.kinds(self.paths[0]), wishes, self.path)
        for path in self.paths[1:]:
            kinds = self._format.kinds(path)
            _check_same_columns(kinds, path, agreed, self.paths[0])
            if self._format is _PARQUET:  # the columns of a CSV file are read as the first's
                _check_same_kinds(kinds | dict(wishes or {}), path, agreed, self.paths[0])
                agreed |= {name: kinds[name] for name in agreed if agreed[name] == "empty"}
        return agreed

    def read_as(self, kinds: Kinds) -> None:
        """Take columns for what ``kinds`` says; a value that is something else is an error."""
        self.kinds = self.kinds | kinds

    @property
    def are_csv(self) -> bool:
        """Whether columns are text that may be read as any kind."""
        return self._format is _CSV

    @cached_property
    def n_rows_by_file(self) -> list[int]:
        """Number of rows of each file."""
        return [self._format.n_rows(path) for path in self.paths]

    def batches(self, columns: Sequence[str], start: int = 0) -> Iterator[pa.Table]:
        """Yield the rows from ``start`` on, some at a time, in the types that kinds have here."""
        schema = pa.schema([(name, ARROW_TYPES[self.kinds[name]]) for name in columns])
        for k, path in enumerate(self.paths):
            if start and start >= self.n_rows_by_file[k]:
                start -= self.n_rows_by_file[k]
                continue
            n_before = start
            for batch in self._format.batches(path, columns, self.kinds, start):
                yield _converted(batch.select(list(columns)), schema, path, n_before)
                n_before += len(batch)
            start = 0

    def where(self, row: int) -> str:
        """Return in words where a row is, counted from 0 over all files."""
        for path, n_rows in zip(self.paths, self.n_rows_by_file, strict=True):
            if row < n_rows:
                return f"row {row + 1} of {path}"
            row -= n_rows
        return f"the end of {self.path}"

    def fingerprint(self) -> str:
        """Return a digest of the files' names, sizes, first and last bytes."""
        digest = sha256()
        for path in self.paths:
            digest.update(repr((path.name, path.stat().st_size)).encode())
            with path.open("rb") as file:
                digest.update(file.read(_BYTES_OF_A_FINGERPRINT))
                file.seek(-min(_BYTES_OF_A_FINGERPRINT, path.stat().st_size), SEEK_END)
                digest.update(file.read())
        return digest.hexdigest()


def data_paths(path: Path) -> list[Path]:
    """Return the file, or the files of data of a folder in the order of their names."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        what = "leads nowhere" if path.is_symlink() else f"is not, seen from {Path.cwd()}"
        raise FileNotFoundError(
            f"path must be a file or a folder that is there: {path} {what}. Correct the path."
        )
    inside = [each for each in sorted(path.iterdir()) if not each.name.startswith((".", "_"))]
    _check_flat(inside)
    paths = [each for each in inside if each.is_file() and _ends_as_data(each)]
    if not paths:
        raise ValueError(
            f"A folder of data must hold files that end in {', '.join(FORMATS)}: {path} holds "
            "none. Correct the path."
        )
    return paths


def _check_flat(inside: Sequence[Path]) -> None:
    """Raise if a link leads nowhere, or if a folder holds data too: they would be passed over."""
    for each in inside:
        if each.is_dir() and any(_ends_as_data(deep) for deep in each.rglob("*")):
            raise ValueError(
                f"A folder of data must hold all of its files itself: {each} is a folder with "
                "files of data. Give one that has none within, or move the files."
            )
        if not each.exists() and _ends_as_data(each):
            raise ValueError(
                f"A folder of data must hold files that are there: {each} is a link that leads "
                "nowhere. Remove it, or mend it."
            )


def _ends_as_data(path: Path) -> bool:
    return path.name.lower().endswith(tuple(FORMATS))


def _format_of(paths: Sequence[Path], path: Path) -> FileFormat:
    formats = [_format_by_name(each) for each in paths]
    if len(set(formats)) > 1:
        raise ValueError(
            f"The files of a folder must be of one format: {path} holds CSV and Parquet. "
            "Move one of them."
        )
    return formats[0]


def _format_by_name(path: Path) -> FileFormat:
    for ending, file_format in FORMATS.items():
        if path.name.lower().endswith(ending):
            return file_format
    raise ValueError(
        f"A file of data must end in {', '.join(FORMATS)}: {path} does not. Rename it, or write it "
        "in one of these formats."
    )


def _check_same_columns(kinds: Kinds, path: Path, first: Kinds, first_path: Path) -> None:
    missing, extra = sorted(set(first) - set(kinds)), sorted(set(kinds) - set(first))
    if missing or extra:
        what = f"lacks {missing[0]!r}" if missing else f"has {extra[0]!r} besides"
        raise ValueError(
            f"The files of a folder must have the same columns: {path} {what}, unlike "
            f"{first_path}. Add the column, remove it, or move the file."
        )


def _check_same_kinds(kinds: Kinds, path: Path, first: Kinds, first_path: Path) -> None:
    for name, kind in first.items():
        if "empty" not in (kind, kinds[name]) and kinds[name] != kind:
            raise ValueError(
                f"A column must hold the same kind of values in all files: {name!r} is of the kind "
                f"{kind!r} in {first_path} and {kinds[name]!r} in {path}. Write one of them again."
            )


def _converted(batch: pa.RecordBatch, schema: pa.Schema, path: Path, n_before: int) -> pa.Table:
    table = pa.Table.from_batches([batch])
    if table.schema.types == schema.types:
        return table
    columns = []
    for name, wanted in zip(schema.names, schema.types, strict=True):
        try:
            columns.append(_cast(table[name], wanted))
        except pa.ArrowException as error:
            other: Kind = "left_out" if pa.types.is_string(wanted) else "text"
            raise ValueError(
                f"A column must hold what it is taken for: {name!r} of {path} has a value that is "
                f"not of the type {wanted} after row {n_before} ({reason(error)}). Mend it, or "
                f"train with {way_out(name, other)}."
            ) from error
    return pa.table(columns, schema=schema)


def _cast(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    kind = kind_of(column.type)
    if pa.types.is_string(wanted) and kind != "text":
        return column_as_text(column)
    if pa.types.is_boolean(wanted) and kind == "number":
        return column_as_truth(column)
    return column.cast(wanted, safe=False)


def cut(batches: Iterator[pa.Table], n_rows: int) -> Iterator[pa.Table]:
    """Yield the same rows in tables of ``n_rows``, of which only the last may be shorter."""
    waiting: list[pa.Table] = []
    n_waiting = 0
    for batch in batches:
        waiting.append(batch)
        n_waiting += len(batch)
        if n_waiting < n_rows:
            continue
        table = pa.concat_tables(waiting)
        n_whole = n_waiting - n_waiting % n_rows
        yield from (table.slice(start, n_rows) for start in range(0, n_whole, n_rows))
        waiting, n_waiting = [table.slice(n_whole)], n_waiting - n_whole
    if n_waiting:
        yield pa.concat_tables(waiting)
