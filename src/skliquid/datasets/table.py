"""A file as columns of text, and the checksum of what they say."""

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
from typing import NamedTuple

from skliquid.datasets.catalogue import Kind

MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL"})
"""What a cell without a value may hold."""

_UNPACK: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".xz": lzma.decompress}


class Table(NamedTuple):
    """Columns of text, without space around it, and their names."""

    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]


def read_csv(data: bytes, path: str | PathLike[str]) -> Table:
    """Return the table that the bytes of a CSV file hold.

    Parameters
    ----------
    data : bytes
        The file, packed if ``path`` ends in ``.gz`` or ``.xz``. Its first line names the columns.
    path : str or path
        What errors call it.
    """
    lines = csv.reader(io.StringIO(_text(data, str(path)), newline=""))
    try:
        names, *rows = [row for row in lines if row] or [[]]
    except csv.Error as error:
        raise ValueError(
            f"A dataset must be a CSV file: line {lines.line_num} of {path} cannot be read "
            f"({error}). Mend the line."
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
                f"{number} of {path} has {len(row)}. Mend the row; a comma within a cell needs "
                "quotes around the cell."
            )
    return Table(
        tuple(map(str.strip, names)),
        tuple(tuple(map(str.strip, column)) for column in zip(*rows, strict=True)),
    )


def checksum(table: Table, kinds: Sequence[Kind]) -> str:
    r"""Return the SHA-256 of what ``table`` says, however it is written.

    Neither the order of the rows nor the way numbers are written counts. The digest is taken of
    UTF-8 text: one line with the names of the columns, then one line a row, sorted; lines are
    joined by ``\n``, cells by the unit separator ``\x1f``. A numerical cell is ``repr(float)``,
    with 0.0 for -0.0; any other is its text without space around it; a missing one is ``?``.

    Examples
    --------
    >>> one = Table(("age", "class"), (("41", "7"), ("yes", "no")))
    >>> other = Table(("age", "class"), (("7.0", "4.1e1"), ("no", "yes")))
    >>> kinds = ("numerical", "categorical")
    >>> checksum(one, kinds) == checksum(other, kinds)
    True
    """
    number = cache(_canonical_number)  # the same few numbers come again and again
    columns = [
        map(number if kind == "numerical" else _canonical_word, column)
        for column, kind in zip(table.columns, kinds, strict=True)
    ]
    rows = sorted(map("\x1f".join, zip(*columns, strict=True)))
    return sha256("\n".join(["\x1f".join(table.names), *rows]).encode()).hexdigest()


def numbers(column: Iterable[str]) -> list[float]:
    """Return the numbers of a column, not a number where one is missing."""
    return [math.nan if text in MISSING else float(text) for text in column]


def words(column: Iterable[str]) -> list[str | None]:
    """Return the words of a column, None where one is missing."""
    return [None if text in MISSING else text for text in column]


def infer_kind(column: Sequence[str]) -> Kind:
    """Return "numerical" when every value present is a number, else "categorical"."""
    try:
        numbers(column)
    except ValueError:
        return "categorical"
    # Python takes 1_000 for a number; in data it is a code
    return "categorical" if any("_" in text for text in column) else "numerical"


def _text(data: bytes, path: str) -> str:
    unpack = next((unpack for end, unpack in _UNPACK.items() if path.lower().endswith(end)), bytes)
    try:
        return unpack(data).decode("utf-8-sig")
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(
            f"A dataset must be text in UTF-8, packed as its name says: {path} is not ({error}). "
            "Save it again, or correct its name."
        ) from error


def _canonical_number(text: str) -> str:
    if text in MISSING:
        return "?"
    try:
        return repr(float(text) + 0.0)
    except ValueError:
        return text


def _canonical_word(text: str) -> str:
    return "?" if text in MISSING else text
