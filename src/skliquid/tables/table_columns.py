"""Table columns: the type of each column, and its values as numbers, text and dates."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from skliquid.validation.data_types import (
    conversion_of,
    convertible_rows,
    is_frame,
    is_missing,
    refuse_lazy_frame,
)

MAX_CATEGORIES = 50
"""A column with more distinct values has the type "many", or "text"."""

MIN_WORDS_OF_TEXT = 8
"""Average number of words from which values are texts."""

_POLARS_TYPES = {
    **dict.fromkeys(("Boolean", "Categorical", "Enum", "Object", "String"), "category"),
    **dict.fromkeys(("Date", "Datetime"), "date"),
    "Duration": "number",
}
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_DATE, _DURATION = "datetime64[us]", "timedelta64[us]"


def as_table(X: Any) -> Any:
    """Return ``X`` as a data frame with distinct column names, or as a 2-D array."""
    refuse_lazy_frame("X", X)
    X = convertible_rows(X, are_numbers=not is_frame(X))
    with conversion_of("X"):
        return X if is_frame(X) else check_array(X, ensure_all_finite=False)


def columns_of(table: Any) -> list[Any]:
    """Return the columns of a data frame or of an array."""
    return [table[name] for name in table.columns] if is_frame(table) else list(table.T)


# Types


def column_types(table: Any) -> dict[Any, str]:
    """Return the type of each column, by its name or position.

    It is ``"number"``, ``"category"``, ``"many"`` for more than 50 categories, ``"text"``,
    ``"date"``, ``"constant"`` for a single date, ``"empty"``, or the name of another type.
    """
    if is_frame(table):
        return {name: _column_type(table[name]) for name in table.columns}
    return {k: "number" if _has_value(column) else "empty" for k, column in enumerate(table.T)}


def _column_type(column: Any) -> str:
    if not _has_value(column):
        return "empty"
    column_type = _type_of_dtype(column)
    column_type = _type_of_texts(column) if column_type == "category" else column_type
    return "constant" if column_type == "date" and len(set(column)) == 1 else column_type


def _type_of_dtype(column: Any) -> str:
    dtype = column.dtype
    if hasattr(dtype, "is_numeric"):  # as in polars
        others = _POLARS_TYPES.get(dtype.base_type().__name__, str(dtype))
        return "number" if dtype.is_numeric() else others
    value = dtype.type
    if value is np.object_:
        return _type_of_objects(column)
    if issubclass(value, str | bool | np.bool_) or value.__name__ == "CategoricalDtypeType":
        return "category"
    if issubclass(value, date | np.datetime64):
        return "date"
    is_number = issubclass(value, Real | Decimal | timedelta | np.timedelta64)
    return "number" if is_number else str(dtype)


def _type_of_objects(column: Any) -> str:
    """Return the type of a column of objects; integers may be codes, and are categories."""
    present = [value for value in column if not is_missing(value)]
    if all(isinstance(value, date) for value in present):
        return "date"
    are_numbers = all(isinstance(v, Real | Decimal) and not isinstance(v, bool) for v in present)
    return "number" if are_numbers and any(v != v // 1 for v in present) else "category"


def _type_of_texts(column: Any) -> str:
    """Return the type of a column of text: dates of ISO 8601, categories, many, or longer texts."""
    texts = {text for value in column if (text := text_of(value)) is not None}
    if all(map(_parse_date, texts)):
        return "date"
    if len(texts) <= MAX_CATEGORIES:
        return "category"
    n_words = sum(len(text.split()) for text in texts)
    return "text" if n_words >= MIN_WORDS_OF_TEXT * len(texts) else "many"


def _has_value(column: Any) -> bool:
    return any(not is_missing(value) for value in column)


# Values


def as_numbers(table: Any) -> Any:
    """Return columns as an array of numbers: durations in seconds, missing values as NaN."""
    if not is_frame(table):
        return table
    numbers = []
    for name in table.columns:
        try:
            numbers.append(_numbers(table[name]))
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(
                f"X must have numbers in the column {name!r}, as in the training data: {error}. "
                "Convert it, or train again."
            ) from error
    return np.column_stack(numbers)


def _numbers(column: Any) -> Any:
    is_pandas = hasattr(column, "isna")  # pandas has several missing values, polars has one
    if "timedelta" in str(column.dtype) or "duration" in str(column.dtype).lower():
        durations = column.to_numpy(dtype=_DURATION) if is_pandas else column.to_numpy()
        return durations / np.timedelta64(1, "s")
    if is_pandas:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(column, dtype=np.float64)


def as_text(table: Any) -> NDArray[np.object_]:
    """Return columns of categories as text, missing values as None."""
    texts = [[text_of(value) for value in column] for column in columns_of(table)]
    # as objects: one long text in an array of text would make all others as long
    return np.array(texts, dtype=object).T


def text_of(value: Any) -> str | None:
    """Return a category as text, or None if it is missing.

    A float without a fraction is written as an integer: pandas turns integers into floats when a
    value is missing.

    Examples
    --------
    >>> text_of(1001.0), text_of(0.5), text_of(True), text_of(float("nan"))
    ('1001', '0.5', 'True', None)
    """
    if is_missing(value):
        return None
    if isinstance(value, float | np.floating):
        value = int(value) if value.is_integer() else float(value)
    return str(value)


def as_moments(column: Any) -> NDArray[np.datetime64]:
    """Return dates, or text that holds dates; those with a time zone are converted to UTC."""
    dtype = str(column.dtype)
    if hasattr(column, "isna") and dtype.startswith(("datetime64", "timestamp")):
        return column.to_numpy(dtype=_DATE)  # type: ignore[no-any-return]
    if dtype.startswith("Date"):  # as in polars
        return column.to_numpy().astype(_DATE)  # type: ignore[no-any-return]
    return np.array([_moment(value) for value in column], dtype=_DATE)


def _moment(value: Any) -> date | None:
    value = _parse_date(value) if isinstance(value, str) else value
    if is_missing(value) or not isinstance(value, date):
        return None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def _parse_date(text: str) -> datetime | None:
    """Return a date of ISO 8601, such as 2024-01-31 or 2024-01-31T09:30:00Z, or None."""
    try:
        return datetime.fromisoformat(text) if _ISO_DATE.match(text) else None
    except ValueError:
        return None
