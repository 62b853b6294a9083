"""DataFiles: one file or a folder of files as one long table."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from hashlib import sha256
from os import SEEK_END, PathLike
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from skliquid.streams.column_types import ColumnType, ColumnTypes, cast_columns, check_chosen
from skliquid.streams.csv_dialect import Dialect, GivenDialect
from skliquid.streams.csv_format import CsvFormat
from skliquid.streams.file_paths import data_paths, format_of

Locate: TypeAlias = Callable[[int], str]
"""A function that names the place of a row of a table, for errors."""

_FINGERPRINT_BYTES = 1 << 16
_FIND_ALL = GivenDialect()


class DataFiles:
    """The rows of a file, or of the files of a folder in the order of their names.

    ``column_types`` are those of the files, replaced by the ``chosen`` ones. CSV files are read in
    the dialect ``given``; its values of None are found in each file.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        chosen: Mapping[str, ColumnType] | None = None,
        given: GivenDialect = _FIND_ALL,
    ):
        self.path = Path(path)
        self.paths = data_paths(self.path)
        self._format = format_of(self.paths, given)
        self.chosen: Mapping[str, ColumnType] = {} if chosen is None else chosen
        self.column_types = self._common_types()

    @property
    def are_csv(self) -> bool:
        """Whether these are CSV files, whose columns are all read like those of the first file."""
        return isinstance(self._format, CsvFormat)

    @property
    def dialects(self) -> list[Dialect]:
        """The dialect of each CSV file; empty for Parquet files."""
        reader = self._format
        return [reader.dialect(p) for p in self.paths] if isinstance(reader, CsvFormat) else []

    def _common_types(self) -> ColumnTypes:
        first, *others = self.paths
        common: ColumnTypes = self._format.read_types(first)
        check_chosen(self.chosen, common, self.path)
        common |= self.chosen
        for path in others:
            types = self._format.read_types(path)
            types |= {name: self.chosen[name] for name in self.chosen if name in types}
            for name in sorted(common.keys() | types.keys()):
                pair = common.get(name), types.get(name)
                if None in pair or not (self.are_csv or "empty" in pair or pair[0] == pair[1]):
                    raise ValueError(
                        f"The files of a folder must have the same columns: {name!r} is "
                        f"{pair[0] or 'missing'} in {first} and {pair[1] or 'missing'} in {path}. "
                        "Write one of the files again, or move it."
                    )
                if pair[0] == "empty" and not self.are_csv:
                    common[name] = types[name]
        return common

    @cached_property
    def n_rows_by_file(self) -> list[int]:
        """Number of rows of each file."""
        return [self._format.count_rows(path) for path in self.paths]

    def tables(
        self, column_types: ColumnTypes, n_rows: int, start: int = 0
    ) -> Iterator[tuple[pa.Table, Locate]]:
        """Yield ``n_rows`` rows at a time, or fewer at the end, from row ``start`` on."""
        for table in _regroup(self._batches(column_types, start), n_rows):
            yield table, partial(self.locate, start)
            start += len(table)

    def _batches(self, column_types: ColumnTypes, start: int) -> Iterator[pa.Table]:
        for k, path in enumerate(self.paths):
            if start and start >= self.n_rows_by_file[k]:
                start -= self.n_rows_by_file[k]
                continue
            for batch in self._format.read_batches(path, column_types, start):
                yield cast_columns(batch, column_types, path, start)
                start += len(batch)
            start = 0

    def locate(self, start: int, row: int) -> str:
        """Return the file and number of a row, counted from row ``start`` of all files."""
        row += start
        for path, n_rows in zip(self.paths, self.n_rows_by_file, strict=True):
            if row < n_rows:
                return f"row {row + 1} of {path}"
            row -= n_rows
        return f"the end of {self.path}"

    def fingerprint(self) -> str:
        """Return a digest of the files' names, sizes, first and last bytes."""
        digest = sha256()
        for path in self.paths:
            size = path.stat().st_size
            digest.update(repr((path.name, size)).encode())
            with path.open("rb") as file:
                digest.update(file.read(_FINGERPRINT_BYTES))
                file.seek(-min(_FINGERPRINT_BYTES, size), SEEK_END)
                digest.update(file.read())
        return digest.hexdigest()


def _regroup(tables: Iterable[pa.Table], n_rows: int) -> Iterator[pa.Table]:
    """Yield the same rows in tables of ``n_rows``; only the last may be shorter."""
    waiting: list[pa.Table] = []
    for table in tables:
        rows = pa.concat_tables([*waiting, table], promote_options="permissive")
        while len(rows) >= n_rows:
            yield rows.slice(0, n_rows)
            rows = rows.slice(n_rows)
        waiting = [rows]
    yield from (rows for rows in waiting if len(rows))
