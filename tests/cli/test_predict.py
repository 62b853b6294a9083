import io
import re
import signal
import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest
from pyarrow.csv import CSVWriter
from small_disk import small_disk

from skliquid import LiquidEnsembleClassifier, train_on
from skliquid.cli import reports


@pytest.fixture(scope="module")
def trained(people, tmp_path_factory):
    path = tmp_path_factory.mktemp("trained") / "people.csv"
    people.to_csv(path, index=False)
    ensemble = LiquidEnsembleClassifier(n_estimators=20, n_final=3, random_state=0)
    return train_on(path, target="ill", ensemble=ensemble, increment_size=200)


@pytest.fixture
def model(trained, tmp_path):
    trained.save(tmp_path / "model")
    return trained


@pytest.mark.parametrize("data", ["people.parquet", "people.csv"])
@pytest.mark.parametrize("out", ["out.parquet", "out.csv"])
def test_predictions_are_written_row_by_row(type_in, people, model, tmp_path, data, out):
    said = type_in("predict", "model", data, "--out", out, "--proba")
    read = pd.read_parquet if out.endswith("parquet") else pd.read_csv
    table = read(tmp_path / out)
    expected = model.ensemble.predict(people)
    assert list(table) == ["prediction", "proba_no", "proba_yes"]
    assert (table["prediction"] == expected).all()
    assert (table["proba_yes"] - model.ensemble.predict_proba(people)[:, 1]).abs().max() < 1e-12
    accuracy = (people["ill"] == expected).mean()
    assert f"Accuracy on the 3,000 rows with a label: {accuracy:.4f}" in said
    assert not list(tmp_path.glob("*.part"))


def test_without_a_file_predictions_go_to_the_screen(type_in, people, model, tmp_path):
    people.drop(columns="ill").assign(id=1)[:5].to_csv(tmp_path / "few.csv", index=False)
    said = type_in("predict", "model", "few.csv")
    lines = [line for line in said.splitlines() if not line[0].isdigit() and "Ignored" not in line]
    table = pd.read_csv(io.StringIO("\n".join(lines)))
    assert table["prediction"].tolist() == model.ensemble.predict(people[:5]).tolist()
    assert "Ignored: id." in said
    assert "Accuracy" not in said


def test_labels_and_categories_that_are_not_in_the_training_data_are_reported(
    type_in, people, model, tmp_path
):
    other = people.assign(ill=people["ill"].replace("yes", "ill"), town="c")
    other.to_parquet(tmp_path / "other.parquet")
    said = type_in("predict", "model", "other.parquet", "--out", "out.csv")
    assert f"{(people['ill'] == 'yes').sum():,} labels are not a class of the model." in said
    assert "town: 3,000 rows with 1 category that the model does not know ('c').\n" in said
    towns = ["c", "d", *["c"] * 9, *people["town"][11:]]
    people.assign(town=towns).to_csv(tmp_path / "some.csv", index=False)
    said = type_in("predict", "model", "some.csv", "--out", "out.csv")
    assert "town: 11 rows with 2 categories that the model does not know ('c', 'd').\n" in said
    said = type_in("predict", "model", "people.parquet", "--out", "out.csv")
    assert "not a class" not in said
    assert "category" not in said


@pytest.mark.parametrize("out", ["out.parquet", "out.csv"])
def test_ids_are_the_first_columns_of_the_output(type_in, people, model, tmp_path, out):
    ids = [f"{k:05d}" for k in range(3000)]
    people.assign(patient=ids, ward=7).to_csv(tmp_path / "ids.csv", index=False, sep=";")
    words = ("predict", "model", "ids.csv", "--out", out, "--proba", "--id", "patient")
    said = type_in(*words, "--id", "day")
    table = read_output(tmp_path / out)
    assert list(table) == ["patient", "day", "prediction", "proba_no", "proba_yes"]
    assert table["patient"].tolist() == ids
    assert table["day"][1] == "2020-01-02"
    assert (table["prediction"] == model.ensemble.predict(people)).all()
    assert "ids.csv is read with semicolons between cells.\nIgnored: ward." in said


@pytest.mark.parametrize("out", ["out.parquet", "out.csv"])
def test_ids_of_training_are_kept_by_default(type_in, people, trained, tmp_path, out):
    replace(trained, chosen_types={"patient": "id"}, left_out=["patient"]).save(tmp_path / "model")
    people.assign(patient=range(3000), ward=7).to_parquet(tmp_path / "ids.parquet")
    said = type_in("predict", "model", "ids.parquet", "--out", out)
    assert list(read_output(tmp_path / out)) == ["patient", "prediction"]
    assert "Ignored: ward." in said
    type_in("predict", "model", "ids.parquet", "--out", out, "--id", "ward")
    assert list(read_output(tmp_path / out)) == ["ward", "prediction"]
    type_in("predict", "model", "people.csv", "--out", out)
    assert list(read_output(tmp_path / out)) == ["prediction"]


def read_output(path):
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, dtype=str)


def test_a_file_is_read_as_it_is_said_to_be_written(type_in, people, model, tmp_path):
    people.to_csv(tmp_path / "own.csv", index=False, sep="~", decimal=",", encoding="utf-16-le")
    given = ("--sep", "~", "--decimal", ",", "--encoding", "utf-16-le")
    said = type_in("predict", "model", "own.csv", "--out", "out.csv", *given)
    assert "own.csv is read with '~' between cells, decimal commas, UTF-16-LE." in said
    expected = model.ensemble.predict(people)
    assert (read_output(tmp_path / "out.csv")["prediction"] == expected).all()


def test_no_rows_give_an_empty_table(type_in, people, model, tmp_path):
    people[:0].to_parquet(tmp_path / "none.parquet")
    type_in("predict", "model", "none.parquet", "--out", "out.parquet", "--proba")
    assert pd.read_parquet(tmp_path / "out.parquet").shape == (0, 3)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing", "people.csv"], "model must be an existing file: nothing is not"),
        (
            ["people.csv", "people.csv"],
            "people.csv must be a model file of skliquid",
        ),
        (["model", "nothing.csv"], "nothing.csv is not, seen from"),
        (["model", "short.csv"], "'town' is missing in short.csv."),
        (["model", "people.csv", "--out", "out.xls"], "--out must end in .csv or .parquet"),
        (["model", "people.csv", "--id", "Twon"], "got 'Twon'. Did you mean 'town'?"),
        (["model", "taken.csv", "--id", "prediction"], "--id must not be the name of a column of"),
        (["model", "people.csv", "--sep", ";;"], "separator must be one ASCII character"),
    ],
)
def test_errors_are_one_sentence(type_in, people, model, tmp_path, words, said):
    people.drop(columns="town").to_csv(tmp_path / "short.csv", index=False)
    people.assign(prediction="x").to_csv(tmp_path / "taken.csv", index=False)
    assert said in type_in("predict", *words, code=2)


@pytest.mark.parametrize("out", ["people.csv", "model.csv"])
def test_what_is_read_is_not_overwritten(type_in, trained, tmp_path, out):
    trained.save(tmp_path / "model.csv")
    before = (tmp_path / out).read_bytes()
    said = type_in("predict", "model.csv", "people.csv", "--out", out, code=2)
    assert f"--out must not be a file that is needed: {out} would be overwritten" in said
    assert (tmp_path / out).read_bytes() == before


def test_the_folder_of_the_predictions_is_created(type_in, model, tmp_path):
    type_in("predict", "model", "people.csv", "--out", "new/out.csv")
    assert (tmp_path / "new" / "out.csv").exists()


def test_a_file_with_an_invalid_row_leaves_no_predictions(type_in, people, model, tmp_path):
    rows = people.astype({"age": object})
    rows = pd.concat([rows] * 20, ignore_index=True)
    rows.loc[len(rows) - 1, "age"] = "old"
    rows.to_csv(tmp_path / "broken.csv", index=False)
    assert "holds 'old'" in type_in("predict", "model", "broken.csv", "--out", "out.csv", code=2)
    assert not list(tmp_path.glob("out.csv*"))


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (OSError(28, "No space left on device"), 2, r"out.csv cannot be written \(.*No space left"),
        (KeyboardInterrupt(), 130, "Stopped."),
        (signal.SIGINT, 130, "Stopped."),
        (signal.SIGTERM, 143, "Stopped."),
        (signal.SIGHUP, 129, "Stopped."),
    ],
)
def test_predictions_that_end_early_leave_nothing(
    type_in, model, tmp_path, monkeypatch, error, code, said
):
    def fail(self, table):
        if isinstance(error, signal.Signals):
            signal.raise_signal(error)
        raise error

    class Writer(CSVWriter):
        write_table = fail

    monkeypatch.setitem(reports.WRITERS, ".csv", Writer)
    assert re.search(said, type_in("predict", "model", "people.csv", "--out", "out.csv", code=code))
    assert not list(tmp_path.glob("*out.csv*"))


@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
def test_a_full_disk_leaves_the_old_predictions(type_in, model, tmp_path, out):
    (tmp_path / out).write_bytes(b"old")
    before = sorted(path.name for path in tmp_path.iterdir())
    with small_disk(5_000):
        said = type_in("predict", "model", "people.csv", "--out", out, "--proba", code=2)
    assert said.strip() == f"{out} cannot be written (File too large)."
    assert (tmp_path / out).read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_closed_pipe_ends_predictions_quietly(
    type_in, people, model, tmp_path, subprocess_environment
):
    pd.concat([people] * 30).to_csv(tmp_path / "long.csv", index=False)
    process = subprocess.Popen(
        [sys.executable, "-m", "skliquid.cli", "predict", "model", "long.csv"],
        cwd=tmp_path,
        env=subprocess_environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == '"prediction"\n'
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait()
