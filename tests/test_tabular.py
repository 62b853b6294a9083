import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from skliquid import tabular_pipeline
from skliquid.datasets import load_dataset
from skliquid.tabular import categorical_columns, numerical_columns


@pytest.fixture(scope="module")
def table():
    rng, n = np.random.default_rng(0), 300
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, n),
            "visits": rng.integers(0, 9, n),
            "town": rng.choice(["Oslo", "Rome", "Cairo"], n),
            "smokes": rng.random(n) < 0.3,
            "grade": pd.Categorical(rng.choice(["a", "b"], n)),
            "seen": pd.Timestamp("2020-01-01"),
        }
    )
    y = frame["age"] + 20 * (frame["town"] == "Rome") > 55
    frame.loc[::7, "age"] = None
    frame.loc[::9, "town"] = None
    return frame, y.to_numpy().astype(int)


def model(**params):
    return tabular_pipeline(n_estimators=40, n_final=5, random_state=0, **params)


def test_columns_are_told_apart_by_what_they_hold(table):
    for frame in (table[0], pl.from_pandas(table[0])):
        assert numerical_columns(frame) == ["age", "visits"]
        assert categorical_columns(frame) == ["town", "smokes", "grade"]


def test_pandas_and_polars_give_the_same(table):
    frame, y = table
    in_pandas = model().fit(frame, y)
    in_polars = model().fit(pl.from_pandas(frame), y)
    assert in_pandas.score(frame, y) > 0.8
    assert np.array_equal(
        in_pandas.predict_proba(frame), in_polars.predict_proba(pl.from_pandas(frame))
    )


def test_an_array_is_a_table_of_numbers(binary):
    X, y = binary
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    assert model().fit(X, y).score(X, y) > 0.9


def test_categories_that_training_has_not_seen_are_taken(table):
    frame, y = table
    fitted = model().fit(frame, y)
    strange = frame.assign(town="Lima", grade=pd.Categorical(["z"] * len(frame)))
    assert set(fitted.predict(strange)) <= {0, 1}


def test_rare_categories_become_one():
    frame = pd.DataFrame({"name": [f"n{k}" for k in range(400)], "x": np.arange(400.0)})
    fitted = model().fit(frame, np.arange(400) % 2)
    assert fitted[:-1].transform(frame).shape[1] == 50 + 1


def test_a_dataset_with_missing_values_is_learned():
    data = load_dataset("credit-approval", as_frame=True)
    assert model().fit(data.X, data.y).score(data.X, data.y) > 0.8


def test_another_classifier_may_come_after_the_coding(table):
    frame, y = table
    assert tabular_pipeline(LogisticRegression()).fit(frame, y).score(frame, y) > 0.8
    with pytest.raises(ValueError, match="'n_final' cannot be given to another classifier"):
        tabular_pipeline(LogisticRegression(), n_final=3)
