"""TableEncoder: types of columns, encodings, and what later rows may look like."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from small_tables import TYPES, in_libraries, small_table

from skliquid import TableEncoder
from skliquid.tables.frames import as_frame
from skliquid.tables.table_encoder import categorical_positions

COLUMNS, Y = small_table()
FRAMES = in_libraries(COLUMNS)
FRAME = FRAMES["pandas"]


def frame_of(values, **others):
    return pd.DataFrame({"c": values, **others})


def type_of(values, **params):
    return TableEncoder(random_state=0, **params).fit(frame_of(values)).column_types_["c"]


def encoded(frame):
    encoder = TableEncoder()
    values = encoder.fit_transform(frame)
    return encoder.get_feature_names_out().tolist(), values.tolist()


# Libraries


@pytest.mark.parametrize("library", FRAMES)
def test_the_same_rows_have_the_same_encoding_in_all_libraries(library):
    encoder, expected = TableEncoder(random_state=0), TableEncoder(random_state=0)
    found = encoder.learn(FRAMES[library], Y)
    assert np.array_equal(found, expected.learn(FRAME, Y), equal_nan=True)
    assert encoder.column_types_ == TYPES
    for other in ("pandas", "polars", "pyarrow"):
        assert np.array_equal(encoder.transform(FRAMES[other]), expected.transform(FRAME))


@pytest.mark.parametrize("library", FRAMES)
def test_rows_are_encoded_independently_of_each_other(library):
    encoder = TableEncoder(random_state=0).fit(FRAME, Y)
    frame, whole = as_frame(FRAMES[library]), encoder.encode(FRAMES[library])
    for start, n_rows in ((0, 1), (5, 1), (10, 16), (20, 17), (100, 200)):
        is_used = (np.arange(300) >= start) & (np.arange(300) < start + n_rows)
        part = encoder.encode(frame.select(is_used))
        assert np.array_equal(part, whole[is_used], equal_nan=True)


# Types of columns

DAYS = [f"{k % 28 + 1:02}.{k % 12 + 1:02}.2020" for k in range(100)]


@pytest.mark.parametrize(
    ("values", "column_type"),
    [
        ([1, 2.5], "number"),
        ([Decimal(1), Decimal(2)], "number"),
        (pd.array([1, None], dtype="Int64"), "number"),
        (pd.to_timedelta([1, 2]), "number"),
        (["$12", "$1,300.50"], "number"),
        (["12 km", "14 km"], "number"),
        (["1", "2", "-", "3"] * 9, "number"),
        (["1.5", "2.5"], "number"),
        (["1", "2"], "category"),  # text of whole numbers was meant as text
        (["007", "120"], "category"),
        (["a", "b"], "category"),
        ([True, False], "category"),
        (pd.Categorical([1, 2]), "category"),
        (pd.Categorical(["$1", "$2"]), "category"),
        ([f"name {k}" for k in range(100)], "category"),
        ([f"{k} this is a text of nine words now" for k in range(100)], "text"),
        ([f"{k % 9} this is a text of nine words now" for k in range(100)], "category"),
        (pd.date_range("2020-01-01", periods=9), "date"),
        (["2020-01-01", "2020-05-06"], "date"),
        (DAYS, "date"),
        (pd.Categorical(DAYS), "category"),
    ],
    ids=lambda value: f"{value}"[:20].replace("\n", ""),
)
@pytest.mark.filterwarnings("ignore:Assumptions about columns")
def test_the_type_of_a_column(values, column_type):
    assert type_of(values) == column_type


@pytest.mark.parametrize(
    ("values", "chosen", "column_type"),
    [
        ([1, 2], ["c"], "category"),
        ([1, 2], [0], "category"),
        ([1, 2], [True], "category"),
        ([1, 2], None, "number"),
        (["1", "2"], None, "number"),
        (["1", "2"], [], "number"),
        (["a", "b"], None, "text"),
        (["a", "b"], [False], "text"),
        (pd.date_range("2020-01-01", periods=9), ["c"], "category"),
        (DAYS, ["c"], "category"),
        (["$1", "$2"], ["c"], "category"),
    ],
    ids=lambda value: f"{value}"[:20].replace("\n", ""),
)
@pytest.mark.filterwarnings("ignore:Assumptions about columns")
def test_categorical_features_decide(values, chosen, column_type):
    assert type_of(values, categorical_features=chosen) == column_type


def test_categorical_features_are_found_by_name_position_or_mask():
    names = ["a", "b", "c"]
    assert categorical_positions(names, "from_dtype") is None
    assert categorical_positions(names, None) == ()
    for chosen in (["c", "a"], [2, 0], np.array([0, 2]), [True, False, True], ("a", "c")):
        assert categorical_positions(names, chosen) == {0, 2}
    assert categorical_positions([5, "b"], np.array(["b"], dtype=object)) == {1}


@pytest.mark.parametrize(
    "chosen",
    [["town"], [3], [-1], [True], [1.0], [[1]], ["a", 0], {"a"}, "a", [None], 1],
    ids=str,
)
def test_other_categorical_features_are_refused(chosen):
    with pytest.raises(ValueError, match=r"categorical_features must be .*\. Give a list such as"):
        categorical_positions(["a", "b", "c"], chosen)


@pytest.mark.parametrize(
    "values",
    [
        [np.nan] * 4,
        [None] * 4,
        pd.array([None] * 4, dtype="Int64"),
        pd.array([None] * 4, dtype="string"),
        pd.Categorical([None] * 4),
        [pd.NaT] * 4,
    ],
    ids=lambda values: str(pd.Series(values).dtype),
)
def test_columns_without_a_value_are_left_out_without_a_warning(values):
    encoder = TableEncoder().fit(frame_of(values, x=[1, 2, 3, 4]))
    assert encoder.left_out_ == {"c": "it has no value"}
    expected = TableEncoder().fit_transform(pd.DataFrame({"x": [1, 2, 3, 4]}))
    for later in ([7] * 4, ["a"] * 4, values):
        found = encoder.transform(frame_of(later, x=[1, 2, 3, 4]))
        assert np.array_equal(found, expected)
    assert np.array_equal(encoder.transform(pd.DataFrame({"x": [1, 2, 3, 4]})), expected)


@pytest.mark.parametrize("values", [pd.Series([[1, 2]] * 3), pl.Series([[1, 2]] * 3)], ids=type)
def test_columns_of_other_types_are_left_out_with_a_warning(values):
    library = pd if isinstance(values, pd.Series) else pl
    encoder = TableEncoder()
    with pytest.warns(UserWarning, match=r"left out: 'c' \(its type is .*not supported") as caught:
        encoder.fit(library.DataFrame({"c": values, "x": [1, 2, 3]}))
    assert [warning.filename for warning in caught] == [__file__]
    assert list(encoder.left_out_) == ["c"]
    with pytest.raises(ValueError, match=r"X must have a column of numbers.* among 'c' \(its type"):
        TableEncoder().fit(library.DataFrame({"c": values}))


def test_a_single_date_is_left_out():
    frame = frame_of(pd.to_datetime(["2024-01-01"] * 3), x=[1, 2, 3])
    assert TableEncoder().fit(frame).left_out_ == {"c": "it has one date only"}


def test_declared_categories_that_no_row_has_do_not_count():
    declared = pd.CategoricalDtype(list("abc") + [f"other {k}" for k in range(100)])
    frame = frame_of(pd.Series(["a", "b", "c"] * 9, dtype=declared))
    dictionary = pa.DictionaryArray.from_arrays([0, 1, 2] * 9, declared.categories.tolist())
    for same in (frame, pa.table({"c": dictionary})):
        encoder = TableEncoder(random_state=0).fit(same, [0, 1, 0] * 9)
        assert encoder.get_feature_names_out().tolist() == ["c_a", "c_b", "c_c"]
        assert np.array_equal(encoder.transform(same), np.tile(np.eye(3), (9, 1)))


# Notes


@pytest.mark.parametrize(
    ("values", "note"),
    [
        (["1", "2", "unknown", "3"] * 9, "unknown"),
        (["1", "2", "3", "oops"] * 9 + ["4"] * 60, "oops"),
        (["$12", "$13"], r"'\$12' is read as 12"),
        (["Oslo", "oslo ", "Rome"], "'Oslo', 'oslo ' differ only in case or spaces"),
        (["03/04/2020", "05/06/2020"], "with the month first"),
    ],
    ids=["marker", "odd cell", "currency", "labels", "dates"],
)
def test_assumptions_about_columns_are_named(values, note):
    with pytest.warns(UserWarning, match=f"Assumptions about columns of X: 'c': .*{note}") as found:
        encoder = TableEncoder().fit(frame_of(values))
    assert len(found) == 1
    assert found[0].filename == __file__
    assert encoder.columns_[0].notes


def test_clean_frames_give_no_warning():
    for frame in FRAMES.values():
        TableEncoder(random_state=0).fit(frame, Y)  # a warning would be an error


# Encodings


def test_numbers_categories_and_missing_values_have_names():
    frame = pd.DataFrame(
        {"age": [1, 3, None], "town": ["Rome", None, "Oslo"], "sex": ["f", "m", "m"]}
    )
    names, values = encoded(frame)
    assert names == ["age", "age_missing", "town_Oslo", "town_Rome", "town_missing", "sex_f"]
    assert values == [[-1, 0, 0, 1, 0, 1], [1, 0, 0, 0, 1, 0], [0, 1, 1, 0, 0, 0]]


def test_many_categories_dates_and_texts_have_names():
    frame = pd.DataFrame(
        {
            "town": [f"town of {k % 80}" for k in range(400)],
            "seen": pd.date_range("2020-01-01", periods=400),
            "review": [f"I am glad to say it is {k} here" for k in range(400)],
        }
    )
    encoder = TableEncoder(random_state=0).fit(frame, np.arange(400) % 2)
    names = encoder.get_feature_names_out().tolist()
    assert [name for name in names if name.startswith("town_town")] == names[:62]
    rest = ["town_other", "town_share_0", *[f"town_{k}" for k in range(10)]]
    parts = (
        "days",
        "year",
        "month",
        "day",
        "weekday",
        "year_sin",
        "year_cos",
        "week_sin",
        "week_cos",
    )
    expected = [*rest, *[f"seen_{part}" for part in parts], *[f"review_{k}" for k in range(30)]]
    assert names[62:] == expected
    assert encoder.transform(frame).shape == (400, len(names)) == (400, encoder.n_features_out_)


def test_an_empty_text_is_not_a_missing_one():
    for gone in (None, np.nan, pd.NA):
        names, values = encoded(frame_of(pd.Series(["", gone, "a", "a"], dtype=object)))
        assert names == ["c_a", "c_", "c_missing"]
        assert values == [[0, 1, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0]]


def test_without_classes_many_categories_have_no_shares():
    frame = frame_of([f"town of {k}" for k in range(100)])
    for y in (None, np.zeros(100)):
        encoder = TableEncoder(random_state=0).fit(frame, y)
        assert not [name for name in encoder.get_feature_names_out() if "share" in name]


def test_shares_are_for_the_twenty_most_frequent_classes():
    frame, y = frame_of([f"town of {k % 70}" for k in range(1000)]), np.arange(1000) % 23
    y[:200] = y[:200] % 20
    encoder = TableEncoder(random_state=0).fit(frame, y)
    assert encoder.classes_.tolist() == list(range(20))
    assert len([name for name in encoder.get_feature_names_out() if "share" in name]) == 20


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [3.5, 7.0], ["a", 1]], ids=str)
def test_classes_may_have_any_type(labels):
    frame = frame_of([f"town of {k % 70}" for k in range(1000)])
    y = np.random.default_rng(0).integers(2, size=1000)
    expected = TableEncoder(random_state=0).fit_transform(frame, y)
    named = np.array(labels, dtype=object if labels[0] == "a" else None)[y]
    if labels[0] == "a":
        named = named.astype(str)
    flipped = 1 - y if labels[0] == "a" else y  # "1" is before "a"
    expected = TableEncoder(random_state=0).fit_transform(frame, flipped)
    assert np.array_equal(TableEncoder(random_state=0).fit_transform(frame, named), expected)


def test_training_rows_of_noise_do_not_show_their_class():
    rng = np.random.default_rng(0)
    frame, y = frame_of(rng.integers(400, size=3000).astype(str)), rng.integers(2, size=3000)
    encoder = TableEncoder(random_state=0)
    values = encoder.fit_transform(frame, y)
    share = encoder.get_feature_names_out().tolist().index("c_share_0")
    assert abs(np.corrcoef(values[:, share], y)[0, 1]) < 0.07
    assert np.corrcoef(encoder.transform(frame)[:, share], y)[0, 1] > 0.2


def test_the_same_seed_gives_the_same_bits():
    first, again, other = (
        TableEncoder(random_state=seed).fit_transform(FRAME, Y) for seed in (0, 0, 1)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_more_rows_add_categories_and_counts():
    encoder = TableEncoder(random_state=0).partial_fit(FRAME[:200], Y[:200])
    n_columns = encoder.transform(FRAME).shape[1]
    before = encoder.encode(FRAME)
    encoder.partial_fit(FRAME.assign(town="Lima"), Y)
    assert encoder.transform(FRAME).shape[1] == n_columns
    assert "Lima" in encoder.columns_[list(TYPES).index("town")].encoders[0].values
    assert not np.array_equal(encoder.encode(FRAME), before, equal_nan=True)  # shares of streets


# Rows to encode


@pytest.fixture(scope="module")
def fitted():
    return TableEncoder(random_state=0).fit(FRAME, Y)


def test_columns_are_found_by_name(fitted):
    expected = fitted.transform(FRAME)
    for frame in (FRAME[FRAME.columns[::-1]], FRAME.assign(other=1, another="a")):
        assert np.array_equal(fitted.transform(frame), expected)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_missing_column_is_named(fitted, library):
    frame = FRAMES[library]
    others = [name for name in TYPES if name != "town"]
    frame = frame.select(others) if library == "pyarrow" else frame[others]
    with pytest.raises(ValueError, match=r"'town' is missing\. Add it, or train without it"):
        fitted.transform(frame)


def test_a_similar_name_is_suggested(fitted):
    with pytest.raises(ValueError, match=r"'town' is missing\. Did you mean 'Town '\?"):
        fitted.transform(FRAME.rename(columns={"town": "Town "}))


def test_names_may_be_of_any_type():
    for names in ([1, 0], [("a", 1), ("b", 2)], ["x", 3]):
        frame = pd.DataFrame([[1.0, "a"], [2.0, "b"], [3.0, "c"]])
        frame.columns = names
        encoder = TableEncoder().fit(frame)
        assert encoder.transform(frame).shape == (3, 4)
        with pytest.raises(ValueError, match="is missing"):
            encoder.transform(frame.iloc[:, :1])


@pytest.mark.parametrize(
    ("column", "value", "found"),
    [
        ("number", "x", "numbers in the column 'number', as in training: got 'x'"),
        ("number", True, "numbers in the column 'number', as in training: got 'True'"),
        ("integer", pd.Timestamp("2024-01-01"), "numbers in the column 'integer', .* got dates"),
        ("date", "soon", "dates in the column 'date', as in training: got 'soon'"),
        ("date", 3.5, "dates in the column 'date', as in training: got numbers"),
        ("number", np.inf, "finite numbers: the column 'number'"),
    ],
    ids=str,
)
def test_values_of_another_type_are_named(fitted, column, value, found):
    for frame in (FRAME, FRAME[:3]):
        with pytest.raises(ValueError, match=found):
            fitted.transform(frame.assign(**{column: value}))


def test_numbers_and_dates_may_be_text_later(fitted):
    frame = FRAME.assign(
        number=FRAME["number"].map(str, na_action="ignore"),
        integer=FRAME["integer"].map(str, na_action="ignore"),
        date=FRAME["date"].map(str, na_action="ignore"),
    )
    assert np.array_equal(fitted.transform(frame), fitted.transform(FRAME))


def test_unseen_categories_are_like_rare_ones(fitted):
    found = [fitted.encode(FRAME[:3].assign(town=town)) for town in ("Lima", 3, 2.5, True)]
    assert all(np.array_equal(one, found[0], equal_nan=True) for one in found)


def test_categories_in_another_order_are_the_same(fitted):
    order = pd.CategoricalDtype(["Paris", "Turin", "Rome", "Bern", "Oslo"])
    frame = FRAMES["pandas with categories"].astype({"town": order})
    assert np.array_equal(fitted.transform(frame), fitted.transform(FRAME))


def test_values_may_be_missing_that_never_were():
    frame = pd.DataFrame(
        {
            "n": [1.0, 2, 3] * 30,
            "c": ["a", "b", "c"] * 30,
            "d": pd.date_range("2020-01-01", periods=90),
            "s": [f"street {k}" for k in range(90)],
        }
    )
    encoder = TableEncoder(random_state=0).fit(frame, np.arange(90) % 2)
    gone = pd.DataFrame({name: [None, None] for name in "ncds"})
    assert not encoder.transform(gone).any()
    assert np.isnan(encoder.encode(gone)).all()


def test_arrays_are_taken_by_position(fitted):
    rows = [list(row) for row in zip(*COLUMNS.values(), strict=True)]
    for X in (rows, np.array(rows, dtype=object)):
        assert np.array_equal(fitted.transform(X), fitted.transform(FRAME))
    with pytest.raises(ValueError, match=r"X must have 8 columns, as in training: got 2\. Give a"):
        fitted.transform([row[:2] for row in rows])


def test_tables_without_rows_or_columns_are_refused(fitted):
    with pytest.raises(ValueError, match="X must have rows: got a table without any"):
        fitted.transform(FRAME[:0])
    with pytest.raises(ValueError, match="X must have rows"):
        TableEncoder().fit(FRAME[:0])
    with pytest.raises(ValueError, match="X must have columns"):
        TableEncoder().fit(FRAME[[]])


def test_values_that_are_not_hashable_are_refused(fitted):
    for frame in (FRAME, FRAME[:3]):
        with pytest.raises(ValueError, match="column 'town', as in training: got"):
            fitted.transform(frame.assign(town=pd.Series([[1, 2]] * len(frame))))


# As a transformer


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_the_output_may_be_a_data_frame(fitted, container):
    encoder = TableEncoder(random_state=0).set_output(transform=container)
    found = encoder.fit(FRAME, Y).transform(FRAME)
    assert list(found.columns) == fitted.get_feature_names_out().tolist()
    assert np.array_equal(found.to_numpy(), fitted.transform(FRAME))
    with config_context(transform_output=container):
        again = TableEncoder(random_state=0).fit(FRAMES["polars"], Y).transform(FRAMES["polars"])
    assert np.array_equal(again.to_numpy(), fitted.transform(FRAME))


def test_it_precedes_other_classifiers():
    model = make_pipeline(TableEncoder(random_state=0), LogisticRegression(max_iter=500))
    assert model.fit(FRAME, Y).score(FRAME, Y) > 0.8
    assert clone(model).fit(FRAMES["pyarrow"], Y).score(FRAME, Y) == model.score(FRAME, Y)


def test_it_must_be_fitted_first():
    with pytest.raises(ValueError, match="not fitted"):
        TableEncoder().transform(FRAME)


def test_an_array_of_numbers_is_scaled():
    X = np.array([[1.0, 5], [3, np.nan]])
    assert TableEncoder().fit_transform(X).tolist() == [[-1, 0, 0], [1, 0, 1]]


@pytest.mark.parametrize(
    "dtype",
    [
        *["int8", "uint64", "float16", "Int64", "Float32", "Sparse[float64]", "Sparse[int64]"],
        *map(pd.ArrowDtype, [pa.int64(), pa.float64(), pa.float32(), pa.decimal128(5, 2)]),
        *[pl.UInt8, pl.Float32, pl.Decimal(5, 2)],
    ],
    ids=str,
)
def test_numbers_of_any_dtype_are_scaled(dtype):
    library = pl if "polars" in type(dtype).__module__ else pd
    values = TableEncoder().fit_transform(
        library.DataFrame({"c": library.Series([1, 2, 3, 6], dtype=dtype)})
    )
    assert np.allclose(np.ravel(values), (np.array([1, 2, 3, 6]) - 3) / np.sqrt(3.5))
