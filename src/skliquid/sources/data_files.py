"""Data files: the rows of CSV and Parquet files, of folders and of queries, read by DuckDB."""

import io
import platform
import re
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types
from pyarrow.parquet import read_schema

from skliquid.sources.cells import cast_cell, convert, first_odd, quoted, type_of, type_of_cells
from skliquid.sources.csv_dialect import (
    MISSING,
    Dialect,
    GivenDialect,
    csv_rows,
    open_bytes,
    read_dialect,
)
from skliquid.sources.file_paths import data_paths, fingerprint, format_of
from skliquid.validation.checks import printable
from skliquid.validation.limits import MAX_NUMBER

_CONFIG: dict[str, Any] = {
    "threads": 1,
    "memory_limit": "1GB",
    "preserve_insertion_order": True,
    "temp_directory": tempfile.gettempdir(),
    "allocator_flush_threshold": "1MB",
}
_SETTINGS = """SET disable_parquet_prefetching = true; SET streaming_buffer_size = '1MB';
SET enable_progress_bar = true; SET enable_progress_bar_print = false"""
_ERRORS = (duckdb.Error, pa.ArrowException, OSError)
_BATCH, _ROWS_COPIED, _SECONDS_BETWEEN_REPORTS = 2048, 16_384, 0.2
_PHI = 2_654_435_761  # 2**32 by the golden ratio: multiples of it are spread evenly
_CSV_BUFFER, _MAX_LINE = 8 << 20, 2 << 20
_SAMPLE_ROWS, _SAMPLE_CELLS = 10_000, 1 << 21
_INDEX = re.compile(r"(__index_level_\d+__)?")  # pandas writes it without a name in CSV files
_ENCODING = (
    "Give its encoding, such as encoding='cp1252' (on the command line --encoding cp1252), or "
    "write the file again in UTF-8."
)

MAX_CSV_COLUMNS = 2**13
"""DuckDB needs about 0.1 MB of memory per column of a CSV file, and more time for each."""

Report: TypeAlias = Callable[[float], None]
"""Called with the share of the data that has been read."""


def ignore(_: float) -> None:
    """Report nothing."""


@dataclass(eq=False)
class Part:
    """A file or a query: its columns, and the SQL that names them c0, c1, and so on."""

    name: str  # for errors
    columns: dict[str, pa.DataType]
    relation: str = ""
    path: Path = field(default_factory=Path)
    dialect: Dialect | None = None  # of a CSV file
    column_types: dict[str, str] = field(default_factory=dict)
    n_rows: int = -1  # with a label, if they were counted

    def cell(self, name: str) -> str:
        """Return the SQL of a column."""
        return f"c{self._positions[name]}"

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.columns)}


class DataFiles:
    """The rows of a file, of the files of a folder in the order of their names, or of a query.

    ``column_types`` are those of the data, replaced by the ``chosen`` ones. Cells in
    ``missing_values`` are missing. CSV files are read in the dialect ``given``; its values of None
    are found in each file.
    """

    def __init__(
        self,
        source: str | PathLike[str],
        chosen: Mapping[str, str] | None = None,
        missing_values: Collection[str] = (),
        given: GivenDialect | None = None,
    ):
        self.cluster: Any = None  # runs what reads all rows of a part, if it is not None
        self.source, self.chosen = source, {} if chosen is None else chosen
        self.missing_values = list(missing_values)
        self.given = (given or GivenDialect()).validate()
        self._database = duckdb.connect(config=_CONFIG)
        self.markers: dict[str, Counter[str]] = {}  # of missing values, in columns of numbers
        self.paths = data_paths(source)
        self.parts = [self._open(path) for path in self.paths] or [self._open_query(str(source))]
        self.column_types = self._common_types()
        if self.paths:  # queries may need more, for joins
            n_megabytes = 100 + len(self.column_types) // 2
            self._database.execute(f"SET memory_limit = '{n_megabytes}MB'")

    # Columns

    def _open(self, path: Path) -> Part:
        is_csv = format_of(self.paths) == "CSV"
        if not is_csv and self.given != GivenDialect():
            raise ValueError(
                "separator, decimal and encoding are for CSV files (--sep, --decimal, --encoding): "
                f"{path} is a Parquet file. Leave them out."
            )
        try:
            return self._open_csv(path) if is_csv else self._open_parquet(path)
        except (pa.ArrowException, OSError, EOFError) as error:
            raise ValueError(
                f"A file that ends in {path.suffix} must be a {format_of([path])} file: {path} is "
                f"not ({_reason(error)}). Write it again, or correct its name."
            ) from error
        except UnicodeError as error:
            encoding = (self.given.encoding or "cp1252").upper()
            raise ValueError(
                f"A CSV file must be text in {encoding}: {path} is not ({_reason(error)}). "
                f"{_ENCODING}"
            ) from error

    def _open_parquet(self, path: Path) -> Part:
        schema = read_schema(path)
        part = self._describe(str(path), f"read_parquet({quoted(path)})", schema.names)
        metadata = (schema.pandas_metadata or {}).get("columns", [])
        categories = [c["field_name"] for c in metadata if c.get("pandas_type") == "categorical"]
        categories += [c.name for c in schema if types.is_dictionary(c.type)]
        part.column_types |= dict.fromkeys(categories, "category")  # DuckDB does not read this
        return part

    def _open_query(self, query: str) -> Part:
        relation = f"({query.strip().rstrip(';')})"
        try:
            return self._describe("the query", relation, self._run(f"FROM {relation}").schema.names)
        except _ERRORS as error:
            raise ValueError(
                f"A query must be SQL that DuckDB can run: {query!r} is not ({_reason(error)}). "
                "Correct it."
            ) from error

    def _describe(self, name: str, relation: str, names: list[str]) -> Part:
        _check_distinct(names, name)
        relation += f" AS t({', '.join(f'c{k}' for k in range(len(names)))})"
        found = self._run(f"FROM {relation} LIMIT 0").schema.types
        part = Part(name, dict(zip(names, found, strict=True)), relation)
        part.column_types = {name: type_of(t) for name, t in part.columns.items()}
        return part

    def _open_csv(self, path: Path) -> Part:
        dialect = read_dialect(path, self.given)
        names = next((row for _, row in csv_rows(path, dialect)), [])
        if not names:
            raise ValueError(
                "A CSV file must have the names of the columns in its first line: "
                f"{path} has none. Write it again."
            )
        if len(names) > MAX_CSV_COLUMNS:
            raise ValueError(
                f"A CSV file must have at most {MAX_CSV_COLUMNS:,} columns: {path} has "
                f"{len(names):,}. Leave some out, or read it with pandas and fit an ensemble to "
                "the frame."
            )
        _check_distinct(names, str(path))
        part = Part(str(path), dict.fromkeys(names, pa.string()), path=path, dialect=dialect)
        if dialect.encoding == "utf-8":
            part.relation = self._csv_relation(part, path)
        else:
            self._copy(part, dialect)
        n_rows = min(_SAMPLE_ROWS, max(_SAMPLE_CELLS // len(names), 100))
        sample = self._read_whole(part, f"FROM {{0}} LIMIT {n_rows}")
        cells = zip(names, sample.columns, strict=True)
        part.column_types = {name: type_of_cells(c, dialect.decimal) for name, c in cells}
        return part

    def _csv_relation(self, part: Part, path: Path) -> str:
        columns = ", ".join(f"c{k}: 'VARCHAR'" for k in range(len(part.columns)))
        missing = ", ".join(map(quoted, [*MISSING, *self.missing_values]))
        separator, _, _, n_skipped = part.dialect or Dialect()
        return (
            f"read_csv({quoted(path)}, auto_detect = false, header = true, quote = '\"', "
            f"escape = '\"', delim = {quoted(separator)}, skip = {n_skipped}, "
            f"nullstr = [{missing}], columns = {{{columns}}}, buffer_size = {_CSV_BUFFER}, "
            f"max_line_size = {_MAX_LINE})"
        )

    def _copy(self, part: Part, dialect: Dialect) -> None:
        """Let DuckDB read a copy of a CSV file, in UTF-8 and with line ends of one kind."""
        folder = tempfile.mkdtemp(prefix="skliquid-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        copy = Path(folder) / "copy.csv"
        with (
            io.TextIOWrapper(open_bytes(part.path), dialect.encoding) as file,
            copy.open("w", encoding="utf-8", newline="\n") as out,
        ):
            shutil.copyfileobj(file, out, 1 << 20)
        part.relation = self._csv_relation(part, copy)

    def _common_types(self) -> dict[str, str]:
        first, *others = self.parts
        common = dict(first.column_types)
        for part in others:
            for name in sorted(common.keys() | part.column_types.keys()):
                pair = common.get(name), part.column_types.get(name)
                is_one_type = pair[0] == pair[1] or part.dialect or "empty" in pair
                if None in pair or not (is_one_type or name in self.chosen):
                    raise ValueError(
                        f"The files of a folder must have the same columns: {name!r} is "
                        f"{pair[0] or 'missing'} in {first.name} and {pair[1] or 'missing'} in "
                        f"{part.name}. Write one of the files again, or move it."
                    )
                if pair[0] == "empty":
                    common[name] = part.column_types[name]
        common |= {name: "left out" for name in common if _INDEX.fullmatch(name)}
        return common | {name: t for name, t in self.chosen.items() if name in common}

    def why_unused(self, name: str) -> str:
        """Return why a column is not read."""
        if name in self.chosen:
            return "an id" if self.chosen[name] == "id" else "left out on request"
        if self.column_types[name] == "empty":
            return "it has no value"
        if _INDEX.fullmatch(name):
            return "the row numbers of pandas"
        return f"its type is {self.parts[0].columns[name]}, which is not supported"

    # Rows

    def count_labels(
        self, name: str, max_rows: int, report: Report = ignore
    ) -> list[tuple[Any, int, list[int]]]:
        """Return each value of a column, the number of its rows, and some of their numbers.

        At most ``max_rows`` numbers of rows are drawn, in a fixed order that looks random. Missing
        values are None. Rows without a label have no number.
        """
        found: list[tuple[Any, int, list[int]]] = []
        if self.cluster is not None and max_rows:  # parts are counted at once, so count rows first
            self.count_labels(name, 0)
        firsts = self._first_rows()
        counted = self._on_parts("count_labels_of", ((name, max_rows, n) for n in firsts), report)
        for part, rows in zip(self.parts, counted, strict=True):
            part.n_rows = sum(n for value, n, _ in rows if value is not None)
            found += rows
        return found

    def _first_rows(self) -> Iterator[int]:
        """Yield the number of the first row of each part, after those before it were counted."""
        first = 0
        for part in self.parts:
            yield first
            first += part.n_rows

    def count_labels_of(
        self, part: Part, name: str, max_rows: int, start: int, report: Report = ignore
    ) -> list[tuple[Any, int, list[int]]]:
        """Return the same for a part, whose first row has the number ``start``."""
        y = self._label(part, name)
        n = f"count(y) OVER (ROWS UNBOUNDED PRECEDING) + {start - 1}"
        labels = f"SELECT y, {n} AS n FROM (SELECT {y} AS y FROM {{0}})"
        drawn = f"arg_min(n, (n + 1) * {_PHI} % {2**32}, {max(max_rows, 1)})"
        query = f"SELECT y, count(*), {drawn} FROM ({labels}) GROUP BY y"
        if not max_rows:
            query = f"SELECT y, count(*), [] FROM (SELECT {y} AS y FROM {{0}}) GROUP BY y"
        columns = self._read_whole(part, query, report).columns
        return list(zip(*(column.to_pylist() for column in columns), strict=True))

    def _on_parts(
        self, method: str, arguments: Iterable[tuple[Any, ...]], report: Report
    ) -> Iterator[Any]:
        """Yield what a method returns for each part and its arguments; a cluster may run it."""
        sizes = np.array(
            [max(part.path.stat().st_size, 1) if self.paths else 1 for part in self.parts]
        )
        shares = np.concatenate([[0], sizes.cumsum() / sizes.sum()]).tolist()
        if self.cluster is not None:
            given = self.missing_values, self.given, method
            paths = [str(path.absolute()) for path in self.paths]
            calls = [(path, *given, own) for path, own in zip(paths, arguments, strict=True)]
            for done, result in zip(shares[1:], self.cluster.map(on_file, calls), strict=True):
                report(done)
                yield result
            return
        for part, own, first, last in zip(self.parts, arguments, shares, shares[1:], strict=False):

            def report_part(share: float, first: float = first, last: float = last) -> None:
                report(first + share * (last - first))

            yield getattr(self, method)(part, *own, report_part)

    def tables(
        self, column_types: Mapping[str, str], n_rows: int, start: int = 0, labelled: str = ""
    ) -> Iterator[pa.Table]:
        """Yield tables of ``n_rows`` rows, from row ``start`` on.

        Rows without a value in the column ``labelled`` do not count.
        """
        for table in _regroup(self._batches(column_types, start, labelled), n_rows):
            yield self.convert(table, column_types)

    def take(
        self,
        column_types: Mapping[str, str],
        numbers: NDArray[np.int64],
        labelled: str,
        report: Report = ignore,
    ) -> pa.Table:
        """Return rows by their numbers, in ascending order, as ``convert`` takes them.

        Rows without a value in the column ``labelled`` do not count.
        """
        ends = np.cumsum([part.n_rows for part in self.parts])
        own = np.split(numbers, np.searchsorted(numbers, ends[:-1]))
        starts = [0, *ends[:-1].tolist()]
        calls = [
            (dict(column_types), (rows - start, part.n_rows), labelled)
            for part, rows, start in zip(self.parts, own, starts, strict=True)
        ]
        taken = list(self._on_parts("take_of", calls, report))
        return pa.concat_tables(taken, promote_options="permissive")

    def take_of(
        self,
        part: Part,
        column_types: Mapping[str, str],
        drawn: tuple[NDArray[np.int64], int],
        labelled: str,
        report: Report = ignore,
    ) -> pa.Table:
        """Return the same of a part; ``drawn`` are numbers and how many rows have a label."""
        numbers, n_rows = drawn
        session = self._session()
        session.register("drawn", pa.table({"n": numbers}))
        cells = ", ".join(self._cells(part, *item) for item in enumerate(column_types.items()))
        is_labelled = f"{self._label(part, labelled)} IS NOT NULL"
        numbered = (
            f"SELECT *, row_number() OVER () - 1 AS n FROM {part.relation} WHERE {is_labelled}"
        )
        query = f"SELECT n, {cells} FROM ({numbered}) SEMI JOIN drawn USING (n)"
        try:
            reader = session.sql(query).to_arrow_reader(_BATCH)
            read = [reader.schema.empty_table()]
            for table in _regroup((pa.Table.from_batches([b]) for b in reader), _ROWS_COPIED):
                read.append(table.combine_chunks())  # DuckDB's memory is in many pieces
                report((table["n"][-1].as_py() + 1) / n_rows)
        except _ERRORS as error:
            raise ValueError(_explain(error, part)) from error
        rows = pa.concat_tables(read)
        order = rows["n"].to_numpy().argsort(kind="stable")  # a join may change it
        is_sorted = bool((order[1:] > order[:-1]).all())
        return (rows if is_sorted else rows.take(pa.array(order))).drop_columns("n")

    def convert(self, rows: pa.Table, column_types: Mapping[str, str]) -> pa.Table:
        """Return the columns of rows that were read, and count markers of missing values."""
        converted, markers = convert(rows, column_types)
        for name, counts in markers.items():
            self.markers.setdefault(name, Counter()).update(counts)
        return converted

    def _batches(
        self, column_types: Mapping[str, str], start: int, labelled: str
    ) -> Iterator[pa.Table]:
        for part in self.parts:
            if labelled and start >= part.n_rows:
                start -= part.n_rows
                continue
            where = f"WHERE {self._label(part, labelled)} IS NOT NULL" if labelled else ""
            cells = ", ".join(self._cells(part, *item) for item in enumerate(column_types.items()))
            try:
                for batch in self._run(
                    f"SELECT {cells} FROM {part.relation} {where} OFFSET {start}"
                ):
                    yield pa.Table.from_batches([batch])
            except _ERRORS as error:
                raise ValueError(_explain(error, part)) from error
            start = 0

    def _cell(self, part: Part, name: str) -> str:
        """Return the SQL of a column, in which cells of ``missing_values`` are missing."""
        cell = part.cell(name)
        if part.dialect or not self.missing_values or not types.is_string(part.columns[name]):
            return cell
        listed = ", ".join(map(quoted, self.missing_values))
        return f"CASE WHEN {cell} NOT IN ({listed}) THEN {cell} END"

    def _label(self, part: Part, name: str) -> str:
        cell = self._cell(part, name)
        return f"nullif({cell}, 'nan')" if types.is_floating(part.columns[name]) else cell

    def _cells(self, part: Part, k: int, column: tuple[str, str]) -> str:
        """Return the SQL of a column as vk; if text is cast, with the cells that do not, as ok."""
        name, column_type = column
        cell, decimal = self._cell(part, name), part.dialect.decimal if part.dialect else "."
        cast = cast_cell(cell, part.columns[name], column_type, decimal)
        if cast == cell or not types.is_string(part.columns[name]):
            return f"{cast} AS v{k}"
        return f"{cast} AS v{k}, CASE WHEN v{k} IS NULL THEN {cell} END AS o{k}"

    def _session(self) -> duckdb.DuckDBPyConnection:
        session = self._database.cursor()  # each has its own stream of rows
        session.execute(_SETTINGS)
        return session

    def _run(self, query: str) -> pa.RecordBatchReader:
        return self._session().sql(query).to_arrow_reader(_BATCH)

    def _read_all(self, query: str, report: Report) -> pa.Table:
        """Return the result of a query, and report how far it is."""
        session = self._session()
        with ThreadPoolExecutor(1) as thread:
            reading = thread.submit(lambda: session.sql(query).to_arrow_reader(_BATCH).read_all())
            try:
                while wait([reading], _SECONDS_BETWEEN_REPORTS).not_done:
                    report(max(session.query_progress(), 0) / 100)
            except BaseException:
                session.interrupt()
                raise
        return reading.result()

    def _read_whole(self, part: Part, query: str, report: Report = ignore) -> pa.Table:
        """Return the result of a query on a part; a CSV file with mixed line ends is copied."""
        try:
            return self._read_all(query.replace("{0}", part.relation), report)
        except _ERRORS as error:
            if part.dialect is None or "unicode" in str(error) or _bad_line(part, part.dialect):
                raise ValueError(_explain(error, part)) from error
            self._copy(part, part.dialect)
        return self._read_all(query.replace("{0}", part.relation), report)

    def fingerprint(self) -> str:
        """Return a digest of the data."""
        if self.paths:
            return fingerprint(self.paths)
        query = f"SELECT count(*), bit_xor(hash(COLUMNS(*))) FROM {self.parts[0].relation}"
        return repr((self.source, self._run(query).read_all().to_pylist()))

    # Errors

    def locate(self, row: int, labelled: str = "") -> str:
        """Return the line and the file of a row, which is counted like those of ``tables``."""
        parts = iter(self.parts)
        part = next(parts)
        while labelled and row >= part.n_rows:
            row, part = row - part.n_rows, next(parts)
        if labelled:
            label = self._label(part, labelled)
            rows = f"SELECT row_number() OVER () - 1 AS n, {label} AS y FROM {part.relation}"
            query = f"SELECT n FROM ({rows}) WHERE y IS NOT NULL LIMIT 1 OFFSET {row}"
            row = self._run(query).read_all()[0][0].as_py()
        if part.dialect is None:
            return f"row {row + 1} of {part.name}"
        lines = (line for line, _ in csv_rows(part.path, part.dialect))
        return f"line {next(islice(lines, row + 1, None))} of {part.name}"

    def explain(
        self, X: pa.Table, column_types: Mapping[str, str], locate: Callable[[int], str]
    ) -> str:
        """Return an error about the first odd cell of ``X``, or "" without one."""
        for name, column_type in column_types.items():
            if (row := first_odd(X[name], column_type)) is not None:
                rule = f"values that are {column_type}s, finite and no larger than {MAX_NUMBER:g}"
                return (
                    f"Column {name!r} must hold {rule}: {locate(row)} holds "
                    f"{X[name][row].as_py()!r}. Correct it, or train with column_types={{{name!r}: "
                    f"'category'}} (on the command line --category {printable(name)})."
                )
        return ""


def on_file(
    path: str,
    missing_values: list[str],
    given: GivenDialect,
    method: str,
    arguments: tuple[Any, ...],
) -> Any:
    """Return what a method of :class:`DataFiles` returns for a file, on a worker of a cluster."""
    if not Path(path).is_file():
        raise FileNotFoundError(
            f"The workers of a cluster must find all files: {path} is missing on the worker at "
            f"{platform.node()}. Give them the same files under the same paths."
        )
    files = DataFiles(path, None, missing_values, given)
    return getattr(files, method)(files.parts[0], *arguments)


def draw_order(row: int) -> int:
    """Return the key by which rows are drawn: in an order that looks random."""
    return (row + 1) * _PHI % 2**32


def _explain(error: Exception, part: Part) -> str:
    if "unicode" in str(error):
        line = re.search(r"on Line: (\d+)", str(error))
        place = f"line {line[1]} of {part.name}" if line else part.name
        return f"A CSV file must be text in UTF-8: {place} is not. {_ENCODING}"
    if part.dialect and (bad_line := _bad_line(part, part.dialect)):
        return (
            f"Each row of a CSV file must have as many cells as its first line: {bad_line}. It was "
            f"read with {part.dialect.separator!r} between cells. Correct it, or give another "
            "separator (--sep); within a cell, it needs quotes around the cell."
        )
    return f"Data must be readable: {part.name} is not ({_reason(error)}). Write it again."


def _bad_line(part: Part, dialect: Dialect) -> str:
    """Return the first row with too few or too many cells, in words; "" without one."""
    n_cells = len(part.columns)
    for line, row in csv_rows(part.path, dialect):
        if len(row) != n_cells:
            return f"line {line} of {part.name} has {len(row)}, and the first line {n_cells}"
    return ""


def _check_distinct(names: list[str], source: str) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(
            f"Columns must have different names: {source} has {repeated[0]!r} more than once. "
            "Rename one; the first line of a CSV file must name the columns."
        )


def _reason(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")


def _regroup(tables: Iterable[pa.Table], n_rows: int) -> Iterator[pa.Table]:
    """Yield the same rows in tables of ``n_rows``; only the last may be shorter."""
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        if sum(map(len, waiting)) < n_rows:
            continue
        rows = pa.concat_tables(waiting, promote_options="permissive")
        while len(rows) >= n_rows:
            yield rows.slice(0, n_rows)
            rows = rows.slice(n_rows)
        waiting = [rows]
    if any(map(len, waiting)):
        yield pa.concat_tables(waiting, promote_options="permissive")
