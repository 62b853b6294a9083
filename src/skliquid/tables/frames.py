"""Frames: pandas, polars, pyarrow and other tables, read column by column.

Each class gives the names of its columns, the type that the library gives a column, and the values
of a column as numbers, as dates, or as distinct values with a code per row.
"""

import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from importlib.util import find_spec
from itertools import compress
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats
from skliquid.validation.data_types import (
    column_names,
    conversion_of,
    is_frame,
    is_missing,
    refuse_repeated_names,
    refuse_unreadable,
)
from skliquid.validation.user_warnings import warn_user

NUMBER, CATEGORY, DATE, TEXT = "number", "category", "date", "text"
"""The types of columns, in one vocabulary: of dtypes, of encoders and of reports."""

FEW_ROWS = 16
"""Up to 16 rows are looked up cell by cell."""

_MOMENT, _DURATION = "datetime64[us]", "timedelta64[us]"


class Distinct(NamedTuple):
    """The distinct values of a column, and the position of each row's value; -1 if missing."""

    codes: NDArray[Any]
    values: Sequence[Any]

    def counts(self) -> NDArray[np.intp]:
        """Return the number of rows of each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    def without_unused(self) -> "Distinct":
        """Return the values that rows have: a categorical type may declare more."""
        is_used = self.counts() > 0
        if is_used.all():
            return self
        positions = np.append(np.cumsum(is_used) - 1, -1)
        return Distinct(positions[self.codes], list(compress(self.values, is_used)))

    def look_up(self, numbers: Any, missing: float = np.nan) -> Floats:
        """Return the number of each row, from one number per distinct value."""
        table = np.append(np.asarray(numbers, dtype=np.float64), missing)
        found: Floats = table[self.codes]
        return found


class Column:
    """A column of a frame, whose values are found once for all encoders."""

    def __init__(self, frame: Any, name: Any):
        self.frame, self.name, self.n_rows = frame, name, frame.n_rows

    @cached_property
    def column_type(self) -> str:
        """The type that the library of the frame gives the column."""
        found: str = self.frame.column_type(self.name)
        return found

    @cached_property
    def numbers(self) -> Floats:
        """The numbers of a column of numbers; missing ones are NaN."""
        found: Floats = self.frame.numbers(self.name)
        return found

    @cached_property
    def dates(self) -> NDArray[np.datetime64]:
        """The dates of a column of dates."""
        found: NDArray[np.datetime64] = self.frame.dates(self.name)
        return found

    @cached_property
    def texts(self) -> Distinct:
        """The distinct values as text, and the position of each row's value."""
        try:
            if self.n_rows <= FEW_ROWS:
                found = distinct_objects(self.frame.cells(self.name))
            else:
                found = self.frame.distinct(self.name)
        except TypeError as error:  # such as a list
            raise self.error("texts, numbers or booleans", str(error)) from error
        return Distinct(found.codes, [text_of(value) or "" for value in found.values])

    def warn_of_odd(self, odd: Sequence[str], expected: str) -> None:
        """Warn of cells that count as missing, in a column that was text in training."""
        more = f" and {len(odd) - 1} other values" if len(odd) > 1 else ""
        warn_user(
            f"Cells of the column {self.name!r} count as missing, since they are no {expected}: "
            f"{odd[0]!r}{more}."
        )

    def error(self, rule: str, found: str) -> ValueError:
        """Return an error that names the column."""
        return ValueError(
            f"X must have {rule} in the column {self.name!r}, as in training: got {found}. Convert "
            "the column, or train again."
        )


class Frame:
    """Base class of frames: columns are found once."""

    names: list[Any]
    n_rows: int

    @cached_property
    def columns(self) -> dict[Any, Column]:
        """The columns, by name."""
        return {name: Column(self, name) for name in self.names}

    def forget(self) -> None:
        """Free the memory of what was found in the columns, which refer to the frame."""
        self.__dict__.pop("columns", None)


def as_frame(X: Any) -> Any:
    """Return ``X``, a table of any library or a 2-D array, as one of the classes of this module."""
    refuse_unreadable("X", X)
    if isinstance(X, Frame):
        return X
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        if not X.columns.is_unique:
            refuse_repeated_names(X.columns)
        return PandasFrame(X)
    if is_frame(X):
        refuse_repeated_names(column_names(X))
        return NarwhalsFrame(_native(X))
    return ArrayFrame(_two_dimensional(X))


def _two_dimensional(X: Any) -> NDArray[Any]:
    """Return rows, such as a list of lists, as an array."""
    try:
        array = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    except (ValueError, TypeError):  # rows of different lengths, for example
        array = np.empty(0)
    if array.ndim != 2:
        raise ValueError(
            "X must be a data frame, or have two dimensions, with one row per sample: got "
            f"{type(X).__name__} with {array.ndim}. Give a data frame with the columns of training."
        )
    return array


def with_columns(X: Any) -> Any:
    """Return ``X``, or its table if it is a stream of Arrow data, which may be read only once."""
    if hasattr(X, "__array__") or not hasattr(X, "__arrow_c_stream__"):
        return X
    return _native(X).to_native()


def table_shape(X: Any) -> tuple[int, int]:
    """Return the numbers of rows and columns of a table; 0 where ``X`` is no table."""
    refuse_unreadable("X", X)
    if is_frame(X):
        frame = as_frame(X)
        return frame.n_rows, len(frame.names)
    shape: Any = getattr(X, "shape", np.shape(X[:1]) if isinstance(X, list) else ())
    if len(shape) != 2:
        return 0, 0
    return (len(X) if isinstance(X, list) else shape[0]), shape[1]


def take_rows(X: Any, numbers: NDArray[np.int64]) -> Any:
    """Return some of the rows of a table, which is not changed otherwise."""
    if is_frame(X):
        return _native(X)[numbers].to_native()
    if isinstance(X, list):
        return [X[k] for k in numbers.tolist()]
    if scipy.sparse.issparse(X):
        X = X.tocsr()  # type: ignore[attr-defined]
    return X[numbers]


def _native(X: Any) -> Any:
    """Return a data frame that narwhals reads, from one or from a stream of Arrow data."""
    import narwhals.stable.v2 as nw  # noqa: PLC0415 (only for frames that are not of pandas)

    try:
        return nw.from_native(X, eager_only=True)
    except TypeError:
        if not hasattr(X, "__arrow_c_stream__"):
            raise
    backend: Any = "pyarrow" if find_spec("pyarrow") else "polars"
    return nw.DataFrame.from_arrow(X, backend=backend)


def needs_encoder(X: Any, categorical_features: Any) -> bool:
    """Return whether columns of ``X`` are not numbers, or numbers that are to be categories."""
    refuse_unreadable("X", X)
    if is_frame(X):
        return _has_chosen(categorical_features) or not as_frame(X).has_numbers_only()
    return _has_chosen(categorical_features)


def _has_chosen(categorical_features: Any) -> bool:
    if categorical_features is None or isinstance(categorical_features, str):
        return False
    chosen = np.asarray(categorical_features)
    return bool(chosen.any() if chosen.dtype == bool else chosen.size)


class PandasFrame(Frame):
    """A data frame of pandas."""

    def __init__(self, frame: Any):
        self.frame, self.names, self.n_rows = frame, frame.columns.tolist(), len(frame)

    def has_numbers_only(self) -> bool:
        """Return whether all columns are numbers or booleans, which need no encoder."""
        dtypes = self.frame.dtypes.items()
        others = [name for name, t in dtypes if getattr(t, "kind", "O") not in "iufbc"]
        are_objects = all(self.frame[name].dtype.type is np.object_ for name in others)
        return are_objects and all(self._has_plain_numbers(name) for name in others)

    def _has_plain_numbers(self, name: Any) -> bool:
        is_number = self.column_type(name) == NUMBER
        return is_number and are_numbers(self.distinct(name).values)  # not durations

    def column_type(self, name: Any) -> str:
        """Return a column type, or the name of a dtype that is not supported."""
        dtype = self.frame[name].dtype
        value: type = dtype.type
        if value is np.object_:
            return type_of_objects(self, name)
        if value.__name__ == "CategoricalDtypeType" or issubclass(value, bool | np.bool_):
            return CATEGORY
        if issubclass(value, str):
            return TEXT
        if issubclass(value, date | np.datetime64):
            return DATE
        is_number = issubclass(value, Real | Decimal | timedelta | np.timedelta64)
        return NUMBER if is_number else str(dtype)

    def numbers(self, name: Any) -> Floats:
        """Return a column as numbers: durations in seconds, missing values as NaN."""
        column = self.frame[name]
        if column.dtype.type is np.object_:
            return numbers_of_objects(column)
        if issubclass(column.dtype.type, timedelta | np.timedelta64):
            return np.asarray(column.to_numpy(dtype=_DURATION) / np.timedelta64(1, "s"))
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))

    def dates(self, name: Any) -> NDArray[np.datetime64]:
        """Return a column of dates; those with a time zone are converted to UTC."""
        column = self.frame[name]
        if column.dtype.type is np.object_:
            return dates_of_objects(column)
        return np.asarray(column.to_numpy(dtype=_MOMENT))

    def distinct(self, name: Any) -> Distinct:
        """Return the distinct values of a column."""
        column = self.frame[name].array
        if hasattr(column, "categories"):
            return Distinct(column.codes, column.categories).without_unused()
        codes, values = self.frame[name].factorize()
        return Distinct(codes, values.tolist())

    def cells(self, name: Any) -> list[Any]:
        """Return the values of a column."""
        column = self.frame[name].array
        if not hasattr(column, "categories"):
            return column.tolist()  # type: ignore[no-any-return]
        categories, codes = column.categories, column.codes.tolist()
        return [None if code < 0 else categories[code] for code in codes]

    def select(self, is_used: NDArray[np.bool_]) -> "PandasFrame":
        """Return some of the rows."""
        return PandasFrame(self.frame[is_used])


class NarwhalsFrame(Frame):
    """A data frame of polars, a table of pyarrow, or another that narwhals knows."""

    def __init__(self, frame: Any):
        self.frame, self.names, self.n_rows = frame, frame.columns, len(frame)

    def has_numbers_only(self) -> bool:
        """Return whether all columns are numbers or booleans, which need no encoder."""
        types = self.frame.schema.values()
        return all(t.is_numeric() or type(t).__name__ == "Boolean" for t in types)

    def column_type(self, name: Any) -> str:
        """Return a column type, or the name of a dtype that is not supported."""
        dtype = self.frame[name].dtype
        kind = type(dtype).__name__
        if dtype.is_numeric() or kind == "Duration":
            return NUMBER
        if kind in ("Categorical", "Enum", "Boolean"):
            return CATEGORY
        if kind in ("Date", "Datetime"):
            return DATE
        if kind == "Object":
            return type_of_objects(self, name)
        is_empty = kind == "Unknown" and self.frame[name].null_count() == self.n_rows
        return TEXT if kind == "String" or is_empty else str(dtype)

    def numbers(self, name: Any) -> Floats:
        """Return a column as numbers: durations in seconds, missing values as NaN."""
        import narwhals.stable.v2 as nw  # noqa: PLC0415 (it is loaded)

        column = self.frame[name]
        if column.dtype == nw.Duration:
            return np.asarray(column.to_numpy().astype(_DURATION) / np.timedelta64(1, "s"))
        return np.asarray(column.cast(nw.Float64()).to_numpy(), dtype=np.float64)

    def dates(self, name: Any) -> NDArray[np.datetime64]:
        """Return a column of dates; those with a time zone are converted to UTC."""
        column = self.frame[name]
        if getattr(column.dtype, "time_zone", None):
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        values = column.to_numpy()
        return dates_of_objects(values) if values.dtype == object else values.astype(_MOMENT)

    def distinct(self, name: Any) -> Distinct:
        """Return the distinct values of a column."""
        import narwhals.stable.v2 as nw  # noqa: PLC0415 (it is loaded)

        column = self.frame[name]
        if column.dtype.is_float():
            column = column.fill_nan(None)
        if column.null_count() == self.n_rows:
            return Distinct(np.full(self.n_rows, -1), [])
        if hasattr(column.to_native(), "combine_chunks"):  # of pyarrow
            encoded = column.to_native().combine_chunks()
            if not hasattr(encoded, "dictionary"):
                encoded = encoded.dictionary_encode()
            indices = encoded.indices.cast("int64")  # polars and DuckDB write unsigned ones
            codes = indices.fill_null(-1).to_numpy(zero_copy_only=False)
            return Distinct(codes, encoded.dictionary.to_pylist()).without_unused()
        if type(column.dtype).__name__ in ("Categorical", "Enum"):
            column = column.cast(nw.String())
        if type(column.dtype).__name__ == "Object":
            return distinct_objects(column.to_list())
        values = column.drop_nulls().unique(maintain_order=True).to_list()
        positions = list(range(len(values)))
        found = column.replace_strict(values, positions, default=-1, return_dtype=nw.Int64())
        return Distinct(found.fill_null(-1).to_numpy(), values)

    def cells(self, name: Any) -> list[Any]:
        """Return the values of a column."""
        return self.frame[name].to_list()  # type: ignore[no-any-return]

    def select(self, is_used: NDArray[np.bool_]) -> "NarwhalsFrame":
        """Return some of the rows."""
        return NarwhalsFrame(self.frame.filter(is_used.tolist()))


class ArrayFrame(Frame):
    """An array of numbers or objects, whose columns are named by position."""

    def __init__(self, array: NDArray[Any], names: Sequence[Any] | None = None):
        self.array, self.n_rows = array, len(array)
        self.names = list(range(array.shape[1])) if names is None else list(names)

    def column_type(self, name: Any) -> str:
        """Return the type of a column."""
        return NUMBER if self.array.dtype.kind in "biuf" else type_of_objects(self, name)

    def numbers(self, name: Any) -> Floats:
        """Return a column as numbers, missing values as NaN."""
        return numbers_of_objects(self.cells(name))

    def dates(self, name: Any) -> NDArray[np.datetime64]:
        """Return a column of dates."""
        return dates_of_objects(self.cells(name))

    def distinct(self, name: Any) -> Distinct:
        """Return the distinct values of a column."""
        return distinct_objects(self.cells(name))

    def cells(self, name: Any) -> list[Any]:
        """Return the values of a column."""
        cells: list[Any] = self.array[:, self.names.index(name)].tolist()
        return cells

    def select(self, is_used: NDArray[np.bool_]) -> "ArrayFrame":
        """Return some of the rows."""
        return ArrayFrame(self.array[is_used], self.names)


# Values of Python


def type_of_objects(frame: Any, name: Any) -> str:
    """Return the type of a column of objects, or the name of one that is not supported."""
    try:
        values = frame.distinct(name).values
    except TypeError:  # such as lists, which are not hashable
        example = next(value for value in frame.cells(name) if not is_missing(value))
        return f"object, with values such as {example!r:.30}"
    if all(isinstance(value, str) for value in values):
        return TEXT
    if all(isinstance(value, date) for value in values):
        return DATE
    are_durations = all(isinstance(value, timedelta) for value in values)
    return NUMBER if are_durations or are_numbers(values) else CATEGORY


def are_numbers(values: Iterable[Any]) -> bool:
    """Return whether all values are numbers."""
    return all(isinstance(v, Real | Decimal) and not isinstance(v, bool) for v in values)


def numbers_of_objects(cells: Iterable[Any]) -> Floats:
    """Return numbers; durations are in seconds, missing values are NaN."""
    with conversion_of("X"):
        return np.array([_number(value) for value in cells], dtype=np.float64)


def _number(value: Any) -> Any:
    if is_missing(value):
        return np.nan
    return value.total_seconds() if isinstance(value, timedelta) else value


def distinct_objects(cells: Sequence[Any]) -> Distinct:
    """Return the distinct values of a list."""
    positions: dict[Any, int] = {}
    codes = [-1 if is_missing(v) else positions.setdefault(v, len(positions)) for v in cells]
    return Distinct(np.array(codes, dtype=np.intp), list(positions))


def dates_of_objects(cells: Any) -> NDArray[np.datetime64]:
    """Return dates; those with a time zone are converted to UTC, other values are missing."""
    return np.array([_moment(value) for value in cells], dtype=_MOMENT)


def _moment(value: Any) -> date | None:
    if is_missing(value) or not isinstance(value, date):
        return None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def text_of(value: Any) -> str | None:
    """Return a category as text, or None if it is missing.

    A float without a fraction is written as an integer: pandas turns integers into floats when a
    value is missing.

    Examples
    --------
    >>> text_of(1001.0), text_of(0.5), text_of(True), text_of(float("nan"))
    ('1001', '0.5', 'True', None)
    """
    if type(value) is str:
        return value
    if is_missing(value):
        return None
    if isinstance(value, float | np.floating):
        value = int(value) if value.is_integer() else float(value)
    return str(value)
