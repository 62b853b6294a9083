"""Cells: the types of columns, and the SQL and Arrow that give their cells these types."""

import re
from collections import Counter
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from skliquid.sources.csv_dialect import NUMBERS
from skliquid.tables.text_values import is_marker
from skliquid.validation.limits import MAX_NUMBER

_DATES = ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y%m%d"]
_CASTS = {
    "number": "TRY_CAST({0} AS DOUBLE)",
    "boolean": "CASE lower(trim({0})) WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END",
    "date": f"coalesce(TRY_CAST({{0}} AS TIMESTAMP), try_strptime({{0}}, {_DATES}))",
}
_SQL_TYPES = {"number": "DOUBLE", "boolean": "BOOLEAN", "date": "TIMESTAMP"}
_ARE_TYPES = {
    "number": (types.is_integer, types.is_floating, types.is_decimal, types.is_duration),
    "boolean": (types.is_boolean,),
    "text": (types.is_string, types.is_large_string),
    "date": (types.is_date, types.is_timestamp),
    "category": (types.is_dictionary,),
    "empty": (types.is_null,),
}
_LEADING_ZERO = re.compile(r"[+-]?0\d")
_INFINITE = ("inf", "-inf", "infinity", "-infinity")


def type_of(arrow_type: pa.DataType) -> str:
    """Return the type of a column of Arrow; lists and the like are left out."""
    found = (t for t, are in _ARE_TYPES.items() if any(is_type(arrow_type) for is_type in are))
    return next(found, "left out")


def type_of_cells(column: pa.ChunkedArray | pa.Array, decimal: str) -> str:
    """Return the type of a column of text, the first rows of a CSV file."""
    cells = {cell.strip() for cell in pc.unique(column.drop_null()).to_pylist()}
    lowered = {cell.lower() for cell in cells}
    if cells and lowered <= {"true", "false"}:
        return "boolean"
    cells = {cell for cell in cells if not is_marker(cell)}
    are_numbers = all(NUMBERS[decimal].fullmatch(c) or c.lower() in _INFINITE for c in cells)
    return "number" if are_numbers and not any(map(_LEADING_ZERO.match, cells)) else "text"


def quoted(text: object) -> str:
    """Return a text in SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def cast_cell(cell: str, arrow_type: pa.DataType, column_type: str, decimal: str) -> str:
    """Return a cell in SQL, cast to the type of its column; text that does not cast is missing."""
    is_number = type_of(arrow_type) == "number"
    if types.is_null(arrow_type):
        return f"CAST({cell} AS {_SQL_TYPES.get(column_type, 'VARCHAR')})"
    if column_type == "text":
        return cell if types.is_string(arrow_type) else f"CAST({cell} AS VARCHAR)"
    if column_type == "number" and decimal == ",":
        number = _CASTS["number"].format(f"replace({cell}, ',', '.')")
        return f"CASE WHEN NOT contains({cell}, '.') THEN {number} END"
    if column_type in _CASTS and types.is_string(arrow_type):
        return _CASTS[column_type].format(cell)
    if column_type == "date" and is_number:
        return f"strptime(CAST(CAST({cell} AS BIGINT) AS VARCHAR), '%Y%m%d')"
    return f"CAST({cell} AS DOUBLE)" if column_type == "number" and not is_number else cell


def convert(
    rows: pa.Table, column_types: Mapping[str, str]
) -> tuple[pa.Table, dict[str, Counter[str]]]:
    """Return the columns of ``column_types``, and counts of markers of missing values.

    A column with other cells that are not of its type is text.
    """
    columns, markers = {}, {}
    for k, (name, column_type) in enumerate(column_types.items()):
        column = rows[f"v{k}"]
        if f"o{k}" in rows.column_names and rows[f"o{k}"].null_count < len(rows):
            odd = Counter(rows[f"o{k}"].drop_null().to_pylist())
            if all(map(is_marker, odd)):
                markers[name] = odd
            else:
                column = pc.coalesce(rows[f"o{k}"], _as_text(column))
        columns[name] = _as_category(column) if column_type == "category" else column
    return pa.table(columns), markers


def _as_category(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column if types.is_dictionary(column.type) else column.dictionary_encode()


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if types.is_boolean(column.type):
        return pc.if_else(column, "True", "False")
    return column.cast(pa.string())


def first_odd(column: pa.ChunkedArray, column_type: str) -> int | None:
    """Return the first row whose cell is infinite, too large, or not of the column's type."""
    if types.is_floating(column.type):
        odd = pc.greater(pc.abs(column), MAX_NUMBER)
    elif column_type in _CASTS and types.is_string(column.type):
        cells = [cell for cell in column.unique().to_pylist() if cell and not is_marker(cell)]
        others = [c for c in cells if type_of_cells(pa.array([c]), ".") != column_type]
        odd = pc.is_in(column, pa.array(others, pa.string()))
    else:
        return None
    row: int = pc.index(odd.combine_chunks(), True).as_py()
    return None if row < 0 else row
