from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from skliquid import tabular_pipeline
from skliquid.datasets import load_dataset
from skliquid.tables.table_columns import column_types
from skliquid.tables.tabular import TableEncoder


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
        }
    )
    y = frame["age"] + 20 * (frame["town"] == "Rome") > 55
    frame.loc[::7, "age"] = None
    frame.loc[::9, "town"] = None
    return frame, y.to_numpy().astype(int)


def model(**params):
    return tabular_pipeline(n_estimators=40, n_final=5, random_state=0, **params)


def encoded(table):
    """Return the names and values of an encoded table."""
    encoder = TableEncoder()
    values = encoder.fit_transform(table)
    return encoder.get_feature_names_out().tolist(), values.tolist()


NUMBERS = [
    *["int8", "uint64", "float16", "Int64", "Float32", "Sparse[float64]", "Sparse[int64]"],
    *map(pd.ArrowDtype, [pa.int64(), pa.float64(), pa.float32(), pa.decimal128(5, 2)]),
    *[pl.UInt8, pl.Float32, pl.Decimal(5, 2)],
]
CATEGORIES = [
    pd.Series(["a", "b"] * 2, dtype=object),
    pd.Series(["a", "b"] * 2, dtype="string"),
    pd.Series(["a", "b"] * 2, dtype=pd.ArrowDtype(pa.large_string())),
    pd.Series(["a", "b"] * 2, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    pl.Series(["a", "b"] * 2),
    pl.Series(["a", "b"] * 2, dtype=pl.Categorical),
    pl.Series(["a", "b"] * 2, dtype=pl.Enum(["b", "a"])),
]


def in_a_frame(column):
    return (pd if isinstance(column, pd.Series) else pl).DataFrame({"c": column})


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_numbers_of_any_dtype_are_scaled(dtype):
    library = pl if "polars" in type(dtype).__module__ else pd
    names, values = encoded(in_a_frame(library.Series([1, 2, 3, 6], dtype=dtype)))
    assert names == ["numbers__c"]
    assert np.allclose(np.ravel(values), (np.array([1, 2, 3, 6]) - 3) / np.sqrt(3.5))


@pytest.mark.parametrize(
    "dtype",
    [
        object,
        float,
        "Int64",
        "Sparse[float64]",
        pd.ArrowDtype(pa.decimal128(5, 2)),
        pl.Decimal(5, 2),
        pl.Null,
    ],
    ids=str,
)
def test_missing_numbers_of_any_dtype_are_imputed_by_the_median(dtype):
    library = pl if "polars" in f"{dtype!r} {type(dtype).__module__}" else pd
    encoder = TableEncoder().fit(pd.DataFrame({"c": [1, 2, 6]}))
    missing = in_a_frame(library.Series([None], dtype=dtype))
    assert (
        encoder.transform(missing).tolist() == encoder.transform(pd.DataFrame({"c": [2]})).tolist()
    )


@pytest.mark.parametrize("number", [float, Decimal, np.float32], ids=str)
def test_objects_with_fractions_are_numbers(number):
    values = [number(1.5), number(2), None, number(3.5)]
    frame = in_a_frame(pd.Series(values, dtype=object))
    assert column_types(frame) == {"c": "number"}
    as_floats = in_a_frame(pd.Series([1.5, 2, None, 3.5]))
    encoder = TableEncoder().fit(as_floats)
    assert TableEncoder().fit_transform(frame).tolist() == encoder.transform(as_floats).tolist()
    whole = in_a_frame(pd.Series([number(1), number(2)], dtype=object))
    assert column_types(whole) == {"c": "category"}  # they may be codes


@pytest.mark.parametrize("column", CATEGORIES, ids=lambda c: str(c.dtype))
def test_categories_of_any_dtype_are_one_hot_encoded(column):
    assert encoded(in_a_frame(column)) == (
        ["categories__c_a", "categories__c_b"],
        [[1, 0], [0, 1]] * 2,
    )


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical([1, 2, 1, None])),
        pd.Series(pd.Categorical([1.0, 2.0, 1.0, None])),
        pd.Series(pd.Categorical(pd.array([1, 2, 1, None], dtype="Int64"))),
        pd.Series([1, 2, 1, None], dtype=object),
        pd.Series([1, 2, 1, None], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.int64()))),
        pd.Series([True, False, True, None], dtype=object),
        pd.Series([True, False, True, None], dtype="boolean"),
        pd.Series([True, False, True, None], dtype=pd.ArrowDtype(pa.bool_())),
        pl.Series([True, False, True, None]),
        pl.Series(["1", "2", "1", None], dtype=pl.Categorical),
    ],
    ids=lambda c: f"{c.dtype}-{c[0]!r}",
)
def test_a_category_is_encoded_the_same_beside_missing_values(column):
    frame = in_a_frame(column)
    encoder = TableEncoder().fit(frame[:2])
    alone, together = encoder.transform(frame[:3]), encoder.transform(frame)
    assert alone.tolist() == together[:3].tolist()
    assert sorted(alone[:2].tolist()) == [[0, 1], [1, 0]]
    assert together[3].tolist() == [0, 0]  # training has not seen a missing one
    assert TableEncoder().fit_transform(frame)[:, -1].tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    "column",
    [
        *[pd.Series(["", gone], dtype=object) for gone in (None, np.nan, pd.NA, pd.NaT)],
        pd.Series(["", None], dtype="string"),
        pd.Series(["", None], dtype="category"),
        pd.Series(["", None], dtype=pd.ArrowDtype(pa.large_string())),
        pl.Series(["", None]),
        pl.Series(["", None], dtype=pl.Object),
        pl.Series(["", None], dtype=pl.Categorical),
        pl.Series(["", None], dtype=pl.Enum(["", "a"])),
    ],
    ids=lambda c: f"{c.dtype}-{c[1]!r}",
)
def test_an_empty_text_is_not_a_missing_one(column):
    assert encoded(in_a_frame(column)) == (["categories__c_''", "categories__c_"], [[1, 0], [0, 1]])


@pytest.mark.parametrize("at_fit", ["default", "pandas", "polars"])
@pytest.mark.parametrize("later", ["default", "pandas", "polars"])
def test_missing_and_empty_categories_are_recognized_whatever_output_is_set(at_fit, later):
    frame = pd.DataFrame({"c": ["", None, "None", "nan"]})
    with config_context(transform_output=at_fit):
        encoder = TableEncoder().fit(frame)
    with config_context(transform_output=later):
        values = encoder.transform(frame)
    assert np.array_equal(np.asarray(values)[:, [0, 3, 1, 2]], np.eye(4))


def test_categories_with_the_same_text_are_the_same():
    frame = pd.DataFrame({"c": pd.Series([True, "True", 1, 1.0, "1"], dtype=object)})
    assert encoded(frame)[1] == [[0, 1], [0, 1], [1, 0], [1, 0], [1, 0]]


def test_predictions_do_not_depend_on_other_rows():
    train = pd.DataFrame({"c": pd.Categorical([1, 2] * 100)})
    fitted = model().fit(train, [0, 1] * 100)
    test = pd.DataFrame({"c": pd.Categorical([1, 2, 1, 2, None], categories=[1, 2])})
    assert fitted.predict(test[:4]).tolist() == fitted.predict(test)[:4].tolist() == [0, 1, 0, 1]


OTHERS = {
    "pandas": {"since": pd.Series(pd.period_range("2020", periods=300, freq="D"))},
    "polars": {"since": pl.Series([[1, 2]] * 300)},
}


@pytest.mark.parametrize("library", OTHERS)
def test_other_columns_are_left_out_and_named(table, library):
    frame = table[0] if library == "pandas" else pl.from_pandas(table[0])
    put = frame.assign if library == "pandas" else frame.with_columns
    frame, encoder = put(**OTHERS[library]), TableEncoder()
    with pytest.warns(UserWarning, match=r"left out: 'since' \([pL].*\)\. Convert") as caught:
        values = encoder.fit_transform(frame)
    assert [warning.filename for warning in caught] == [__file__]
    assert list(encoder.left_out_) == ["since"]
    assert np.array_equal(values, TableEncoder().fit_transform(table[0]))
    with pytest.raises(ValueError, match=r"X must have a column .* among 'since' \([pL].*\)"):
        encoder.fit(frame[["since"]])


EMPTY = [
    pd.Series([np.nan] * 300),
    pd.Series([None] * 300, dtype=object),
    pd.Series([None] * 300, dtype="Int64"),
    pd.Series([None] * 300, dtype="Sparse[float64]"),
    pd.Series([None] * 300, dtype="string"),
    pd.Series([None] * 300, dtype="category"),
    pd.Series([pd.NaT] * 300),
    pl.Series([None] * 300),
    pl.Series([float("nan"), None] * 150),
    pl.Series([None] * 300, dtype=pl.String),
]


@pytest.mark.parametrize("column", EMPTY, ids=lambda c: str(c.dtype))
def test_columns_without_a_value_in_training_are_left_out_without_a_warning(table, column):
    frame, y = table
    frame = frame if isinstance(column, pd.Series) else pl.from_pandas(frame)
    put = frame.assign if isinstance(column, pd.Series) else frame.with_columns
    fitted = model().fit(put(empty=column), y)
    assert fitted["encoder"].left_out_ == {"empty": "empty"}
    expected = model().fit(frame, y).predict_proba(frame)
    for later in (column, type(column)(range(300)), type(column)(["a"] * 300)):
        assert np.array_equal(fitted.predict_proba(put(empty=later)), expected)


def test_columns_of_an_array_without_a_value_are_left_out(binary):
    X, y = binary
    wide = np.insert(X, 1, np.nan, axis=1)
    fitted = model().fit(wide, y)
    assert fitted["encoder"].left_out_ == {1: "empty"}
    expected = model().fit(X, y).predict_proba(X)
    assert np.array_equal(fitted.predict_proba(wide), expected)
    assert np.array_equal(fitted.predict_proba(np.insert(X, 1, 7, axis=1)), expected)
    with pytest.raises(ValueError, match=r"X must have a column .* among 0 \(empty\), 1 \(empty\)"):
        model().fit(np.full((4, 2), np.nan), [0, 1, 0, 1])


@pytest.mark.parametrize("names", [[1, 0, 2], ["x", "y", "z"], [("a", 1), ("a", 2), ("b", 1)]])
def test_columns_may_have_any_names_that_differ(names):
    columns = pd.MultiIndex.from_tuples(names) if isinstance(names[0], tuple) else names
    frame = pd.DataFrame({0: [1.0, 2.0, 3.0] * 9, 1: ["a", "b", "a"] * 9, 2: [0.0, 1.0, 5.0] * 9})
    y = [0, 1, 0] * 9
    frame.columns = columns
    assert np.shape(encoded(frame)[1]) == (27, 4)
    assert model().fit(frame, y).score(frame, y) == 1


def test_columns_with_the_same_name_are_refused():
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"])
    with pytest.raises(ValueError, match=r"different names: X has 'a' more than once\. Rename one"):
        model().fit(frame, [0, 1])


def test_columns_are_found_by_name_in_another_order(table):
    frame, y = table
    fitted = model().fit(frame, y)
    assert np.array_equal(
        fitted.predict_proba(frame[frame.columns[::-1]]), fitted.predict_proba(frame)
    )
    assert fitted.feature_names_in_.tolist() == list(frame.columns)
    assert fitted.n_features_in_ == 5


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_the_output_may_be_a_data_frame(table, container):
    frame, y = table
    expected = model().fit(frame, y).predict_proba(frame)
    fitted = model().set_output(transform=container).fit(frame, y)
    assert np.array_equal(fitted.predict_proba(frame), expected)
    assert "categories__town_Oslo" in fitted[:-1].transform(frame).columns
    with config_context(transform_output=container):
        for rows in (frame, pl.from_pandas(frame)):
            assert np.array_equal(model().fit(rows, y).predict_proba(rows), expected)


def test_a_lazy_frame_is_refused(table):
    frame, y = pl.from_pandas(table[0]), table[1]
    with pytest.raises(TypeError, match=r"got a LazyFrame, .* Call X\.collect\(\) first"):
        model().fit(frame.lazy(), y)
    with pytest.raises(TypeError, match="got a LazyFrame"):
        model().fit(frame, y).predict(frame.lazy())


def test_pandas_and_polars_give_the_same(table):
    frame, y = table
    in_pandas = model().fit(frame, y)
    in_polars = model().fit(pl.from_pandas(frame), y)
    assert in_pandas.score(frame, y) > 0.8
    assert np.array_equal(
        in_pandas.predict_proba(frame), in_polars.predict_proba(pl.from_pandas(frame))
    )


def test_the_columns_of_an_array_are_numbers(binary):
    X, y = binary
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    assert model().fit(X, y).score(X, y) > 0.9


def test_unseen_categories_are_accepted(table):
    frame, y = table
    fitted = model().fit(frame, y)
    unseen = frame.assign(town="Lima", grade=pd.Categorical(["z"] * len(frame)))
    assert set(fitted.predict(unseen)) <= {0, 1}


def test_up_to_50_categories_have_a_column_each():
    frame = pd.DataFrame({"c": [f"n{k}" for k in range(50)] * 4})
    encoder = TableEncoder().fit(frame, [0, 1] * 100)
    assert encoder.column_types_ == {"c": "category"}
    assert encoder.transform(frame).shape[1] == 50


@pytest.fixture(scope="module")
def everything():
    """Return a table in which each column but the last says something about the class."""
    rng, n = np.random.default_rng(0), 600
    effect = 1.5 * rng.normal(size=80)
    town = rng.integers(80, size=n)
    seen = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(900, size=n), unit="D")
    is_cold = np.isin(seen.month, [11, 12, 1, 2])
    y = (effect[town] + 3 * is_cold + rng.normal(size=n) / 2 > 1).astype(int)
    said = np.where(y == 1, "glad", "sorry")
    frame = pd.DataFrame(
        {
            "town": [f"town of {k}" for k in town],
            "seen": seen,
            "review": [f"I am {word} to say it is a {k} here" for k, word in enumerate(said)],
            "x": rng.normal(size=n),
        }
    )
    return frame, y


def test_many_categories_dates_and_texts_are_encoded(everything):
    frame, y = everything
    encoder = TableEncoder(random_state=0).fit(frame, y)
    types = {"town": "many", "seen": "date", "review": "text", "x": "number"}
    assert (encoder.column_types_, encoder.left_out_) == (types, {})
    names = encoder.get_feature_names_out().tolist()
    assert encoder.transform(frame).shape == (600, len(names))
    assert names == [
        "numbers__x",
        *[f"dates__seen_{part}" for part in ("days", "year", "month", "day", "weekday")],
        *[f"dates__seen_{part}" for part in ("year_sin", "year_cos", "week_sin", "week_cos")],
        "classes__town",
        *[f"spelling__town_{k}" for k in range(30)],
        *[f"words__review_{k}" for k in range(30)],
    ]


@pytest.mark.parametrize(
    ("column", "least"), [("town", 0.6), ("seen", 0.65), ("review", 0.95)], ids=str
)
def test_a_column_of_each_type_is_learned_from(everything, column, least):
    frame, y = everything
    fitted = model().fit(frame[[column]][:300], y[:300])
    assert fitted.score(frame[[column]][300:], y[300:]) > least


def test_the_same_seed_gives_the_same_bits(everything):
    frame, y = everything
    first, again, other = (
        tabular_pipeline(n_estimators=6, n_final=2, random_state=seed).fit(frame, y)
        for seed in (0, 0, 1)
    )
    assert np.array_equal(first.predict_proba(frame), again.predict_proba(frame))
    assert not np.array_equal(first[:-1].transform(frame), other[:-1].transform(frame))


def test_pandas_and_polars_give_the_same_dates_and_texts(everything):
    frame, y = everything
    other = pl.from_pandas(frame)
    encoder = TableEncoder(random_state=0)
    values = encoder.fit_transform(frame, y)
    assert np.array_equal(encoder.transform(frame), encoder.transform(other))
    assert np.array_equal(TableEncoder(random_state=0).fit_transform(other, y), values)


def test_rows_are_encoded_independently_of_each_other(everything):
    frame, y = everything
    encoder = TableEncoder(random_state=0).fit(frame, y)
    alone = np.vstack([encoder.transform(frame[k : k + 1]) for k in range(20)])
    assert np.array_equal(alone, encoder.transform(frame)[:20])


def test_a_training_row_is_not_encoded_by_its_own_class(everything):
    _, y = everything
    names = pd.DataFrame({"name": [f"n{k}" for k in range(600)]})  # each of one row
    encoder = TableEncoder(random_state=0)
    values = encoder.fit_transform(names, y)
    by_class = values[:, encoder.get_feature_names_out().tolist().index("classes__name")]
    assert abs(by_class[y == 0].mean() - by_class[y == 1].mean()) < 0.1


def test_without_classes_many_categories_are_encoded_by_spelling_alone(everything):
    frame, _ = everything
    encoder = TableEncoder(random_state=0).fit(frame[["town"]])
    assert [step[0] for step in encoder.encoder_.transformers][2:] == ["spelling"]


def test_missing_and_unseen_values_of_all_types_are_accepted(everything):
    frame, y = everything
    fitted = model().fit(frame, y)
    gaps = frame.astype({"town": object, "review": object})
    gaps.loc[::2, ["town", "seen", "review", "x"]] = None
    gaps.loc[1::2, "town"] = "another town"
    assert np.isfinite(fitted.predict_proba(gaps)).all()
    assert np.isfinite(model().fit(gaps.assign(town=frame["town"]), y).predict_proba(gaps)).all()


def test_an_encoder_can_be_cloned_and_searched(everything):
    frame, y = everything
    search = GridSearchCV(model(), {"classifier__n_final": [2, 3]}, cv=2).fit(frame, y)
    assert search.best_score_ > 0.75
    assert clone(search.best_estimator_)["encoder"].random_state == 0


def test_a_dataset_with_missing_values_is_learned():
    data = load_dataset("credit-approval", as_frame=True)
    assert model().fit(data.X, data.y).score(data.X, data.y) > 0.8


def test_another_classifier_may_follow_the_encoding(table):
    frame, y = table
    assert tabular_pipeline(LogisticRegression()).fit(frame, y).score(frame, y) > 0.8
    with pytest.raises(ValueError, match="'n_final' cannot be given to another classifier"):
        tabular_pipeline(LogisticRegression(), n_final=3)
    assert tabular_pipeline(LogisticRegression(), random_state=3)["encoder"].random_state == 3


def test_half_precision_of_arrow_is_a_number():
    half = pa.array(np.array([1, 2, 3, 4], dtype=np.float16))
    frame = pd.DataFrame({"x": pd.Series(pd.arrays.ArrowExtensionArray(half))})
    assert TableEncoder().fit_transform(frame).shape == (4, 1)
