"""Options for CSV files, which ``train`` and ``predict`` share."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from typer import Option

from skliquid.streams.csv_dialect import Dialect, GivenDialect
from skliquid.streams.csv_format import CsvFormat
from skliquid.streams.file_paths import format_of

_TYPED = {"tab": "\t", "\\t": "\t"}
_NAMES = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


def _separator(text: str) -> str:
    return _TYPED.get(text, text)


Separator: TypeAlias = Annotated[
    Any,
    Option(
        "--sep",
        parser=_separator,
        metavar="CHARACTER",
        help="Between the cells of CSV files, such as ';' or 'tab'; found by default.",
    ),
]
Decimal: TypeAlias = Annotated[
    str | None,
    Option(metavar="MARK", help="The decimal mark of CSV files, ',' or '.'; found by default."),
]
Encoding: TypeAlias = Annotated[
    str | None,
    Option(metavar="NAME", help="Of CSV files, such as cp1252; UTF-8 or UTF-16 by default."),
]


def unusual_dialect(paths: Sequence[Path], given: GivenDialect) -> str | None:
    """Return how the first CSV file is read, if not with commas, decimal points and UTF-8."""
    reader = format_of(paths, given)
    dialect = reader.dialect(paths[0]) if isinstance(reader, CsvFormat) else Dialect()
    notes = []
    if dialect.separator != ",":
        notes.append(f"{_NAMES.get(dialect.separator, repr(dialect.separator))} between cells")
    if dialect.decimal != ".":
        notes.append("decimal commas")
    if dialect.encoding != "utf-8":
        notes.append(dialect.encoding.upper())
    return f"{paths[0]} is read with {', '.join(notes)}." if notes else None


def listed(columns: Iterable[str]) -> str:
    """Return the names of columns as text."""
    return ", ".join(name or "a column without a name" for name in columns)
