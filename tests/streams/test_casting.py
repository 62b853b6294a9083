from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skliquid.streams.casting import column_as_booleans, column_as_text, with_booleans
from skliquid.tabular import text_of


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
    texts = with_booleans(frame, {"a": "boolean"})["a"].astype(object)
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
    changed = with_booleans(frame, {"a": "text", "b": "number", "c": "boolean", "e": "boolean"})
    assert changed["c"].tolist() == ["False", "True"]
    assert changed[["a", "b", "d"]].equals(frame[["a", "b", "d"]])
    array = np.zeros((2, 2))
    assert with_booleans(array, {"a": "boolean"}) is array
