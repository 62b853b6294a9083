"""Column types: the type of each column of a file, and its values cast to that type."""

import re
from collections.abc import Collection, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from skliquid.tables.table_columns import text_of
from skliquid.validation.checks import suggestion

ColumnType: TypeAlias = Literal["number", "text", "boolean", "code", "id", "left_out", "empty"]
"""Text, booleans and codes (numbers used as categories) are categories; ids, dates, lists and
columns without a type are not used."""

ColumnTypes: TypeAlias = dict[str, ColumnType]

ARROW_TYPES: dict[ColumnType, pa.DataType] = {
    "number": pa.float64(),
    "text": pa.string(),
    "boolean": pa.bool_(),
    "code": pa.string(),
}
"""The columns that are used, and the types in which they are read."""

_OPTIONS = {"number": "--number", "text": "--text", "id": "--id", "left_out": "--leave-out"}
_CHOICES = ("number", "text", "boolean", "id", "left_out")
_ARE_NUMBERS = (types.is_integer, types.is_floating, types.is_decimal)
_TEXT = ("string", "large_string", "string_view")
_OTHERS: dict[str, ColumnType] = {"bool": "boolean", "null": "empty"}
_MAX_LISTED = 20
_INDEX = re.compile(r"(__index_level_\d+__)?")  # pandas writes it without a name in CSV files


def column_type(arrow_type: pa.DataType) -> ColumnType:
    """Return the type of a column with an Arrow type."""
    if types.is_dictionary(arrow_type):
        value_type = column_type(arrow_type.value_type)
        return "code" if value_type == "number" else value_type
    if any(is_type(arrow_type) for is_type in _ARE_NUMBERS):
        return "number"
    return "text" if str(arrow_type) in _TEXT else _OTHERS.get(str(arrow_type), "left_out")


def file_column_types(schema: pa.Schema, path: Path) -> ColumnTypes:
    """Return the type of each column of a file."""
    _check_distinct(schema.names, path)
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
        if chosen_type not in _CHOICES:
            raise ValueError(
                f"column_types must be among {', '.join(_CHOICES)}: got {chosen_type!r} for the "
                f"column {name!r}. {suggestion(chosen_type, _CHOICES)}"
            )
        option = f" ({_OPTIONS[chosen_type]})" if chosen_type in _OPTIONS else ""
        check_column(name, columns, path, parameter=f"column_types{option}")


def check_column(
    name: str, columns: Collection[str], path: str | PathLike[str], *, parameter: str
) -> None:
    """Raise unless ``name`` is one of ``columns``, and suggest the closest one."""
    if name not in columns:
        dots = ["..."] if len(columns) > _MAX_LISTED else []
        listed = ", ".join([*list(columns)[:_MAX_LISTED], *dots])
        raise ValueError(
            f"{parameter} must be a column of {path}, which has {listed}: got {name!r}. "
            f"{suggestion(name, columns)}"
        )


def _check_distinct(names: Collection[str], path: Path) -> None:
    repeated = next((name for name in names if list(names).count(name) > 1), None)
    if repeated is not None:
        raise ValueError(
            f"Columns must have different names: {path} has {repeated!r} more than once. Rename "
            "one; the first line of a CSV file must name the columns."
        )


def way_out(name: str, other: Literal["text", "left_out"]) -> str:
    """Return the advice to train with another type of a column, for an error message."""
    command = f"on the command line {_OPTIONS[other]} {name}"
    return f"train with column_types={{{name!r}: {other!r}}} ({command})"


def reason(error: BaseException) -> str:
    """Return the first line of an error's message, without its full stop."""
    return str(error).strip().partition("\n")[0].rstrip(".")


# Values


def cast_columns(
    batch: pa.RecordBatch, column_types: ColumnTypes, path: Path, start: int
) -> pa.Table:
    """Return rows of ``path``, from row ``start`` on, with columns of ``column_types``."""
    columns = {}
    for name, wanted in column_types.items():
        try:
            columns[name] = _cast(batch[name], wanted)
        except pa.ArrowException as error:
            raise ValueError(
                f"A column must hold values of its type: {name!r} of {path} has a value that is "
                f"not of the type {wanted!r} after row {start} ({reason(error)}). Correct it, or "
                f"{way_out(name, 'text' if wanted in ('number', 'boolean') else 'left_out')}."
            ) from error
    return pa.table(columns)


def _cast(column: pa.Array, wanted: ColumnType) -> pa.Array:
    actual = column_type(column.type)
    if wanted == "id":
        return _cast_id(column)
    if wanted in ("text", "code") and actual != "text":
        return column_as_text(column)
    if wanted == "boolean" and actual == "number":
        return column_as_booleans(column)
    return column.cast(ARROW_TYPES[wanted], safe=False)


def _cast_id(column: pa.Array) -> pa.Array:
    if pa.types.is_nested(column.type):
        raise pa.ArrowInvalid(f"{column.type} is not one value per row")
    if pa.types.is_null(column.type):  # a column of this type cannot be written
        return column.cast(pa.string())
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def column_as_text(column: pa.Array) -> pa.Array:
    """Return a column as text like ``tabular_pipeline``; each distinct value is cast once."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    texts = pa.array([text_of(value) for value in encoded.dictionary.to_pandas()], pa.string())
    return texts.take(encoded.indices)


def column_as_booleans(column: pa.Array) -> pa.Array:
    """Return a column of zeros and ones as booleans."""
    numbers = column.cast(pa.float64())
    numbers = pc.if_else(pc.is_nan(numbers), None, numbers)
    if others := set(pc.unique(numbers).to_pylist()) - {0, 1, None}:
        raise pa.ArrowInvalid(f"{min(others):g} is neither 0 nor 1")
    return numbers.cast(pa.bool_())


def booleans_as_text(frame: Any, column_types: ColumnTypes) -> Any:
    """Return a data frame in which booleans, be they numbers or text, are "True" and "False"."""
    if not hasattr(frame, "columns"):
        return frame
    frame = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
    booleans = [name for name in frame.columns if column_types.get(name) == "boolean"]
    texts = {name: frame[name].astype(object).map(_boolean_text) for name in booleans}
    return frame.assign(**texts)


def _boolean_text(value: Any) -> str | None:
    text = text_of(value)
    return text and {"0": "False", "1": "True"}.get(text, text.capitalize())
