"""CSV dialect: the separator, decimal mark and encoding of a CSV file."""

import codecs
import csv
import gzip
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from skliquid.tables.text_values import is_marker

MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL")
"""Texts of CSV cells without a value."""

SEPARATORS = (",", ";", "\t", "|")
"""Separators that are detected."""

NUMBERS = {
    mark: re.compile(rf"[+-]?(\d+|\d*[{mark}]\d+|\d+[{mark}])([eE][+-]?\d+)?") for mark in ",."
}
"""Numbers, by their decimal mark."""

_FIRST_BYTES = 1 << 16
_MAX_CELL = 1 << 24
_ENCODINGS = {  # by the first bytes; without a byte order mark, a letter of UTF-16 has a zero
    "utf-32": re.compile(rb"\xff\xfe\0\0|\0\0\xfe\xff"),
    "utf-16": re.compile(rb"\xff\xfe|\xfe\xff"),
    "utf-16-le": re.compile(rb"[^\0]\0"),
    "utf-16-be": re.compile(rb"\0[^\0]"),
}
_FIRST_LINE_OF_EXCEL = re.compile(r'"?sep=([^"\r\n])"?(\r\n?|\n)')
_LIKE_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[,.]\d{3}")
_Rows = list[list[str]]


class Dialect(NamedTuple):
    """How a CSV file is written, and how many lines precede the names of its columns."""

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    n_skipped: int = 0


class GivenDialect(NamedTuple):
    """The user's description of CSV files; a value of None is found in their first bytes."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def validate(self) -> "GivenDialect":
        """Return the description with Python's name of the encoding, or raise if it is invalid."""
        separator, decimal, encoding = self
        is_character = isinstance(separator, str) and len(separator) == 1 and separator.isascii()
        if separator is not None and not (is_character and separator not in '"\r\n'):
            raise ValueError(
                "separator must be one ASCII character, and not a quote or the end of a line: got "
                f"{separator!r}. Give one like ';', or leave it out."
            )
        if decimal not in (None, ".", ",") or separator == decimal is not None:
            raise ValueError(
                f"decimal must be '.' or ',', and not the separator: got {decimal!r}. Leave it out."
            )
        try:
            b"\xff,a".decode(encoding or "utf-8", errors="replace")  # refuses codecs not for files
        except (LookupError, TypeError, ValueError) as error:
            raise ValueError(
                f"encoding must be one that Python knows: got {encoding!r}. Give one like 'cp1252'."
            ) from error
        name = encoding and codecs.lookup(encoding).name
        return self._replace(encoding="utf-8" if name == "utf-8-sig" else name)


def open_bytes(path: Path) -> IO[bytes]:
    """Return a CSV file, opened and decompressed."""
    is_compressed = path.name.lower().endswith(".gz")
    return gzip.open(path) if is_compressed else path.open("rb")  # type: ignore[return-value]


def csv_rows(path: Path, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file, and the line on which each begins; slowly, for errors."""
    csv.field_size_limit(_MAX_CELL)
    encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    with io.TextIOWrapper(open_bytes(path), encoding, errors="replace", newline="") as file:
        rows, line = csv.reader(file, delimiter=dialect.separator), 1
        for row in rows:
            if row and line > dialect.n_skipped:
                yield line, row
            line = rows.line_num + 1


def read_dialect(path: Path, given: GivenDialect) -> Dialect:
    """Return the dialect of a CSV file."""
    with open_bytes(path) as file:
        first_bytes = file.read(_FIRST_BYTES)
    return find_dialect(first_bytes, given, is_whole=len(first_bytes) < _FIRST_BYTES)


def find_dialect(first_bytes: bytes, given: GivenDialect, *, is_whole: bool) -> Dialect:
    """Return the dialect of a CSV file: the values ``given``, the others found.

    If ``first_bytes`` are not the whole file, their last row is incomplete and does not count.
    """
    encoding = given.encoding or _encoding(first_bytes)
    text = first_bytes.decode(encoding, errors="replace").removeprefix("\ufeff")
    if first_line := _FIRST_LINE_OF_EXCEL.match(text):
        text = text[first_line.end() :]
        given = given._replace(separator=given.separator or first_line[1])
    found = {s: _rows(text, s, is_whole) for s in SEPARATORS if s != given.decimal}
    several = [s for s, rows in found.items() if rows and len(rows[0]) > 1]
    separator = given.separator or max(several or found, key=lambda s: _quality(found[s]))
    decimal = given.decimal or _decimal(_rows(text, separator, is_whole), separator)
    return Dialect(separator, decimal, encoding, 1 if first_line else 0)


def _encoding(first_bytes: bytes) -> str:
    for encoding, pattern in _ENCODINGS.items():
        if pattern.match(first_bytes):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(first_bytes)  # the last character may be cut
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _rows(text: str, separator: str, is_whole: bool) -> _Rows:
    """Return the rows at the beginning of a file, without the last if it may be cut off."""
    rows: _Rows = []
    with suppress(csv.Error):  # reported when the file is read
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            if row:
                rows.append(row)
    return rows if is_whole or len(rows) < 2 else rows[:-1]


def _quality(rows: _Rows) -> tuple[float, float, int]:
    """Return the shares of rows as long as the first and of cells with one value, and columns."""
    if not rows:
        return 0, 0, 0
    lengths = [len(row) == len(rows[0]) for row in rows]
    cells = [_is_one_value(cell) for row in rows[1:] for cell in row]
    return sum(lengths) / len(rows), sum(cells) / max(len(cells), 1), len(rows[0])


def _is_one_value(cell: str) -> bool:
    return not any(s in cell for s in SEPARATORS) or bool(NUMBERS[","].fullmatch(cell.strip()))


def _decimal(rows: _Rows, separator: str) -> str:
    """Return the decimal mark of more columns; a comma only if it does not separate cells."""
    columns = list(zip(*(row for row in rows[1:] if len(row) == len(rows[0])), strict=True))
    commas, points = (sum(_evidence(column, mark) for column in columns) for mark in ",.")
    return "," if separator != "," and 0 < commas >= points else "."


def _evidence(column: Sequence[str], mark: str) -> float:
    """Return 1 if a column holds numbers with this decimal mark, and less if it is doubtful.

    Numbers like 1,234 may have three decimals, unless others in the column have none.
    """
    cells = [cell.strip() for cell in column if not is_marker(cell)]
    marked = [cell for cell in cells if mark in cell]
    if not marked or not all(map(NUMBERS[mark].fullmatch, cells)):
        return 0
    if not all(map(_LIKE_THOUSANDS.fullmatch, marked)):
        return 1
    return 0.5 if len(marked) == len(cells) else 0
