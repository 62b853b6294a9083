"""Frames of several libraries, which give the same columns."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from small_tables import TYPES, ArrowStream, in_libraries, small_table

from skliquid.tables.column_encoders import Column
from skliquid.tables.frames import as_frame, needs_encoder, with_columns

COLUMNS = small_table()[0]
FRAMES = in_libraries(COLUMNS)
LIBRARIES = list(FRAMES)


def rows_of(column):
    """Return the values of rows as text, None if missing."""
    return [None if code < 0 else column.texts.values[code] for code in column.texts.codes]


@pytest.mark.parametrize("library", LIBRARIES)
class TestLibraries:
    def test_names_and_rows(self, library):
        frame = as_frame(FRAMES[library])
        assert (list(frame.names), frame.n_rows) == (list(COLUMNS), 300)
        assert as_frame(frame) is frame

    def test_numbers(self, library):
        frame = as_frame(FRAMES[library])
        for name in ("number", "integer", "price"):
            assert frame.column_type(name) == "number"
            expected = [np.nan if v is None else float(v) for v in COLUMNS[name]]
            assert np.array_equal(frame.numbers(name), expected, equal_nan=True)

    def test_durations_are_numbers_of_seconds(self, library):
        frame = as_frame(FRAMES[library])
        assert frame.column_type("duration") == "number"
        expected = [np.nan if v is None else v.total_seconds() for v in COLUMNS["duration"]]
        assert np.array_equal(frame.numbers("duration"), expected, equal_nan=True)

    def test_dates(self, library):
        frame = as_frame(FRAMES[library])
        assert frame.column_type("date") == "date"
        expected = np.array(COLUMNS["date"], dtype="datetime64[us]")
        assert np.array_equal(frame.dates("date"), expected, equal_nan=True)

    def test_categories_and_texts(self, library):
        frame = as_frame(FRAMES[library])
        for name in ("town", "flag", "street"):
            assert frame.column_type(name) in ("category", "text")
            expected = [None if v is None else str(v) for v in COLUMNS[name]]
            assert rows_of(Column(frame, name)) == expected

    def test_a_few_rows_have_the_same_values_as_many(self, library):
        frame = as_frame(FRAMES[library])
        few = frame.select(np.arange(300) < 7)
        assert few.n_rows == 7
        for name in ("town", "flag", "street"):
            assert rows_of(Column(few, name)) == rows_of(Column(frame, name))[:7]

    def test_some_rows_can_be_selected(self, library):
        is_used = np.arange(300) % 3 > 0
        frame = as_frame(FRAMES[library])
        for name in TYPES:
            expected = [v for v, used in zip(frame.cells(name), is_used, strict=True) if used]
            found = frame.select(is_used).cells(name)
            assert [str(v) for v in found] == [str(v) for v in expected]


@pytest.mark.parametrize(
    ("values", "column_type"),
    [
        (["a", None], "text"),
        ([None, None], "text"),
        ([1, 2.5, None], "number"),
        ([Decimal(1), 2], "number"),
        ([True, False], "category"),
        ([1, "a"], "category"),
        ([True, 1], "category"),
        ([date(2024, 1, 1), datetime(2024, 1, 2)], "date"),
        ([date(2024, 1, 1), "a"], "category"),
        ([timedelta(1), None], "number"),
        ([timedelta(1), 1], "category"),
        ([(1, 2), (3, 4)], "category"),
        ([{"a": 1}, None], "object, with values such as {'a': 1}"),
        ([None, [1, 2]], "object, with values such as [1, 2]"),
    ],
    ids=str,
)
def test_the_type_of_objects_is_that_of_their_values(values, column_type):
    series = pd.Series(len(values) * [None], dtype=object)
    series[:] = values
    assert as_frame(pd.DataFrame({"c": series})).column_type("c") == column_type
    cells = np.empty((len(values), 1), dtype=object)
    cells[:, 0] = values
    assert as_frame(cells).column_type(0) == column_type


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([[1, 2]]),
        pl.Series([{"a": 1}]),
        pl.Series([b"a"]),
        pd.Series(pd.period_range("2020", periods=1, freq="D")),
        pd.Series([1j]),
    ],
    ids=lambda column: str(column.dtype),
)
def test_other_types_are_named(column):
    library = pl if isinstance(column, pl.Series) else pd
    assert as_frame(library.DataFrame({"c": column})).column_type("c") == str(column.dtype)


def test_columns_of_nulls_have_no_values():
    for frame in (pa.table({"c": pa.nulls(3)}), pl.DataFrame({"c": [None] * 3})):
        column = Column(as_frame(frame), "c")
        assert column.column_type == "text"
        assert rows_of(column) == [None] * 3


def test_nan_is_a_missing_category():
    values = [1.0, 2.0, float("nan"), 2.5] * 9
    for frame in (
        pd.DataFrame({"c": values}),
        pl.DataFrame({"c": values}),
        pa.table({"c": values}),
    ):
        assert rows_of(Column(as_frame(frame), "c"))[:4] == ["1", "2", None, "2.5"]


TOKYO = timezone(timedelta(hours=9))
LOCAL = [datetime(2024, 5, 1, hour, tzinfo=TOKYO) for hour in (3, 12)]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"c": pd.Series(LOCAL)}),
        pd.DataFrame({"c": pd.Series(LOCAL, dtype=object)}),
        pl.DataFrame({"c": LOCAL}),
        pa.table({"c": pa.array(LOCAL, pa.timestamp("us", "Asia/Tokyo"))}),
    ],
    ids=["pandas", "objects", "polars", "pyarrow"],
)
def test_dates_with_a_time_zone_are_converted_to_utc(frame):
    found = as_frame(frame).dates("c")
    assert found.tolist() == [datetime(2024, 4, 30, 18), datetime(2024, 5, 1, 3)]


def test_years_may_be_far_away():
    days = [date(1, 1, 1), date(9999, 12, 31)]
    for frame in (pl.DataFrame({"c": days}), pa.table({"c": days}), pd.DataFrame({"c": days})):
        assert [moment.date() for moment in as_frame(frame).dates("c").tolist()] == days


def test_rows_of_lists_are_a_frame_of_objects():
    frame = as_frame([["Rome", 1.5], [None, 2]])
    assert (frame.names, frame.column_type(0), frame.column_type(1)) == ([0, 1], "text", "number")
    assert as_frame(np.array([["1", "a"]])).column_type(0) == "text"
    assert as_frame(np.array([[1, 2]])).column_type(0) == "number"


@pytest.mark.parametrize(
    "X",
    [
        None,
        3,
        "text",
        {"a": [1]},
        [1, 2],
        [[1], [1, 2]],
        np.zeros(3),
        np.zeros((1, 2, 3)),
        pd.Series([1]),
        pl.Series([1]),
        scipy.sparse.csr_array(np.eye(3)),
    ],
    ids=lambda X: f"{type(X).__module__}-{type(X).__name__}",
)
def test_other_containers_are_refused(X):
    with pytest.raises(ValueError, match=r"X must be a data frame, or have two dimensions.* got "):
        as_frame(X)


def test_lazy_frames_are_refused():
    lazy = pl.LazyFrame({"a": [1]})
    for function in (as_frame, lambda X: needs_encoder(X, None)):
        with pytest.raises(TypeError, match=r"got a LazyFrame, .* Call X\.collect\(\) first"):
            function(lazy)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
    ],
    ids=["pandas", "pyarrow"],
)
def test_columns_with_the_same_name_are_refused(frame):
    with pytest.raises(ValueError, match=r"different names: X has 'a' more than once\. Rename one"):
        as_frame(frame)


def test_a_stream_that_can_be_read_once_becomes_a_table():
    table = pa.table({"a": [1, 2]})
    assert with_columns(table.to_reader()).equals(table)
    assert with_columns(ArrowStream(table)).equals(table)
    for X in (table, [1], np.eye(2), pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})):
        assert with_columns(X) is X


NUMBERS = {
    "pandas": pd.DataFrame({"a": [1, 2], "b": [True, False]}),
    "nullable": pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": pd.array([True, None])}),
    "objects": pd.DataFrame({"a": pd.Series([1, Decimal(2)], dtype=object)}),
    "sparse": pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0])}),
    "polars": pl.DataFrame({"a": [1, 2], "b": [True, False]}),
    "pyarrow": pa.table({"a": [1, 2], "b": [True, False]}),
    "array": np.eye(2),
    "list": [[1, 2]],
    "matrix": scipy.sparse.csr_array(np.eye(2)),
}
OTHERS = {
    "text": pd.DataFrame({"a": ["1", "2"]}),
    "category": pd.DataFrame({"a": pd.Categorical([1, 2])}),
    "date": pd.DataFrame({"a": pd.to_datetime(["2024-01-01"])}),
    "duration": pd.DataFrame({"a": pd.to_timedelta([1])}),
    "durations as objects": pd.DataFrame({"a": pd.Series([timedelta(1)], dtype=object)}),
    "polars": pl.DataFrame({"a": ["x"]}),
    "polars duration": pl.DataFrame({"a": [timedelta(1)]}),
    "pyarrow": pa.table({"a": ["x"]}),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_need_no_encoder_unless_they_are_categories(name):
    for chosen in ("from_dtype", None, [], [False, False]):
        assert not needs_encoder(NUMBERS[name], chosen)
    assert needs_encoder(NUMBERS[name], [0])
    assert needs_encoder(NUMBERS[name], [True, False])


@pytest.mark.parametrize("name", OTHERS)
def test_other_columns_need_an_encoder(name):
    for chosen in ("from_dtype", None, [], [0]):
        assert needs_encoder(OTHERS[name], chosen)
