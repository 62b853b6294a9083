import re
from pathlib import Path

import pyarrow as pa
import pytest

from skliquid.streams.kinds import check_column, kind_of, kinds_of, with_wishes

PATH = Path("data.csv")


@pytest.mark.parametrize(
    ("arrow_type", "kind"),
    [
        (pa.uint8(), "number"),
        (pa.float32(), "number"),
        (pa.decimal128(9, 2), "number"),
        (pa.large_string(), "text"),
        (pa.dictionary(pa.int32(), pa.string()), "text"),
        (pa.dictionary(pa.int32(), pa.int64()), "code"),
        (pa.bool_(), "truth"),
        (pa.timestamp("s"), "left_out"),
        (pa.list_(pa.int8()), "left_out"),
        (pa.null(), "empty"),
    ],
)
def test_columns_are_told_apart_by_what_they_hold(arrow_type, kind):
    assert kind_of(arrow_type) == kind


def test_two_columns_of_one_name_are_refused():
    schema = pa.schema([("a", pa.int8()), ("a", pa.int8())])
    with pytest.raises(ValueError, match=r"data.csv has 'a' more than once. Rename one"):
        kinds_of(schema, PATH)


def test_wishes_come_before_what_the_file_says():
    assert with_wishes({"a": "number", "b": "text"}, {"a": "text"}, PATH) == {
        "a": "text",
        "b": "text",
    }
    with pytest.raises(ValueError, match="'words', for the column 'a', is none"):
        with_wishes({"a": "number"}, {"a": "words"}, PATH)
    with pytest.raises(ValueError, match="'empty', for the column 'a', is none"):
        with_wishes({"a": "number"}, {"a": "empty"}, PATH)
    with pytest.raises(ValueError, match=r"kinds must be a column of data.csv"):
        with_wishes({"a": "number"}, {"z": "text"}, PATH)


def test_the_closest_name_is_suggested():
    said = (
        "target must be a column of data.csv: 'clas' is none of age, class. Did you mean 'class'?"
    )
    with pytest.raises(ValueError, match=re.escape(said)):
        check_column("clas", {"age": "number", "class": "text"}, PATH, parameter="target")
