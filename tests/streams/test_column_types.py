import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skliquid.streams.column_types import (
    booleans_as_text,
    check_chosen,
    check_column,
    column_as_booleans,
    column_as_text,
    column_type,
    file_column_types,
)
from skliquid.tables.table_columns import text_of

PATH = Path("data.csv")


@pytest.mark.parametrize(
    ("arrow_type", "expected"),
    [
        (pa.uint8(), "number"),
        (pa.float32(), "number"),
        (pa.decimal128(9, 2), "number"),
        (pa.string(), "text"),
        (pa.large_string(), "text"),
        (pa.dictionary(pa.int32(), pa.string()), "text"),
        (pa.dictionary(pa.int32(), pa.int64()), "code"),
        (pa.bool_(), "boolean"),
        (pa.timestamp("s"), "left_out"),
        (pa.list_(pa.string()), "left_out"),
        (pa.null(), "empty"),
    ],
)
def test_arrow_types_become_column_types(arrow_type, expected):
    assert column_type(arrow_type) == expected


def test_two_columns_of_one_name_are_refused():
    schema = pa.schema([("a", pa.int8()), ("a", pa.int8())])
    with pytest.raises(ValueError, match=r"data.csv has 'a' more than once. Rename one"):
        file_column_types(schema, PATH)


def test_chosen_types_are_checked():
    columns = {"a": "number", "b": "text"}
    check_chosen({"a": "text", "b": "left_out"}, columns, PATH)
    check_chosen({"a": "id", "b": "boolean"}, columns, PATH)
    for wrong in ("words", "empty", "code"):
        with pytest.raises(ValueError, match=f"got '{wrong}' for the column 'a'. Choose one"):
            check_chosen({"a": wrong}, columns, PATH)
    with pytest.raises(ValueError, match=r"got 'numbers' .* Did you mean 'number'"):
        check_chosen({"a": "numbers"}, columns, PATH)
    with pytest.raises(ValueError, match=r"column_types \(--text\) must be a column of data.csv"):
        check_chosen({"z": "text"}, columns, PATH)
    with pytest.raises(ValueError, match=r"column_types must be a column of .*Did you mean 'b'"):
        check_chosen({"B": "boolean"}, columns, PATH)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (7, "7"),
        (7.0, "7"),
        (np.float32(7), "7"),
        (-0.5, "-0.5"),
        (np.inf, "inf"),
        (Decimal("1.50"), "1.50"),
        (np.True_, "True"),
        (None, None),
        (np.nan, None),
        (pd.NA, None),
        (pd.NaT, None),
    ],
)
def test_a_value_has_one_text(value, text):
    assert text_of(value) == text


@pytest.mark.parametrize("value", [True, 1, 1.0, "1", "true", "True", np.True_])
def test_a_boolean_may_be_written_in_many_ways(value):
    frame = pd.DataFrame({"a": pd.Series([value, None], dtype=object)})
    texts = booleans_as_text(frame, {"a": "boolean"})["a"].astype(object)
    assert texts[0] == "True"
    assert text_of(texts[1]) is None


def test_columns_of_files_have_the_texts_of_their_values():
    integers = pa.array([1, None, 1, 300])
    assert column_as_text(integers).to_pylist() == ["1", None, "1", "300"]
    assert column_as_text(integers.dictionary_encode()).to_pylist() == ["1", None, "1", "300"]
    floats = pa.array([1.0, float("nan"), 0.5])
    assert column_as_text(floats).to_pylist() == ["1", None, "0.5"]


def test_only_zeros_and_ones_become_booleans():
    numbers = pa.array([1.0, 0.0, None, float("nan")])
    assert column_as_booleans(numbers).to_pylist() == [True, False, None, None]
    with pytest.raises(pa.ArrowInvalid, match="2 is neither 0 nor 1"):
        column_as_booleans(pa.array([0, 2]))


def test_only_booleans_of_a_frame_are_changed():
    frame = pd.DataFrame({"a": [1.0, None], "b": [1.0, None], "c": [0, 1], "d": [1, 2]})
    changed = booleans_as_text(frame, {"a": "text", "b": "number", "c": "boolean", "e": "boolean"})
    assert changed["c"].tolist() == ["False", "True"]
    assert changed[["a", "b", "d"]].equals(frame[["a", "b", "d"]])
    array = np.zeros((2, 2))
    assert booleans_as_text(array, {"a": "boolean"}) is array


def test_the_closest_name_is_suggested():
    message = "target must be a column of data.csv, which has age, class: got 'clas'. Did you mean"
    with pytest.raises(ValueError, match=re.escape(message)):
        check_column("clas", ["age", "class"], "data.csv", parameter="target")


def test_of_many_columns_only_the_first_are_listed():
    with pytest.raises(ValueError, match=r"has c0, .*c19, \.\.\.: got 'z'"):
        check_column("z", [f"c{k}" for k in range(99)], "data.csv", parameter="target")
