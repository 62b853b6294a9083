"""Column types: what a column holds, whatever its file calls it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import pyarrow as pa
from pyarrow import types

from skliquid.checks import suggestion
from skliquid.datasets.columns import check_column, check_distinct

ColumnType: TypeAlias = Literal["number", "text", "boolean", "code", "id", "left_out", "empty"]
"""Text, booleans and codes, which are numbers used as categories, are categories; ids, dates, lists
and columns without a type are not used."""

ColumnTypes: TypeAlias = dict[str, ColumnType]

ARROW_TYPES: dict[ColumnType, pa.DataType] = {
    "number": pa.float64(),
    "text": pa.string(),
    "boolean": pa.bool_(),
    "code": pa.string(),
}
"""How the columns that are used are read."""

_OPTIONS = {
    "number": " (--number)",
    "text": " (--text)",
    "boolean": "",
    "id": " (--id)",
    "left_out": " (--leave-out)",
}
"""What a user can choose, with the option of the command line, if there is one."""
_TEXT = ("string", "large_string", "string_view")
_OTHERS: dict[str, ColumnType] = {"bool": "boolean", "null": "empty"}
_INDEX = re.compile(r"(__index_level_\d+__)?")
"""What pandas calls the index that it writes: in CSV files it has no name at all."""


def column_type(arrow_type: pa.DataType) -> ColumnType:
    """Return what a column of an Arrow type holds."""
    if types.is_dictionary(arrow_type):
        value_type = column_type(arrow_type.value_type)
        return "code" if value_type == "number" else value_type
    if (
        types.is_integer(arrow_type)
        or types.is_floating(arrow_type)
        or types.is_decimal(arrow_type)
    ):
        return "number"
    return "text" if str(arrow_type) in _TEXT else _OTHERS.get(str(arrow_type), "left_out")


def file_column_types(schema: pa.Schema, path: Path) -> ColumnTypes:
    """Return what each column of a file holds."""
    check_distinct(schema.names, path)
    return {
        field.name: "left_out" if _INDEX.fullmatch(field.name) else column_type(field.type)
        for field in schema
    }


def check_chosen(chosen: Mapping[str, ColumnType], columns: ColumnTypes, path: Path) -> None:
    """Raise unless the column types that a user chose are valid."""
    if not isinstance(chosen, Mapping):
        raise TypeError(
            f"column_types must be a mapping like {{'zip': 'text'}}: got {chosen!r}. Give one."
        )
    for name, chosen_type in chosen.items():
        if chosen_type not in _OPTIONS:
            raise ValueError(
                f"column_types must be among {', '.join(_OPTIONS)}: got {chosen_type!r} for the "
                f"column {name!r}. {suggestion(chosen_type, _OPTIONS)}"
            )
        parameter = f"column_types{_OPTIONS[chosen_type]}"
        check_column(name, columns, path, parameter=parameter)


def way_out(name: str, other: Literal["text", "left_out"]) -> str:
    """Return how to train with another type of a column, for an error message."""
    option = "--text" if other == "text" else "--leave-out"
    return f"train with column_types={{{name!r}: {other!r}}} (on the command line {option} {name})"
