import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skliquid import LiquidEnsembleClassifier
from skliquid.streams import load_model, train_on


def small():
    return LiquidEnsembleClassifier(n_estimators=10, n_final=4, random_state=0)


@pytest.fixture(scope="module")
def trained(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "train.parquet"
    table.assign(zip=7000 + np.arange(1200) % 3).to_parquet(path, index=False)
    return train_on(path, target="ill", ensemble=small(), column_types={"zip": "category"})


@pytest.fixture
def rows(table):
    return table.assign(zip=7000 + np.arange(1200) % 3)


def classes(model, path):
    return np.concatenate([part.classes for part in model.predictions(path)])


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_file_is_predicted_as_a_data_frame_is(trained, rows, write, name):
    part = next(trained.predictions(write(rows, name)))
    for frame in (rows, pl.from_pandas(rows), pa.Table.from_pandas(rows)):
        assert np.array_equal(part.probabilities, trained.ensemble.predict_proba(frame))
    assert part.n_labelled == 1200
    assert part.n_correct == np.sum(part.classes == rows["ill"])
    assert part.unused == []


@pytest.mark.parametrize(
    "values", [[True, False, None], [1001, 1002, None], [0.5, 1.0, None]], ids=str
)
@pytest.mark.parametrize("nullable", [False, True])
def test_chosen_categories_are_the_same_in_files_and_frames(write, values, nullable):
    column = pd.Series(values * 100)
    rows = pd.DataFrame({"a": column, "b": 1.0, "ill": column.isna() | (column == values[0])})
    in_file = rows.convert_dtypes() if nullable else rows
    path = write(in_file, "a.parquet")
    model = train_on(path, target="ill", ensemble=small(), column_types={"a": "category"})
    part = next(model.predictions(path))
    for frame in (rows, in_file):
        assert np.array_equal(part.probabilities, model.ensemble.predict_proba(frame))
    assert np.array_equal(part.classes, rows["ill"])
    assert part.unseen == {}


def test_a_saved_model_is_loaded_with_the_same_predictions(trained, rows, write, tmp_path):
    trained.save(tmp_path / "a.skliquid")
    loaded, path = load_model(tmp_path / "a.skliquid"), write(rows, "a.csv")
    assert np.array_equal(classes(loaded, path), classes(trained, path))
    assert loaded.target == "ill"
    assert loaded.column_types == trained.column_types
    assert loaded.chosen_types == {"zip": "category"}


def test_the_target_is_optional(trained, rows, write):
    half = rows.assign(ill=rows["ill"].where(rows.index < 600))
    part = next(trained.predictions(write(half, "a.parquet")))
    assert part.n_labelled == 600
    part = next(trained.predictions(write(rows.drop(columns="ill"), "b.parquet")))
    assert part.n_labelled == 0
    part = next(trained.predictions(write(rows.assign(ill="perhaps"), "c.csv")))
    assert part.n_unknown == 1200


def test_other_columns_are_ignored(trained, rows, write):
    path = write(rows.assign(id=range(1200)).drop(columns="seen"), "a.csv")
    part = next(trained.predictions(path))
    assert part.unused == ["id"]
    assert np.array_equal(part.classes, classes(trained, write(rows, "b.csv")))


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_ids_are_kept_beside_the_predictions(trained, rows, write, name):
    rows = rows.assign(patient=[f"{k:05d}" for k in range(1200)], number=range(1200))
    path = write(rows, name)
    part = next(trained.predictions(path, ids=["patient", "number", "town", "ill"]))
    assert part.ids.column_names == ["patient", "number", "town", "ill"]
    assert part.ids["patient"].to_pylist() == rows["patient"].to_list()
    assert [int(number) for number in part.ids["number"].to_pylist()] == list(range(1200))
    assert part.ids["ill"].to_pylist() == rows["ill"].to_list()
    assert np.array_equal(part.classes, trained.ensemble.predict(rows))
    assert next(trained.predictions(path)).ids.num_columns == 0
    with pytest.raises(ValueError, match=r"ids \(--id\) must be a column .*Did you mean 'patient'"):
        trained.predictions(path, ids=["Patent"])


def test_ids_of_training_are_left_out_and_kept_by_default(table, write):
    table = table.drop(columns="seen")
    rows = table.assign(patient=[f"{k:05d}" for k in range(1200)])
    options = {"column_types": {"patient": "id"}}
    model = train_on(write(rows, "a.csv"), target="ill", ensemble=small(), **options)
    assert model.left_out == ["patient"]
    part = next(model.predictions(write(rows, "b.parquet")))
    assert part.ids["patient"].to_pylist() == rows["patient"].to_list()
    assert part.unused == []
    without = next(model.predictions(write(table, "d.csv")))
    assert without.ids.column_names == []
    assert np.array_equal(without.classes, part.classes)


def test_ids_of_parquet_files_keep_their_type(trained, rows, write):
    days = pd.to_datetime(["2020-01-01", None] * 600)
    path = write(rows.assign(day=days, large=[2**60 + 1, 5] * 600), "a.parquet")
    ids = next(trained.predictions(path, ids=["day", "large"])).ids
    assert ids["day"].to_pylist()[:2] == [pd.Timestamp("2020-01-01"), None]
    assert ids["large"].to_pylist()[:2] == [2**60 + 1, 5]


def test_a_file_without_rows_gives_one_part_without_rows(trained, rows, write):
    (part,) = trained.predictions(write(rows[:0], "a.parquet"), ids=["town"])
    assert part.classes.shape == (0,)
    assert part.probabilities.shape == (0, 2)
    assert part.ids.column_names == ["town"]


def test_categories_that_the_model_does_not_know_are_counted(trained, rows, write):
    rows = rows.assign(town=["Lima", "Bonn", "Lima", *rows["town"][3:]])
    part = next(trained.predictions(write(rows, "a.csv")))
    assert part.unseen == {"town": {"Lima": 2, "Bonn": 1}}


def test_the_data_need_not_be_written_like_that_of_training(trained, rows, write):
    plain = classes(trained, write(rows, "a.csv"))
    for options in ({"sep": ";", "decimal": ","}, {"sep": "\t", "encoding": "utf-16"}):
        assert np.array_equal(classes(trained, write(rows, "b.csv", **options)), plain)
    path = write(rows.assign(id=1), "c.csv", sep="~")
    part = next(trained.predictions(path, separator="~", ids=["id"]))
    assert np.array_equal(part.classes, plain)
    query = f"SELECT * FROM '{write(rows, 'd.parquet')}'"
    assert np.array_equal(classes(trained, query), plain)


def test_a_missing_column_is_refused(trained, rows, write):
    with pytest.raises(ValueError, match=r"'town' is missing in .*a.csv"):
        trained.predictions(write(rows.drop(columns="town"), "a.csv"))


def test_odd_cells_are_named_by_their_place(trained, rows, write):
    odd = rows.astype({"visits": object})
    odd.loc[700, "visits"] = "many"
    with pytest.raises(
        ValueError, match=r"'visits' must hold .*: line 702 of .*a.csv holds 'many'"
    ):
        list(trained.predictions(write(odd, "a.csv")))
    with pytest.raises(ValueError, match=r"'visits' must hold .*: row 1 of .*a.parquet holds inf"):
        list(trained.predictions(write(rows.assign(visits=np.inf), "a.parquet")))


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_column_without_any_value_is_read_as_missing(trained, rows, write, name):
    path = write(rows.assign(age=pd.Series([None] * 1200, dtype=object)), name)
    assert len(classes(trained, path)) == 1200
