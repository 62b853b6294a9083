from pathlib import Path

import pyarrow as pa
import pytest

from skliquid.streams.column_types import check_chosen, column_type, file_column_types

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
