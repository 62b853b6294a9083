"""CSV dialect: the separator, decimal mark and encoding of a CSV file."""

import codecs
import csv
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL"})
"""Texts of cells without a value."""

SEPARATORS = (",", ";", "\t", "|")
"""Separators that are found without being given."""

FIRST_BYTES = 1 << 16
"""Number of bytes in which a dialect is searched for."""

_BYTE_ORDER_MARKS = {
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),  # the first begins like that of UTF-16
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
_FIRST_LINE_OF_EXCEL = re.compile(r'"?sep=([^"\r\n])"?(\r\n?|\n)')
_NUMBERS = {
    mark: re.compile(rf"[+-]?(\d+|\d*[{mark}]\d+|\d+[{mark}])([eE][+-]?\d+)?") for mark in ",."
}
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
                f"separator must be one ASCII character, and not a quote or the end of a line: got "
                f"{separator!r}. Give one like ';', or leave it out."
            )
        if decimal not in (None, ".", ","):
            raise ValueError(f"decimal must be '.' or ',': got {decimal!r}. Choose one of them.")
        if separator is not None and separator == decimal:
            raise ValueError(
                f"separator and decimal must differ: both are {decimal!r}. Leave one of them out."
            )
        return self._replace(encoding=encoding and _encoding_name(encoding))


def _encoding_name(encoding: str) -> str:
    try:
        b" ".decode(encoding, errors="replace")  # refuses codecs that are not for text
        name = codecs.lookup(encoding).name
    except (LookupError, TypeError) as error:
        raise ValueError(
            f"encoding must be one that Python knows: got {encoding!r}. Give one like 'cp1252', "
            "which Windows uses in Western Europe, or 'utf-16'."
        ) from error
    return "utf-8" if name == "utf-8-sig" else name


def find_dialect(
    first_bytes: bytes, given: GivenDialect, path: object, *, is_whole: bool
) -> Dialect:
    r"""Return the dialect of a CSV file: the values ``given``, the others found.

    If ``first_bytes`` are not the whole file, their last row is incomplete and does not count.

    Examples
    --------
    >>> find_dialect(b"kg;town\n3,14;Bonn\n", GivenDialect(), "a.csv", is_whole=True)
    Dialect(separator=';', decimal=',', encoding='utf-8', n_skipped=0)
    """
    encoding = given.encoding or _encoding(first_bytes, path)
    text = first_bytes.decode(encoding, errors="replace").removeprefix("\ufeff")
    if first_line := _FIRST_LINE_OF_EXCEL.match(text):
        text = text[first_line.end() :]
        given = given._replace(separator=given.separator or first_line[1])
    separators = [s for s in SEPARATORS if s != given.decimal]
    separator = given.separator or _separator(text, separators, is_whole)
    decimal = given.decimal or _decimal(text, separator, is_whole)
    return Dialect(separator, decimal, encoding, 1 if first_line else 0)


def _encoding(first_bytes: bytes, path: object) -> str:
    for encoding, marks in _BYTE_ORDER_MARKS.items():
        if first_bytes.startswith(marks):
            return encoding
    if b"\0" in first_bytes:
        likely = "utf-16-le" if b"\0" in first_bytes[1::2] else "utf-16-be"
        raise ValueError(
            f"A CSV file must be text in UTF-8, unless its encoding is given: {path} has zero "
            f"bytes, as UTF-16 has, and no byte order mark. Give encoding={likely!r} (on the "
            f"command line --encoding {likely}), or write the file again in UTF-8."
        )
    return "utf-8"


def _rows(text: str, separator: str, is_whole: bool) -> _Rows:
    """Return the rows at the beginning of a file, without the last if it may be cut off."""
    rows: _Rows = []
    with suppress(csv.Error):  # reported when the file is read
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            if row:
                rows.append(row)
    return rows if is_whole or len(rows) < 2 else rows[:-1]


def _separator(text: str, separators: Sequence[str], is_whole: bool) -> str:
    """Return the separator that splits the first line, and splits the other lines best."""
    rows = {separator: _rows(text, separator, is_whole) for separator in separators}
    several = [s for s in separators if rows[s] and len(rows[s][0]) > 1]
    return max(several or separators, key=lambda separator: _quality(rows[separator]))


def _quality(rows: _Rows) -> tuple[float, float, int]:
    """Return the shares of rows as long as the first and of cells with one value, and columns."""
    if not rows:
        return 0, 0, 0
    n_columns = len(rows[0])
    lengths = [len(row) == n_columns for row in rows]
    cells = [_is_one_value(cell) for row in rows[1:] for cell in row]
    return sum(lengths) / len(rows), sum(cells) / max(len(cells), 1), n_columns


def _is_one_value(cell: str) -> bool:
    return not any(s in cell for s in SEPARATORS) or bool(_NUMBERS[","].fullmatch(cell.strip()))


def _decimal(text: str, separator: str, is_whole: bool) -> str:
    """Return the decimal mark of more columns; a comma only if it does not separate cells."""
    rows = _rows(text, separator, is_whole)
    columns = list(zip(*(row for row in rows[1:] if len(row) == len(rows[0])), strict=True))
    commas, points = (sum(_evidence(column, mark) for column in columns) for mark in ",.")
    return "," if separator != "," and 0 < commas >= points else "."


def _evidence(column: Sequence[str], mark: str) -> float:
    """Return 1 if a column holds numbers with this decimal mark, and less if it is doubtful.

    Numbers like 1,234 may have three decimals, unless others in the column have none.
    """
    cells = [cell.strip() for cell in column if cell.strip() not in MISSING]
    marked = [cell for cell in cells if mark in cell]
    if not marked or not all(map(_NUMBERS[mark].fullmatch, cells)):
        return 0
    if not all(map(_LIKE_THOUSANDS.fullmatch, marked)):
        return 1
    return 0.5 if len(marked) == len(cells) else 0
