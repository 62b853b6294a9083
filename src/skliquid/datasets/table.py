"""Table: a CSV file as columns of text, with size limits and checks of column names."""

import csv
import gzip
import io
import lzma
import math
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from hashlib import sha256
from os import PathLike
from typing import Any, TypeAlias

from skliquid.datasets.catalogue import ColumnType
from skliquid.datasets.csv_dialect import (
    FIRST_BYTES,
    MISSING,
    Dialect,
    GivenDialect,
    find_dialect,
    with_decimal_points,
)
from skliquid.validation.checks import suggestion

Table: TypeAlias = dict[str, tuple[str, ...]]
"""Column name -> cells as text, stripped of surrounding whitespace."""

AnyPath: TypeAlias = str | PathLike[str]

MAX_BYTES = 512 << 20
"""Size limit of a decompressed file; a compressed megabyte can hold gigabytes."""

_BLOCK = 1 << 16
_MAX_LISTED = 20
_OPEN: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}
_DEFAULT = Dialect()


def read_csv(data: bytes, path: AnyPath, dialect: Dialect | None = _DEFAULT) -> Table:
    """Parse the bytes of a CSV file whose first line contains the column names.

    It is compressed if ``path``, which is used in errors, ends in ``.gz`` or ``.xz``. If
    ``dialect`` is None, it is found.
    """
    data = _decompress(data, path)
    if dialect is None:
        is_whole = len(data) <= FIRST_BYTES
        dialect = find_dialect(data[:FIRST_BYTES], GivenDialect(), path, is_whole=is_whole)
    lines = csv.reader(_text_of(data, path, dialect.encoding), delimiter=dialect.separator)
    try:
        names, *rows = [row for row in lines if row][dialect.n_skipped :] or [[]]
    except csv.Error as error:
        raise ValueError(
            f"A dataset must be a CSV file: line {lines.line_num} of {path} cannot be read "
            f"({error}). Correct the line."
        ) from error
    _check_rows(rows, len(names), path, dialect.separator)
    names = [name.strip() for name in names]
    check_distinct(names, path)
    columns = [tuple(map(str.strip, column)) for column in zip(*rows, strict=True)]
    if dialect.decimal == ",":
        columns = [with_decimal_points(column) for column in columns]
    return dict(zip(names, columns, strict=True))


def _decompress(data: bytes, path: AnyPath) -> bytes:
    end = next((end for end in _OPEN if str(path).lower().endswith(end)), None)
    if end is None:
        return data
    try:
        return read_at_most(_OPEN[end](io.BytesIO(data)), MAX_BYTES)
    except TooLargeError as error:
        raise ValueError(
            f"A compressed dataset must hold at most {MAX_BYTES >> 20} MB: {path} holds more. "
            "Decompress it, or use train_on, which reads a file in parts."
        ) from error
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(_mismatch_message(path, "UTF-8", error)) from error


def _text_of(data: bytes, path: AnyPath, encoding: str) -> io.StringIO:
    try:
        return io.StringIO(data.decode(encoding).removeprefix("\ufeff"), newline="")
    except ValueError as error:
        raise ValueError(_mismatch_message(path, encoding.upper(), error)) from error


def _check_rows(rows: list[list[str]], n_columns: int, path: AnyPath, separator: str) -> None:
    if not rows:
        raise ValueError(
            f"A dataset must have rows: {path} has none below the names of its columns. "
            "Give a file whose first line names the columns and whose others hold the rows."
        )
    for number, row in enumerate(rows, start=1):
        if len(row) != n_columns:
            raise ValueError(
                f"Each row must have as many cells as there are columns, {n_columns}: row {number} "
                f"of {path} has {len(row)}. Correct the row; {separator!r} within a cell "
                "needs quotes around the cell."
            )


def _mismatch_message(path: AnyPath, encoding: str, error: Exception) -> str:
    return (
        f"A dataset must be text in {encoding}, compressed as its name says: {path} is not "
        f"({error}). Save it again, or correct its name."
    )


# Size limits: a small file, or a server, may give far more bytes than fit into memory


class TooLargeError(ValueError):
    """There are more bytes than the limit."""


def read_at_most(
    file: Any, max_bytes: int, *, report: Callable[[int], None] = lambda _: None
) -> bytes:
    """Return all bytes of an open ``file``, or raise if there are more than ``max_bytes``.

    ``report`` is called with the number of bytes that were read since its last call.
    """
    data = io.BytesIO()
    while block := file.read(_BLOCK):
        data.write(block)
        check_size(data.tell(), max_bytes)
        report(len(block))
    return data.getvalue()


def check_size(n_bytes: int, max_bytes: int) -> None:
    """Raise if there are more than ``max_bytes``."""
    if n_bytes > max_bytes:
        raise TooLargeError(f"it holds more than {max_bytes >> 20} MB, the limit")


# Names of columns


def check_column(name: str, columns: Collection[str], path: AnyPath, *, parameter: str) -> None:
    """Raise unless ``name`` is one of ``columns``, and suggest the closest one."""
    if name not in columns:
        dots = ["..."] if len(columns) > _MAX_LISTED else []
        listed = ", ".join([*list(columns)[:_MAX_LISTED], *dots])
        raise ValueError(
            f"{parameter} must be a column of {path}, which has {listed}: got {name!r}. "
            f"{suggestion(name, columns)}"
        )


def check_distinct(names: Collection[str], path: AnyPath) -> None:
    """Raise if two columns have the same name."""
    repeated = next((name for name in names if list(names).count(name) > 1), None)
    if repeated is not None:
        raise ValueError(
            f"Columns must have different names: {path} has {repeated!r} more than once. Rename "
            "one; the first line of a CSV file must name the columns."
        )


# Values


def numbers(column: Iterable[str]) -> list[float]:
    """Return the numbers of a column, with NaN for missing values."""
    return [math.nan if text in MISSING else float(text) for text in column]


def words(column: Iterable[str]) -> list[str | None]:
    """Return the words of a column, with None for missing values."""
    return [None if text in MISSING else text for text in column]


def infer_type(column: Sequence[str]) -> ColumnType:
    """Return "numerical" when every value present is a number, else "categorical"."""
    try:
        numbers(column)
    except ValueError:
        return "categorical"
    # Python parses 1_000 as a number; in data it is a code
    return "categorical" if any("_" in text for text in column) else "numerical"


def checksum(table: Table, column_types: Sequence[ColumnType]) -> str:
    r"""Return a SHA-256 that depends only on the content of ``table``, not on its formatting.

    Neither the order of the rows nor the notation of numbers matters. The digest is taken of
    UTF-8 text: one line with the names of the columns, then one line per row, sorted; lines are
    joined by ``\n``, cells by the unit separator ``\x1f``. A numerical cell is ``repr(float)``,
    with 0.0 for -0.0; any other is its text without space around it; a missing one is ``?``.
    """
    number = cache(_canonical_number)  # the same few numbers occur again and again
    columns = [
        map(number if column_type == "numerical" else _canonical_word, column)
        for column, column_type in zip(table.values(), column_types, strict=True)
    ]
    rows = sorted(map("\x1f".join, zip(*columns, strict=True)))
    return sha256("\n".join(["\x1f".join(table), *rows]).encode()).hexdigest()


def _canonical_number(text: str) -> str:
    try:
        return "?" if text in MISSING else repr(float(text) + 0.0)
    except ValueError:
        return text


def _canonical_word(text: str) -> str:
    return "?" if text in MISSING else text
