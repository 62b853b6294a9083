import os
import re
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import confusion_matrix

from skliquid import LiquidEnsembleClassifier, train_on
from skliquid.streams import increments_from, load_model

FOLDER = str(Path(__file__).parent)
SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
from test_file_training import digest, {train}
path, kept = sys.argv[1:]
model = {train}(path, kept, resume=True, report=lambda p: print(p.n_rows, flush=True))
print(digest(model, path))
"""


def ensemble(estimator=None, **params):
    params = {"n_estimators": 24, "n_final": 4, "random_state": 0} | params
    return LiquidEnsembleClassifier(estimator, **params)


def trained(path, checkpoint=None, voter=None, params=None, **options):
    options = {"increment_size": 50, "every": 2, "online": True} | options
    model = ensemble(voter or SGDClassifier(), **params or {})
    return train_on(path, target="ill", ensemble=model, checkpoint=checkpoint, **options)


def with_held_out(path, checkpoint=None, **options):
    return trained(path, checkpoint, test_size=0.2, **options)


def balanced(path, checkpoint=None, **options):
    """Return a model of a table in which one class is rare, by soft votes and balanced weights."""
    params = {"class_weight": "balanced", "voting": "soft", "competence": "contribution"}
    return trained(path, checkpoint, params=params, **options)


def digest(model, path):
    """Return the SHA-256 of the voters' coefficients, the weights and the predictions."""
    ensemble = model.ensemble
    last_steps = [voter[-1] if hasattr(voter, "steps") else voter for voter in ensemble.estimators_]
    arrays = [
        *(voter.coef_ for voter in last_steps),
        *(voter.intercept_ for voter in last_steps),
        ensemble.delegation_graph_.delegation,
        ensemble.estimator_weights_,
        *(part.probabilities for part in model.predictions(path)),
        np.array(model.accuracy),
        np.array([] if model.confusion is None else model.confusion),
    ]
    return sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


class StoppedError(Exception):
    pass


def stop_after(n_rows):
    def report(progress):
        if progress.n_rows == n_rows:
            raise StoppedError

    return report


def test_training_is_a_loop_over_partial_fit(table, write):
    path = write(table, "a.parquet")
    model = train_on(
        path, target="ill", ensemble=ensemble(delegation_rate=0.1), increment_size=100, online=True
    )
    increments = increments_from(path, target="ill", increment_size=100)
    by_hand = ensemble(delegation_rate=0.1)
    for X, y in increments:
        by_hand.partial_fit(X, y, classes=increments.classes)
    assert np.array_equal(model.ensemble.predict_proba(X), by_hand.predict_proba(X))
    assert model.ensemble.training_cost_ == by_hand.training_cost_


def test_n_final_is_reached_at_the_end_and_not_before(table, write):
    path, left = write(table, "a.parquet"), []
    trained(path, report=lambda progress: left.append(progress.n_representatives))
    assert left[0] == 24
    assert left[-1] == 4
    assert len(set(left)) > 8


def test_progress_is_reported_after_each_increment(table, write):
    seen = []
    model = trained(write(table, "a.csv"), report=seen.append)
    assert [progress.n_rows for progress in seen] == list(range(50, 1201, 50))
    assert {progress.n_rows_in_all for progress in seen} == {1200}
    assert seen[-1].cost == model.ensemble.training_cost_.total
    assert np.isnan(seen[0].accuracy)
    assert seen[-1].accuracy == model.accuracy > 0.7


def test_accuracy_is_measured_before_training_on_the_rows(table, write):
    shuffled = table.assign(ill=np.random.default_rng(1).permutation(table["ill"]))
    assert abs(trained(write(shuffled, "a.parquet")).accuracy - 0.55) < 0.1


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_held_out_rows_score_the_final_model(table, write, name):
    path = write(table, name)
    model = with_held_out(path)
    increments = increments_from(path, target="ill", increment_size=50, test_size=0.2)
    tables, labels = zip(*increments.test_rows(), strict=True)
    X, y = pa.concat_tables(tables), np.concatenate(labels)
    expected = confusion_matrix(y, model.ensemble.predict(X))
    assert np.array_equal(model.confusion, expected)
    assert model.test_accuracy == np.mean(model.ensemble.predict(X) == y) > 0.7
    assert model.n_rows == 1200 == model.ensemble.n_samples_seen_ + len(y)
    assert np.isnan(trained(path).test_accuracy)


def test_held_out_rows_are_never_trained_on(table, write):
    rng = np.random.default_rng(1)
    numbers = pd.DataFrame(rng.normal(size=(1200, 2)), columns=["a", "b"])
    ill = np.where(numbers["a"] > 0, "yes", "no")
    for online in (True, False):
        model = with_held_out(write(numbers.assign(ill=ill), "b.csv"), online=online)
        assert model.test_accuracy > 0.9
        tested = model.confusion.sum()
        assert tested == pytest.approx(240, abs=2)
        assert model.ensemble.n_samples_seen_ == 1200 - tested


def test_scoring_is_reported_after_training(table, write):
    seen = []
    model = with_held_out(write(table, "a.csv"), report=seen.append)
    training = [progress for progress in seen if progress.stage == "training"]
    scoring = seen[len(training) :]
    assert [progress.n_rows for progress in training] == list(range(50, 1201, 50))
    assert {progress.stage for progress in scoring} == {"scoring"}
    assert scoring[-1].n_rows == scoring[-1].n_rows_in_all == model.confusion.sum()


@pytest.mark.parametrize("n_rows", [50, 350, 1200])
def test_held_out_rows_are_the_same_when_training_is_resumed(table, write, tmp_path, n_rows):
    path, kept = write(table, "a.csv"), tmp_path / "a.checkpoint"
    with pytest.raises(StoppedError):
        with_held_out(path, kept, report=stop_after(n_rows))
    assert load_model(kept).confusion is None
    whole = digest(with_held_out(path), path)
    assert (
        digest(with_held_out(path, kept, resume=True), path) == whole != digest(trained(path), path)
    )


def test_each_increment_delegates_though_rows_are_held_out(table, write):
    for n_rows in (1001, 1200):
        for test_size in (0.1, 0.9):
            path = write(table[:n_rows], "a.csv")
            model = trained(path, test_size=test_size, params={"delegation_rate": "auto"})
            assert len(model.ensemble.estimators_) == 4


@pytest.mark.parametrize("n_rows", [50, 350, 1200])
@pytest.mark.parametrize("voter", [None, SGDClassifier()], ids=["default", "sgd"])
def test_a_stopped_run_is_resumed_with_the_same_bits(table, write, tmp_path, n_rows, voter):
    path, kept = write(table, "a.parquet", row_group_size=77), tmp_path / "a.checkpoint"
    whole = trained(path, voter=voter)
    with pytest.raises(StoppedError):
        trained(path, kept, voter, report=stop_after(n_rows))
    seen = []
    resumed = trained(path, kept, voter, resume=True, report=seen.append)
    assert [progress.n_rows for progress in seen] == list(range(n_rows + 50, 1201, 50))
    assert digest(resumed, path) == digest(whole, path)


def test_a_run_that_is_killed_again_and_again_is_resumed_with_the_same_bits(table, write, tmp_path):
    path, kept = write(table, "a.csv"), tmp_path / "a.checkpoint"
    script = SCRIPT.format(folder=FOLDER, train="with_held_out")
    for n_lines in (5, 7):
        with started(script, path, kept) as process:
            for _ in range(n_lines):
                assert process.stdout.readline()
            process.kill()
        assert process.returncode == -signal.SIGKILL
    with started(script, path, kept) as process:
        rows = process.stdout.read().split()
    assert int(rows[0]) > 250  # it was resumed, and did not start from scratch
    assert rows[-1] == digest(with_held_out(path), path)


@pytest.fixture
def rarely_ill(table):
    """Return the table with one of ten who are ill."""
    is_ill = table["ill"] == "yes"
    return table[~is_ill | (np.arange(len(table)) % 10 == 0)]


def assert_same_answers(first, second, path):
    ours, theirs = first.ensemble, second.ensemble
    assert digest(first, path) == digest(second, path)
    assert ours.temperature_ == theirs.temperature_ != 1
    for X, _ in increments_from(path, target="ill"):
        for method in ("predict_proba", "decision_function"):
            assert np.array_equal(getattr(ours, method)(X), getattr(theirs, method)(X))


@pytest.mark.parametrize("n_rows", [50, 300, 550])
def test_balanced_soft_votes_are_resumed_with_the_same_bits(rarely_ill, write, tmp_path, n_rows):
    path, kept = write(rarely_ill, "a.csv"), tmp_path / "a.checkpoint"
    with pytest.raises(StoppedError):
        balanced(path, kept, report=stop_after(n_rows))
    resumed, whole = balanced(path, kept, resume=True), balanced(path)
    assert_same_answers(resumed, whole, path)
    assert digest(whole, path) != digest(trained(path), path)


def test_balanced_soft_votes_survive_a_kill(rarely_ill, write, tmp_path):
    path, kept = write(rarely_ill, "a.csv"), tmp_path / "a.checkpoint"
    with started(SCRIPT.format(folder=FOLDER, train="balanced"), path, kept) as process:
        for _ in range(5):
            assert process.stdout.readline()
        process.kill()
    assert process.returncode == -signal.SIGKILL
    seen = []
    resumed = balanced(path, kept, resume=True, report=seen.append)
    assert seen[0].n_rows > 200  # it did not start from scratch
    assert_same_answers(resumed, balanced(path), path)


def test_other_class_weights_are_another_training(rarely_ill, write, tmp_path):
    path, kept = write(rarely_ill, "a.csv"), tmp_path / "a.checkpoint"
    with pytest.raises(StoppedError):
        balanced(path, kept, report=stop_after(300))
    with pytest.raises(ValueError, match="class_weight has changed since"):
        trained(path, kept, resume=True)


def test_the_data_may_choose_how_many_remain(table, write, tmp_path):
    path, kept = write(table, "a.csv"), tmp_path / "a.checkpoint"
    params = {"n_estimators": 50, "n_final": "auto", "max_features": 2}
    left = []
    whole = trained(path, params=params, report=lambda step: left.append(step.n_representatives))
    assert left[0] == 50
    assert 4 <= left[-1] <= 40
    assert whole.ensemble.record_.reached_n_final
    with pytest.raises(StoppedError):
        trained(path, kept, params=params, report=stop_after(600))
    assert digest(trained(path, kept, params=params, resume=True), path) == digest(whole, path)


def started(script, *paths):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", script, *map(str, paths)],
        env=os.environ,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_run_is_resumed_only_with_the_same_data_and_settings(table, write, tmp_path):
    path, kept = write(table, "a.csv"), tmp_path / "a.checkpoint"
    with pytest.raises(StoppedError):
        trained(path, kept, report=stop_after(300))
    with pytest.raises(
        ValueError, match=r"increment_size has changed since .*a.checkpoint was written"
    ):
        trained(path, kept, increment_size=60, resume=True)
    with pytest.raises(ValueError, match="estimator has changed"):
        trained(path, kept, SGDClassifier(alpha=0.1), resume=True)
    with pytest.raises(ValueError, match="missing_values has changed"):
        trained(path, kept, missing_values=["x"], resume=True)
    with pytest.raises(ValueError, match="test_size has changed"):
        trained(path, kept, test_size=0.1, resume=True)
    with pytest.raises(ValueError, match="separator, decimal or encoding has changed"):
        trained(path, kept, encoding="latin-1", resume=True)
    with pytest.raises(ValueError, match="column_types has changed"):
        trained(path, kept, column_types={"visits": "category"}, resume=True)
    path.write_text(path.read_text().replace("Oslo", "Bern"))
    with pytest.raises(ValueError, match="data has changed"):
        trained(path, kept, resume=True)


def test_classes_may_be_given_in_another_order_when_a_run_is_resumed(table, write, tmp_path):
    path, kept = write(table, "a.csv"), tmp_path / "a.checkpoint"
    with pytest.raises(StoppedError):
        trained(path, kept, classes=["yes", "no"], report=stop_after(300))
    trained(path, kept, classes=("no", "yes"), resume=True)


def test_a_restart_starts_from_scratch_after_all_checks(table, write, tmp_path):
    path, kept = write(table, "a.csv"), tmp_path / "a.checkpoint"
    kept.write_bytes(b"hours of work")
    with pytest.raises(ValueError, match="Did you mean 'ill'"):
        train_on(path, target="il", checkpoint=kept, restart=True, online=True)
    with pytest.raises(ValueError, match=r"checkpoint must be a file: .* is a folder"):
        trained(path, tmp_path, restart=True)
    with pytest.raises(ValueError, match=r"checkpoint must not be a file that is needed: .*a.csv"):
        trained(path, path, restart=True)
    assert kept.read_bytes() == b"hours of work"
    seen = []
    trained(path, kept, restart=True, report=seen.append)
    assert len(seen) == 24


@pytest.fixture
def stopped(table, write, tmp_path):
    """Return a file of data, and the checkpoint of an unfinished training on it."""
    path, kept = write(table, "a.csv"), tmp_path / "a.checkpoint"
    with pytest.raises(StoppedError):
        trained(path, kept, report=stop_after(300))
    return path, kept


def test_a_checkpoint_is_neither_read_nor_overwritten_unasked(stopped, monkeypatch):
    path, kept = stopped
    before = kept.read_bytes()
    monkeypatch.setattr("skliquid.streams.file_training.load_checkpoint", None)
    message = (
        r"a.checkpoint is of an earlier training. Give resume=True \(--resume\) to continue that "
        r"training, or restart=True \(--restart\) to discard it.$"
    )
    with pytest.raises(FileExistsError, match=message):
        trained(path, kept)
    assert kept.read_bytes() == before


def test_without_a_checkpoint_there_is_nothing_to_resume_and_training_starts(
    table, write, tmp_path
):
    path, seen = write(table, "a.csv"), []
    trained(path, tmp_path / "a.checkpoint", resume=True, report=seen.append)
    assert len(seen) == 24


def test_resume_needs_a_checkpoint_and_excludes_restart(table, write, tmp_path):
    path = write(table, "a.csv")
    with pytest.raises(
        ValueError, match=r"resume must go with .* got checkpoint=None, restart=Fal"
    ):
        trained(path, resume=True)
    with pytest.raises(ValueError, match=r"resume must go with .*, restart=True. Leave out one of"):
        trained(path, tmp_path / "a.checkpoint", resume=True, restart=True)
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners are those of POSIX")
def test_the_checkpoint_of_another_user_is_not_read(stopped, monkeypatch):
    path, kept = stopped
    before, user = kept.read_bytes(), os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: user + 1)
    message = rf"checkpoint must belong to you, user {user + 1}: .* belongs to user {user}. Copy it"
    with pytest.raises(PermissionError, match=message):
        trained(path, kept, resume=True)
    assert kept.read_bytes() == before
    trained(path, kept, restart=True)


def test_a_second_training_with_the_same_checkpoint_ends_at_once(table, write, tmp_path):
    path, kept, errors = write(table, "a.csv"), tmp_path / "a.checkpoint", []

    def train_again(progress):
        for options in ({}, {"resume": True}, {"restart": True}):
            with pytest.raises(BlockingIOError) as caught:
                trained(path, kept, **options)
            errors.append(str(caught.value))

    model = trained(path, kept, report=train_again)
    assert len(errors) == 72
    who = rf"process {os.getpid()} on \S+, started \d{{4}}-.*, has not ended. Wait for it, stop it,"
    assert re.search(rf"One training at a time can write {kept}: {who}", errors[0])
    assert digest(model, path) == digest(trained(path), path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.checkpoint", "a.csv"]


def test_leftovers_of_killed_trainings_are_removed(table, write, tmp_path):
    path = write(table, "a.csv")
    (tmp_path / ".a.checkpoint.01234567.part").write_bytes(b"half a checkpoint")
    (tmp_path / "a.checkpoint.lock").write_bytes(b"process 1 on nowhere, started long ago,")
    trained(path, tmp_path / "a.checkpoint")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.checkpoint", "a.csv"]


def test_a_lambda_trains_but_cannot_be_saved(table, write, tmp_path):
    path = write(table, "a.csv")
    options = {"target": "ill", "online": True, "ensemble": ensemble(delegation_rate=lambda t: 0.1)}
    model = train_on(path, increment_size=100, **options)
    assert 4 <= len(model.ensemble.estimators_) < 24
    with pytest.raises(ValueError, match=r"delegation_rate must be of a type"):
        train_on(path, checkpoint=tmp_path / "a.checkpoint", **options)
    with pytest.raises(ValueError, match=r"delegation_rate.*files cannot store the function"):
        model.save(tmp_path / "a.skliquid")


def test_a_resumed_run_gives_the_same_file(table, write, tmp_path):
    path, kept = write(table, "a.csv"), tmp_path / "a.checkpoint"
    with pytest.raises(StoppedError):
        trained(path, kept, report=stop_after(300))
    trained(path, kept, resume=True).save(tmp_path / "resumed")
    trained(path, tmp_path / "b.checkpoint").save(tmp_path / "whole")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


def test_threads_may_differ_when_a_run_is_resumed(table, write, tmp_path):
    path, kept = write(table, "a.csv"), tmp_path / "a.checkpoint"
    with pytest.raises(StoppedError):
        trained(path, kept, report=stop_after(300))
    options = {
        "target": "ill",
        "increment_size": 50,
        "checkpoint": kept,
        "resume": True,
        "online": True,
    }
    model = train_on(path, ensemble=ensemble(SGDClassifier(), n_jobs=2), **options)
    assert model.ensemble.n_jobs == 2
    assert digest(model, path) == digest(trained(path), path)


def test_a_checkpoint_is_an_unfinished_model(table, write, tmp_path):
    path, kept = write(table, "a.parquet"), tmp_path / "a.checkpoint"
    with pytest.raises(StoppedError):
        trained(path, kept, report=stop_after(300))
    unfinished = load_model(kept)
    assert unfinished.n_rows == 300
    assert len(next(unfinished.predictions(path)).classes) == 1200


def test_the_given_ensemble_is_not_changed(table, write):
    given = ensemble(increment_size=200)
    seen = []
    train_on(write(table, "a.csv"), target="ill", ensemble=given, report=seen.append, online=True)
    assert not hasattr(given, "classes_")
    assert given.increment_size == 200
    assert len(seen) == 6


def test_parameters_are_checked_before_the_file_is_read():
    with pytest.raises(ValueError, match="n_final"):
        train_on("nowhere.csv", target="ill", ensemble=LiquidEnsembleClassifier(n_final=0))
    with pytest.raises(ValueError, match=r"every must be 1 or more, .*: got 0"):
        train_on("nowhere.csv", target="ill", every=0)
    for name in ("every", "increment_size"):
        for wrong in ("100", 10.5, True):
            with pytest.raises(TypeError, match=f"{name} must be an integer: got {wrong!r}"):
                train_on("nowhere.csv", target="ill", **{name: wrong})
    with pytest.raises(TypeError, match="ensemble must be a LiquidEnsembleClassifier: got 'x'"):
        train_on("nowhere.csv", target="ill", ensemble="x")


def test_parameters_of_another_type_are_refused(table, write):
    path = write(table, "a.csv")
    with pytest.raises(TypeError, match=r"column_types must be a mapping .*: got \['age'\]"):
        trained(path, column_types=["age"])
    with pytest.raises(ValueError, match=r"target must be a column of .*: got 5"):
        train_on(path, target=5)


def test_increments_are_smaller_when_there_are_few_rows(table, write):
    seen = []
    train_on(
        write(table, "a.csv"), target="ill", ensemble=ensemble(), report=seen.append, online=True
    )
    assert [progress.n_rows for progress in seen] == list(range(25, 1201, 25))


def test_large_numbers_train(table, write):
    large = table.assign(age=table["age"].where(~table.index.isin([0, 1100]), 1e100))
    assert trained(write(large, "a.csv")).accuracy > 0.5
    model = train_on(write(large, "a.csv"), target="ill", ensemble=ensemble(), test_size=0.2)
    assert model.test_accuracy > 0.5


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_data_that_are_read_whole_give_the_model_of_fit(table, write, name):
    table = table.drop(columns="seen")
    path = write(table, name)
    model = train_on(path, target="ill", ensemble=ensemble())
    frame = pd.read_csv(path) if name == "a.csv" else table
    by_hand = ensemble().fit(frame.drop(columns="ill"), table["ill"])
    X = table.drop(columns="ill")
    assert np.array_equal(model.ensemble.predict_proba(X), by_hand.predict_proba(X))
    assert model.n_rows == 1200
    assert [report.column_type for report in model.columns] == [
        "number",
        "number",
        "category",
        "category",
    ]


def test_a_checkpoint_needs_online_training(tmp_path):
    with pytest.raises(ValueError, match=r"checkpoint must go with online=True: got .*kept. Leave"):
        train_on("nowhere.csv", target="ill", checkpoint=tmp_path / "kept")


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "folder"])
def test_of_larger_data_the_rows_that_fit_draws_are_read(table, write, tmp_path, name):
    table = table.drop(columns="seen")
    path = tmp_path / "folder" if name == "folder" else write(table, name)
    if name == "folder":
        path.mkdir()
        for k, cut in enumerate([table[:7], table[7:800], table[800:]]):
            cut.to_parquet(path / f"{k}.parquet")
    seen = []
    model = train_on(path, target="ill", ensemble=ensemble(max_rows=300), report=seen.append)
    X = table.drop(columns="ill")
    by_hand = ensemble(max_rows=300).fit(X, table["ill"])
    assert np.array_equal(model.ensemble.predict_proba(X), by_hand.predict_proba(X))
    assert model.ensemble.n_samples_seen_ == model.n_rows == 1200
    stages = [progress.stage for progress in seen]
    assert stages == sorted(stages, key=["reading", "choosing", "growing"].index)
    assert seen[-1].share == 1.0


def test_samples_must_fit_into_memory(table, write):
    path = write(table, "a.csv")
    message = r"max_memory \(--max-memory\) must be enough for 1,200 rows x 5 columns, .* 83 or few"
    with pytest.raises(ValueError, match=message):
        train_on(path, target="ill", ensemble=ensemble(), max_memory=10_000)
    train_on(path, target="ill", ensemble=ensemble(max_rows=83), max_memory=10_000)
    for wrong, error in ((0, ValueError), ("1GB", TypeError)):
        with pytest.raises(error, match="max_memory must be"):
            train_on(path, target="ill", max_memory=wrong)


def test_labels_that_differ_in_case_or_spaces_are_reported(table, write):
    odd = table.assign(ill=table["ill"].where(table.index % 9 != 0, "Yes "))
    with pytest.warns(UserWarning, match=r"y differ only in case or spaces: 'Yes ', 'y"):
        train_on(write(odd, "a.csv"), target="ill", ensemble=ensemble())


@pytest.mark.parametrize("column_type", ["number", "date"])
@pytest.mark.parametrize("online", [False, True])
def test_column_types_that_do_not_suit_the_cells_are_refused(tmp_path, column_type, online):
    path = tmp_path / "towns.csv"
    path.write_text("town,y\n" + "Bern,a\nOslo,b\n" * 40)
    with pytest.raises(ValueError, match=rf"--{column_type}\) must suit .* 'town' .* but category"):
        train_on(path, target="y", column_types={"town": column_type}, online=online)
