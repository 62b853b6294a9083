from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skliquid import LiquidEnsembleClassifier
from skliquid.streams import load_model, train_on


@pytest.fixture(scope="module")
def trained(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "train.parquet"
    table.assign(zip=7000 + np.arange(1200) % 3).to_parquet(path, index=False)
    ensemble = LiquidEnsembleClassifier(n_estimators=20, n_final=4, random_state=0)
    return train_on(
        path, target="ill", ensemble=ensemble, increment_size=100, column_types={"zip": "text"}
    )


@pytest.fixture
def rows(table):
    return table.assign(zip=7000 + np.arange(1200) % 3)


def classes(model, path):
    return np.concatenate([part.classes for part in model.predictions(path)])


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_file_is_predicted_as_a_data_frame_is(trained, rows, write, name):
    path = write(rows, name)
    assert np.array_equal(classes(trained, path), trained.pipeline.predict(rows))
    part = next(trained.predictions(path))
    assert np.allclose(part.probabilities, trained.pipeline.predict_proba(rows))
    assert np.allclose(part.probabilities, trained.pipeline.predict_proba(pl.from_pandas(rows)))
    assert part.n_labelled == 1200
    assert part.n_correct == np.sum(part.classes == rows["ill"])


@pytest.mark.parametrize(
    ("values", "column_type"),
    [
        ([True, False, None], "text"),
        ([1001, 1002, None], "text"),
        ([0.5, 1.0, None], "text"),
        ([1.0, 0.0, None], "boolean"),
        (pd.to_datetime(["2020-01-01", "2021-01-01", None]), "text"),
    ],
)
@pytest.mark.parametrize("file_type", ["as it is", "nullable"])
def test_chosen_categories_are_the_same_in_files_and_frames(write, values, column_type, file_type):
    column = pd.Series(list(values) * 100)
    rows = pd.DataFrame({"a": column, "ill": column.isna() | (column == values[0])})
    in_file = rows.convert_dtypes() if file_type == "nullable" else rows
    path = write(in_file, "a.parquet")
    ensemble = LiquidEnsembleClassifier(n_estimators=20, n_final=4, random_state=0)
    options = {"increment_size": 50, "column_types": {"a": column_type}}
    model = train_on(path, target="ill", ensemble=ensemble, **options)
    assert model.encoding.n_features == 3
    part = next(model.predictions(path))
    for frame in (rows, in_file):
        assert np.array_equal(part.probabilities, model.pipeline.predict_proba(frame))
        assert np.array_equal(part.classes, rows["ill"])


def test_categories_of_numbers_are_categories(write):
    codes = pd.Series([100, 200, 300, None] * 100, dtype="Int64")
    rows = pd.DataFrame({"a": codes.astype("category"), "ill": (codes == 200).fillna(False)})
    rows["ill"] = rows["ill"].astype(int).astype("category")
    path = write(rows, "a.parquet")
    ensemble = LiquidEnsembleClassifier(n_estimators=20, n_final=4, random_state=0)
    model = train_on(path, target="ill", ensemble=ensemble, increment_size=50)
    assert model.encoding.n_features == 4
    assert model.ensemble.classes_.tolist() == [0, 1]
    for other in (path, write(rows.assign(a=codes), "b.parquet"), write(rows, "b.csv")):
        part = next(model.predictions(other))
        assert np.array_equal(part.probabilities, model.pipeline.predict_proba(rows))
        assert part.n_correct == 400


def test_a_saved_model_is_loaded_with_the_same_predictions(trained, rows, write, tmp_path):
    trained.save(tmp_path / "a.skliquid")
    loaded, path = load_model(tmp_path / "a.skliquid"), write(rows, "a.csv")
    assert np.array_equal(classes(loaded, path), classes(trained, path))
    assert loaded.target == "ill"
    assert loaded.left_out == ["seen"]


def test_the_target_is_optional(trained, rows, write):
    half = rows.assign(ill=rows["ill"].where(rows.index < 600))
    part = next(trained.predictions(write(half, "a.parquet")))
    assert part.n_labelled == 600
    part = next(trained.predictions(write(rows.drop(columns="ill"), "b.parquet")))
    assert part.n_labelled == 0


def test_other_columns_are_ignored(trained, rows, write):
    path = write(rows.assign(id=range(1200)).drop(columns="seen"), "a.csv")
    assert trained.unused(path) == ["id"]
    assert np.array_equal(classes(trained, path), classes(trained, write(rows, "b.csv")))


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_ids_are_kept_beside_the_predictions(trained, rows, write, name):
    rows = rows.assign(patient=[f"{k:05d}" for k in range(1200)], number=range(1200))
    path = write(rows, name)
    part = next(trained.predictions(path, ids=["patient", "number", "town", "ill"]))
    assert part.ids.column_names == ["patient", "number", "town", "ill"]
    assert part.ids["patient"].to_pylist() == rows["patient"].to_list()
    assert [int(number) for number in part.ids["number"].to_pylist()] == list(range(1200))
    assert part.ids["ill"].to_pylist() == rows["ill"].to_list()
    assert np.array_equal(part.classes, trained.pipeline.predict(rows))
    assert next(trained.predictions(path)).ids.num_columns == 0
    with pytest.raises(ValueError, match=r"ids \(--id\) must be a column .*Did you mean 'patient'"):
        trained.predictions(path, ids=["Patent"])


def test_ids_of_training_are_left_out_and_kept_by_default(table, write):
    rows = table.assign(patient=[f"{k:05d}" for k in range(1200)])
    ensemble = LiquidEnsembleClassifier(n_estimators=20, n_final=4, random_state=0)
    options = {"increment_size": 100, "column_types": {"patient": "id"}}
    model = train_on(write(rows, "a.csv"), target="ill", ensemble=ensemble, **options)
    assert "patient" not in model.encoding.column_types
    assert model.left_out == ["seen", "patient"]
    part = next(model.predictions(write(rows, "b.parquet")))
    assert part.ids["patient"].to_pylist() == rows["patient"].to_list()
    assert model.unused(write(rows, "c.csv")) == []
    without = next(model.predictions(write(table, "d.csv")))
    assert without.ids.column_names == []
    assert np.array_equal(without.classes, part.classes)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (pd.to_datetime(["2020-01-01", None] * 600), [pd.Timestamp("2020-01-01"), None]),
        (pd.Categorical(["a", "b"] * 600), ["a", "b"]),
        ([None] * 1200, [None, None]),
        ([2**60 + 1, 5] * 600, [2**60 + 1, 5]),
    ],
    ids=["dates", "categories", "nothing", "integers"],
)
def test_ids_of_parquet_files_keep_their_type(trained, rows, write, column, values):
    path = write(rows.assign(patient=column), "a.parquet")
    part = next(trained.predictions(path, ids=["patient"]))
    assert part.ids["patient"].to_pylist()[:2] == values
    assert part.ids["patient"].type != pa.null()


def test_a_list_is_no_id(trained, rows, write):
    path = write(rows.assign(patient=[[1, 2]] * 1200), "a.parquet")
    with pytest.raises(ValueError, match="not one value per row"):
        list(trained.predictions(path, ids=["patient"]))


def test_ids_of_a_folder_may_be_small_and_large_integers(trained, rows, write):
    path = write(rows[:500].assign(patient=np.int8(7)), "folder/a.parquet").parent
    write(rows[500:].assign(patient=2**40), "folder/b.parquet")
    part = next(trained.predictions(path, ids=["patient"]))
    assert part.ids["patient"].to_pylist() == [7] * 500 + [2**40] * 700


def test_ids_of_a_folder_must_be_of_one_type(trained, rows, write):
    path = write(rows[:500].assign(patient=7), "folder/a.parquet").parent
    write(rows[500:].assign(patient="b"), "folder/b.parquet")
    model = replace(trained, chosen_types=trained.chosen_types | {"patient": "id"})
    with pytest.raises(ValueError, match=r"'patient' is number in .*a.parquet and text in"):
        model.predictions(path)


def test_a_file_without_rows_gives_one_part_without_rows(trained, rows, write):
    (part,) = trained.predictions(write(rows[:0], "a.parquet"), ids=["town"])
    assert part.classes.shape == (0,)
    assert part.probabilities.shape == (0, 2)
    assert part.ids.column_names == ["town"]


def test_categories_that_the_model_does_not_know_are_counted(trained, rows, write):
    rows = rows.assign(town=["Lima", "Bonn", "Lima", *rows["town"][3:]])
    part = next(trained.predictions(write(rows, "a.csv")))
    assert part.unseen == {"town": ({"Lima", "Bonn"}, 3)}


def test_the_data_need_not_be_written_like_that_of_training(trained, rows, write):
    plain = classes(trained, write(rows, "a.csv"))
    for options in ({"sep": ";", "decimal": ","}, {"sep": "\t", "encoding": "utf-16"}):
        assert np.array_equal(classes(trained, write(rows, "b.csv", **options)), plain)
    path = write(rows.assign(id=1), "c.csv", sep="~")
    part = next(trained.predictions(path, separator="~", ids=["id"]))
    assert np.array_equal(part.classes, plain)
    assert trained.unused(path, separator="~") == ["id"]


def test_a_missing_column_is_refused(trained, rows, write):
    with pytest.raises(ValueError, match=r"'town' was text, and is missing in .*a.csv. Write"):
        trained.predictions(write(rows.drop(columns="town"), "a.csv"))


def test_a_column_of_another_type_is_refused(trained, rows, write):
    with pytest.raises(ValueError, match=r"'visits' was number, and is text in .*a.parquet"):
        trained.predictions(write(rows.assign(visits="many"), "a.parquet"))
    with pytest.raises(ValueError, match="holds 'many'"):
        list(trained.predictions(write(rows.assign(visits="many"), "a.csv")))


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_column_without_any_value_is_read_as_missing(trained, rows, write, name):
    path = write(rows.assign(age=pd.Series([None] * 1200, dtype=object)), name)
    assert len(classes(trained, path)) == 1200


def test_infinity_is_refused_with_its_place(trained, rows, write):
    with pytest.raises(ValueError, match=r"column 'visits' in row 1 of .*a.parquet holds inf"):
        list(trained.predictions(write(rows.assign(visits=np.inf), "a.parquet")))
