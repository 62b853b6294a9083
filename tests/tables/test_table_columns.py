"""What the columns of a table hold, whatever library it is from."""

import tracemalloc
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skliquid.tables.table_columns import as_moments, as_numbers, as_text, column_types, is_missing

DAYS = [date(2024, 1, 31), date(2024, 2, 1), None]
TIMES = [datetime(2024, 1, 31, 9, 30), datetime(2024, 2, 1), None]
OSLO = timezone(timedelta(hours=1))


def zoned(times, zone):
    return [None if time is None else time.replace(tzinfo=UTC).astimezone(zone) for time in times]


DATES = {
    "pandas": pd.Series(TIMES),
    "pandas-nanoseconds": pd.Series(TIMES).astype("datetime64[ns]"),
    "pandas-zone": pd.Series(zoned(TIMES, UTC)).dt.tz_convert("Europe/Oslo"),
    "arrow": pd.Series(TIMES, dtype=pd.ArrowDtype(pa.timestamp("us"))),
    "arrow-zone": pd.Series(zoned(TIMES, UTC), dtype=pd.ArrowDtype(pa.timestamp("us", "UTC"))),
    "objects": pd.Series(TIMES, dtype=object),
    "objects-zone": pd.Series(zoned(TIMES, OSLO), dtype=object),
    "text": pd.Series(["2024-01-31 09:30", "2024-02-01", None]),
    "text-zone": pd.Series(["2024-01-31T10:30:00+01:00", "2024-02-01T00:00:00Z", None]),
    "text-categories": pd.Series(["2024-01-31 09:30", "2024-02-01", None], dtype="category"),
    "polars": pl.Series(TIMES),
    "polars-zone": pl.Series(TIMES).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo"),
    "polars-text": pl.Series(["2024-01-31T09:30", "2024-02-01", None]),
}


def in_a_frame(column):
    return (pd if isinstance(column, pd.Series) else pl).DataFrame({"c": column})


@pytest.mark.parametrize("column", DATES.values(), ids=list(DATES))
def test_dates_of_any_type_are_the_same_moments(column):
    assert column_types(in_a_frame(column)) == {"c": "date"}
    moments = as_moments(column)
    assert moments[:2].tolist() == TIMES[:2]
    assert np.isnat(moments).tolist() == [False, False, True]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(DAYS, dtype=object),
        pd.Series(DAYS, dtype=pd.ArrowDtype(pa.date32())),
        pl.Series(DAYS),
    ],
    ids=["objects", "arrow", "polars"],
)
def test_days_are_dates(column):
    assert column_types(in_a_frame(column)) == {"c": "date"}
    assert as_moments(column)[:2].tolist() == [datetime(2024, 1, 31), datetime(2024, 2, 1)]


@pytest.mark.parametrize(
    "texts",
    [
        ["2024-01-31", "2024-02-30"],  # no such day
        ["2024-01-31", "unknown"],
        ["20240131", "20240201"],  # may be codes
        ["31.01.2024", "01.02.2024"],
        ["2024", "2025"],
    ],
    ids=lambda texts: texts[1],
)
def test_texts_that_are_not_all_dates_of_iso_8601_are_categories(texts):
    assert column_types(pd.DataFrame({"c": texts})) == {"c": "category"}


def test_a_text_that_is_no_date_is_a_missing_date():
    assert np.isnat(as_moments(pd.Series(["2024-01-31", "unknown"]))).tolist() == [False, True]


@pytest.mark.parametrize("column", [pd.Series([TIMES[0]] * 3), pl.Series(["2024-01-31"] * 3)])
def test_a_single_date_is_constant(column):
    assert column_types(in_a_frame(column)) == {"c": "constant"}


def test_categories_are_many_above_50_and_texts_with_eight_words():
    names = [f"name {k}" for k in range(51)]
    frame = pd.DataFrame(
        {
            "few": [*names[:50], "name 0"],
            "many": names,
            "text": [f"{name} and six words more than that" for name in names],
            "short": [f"{name} and five words more than" for name in names],
        }
    )
    types = {"few": "category", "many": "many", "text": "text", "short": "many"}
    assert column_types(frame) == types
    assert column_types(pl.from_pandas(frame)) == types


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([timedelta(minutes=1), None]),
        pd.Series([timedelta(minutes=1), None], dtype=pd.ArrowDtype(pa.duration("us"))),
        pl.Series([timedelta(minutes=1), None]),
    ],
    ids=["pandas", "arrow", "polars"],
)
def test_durations_are_numbers_of_seconds(column):
    frame = in_a_frame(column)
    assert column_types(frame) == {"c": "number"}
    assert np.array_equal(as_numbers(frame), [[60.0], [np.nan]], equal_nan=True)


@pytest.mark.parametrize("value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT], ids=repr)
def test_missing_values_of_any_library_are_missing(value):
    assert is_missing(value)
    assert not any(map(is_missing, ["", "nan", 0, 0.0, False, "None"]))


def test_one_long_text_does_not_make_the_others_long():
    texts = ["x" * 100_000, *(f"comment {k}" for k in range(2000))]
    frame = pd.DataFrame({"text": texts})
    tracemalloc.start()
    as_text(frame)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000_000
