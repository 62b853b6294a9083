import warnings

import pyarrow as pa
import pytest

from skliquid import TableEncoder
from skliquid.tables.column_report import describe_columns


@pytest.mark.parametrize(
    ("column_type", "values"),
    [
        ("number", ["45 years", "30 years", "unknown", None, "61 years"]),
        ("date", ["31.12.2020", "01.02.2021", "-", None, "13.02.2021"]),
        ("category", ["Bern", "Oslo", None, None, "Bonn"]),
    ],
)
def test_markers_count_as_missing(column_type, values):
    table = pa.table({"cells": values * 20})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = TableEncoder().fit(table)
    (report,) = describe_columns(table, encoder, {})
    assert report.column_type == column_type
    assert (report.n_distinct, report.n_missing, report.example) == (3, 40, values[0])


def test_columns_without_an_encoder_are_numbers():
    table = pa.table({"x": [1.0, None, float("nan"), 2.0, 2.0]})
    (report,) = describe_columns(table, None, {"x": {"-": 1}})
    assert report == ("x", "number", 2, 2, "1.0", ["'-' counts as missing"], 5)
