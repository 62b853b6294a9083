"""Tables: files as columns of text, and the checksum of their content."""

import csv
import gzip
import io
import lzma
import math
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from hashlib import sha256
from os import PathLike
from typing import IO, TypeAlias

from skliquid.datasets.bounded import Readable, TooLargeError, read_at_most
from skliquid.datasets.catalogue import ColumnType
from skliquid.datasets.columns import check_distinct

Table: TypeAlias = dict[str, tuple[str, ...]]
"""Columns of text, without space around it, by name."""

MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL"})
"""What a cell without a value may hold."""

MOST_BYTES = 512 << 20
"""The most that a compressed file may hold; a megabyte can hold gigabytes."""

_OPEN: dict[str, Callable[[IO[bytes]], Readable]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".xz": lzma.LZMAFile,
}


def read_csv(data: bytes, path: str | PathLike[str]) -> Table:
    """Return the table in the bytes of a CSV file, whose first line names the columns.

    It is compressed if ``path``, which is used in errors, ends in ``.gz`` or ``.xz``.
    """
    return parse_csv(decompressed(data, path), path)


def parse_csv(
    data: bytes,
    path: str | PathLike[str],
    *,
    separator: str = ",",
    encoding: str = "utf-8",
    n_skipped: int = 0,
) -> Table:
    """Return the table in the bytes of a CSV file, of which the first lines may be skipped."""
    text = _decoded(data, path, encoding).removeprefix("\ufeff")
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        names, *rows = [row for row in lines if row][n_skipped:] or [[]]
    except csv.Error as error:
        raise ValueError(
            f"A dataset must be a CSV file: line {lines.line_num} of {path} cannot be read "
            f"({error}). Correct the line."
        ) from error
    if not rows:
        raise ValueError(
            f"A dataset must have rows: {path} has none below the names of its columns. "
            "Give a file whose first line names the columns and whose others hold the rows."
        )
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise ValueError(
                f"Each row must have as many cells as there are columns, {len(names)}: row "
                f"{number} of {path} has {len(row)}. Correct the row; {separator!r} within a cell "
                "needs quotes around the cell."
            )
    names = [name.strip() for name in names]
    check_distinct(names, path)
    columns = (tuple(map(str.strip, column)) for column in zip(*rows, strict=True))
    return dict(zip(names, columns, strict=True))


def checksum(table: Table, column_types: Sequence[ColumnType]) -> str:
    r"""Return the SHA-256 of the content of ``table``, however it is written.

    Neither the order of the rows nor the notation of numbers matters. The digest is taken of
    UTF-8 text: one line with the names of the columns, then one line per row, sorted; lines are
    joined by ``\n``, cells by the unit separator ``\x1f``. A numerical cell is ``repr(float)``,
    with 0.0 for -0.0; any other is its text without space around it; a missing one is ``?``.

    Examples
    --------
    >>> table = {"age": ("41", "7"), "class": ("yes", "no")}
    >>> same = {"age": ("7.0", "4.1e1"), "class": ("no", "yes")}
    >>> column_types = ("numerical", "categorical")
    >>> checksum(table, column_types) == checksum(same, column_types)
    True
    """
    number = cache(_canonical_number)  # the same few numbers occur again and again
    columns = [
        map(number if column_type == "numerical" else _canonical_word, column)
        for column, column_type in zip(table.values(), column_types, strict=True)
    ]
    rows = sorted(map("\x1f".join, zip(*columns, strict=True)))
    return sha256("\n".join(["\x1f".join(table), *rows]).encode()).hexdigest()


def numbers(column: Iterable[str]) -> list[float]:
    """Return the numbers of a column, NaN where one is missing."""
    return [math.nan if text in MISSING else float(text) for text in column]


def words(column: Iterable[str]) -> list[str | None]:
    """Return the words of a column, None where one is missing."""
    return [None if text in MISSING else text for text in column]


def inferred_type(column: Sequence[str]) -> ColumnType:
    """Return "numerical" when every value present is a number, else "categorical"."""
    try:
        numbers(column)
    except ValueError:
        return "categorical"
    # Python takes 1_000 for a number; in data it is a code
    return "categorical" if any("_" in text for text in column) else "numerical"


def decompressed(data: bytes, path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file, which is compressed if ``path`` ends in ``.gz`` or ``.xz``."""
    end = next((end for end in _OPEN if str(path).lower().endswith(end)), None)
    if end is None:
        return data
    try:
        return read_at_most(_OPEN[end](io.BytesIO(data)), MOST_BYTES)
    except TooLargeError as error:
        raise ValueError(
            f"A compressed dataset must hold at most {MOST_BYTES >> 20} MB: {path} holds more. "
            "Decompress it, or use train_on, which reads a file in parts."
        ) from error
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(_not_as_named(path, "UTF-8", error)) from error


def _decoded(data: bytes, path: str | PathLike[str], encoding: str) -> str:
    try:
        return data.decode(encoding)
    except ValueError as error:
        raise ValueError(_not_as_named(path, encoding.upper(), error)) from error


def _not_as_named(path: str | PathLike[str], encoding: str, error: Exception) -> str:
    return (
        f"A dataset must be text in {encoding}, compressed as its name says: {path} is not "
        f"({error}). Save it again, or correct its name."
    )


def _canonical_number(text: str) -> str:
    try:
        return "?" if text in MISSING else repr(float(text) + 0.0)
    except ValueError:
        return text


def _canonical_word(text: str) -> str:
    return "?" if text in MISSING else text
