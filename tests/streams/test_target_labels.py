import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skliquid.streams import increments_from
from skliquid.streams.target_labels import labels_of, parse_classes, type_of_labels


@pytest.mark.parametrize(
    ("values", "label_type"),
    [
        (["yes", "no"], "text"),
        (["1", "0", "2"], "number"),
        (["1.0", "0"], "number"),
        (["01", "02"], "text"),
        (["True", "false"], "boolean"),
        ([True, False], "boolean"),
        ([1, 0], "number"),
        ([1.0, 0.0], "number"),
        (["1", "x"], "text"),
    ],
)
def test_labels_have_the_type_of_their_values(values, label_type):
    assert type_of_labels(values, "a.csv") == label_type


def test_text_that_is_no_cell_of_a_csv_file_is_not_parsed():
    assert type_of_labels(["0", "1"], "a.parquet", are_cells=False) == "text"
    assert type_of_labels([0, 1], "a.parquet", are_cells=False) == "number"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, 1.0], "target must hold classes, as text, integers or booleans: a.csv holds 0.5"),
        (["yes"], "from 2 to 1000 classes: a.csv holds only 'yes'"),
        ([], "from 2 to 1000 classes: a.csv holds only None"),
        (list(range(1001)), "from 2 to 1000 classes: a.csv holds more"),
    ],
)
def test_other_values_are_no_labels(values, message):
    with pytest.raises(ValueError, match=message):
        type_of_labels(values, "a.csv")


@pytest.mark.parametrize(
    ("cells", "label_type", "labels"),
    [
        (["a", "b", "a"], "text", ["a", "b", "a"]),
        (["1", " 2", "1.0"], "number", [1, 2, 1]),
        ([3.0, 4.0], "number", [3, 4]),
        (["TRUE", "false"], "boolean", [True, False]),
    ],
)
def test_labels_are_parsed_once_per_distinct_value(cells, label_type, labels):
    column = pa.chunked_array([cells])
    for encoded in (column, column.dictionary_encode()):
        assert labels_of(encoded, label_type).tolist() == labels


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1], [False, True], ["a, b", "c"]], ids=str)
def test_csv_and_parquet_files_have_the_same_labels(tmp_path, name, labels):
    frame = pd.DataFrame({"x": range(40), "y": labels * 20})
    path = tmp_path / name
    frame.to_csv(path, index=False) if name.endswith("csv") else frame.to_parquet(path)
    data = increments_from(path, target="y")
    assert data.classes.tolist() == labels
    assert data.take(None)[0][1].tolist() == labels * 20


def test_classes_are_given_as_they_are_in_the_target():
    assert parse_classes(["1", 0, 2.0], "number", [0, 1]).tolist() == [0, 1, 2]
    assert np.array_equal(parse_classes(["true", False], "boolean", [False, True]), [False, True])
    with pytest.raises(ValueError, match=r"classes must hold all labels, .*got \[0, 'x'\]"):
        parse_classes(["x", 0], "number", [0, 1])
    with pytest.raises(TypeError, match="classes must be a list of labels: got 'ab'"):
        parse_classes("ab", "text", ["a", "b"])
