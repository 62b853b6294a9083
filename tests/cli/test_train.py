import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from clusters import cluster_of
from small_disk import small_disk

import skliquid
from skliquid import LiquidEnsembleClassifier, train_on
from skliquid.streams import load_model

SMALL = ("--n-estimators", 20, "--n-final", 3, "--increment-size", 100)


@pytest.mark.parametrize("name", ["people.parquet", "people.csv"])
def test_a_model_is_trained_and_summarized(type_in, people, tmp_path, name):
    said = type_in("train", name, "--target", "ill", *SMALL)
    assert "3,000 rows in " in said
    assert "3 of 20 voters are left as representatives" in said
    assert "sample visits" in said
    table = [re.split(r"\s*│\s*", line) for line in said.splitlines()]
    assert any(row[1:3] == ["age", "number"] for row in table)
    assert any(row[1:3] == ["day", "date"] for row in table)
    assert any(row[1:4] == ["town", "category", "2"] for row in table)
    assert "is read with" not in said
    assert said.strip().endswith("Model: people.skliquid")
    model = load_model(tmp_path / "people.skliquid")
    assert f"{model.test_accuracy:.3f}" in said
    assert len(model.ensemble.estimators_) == 3
    assert not list(tmp_path.glob("*.checkpoint"))


def test_options_are_those_of_train_on(type_in, people, tmp_path):
    options = ("--mechanism", "max", "--seed", 3, "--classes", "yes,no")
    more = ("--drop", "town", "--test-size", 0.3, "--missing", "a")
    type_in("train", "people.csv", "--target", "ill", *SMALL, *options, *more)
    model = load_model(tmp_path / "people.skliquid")
    ensemble = LiquidEnsembleClassifier(mechanism="max", n_estimators=20, n_final=3, random_state=3)
    other = train_on(
        tmp_path / "people.csv",
        target="ill",
        ensemble=ensemble,
        increment_size=100,
        column_types={"town": "left out"},
        missing_values=["a"],
        test_size=0.3,
    )
    weights = [fitted.ensemble.estimator_weights_ for fitted in (model, other)]
    assert np.array_equal(*weights)
    frame = people[["age", "day"]]
    probabilities = [fitted.ensemble.predict_proba(frame) for fitted in (model, other)]
    assert np.array_equal(*probabilities)


def test_held_out_rows_score_the_model_at_the_end(type_in, people, tmp_path):
    said = type_in("train", "people.csv", "--target", "ill", *SMALL)
    model = load_model(tmp_path / "people.skliquid")
    n_rows, n_yes = model.confusion.sum(), model.confusion[1].sum()
    assert n_rows == 300
    score = f"Accuracy on {n_rows} held-out rows, never trained on: {model.test_accuracy:.3f}"
    assert f"{score} (always 'no': {1 - n_yes / n_rows:.3f})." in said
    cells = [re.split(r"[^\w%\\]+", line) for line in said.splitlines()]
    correct = f"{model.confusion[1, 1] / n_yes:.0%}"
    assert ["", "yes", *map(str, model.confusion[1]), correct, ""] in cells
    said = type_in("train", "people.csv", "--target", "ill", *SMALL, "--test-size", 0)
    assert "held-out" not in said
    assert load_model(tmp_path / "people.skliquid").confusion is None


def test_a_file_of_a_spreadsheet_is_trained_on_as_it_is(type_in, people, tmp_path):
    people = people.assign(town=people["town"].replace("a", "Köln, Süd"))
    people.to_csv(tmp_path / "plain.csv", index=False)
    type_in("train", "plain.csv", "--target", "ill", *SMALL)
    german = {"sep": ";", "decimal": ",", "lineterminator": "\r\n", "index": False}
    people.to_csv(tmp_path / "bom.csv", encoding="utf-8-sig", **german)
    people.to_csv(tmp_path / "wide.csv", encoding="utf-16", **german | {"sep": "\t"})
    people.to_csv(tmp_path / "old.csv", encoding="cp1252", **german)
    (tmp_path / "bom.csv").write_bytes((tmp_path / "bom.csv").read_bytes() + b"\r\n\r\n")
    given = ("--encoding", "cp1252", "--decimal", ",", "--sep", ";")
    expected = load_model(tmp_path / "plain.skliquid").ensemble.predict_proba(people)
    for name, note, options in [
        ("bom", "semicolons between cells, decimal commas.", ()),
        ("wide", "tabs between cells, decimal commas, UTF-16.", ("--sep", "tab")),
        ("old", "semicolons between cells, decimal commas, CP1252.", ()),
        ("old", "semicolons between cells, decimal commas, CP1252.", given),
    ]:
        said = type_in("train", f"{name}.csv", "--target", "ill", *SMALL, *options)
        assert f"{name}.csv is read with {note}" in said
        model = load_model(tmp_path / f"{name}.skliquid")
        assert np.array_equal(model.ensemble.predict_proba(people), expected)


def test_an_id_is_not_trained_on(type_in, people, tmp_path):
    people.assign(patient=range(3000)).to_csv(tmp_path / "ids.csv", index=False)
    said = type_in("train", "ids.csv", "--target", "ill", *SMALL, "--id", "patient")
    assert re.search(r"patient\s*│ left out\s*│.*│ an id", said)
    model = load_model(tmp_path / "ids.skliquid")
    assert list(model.column_types) == ["age", "town", "day"]
    assert model.chosen_types == {"patient": "id"}


def test_a_replay_is_written(type_in, tmp_path):
    words = ("train", "people.csv", "--target", "ill", *SMALL, "--replay", "new/replay.html")
    assert "Replay: new/replay.html. Model: people.skliquid" in type_in(*words)
    assert "<html" in (tmp_path / "new" / "replay.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["people.csv", "--target", "il"],
            "target must be a column of people.csv, which has age, town, day, ill: got 'il'. Did",
        ),
        (["peple.csv", "--target", "ill"], "peple.csv is not, seen from"),
        (["people.csv", "--target", "ill", "--n-final", "0"], "Invalid value for '--n-final'"),
        (["people.csv", "--target", "ill", "--n-final", "99"], "n_final must not exceed"),
        (["people.csv", "--target", "ill", "--seed", "-1"], "Invalid value for '--seed'"),
        (
            ["people.csv", "--target", "ill", "--mechanism", "maxx"],
            "got 'maxx'. Did you mean 'max'?",
        ),
        (
            ["people.csv", "--target", "ill", "--category", "age", "--number", "age"],
            "got 'age' twice",
        ),
        (["people.csv", "--target", "ill", "--id", "age", "--drop", "age"], "got 'age' twice"),
        (["people.csv", "--target", "ill", "--id", "Town"], "got 'Town'. Did you mean 'town'?"),
        (
            ["people.csv", "--target", "ill", "--category", "twon"],
            "got 'twon'. Did you mean 'town'?",
        ),
        (["people.csv", "--target", "ill", "--sep", ";;"], "separator must be one ASCII character"),
        (["people.csv", "--target", "ill", "--decimal", "x"], "decimal must be '.' or ','"),
        (["people.csv", "--target", "ill", "--encoding", "x"], "encoding must be one that Python"),
        (["people.csv", "--target", "ill", "--encoding", "idna"], "Python knows: got 'i"),
        (
            ["people.csv", "--target", "ill", "--online", "--increment-size", str(10**20)],
            "increment_size must be 1 or more, and below 2**63: got 1000",
        ),
        (["people.parquet", "--target", "ill", "--sep", ";"], "is a Parquet file. Leave them out."),
        (["people.csv", "--target", "ill", "--test-size", "1"], "Invalid value for '--test-size'"),
        (["people.csv", "--target", "ill", "--classes", "yes"], "and the target has 'no'"),
        (["FROM 'x.csv'", "--target", "ill"], "A query must be SQL that DuckDB can run"),
        (["people.csv", "--target", "ill", "--every", "0"], "Invalid value for '--every'"),
    ],
)
def test_errors_are_one_sentence(type_in, people, words, said):
    answer = type_in("train", *words, code=2)
    assert said in answer
    assert "Traceback" not in answer


def test_a_checkpoint_is_not_touched_unasked(type_in, people, tmp_path):
    (tmp_path / "own.checkpoint").write_bytes(b"something else")
    words = ("train", "people.csv", "--target", "ill", *SMALL, "--model", "own", "--online")
    assert "own.checkpoint is of an earlier training. Give" in type_in(*words, code=2)
    assert "own.checkpoint must be a model file of skliquid" in type_in(*words, "--resume", code=2)
    assert (tmp_path / "own.checkpoint").read_bytes() == b"something else"
    assert not (tmp_path / "own").exists()
    type_in(*words, "--restart")
    assert (tmp_path / "own").exists()


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([False, True], "False,True"),
        ([0, 1], "0, 1"),
        (["0", "1"], "0,1"),
        (["a, b", "c"], 'c,"a, b"'),
    ],
)
def test_classes_are_those_of_the_target(type_in, people, tmp_path, labels, classes):
    people["ill"].map({"no": labels[0], "yes": labels[1]}).to_frame().assign(age=people["age"])[
        :500
    ].to_parquet(tmp_path / "some.parquet")
    type_in("train", "some.parquet", "--target", "ill", *SMALL, "--classes", classes)
    assert load_model(tmp_path / "some.skliquid").ensemble.classes_.tolist() == labels


def test_checkpoints_are_for_online_training(type_in, tmp_path):
    for option in (("--resume",), ("--restart",), ("--checkpoint", "kept")):
        said = type_in("train", "people.csv", "--target", "ill", *SMALL, *option, code=2)
        assert "--checkpoint, --resume and --restart must go with --online" in said


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ("1KB", "--max-memory) must be enough for 2,700 rows x 3 columns"),
        ("1 PB", "must be a size in bytes: got '1 PB'"),
        ("0", "must be a size in bytes: got '0'"),
        ("x", "must be a size in bytes: got 'x'"),
    ],
)
def test_memory_is_limited(type_in, size, said):
    words = ("train", "people.csv", "--target", "ill", "--max-memory", size)
    assert said in " ".join(re.sub("[│╭╮╰╯─]", "", type_in(*words, code=2)).split())


def test_of_larger_data_a_sample_is_trained_on(type_in, tmp_path):
    words = ("--n-estimators", 6, "--max-rows", 200, "--max-memory", "1mb", "--seed", 1)
    said = type_in("train", "people.csv", "--target", "ill", *words)
    assert "What was understood of 200 rows" in said
    assert "3,000 rows in" in said


@pytest.mark.parametrize("option", ["--model", "--checkpoint"])
@pytest.mark.parametrize("data", ["people.csv", "."])
def test_data_is_never_overwritten(type_in, tmp_path, option, data):
    (tmp_path / "people.parquet").unlink()
    before = (tmp_path / "people.csv").read_bytes()
    words = ("train", data, "--target", "ill", *SMALL, option, "./people.csv")
    words += ("--online", "--restart")
    assert f"{option} must not be a file that is needed: people.csv" in type_in(*words, code=2)
    assert (tmp_path / "people.csv").read_bytes() == before


@pytest.mark.parametrize("name", ["few.parquet", "few.csv"])
def test_a_small_file_gives_a_small_ensemble(type_in, people, tmp_path, name):
    path = tmp_path / name
    people[:500].to_csv(path) if path.suffix == ".csv" else people[:500].to_parquet(path)
    said = type_in("train", name, "--target", "ill", "--n-estimators", 20, "--n-final", 3)
    assert "3 of 20 voters are left" in said
    assert "held-out rows, never trained on: 0." in said


def test_names_with_brackets_are_printed_as_they_are(type_in, people, tmp_path):
    ill = people["ill"].replace("yes", "[/i]")
    people.assign(ill=ill).rename(columns={"day": "[/b]"})[:500].to_csv(tmp_path / "few.csv")
    said = type_in("train", "few.csv", "--target", "ill", *SMALL, "--model", "m[/x]")
    assert re.search(r"\(no name\)\s*│ left out\s*│.*│ the row numbers of pandas", said)
    assert "│ [/b]" in said
    assert said.strip().endswith("Model: m[/x]")


def test_a_lack_of_memory_is_reported(type_in, monkeypatch):
    def train_on(*_, **__):
        raise MemoryError

    monkeypatch.setattr("skliquid.streams.train_on", train_on)
    assert "not enough memory" in type_in("train", "people.csv", "--target", "ill", code=2)


def test_an_increment_that_is_too_large_is_reported(type_in):
    words = ("--n-estimators", 20, "--n-final", 3, "--increment-size", 3000, "--online")
    said = type_in("train", "people.csv", "--target", "ill", *words)
    assert "20 of 20 voters are left as representatives. For fewer, give more rows, or a" in said
    assert "Accuracy on rows not yet" not in said


def test_a_model_may_be_written_next_to_the_data(type_in, tmp_path):
    (tmp_path / "people.parquet").unlink()
    for _ in range(2):
        said = type_in("train", ".", "--target", "ill", *SMALL)
        assert said.strip().endswith(f"Model: {tmp_path.name}.skliquid")


def test_a_restart_removes_the_checkpoint_only_when_training_starts(type_in, tmp_path):
    kept = tmp_path / "people.skliquid.checkpoint"
    kept.write_bytes(b"hours of work")
    words = ("train", "people.csv", "--target", "ill", "--online", "--restart")
    for wrong in (("--target", "il"), ("--n-final", 0), ("--category", "twn")):
        type_in(*words, *wrong, code=2)
        assert kept.read_bytes() == b"hours of work"
    type_in(*words, *SMALL)
    assert not kept.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "folder"), "--model must be a file: folder is a folder"),
        (("--model", "."), "--model must be a file: . is a folder"),
        (("--online", "--checkpoint", "folder"), "--checkpoint must be a file: folder is a folder"),
        (
            ("--online", "--model", "m", "--checkpoint", "m"),
            "--checkpoint must not be a file that is needed",
        ),
        (("--model", "m", "--replay", "m"), "--replay must not be a file that is needed"),
        (("--replay", "folder"), "--replay must be a file: folder is a folder"),
        (("--model", os.devnull), f"--model must be a file: {os.devnull} is a device or a pipe"),
        (
            ("--model", "people.csv/m"),
            "--model must be in a folder that can be written to: people.csv is",
        ),
    ],
)
def test_outputs_are_checked_before_training(type_in, tmp_path, words, said, monkeypatch):
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr("skliquid.streams.train_on", None)
    assert said in type_in("train", "people.csv", "--target", "ill", *words, code=2)


@pytest.mark.parametrize(
    "name", ["SIGINT", "SIGHUP", pytest.param("SIGTERM", marks=pytest.mark.slow)]
)
def test_a_signal_stops_and_the_same_command_resumes(
    type_in, people, tmp_path, subprocess_environment, name
):
    command = ["train", "people.csv", "--target", "ill", "--increment-size", "20", "--online"]
    command += ["--n-estimators", "20", "--n-final", "3"]
    type_in(*command, "--model", "whole")
    process = subprocess.Popen(
        [sys.executable, "-m", "skliquid.cli", *command, "--every", "5"],
        cwd=tmp_path,
        env=subprocess_environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    kept = tmp_path / "people.skliquid.checkpoint"
    while not kept.exists():
        assert process.poll() is None
        time.sleep(0.01)
    number = getattr(signal, name)
    process.send_signal(number)
    said, _ = process.communicate()
    assert process.returncode == 128 + number, said
    assert "Stopped. Run the same command with --resume to resume." in said
    type_in(*command, "--resume")
    assert not list(tmp_path.glob("*.checkpoint*"))
    assert not list(tmp_path.glob("*.lock"))
    models = [load_model(tmp_path / name) for name in ("whole", "people.skliquid")]
    probabilities = [model.ensemble.predict_proba(people) for model in models]
    assert np.array_equal(*probabilities)


def test_a_full_disk_is_one_sentence_and_leaves_the_old_model(type_in, tmp_path):
    (tmp_path / "people.skliquid").write_bytes(b"the old model")
    before = sorted(path.name for path in tmp_path.iterdir())
    with small_disk(20_000):
        said = type_in("train", "people.csv", "--target", "ill", *SMALL, "--online", code=2)
    assert said.strip().endswith("people.skliquid.checkpoint cannot be written (File too large).")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert (tmp_path / "people.skliquid").read_bytes() == b"the old model"


def test_two_trainings_of_one_model_end_in_one_sentence(type_in, tmp_path, subprocess_environment):
    command = ["train", "people.csv", "--target", "ill", "--increment-size", "20", "--online"]
    command += ["--every", "5"]
    running = subprocess.Popen(
        [sys.executable, "-m", "skliquid.cli", *command], cwd=tmp_path, env=subprocess_environment
    )
    kept = tmp_path / "people.skliquid.checkpoint"
    while not kept.exists():
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(signal.SIGSTOP)  # so that it cannot end meanwhile
    before = kept.read_bytes()
    for words in ((), ("--resume",), ("--restart",), ("--checkpoint", "other")):
        said = type_in(*command, *words, code=2)
        who = f"people.skliquid: process {running.pid} on "
        assert f"One training at a time can write {who}" in said
        assert said.strip().endswith("has not ended. Wait for it, stop it, or give another path.")
    assert kept.read_bytes() == before
    running.kill()
    running.wait()
    assert "is of an earlier training" in type_in(*command, code=2)
    type_in(*command, "--resume")
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["people.csv", "people.parquet", "people.skliquid"]


def test_the_version_is_printed(type_in):
    assert type_in("--version").strip() == skliquid.__version__


def test_commands_report_which_extra_they_need(type_in, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = "skliquid train needs pyarrow, which is not installed (extra 'stream'): pip install"
    assert message in type_in("train", code=1)
    assert type_in("--help").count("Needs the extra stream, which is not installed.") == 2


def test_a_query_is_trained_on(type_in, people, tmp_path):
    query = "SELECT age, ill FROM 'people.parquet' WHERE town = 'a'"
    said = type_in("train", query, "--target", "ill", *SMALL)
    assert f"{(people['town'] == 'a').sum():,} rows in " in said
    assert said.strip().endswith("Model: query.skliquid")


def test_what_was_assumed_is_in_the_table(type_in, people, tmp_path):
    price = people["age"].map("${:.2f}".format).where(people["age"].notna())
    age = people["age"].astype(object).where(people.index % 10 != 3, "-")
    people.assign(price=price, age=age, zip="01234").to_csv(tmp_path / "odd.csv", index=False)
    said = type_in("train", "odd.csv", "--target", "ill", *SMALL, "--category", "zip")
    assert re.search(r"│ age\s*│ number .* '-' counts as missing", said)
    assert re.search(r"│ price\s*│ number ", said)
    assert re.search(r"│ zip\s*│ category ", said)
    assert "Note: Assumptions" not in said


def test_a_rare_class_is_held_out_and_rows_without_a_label_are_counted(type_in, tmp_path, people):
    rare = people["ill"].where(people.index % 80 == 0, "no").replace("no", "none")
    labels = rare.where(people.index % 100 != 50)
    people.assign(ill=labels).to_csv(tmp_path / "rare.csv", index=False)
    said = type_in("train", "rare.csv", "--target", "ill", *SMALL)
    assert "30 rows without a label were skipped." in said
    model = load_model(tmp_path / "rare.skliquid")
    assert (model.confusion.sum(axis=1) > 0).all()


def test_a_ragged_row_is_named_by_its_line(type_in, tmp_path):
    lines = ["a,b,ill", *["1,2,yes", "3,4,no"] * 200]
    lines[200] = "1,2"
    (tmp_path / "ragged.csv").write_text("\n".join(lines))
    said = type_in("train", "ragged.csv", "--target", "ill", code=2)
    assert "line 201 of ragged.csv has 2, and the first line 3." in said


def test_the_workers_of_a_cluster_read_a_folder(type_in, people, tmp_path):
    (tmp_path / "folder").mkdir()
    people[:1000].to_parquet(tmp_path / "folder" / "a.parquet")
    people[1000:].to_parquet(tmp_path / "folder" / "b.parquet")
    words = ("train", "folder", "--target", "ill", "--n-estimators", 6, "--n-final", 2)
    said = type_in(*words, "--model", "here")
    (tmp_path / "cluster").mkdir()
    with cluster_of(tmp_path / "cluster", 1) as cluster:
        type_in(*words, "--model", "there", "--scheduler", cluster.address)
    assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()
    assert "3,000 rows in " in said
