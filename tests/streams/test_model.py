import numpy as np
import pandas as pd
import polars as pl
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
