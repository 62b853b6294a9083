import math

import numpy as np
import pandas as pd
import pytest

from skliquid.datasets.dataset import Dataset, dataset_from_frame

FRAME = pd.DataFrame(
    {
        "age": [41.0, None, 7.0],
        "class": ["a", "b", "a"],
        "city": ["Bonn", None, "Rom"],
        "date": ["2015-02-04", "2015-02-05", None],
    }
)
COLUMN_TYPES = ("numerical", "categorical", "time")


def dataset(*, as_frame=False) -> Dataset:
    return dataset_from_frame(
        FRAME, COLUMN_TYPES, target="class", as_frame=as_frame, name="towns", source="here"
    )


def test_mixed_features_are_floats_and_text_in_one_array():
    towns = dataset()
    assert towns.X.dtype == object
    assert towns.X[0].tolist() == [41.0, "Bonn", "2015-02-04"]
    assert math.isnan(towns.X[1, 0])
    assert towns.X[1, 1] is None
    assert towns.X[2, 2] is None
    assert towns.y.tolist() == ["a", "b", "a"]
    assert towns.feature_names == ("age", "city", "date")


def test_numerical_features_are_an_array_of_floats():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, None], "class": ["x", "y"]})
    numerical = dataset_from_frame(
        frame, ("numerical", "numerical"), target="class", as_frame=False, name="", source=""
    )
    np.testing.assert_array_equal(numerical.X, [[1, 3], [2, np.nan]])
    assert numerical.X.dtype == np.float64
    assert numerical.X.flags.c_contiguous
    assert numerical.n_missing == 1


def test_a_frame_has_columns_of_the_types_of_the_features():
    towns = dataset(as_frame=True)
    assert list(towns.X.columns) == ["age", "city", "date"]
    assert towns.X["age"].dtype == np.float64
    assert towns.X["city"].dtype == "category"
    assert list(towns.X["city"].cat.categories) == ["Bonn", "Rom"]
    assert towns.X["date"][0] == "2015-02-04"
    assert towns.y.name == towns.target_name == "class"
    assert towns.y.tolist() == ["a", "b", "a"]


@pytest.mark.parametrize("as_frame", [False, True])
def test_a_dataset_counts_its_rows_classes_and_missing_cells(as_frame):
    towns = dataset(as_frame=as_frame)
    assert (towns.n_rows, towns.n_features, towns.n_missing) == (3, 3, 3)
    assert towns.class_counts == {"a": 2, "b": 1}
    assert repr(towns) == "Dataset('towns', 3 rows, 3 features, classes a: 2, b: 1)"
