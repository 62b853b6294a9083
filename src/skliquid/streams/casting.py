"""Casting: columns of files and of data frames in the types that they are used as."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from skliquid.streams.column_types import ARROW_TYPES, ColumnTypes, column_type, way_out
from skliquid.streams.reason import reason
from skliquid.tabular import text_of


def cast_columns(
    batch: pa.RecordBatch, column_types: ColumnTypes, path: Path, start: int
) -> pa.Table:
    """Return the columns of ``column_types`` of rows of ``path`` from row ``start`` on."""
    columns = {}
    for name, wanted in column_types.items():
        try:
            is_id = wanted == "id"
            columns[name] = _id(batch[name]) if is_id else _cast(batch[name], ARROW_TYPES[wanted])
        except pa.ArrowException as error:
            raise ValueError(
                f"A column must hold values of its type: {name!r} of {path} has a value that is "
                f"not of the type {wanted!r} after row {start} ({reason(error)}). Correct it, or "
                f"{way_out(name, 'text' if wanted in ('number', 'boolean') else 'left_out')}."
            ) from error
    return pa.table(columns)


def _cast(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    actual = column_type(column.type)
    if pa.types.is_string(wanted) and actual != "text":
        return column_as_text(column)
    if pa.types.is_boolean(wanted) and actual == "number":
        return column_as_booleans(column)
    return column.cast(wanted, safe=False)


def _id(column: pa.Array) -> pa.Array:
    """Return a column as the file has it, which must hold one value per row."""
    if pa.types.is_nested(column.type):
        raise pa.ArrowInvalid(f"{column.type} is not one value per row")
    if pa.types.is_null(column.type):  # which cannot be written
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


def with_booleans(frame: Any, column_types: ColumnTypes) -> Any:
    """Return a data frame with one text for each boolean, be it written as a number or as text."""
    if not hasattr(frame, "columns"):
        return frame
    frame = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
    booleans = [name for name in frame.columns if column_types.get(name) == "boolean"]
    texts = {name: frame[name].astype(object).map(_boolean_text) for name in booleans}
    return frame.assign(**texts)


def _boolean_text(value: Any) -> str | None:
    text = text_of(value)
    return text and {"0": "False", "1": "True"}.get(text, text.capitalize())
