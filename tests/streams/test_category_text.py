from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skliquid.streams.category_text import (
    as_truth,
    column_as_text,
    column_as_truth,
    with_texts,
)
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
def test_a_truth_value_may_be_written_in_many_ways(value):
    assert as_truth(value) == "True"


def test_columns_of_files_have_the_texts_of_their_values():
    whole = pa.chunked_array([pa.array([1, None, 1, 300])])
    assert column_as_text(whole).to_pylist() == ["1", None, "1", "300"]
    assert column_as_text(whole.dictionary_encode()).to_pylist() == ["1", None, "1", "300"]
    broken = pa.chunked_array([pa.array([1.0, float("nan"), 0.5])])
    assert column_as_text(broken).to_pylist() == ["1", None, "0.5"]


def test_only_zeros_and_ones_become_truth_values():
    numbers = pa.chunked_array([pa.array([1.0, 0.0, None, float("nan")])])
    assert column_as_truth(numbers).to_pylist() == [True, False, None, None]
    with pytest.raises(pa.ArrowInvalid, match="2 is neither 0 nor 1"):
        column_as_truth(pa.chunked_array([pa.array([0, 2])]))


def test_only_categories_of_a_frame_become_text():
    frame = pd.DataFrame({"a": [1.0, None], "b": [1.0, None], "c": [0, 1], "d": [1, 2]})
    got = with_texts(frame, {"a": "text", "b": "number", "c": "truth"})
    assert got["a"].tolist()[0] == "1"
    assert got["a"].isna().tolist() == [False, True]
    assert got["c"].tolist() == ["False", "True"]
    assert got[["b", "d"]].equals(frame[["b", "d"]])
