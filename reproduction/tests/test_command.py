"""The command, as one types it."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from clusters import cluster_of, wait_until
from joblib import cpu_count
from small_disk import small_disk
from typer.testing import CliRunner

from reproduction.command import _n_processes, _split_at_commas, app

COMMAND = [sys.executable, "-m", "reproduction"]
SPEC = """
title = "Mine"
kind = "results"
protocols = ["ours"]
datasets = ["heart"]
trials = {full = 3, quick = 2}
[[methods]]
method = "liquid"
mechanism = ["direct", "MECHANISM"]
increment_size = 20
delegation_rate = 0.3
n_estimators = 20
n_final = 4
"""
OWN = """
import numpy as np
from skliquid import Mechanism
from skliquid.mechanisms.selection import least_competent


def bold(gain, weight):
    return np.maximum(gain, 0) ** 3


mine = Mechanism(least_competent, bold)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.toml").write_text(SPEC.replace("MECHANISM", "own_mechanism:mine"))
    (tmp_path / "own_mechanism.py").write_text(OWN)
    return tmp_path


def typed(folder, *words, code=0):
    environment = os.environ | {"SKLIQUID_DATA_HOME": str(folder / "home"), "COLUMNS": "200"}
    done = subprocess.run(
        [*COMMAND, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def type_in(folder, monkeypatch):
    """Run the command in this process, and return its output."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")

    def typed(*words, code=0):
        done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
        assert done.exit_code == code, done.output
        return re.sub(r"\x1b\[[\d;]*m", "", done.output)

    return typed


def test_a_users_mechanism_needs_one_changed_line(folder):
    first = typed(folder, "mine.toml", "--datasets", "heart", "--jobs", "1")
    assert "Done in" in first
    file = folder / "own_mechanism.py"
    assert f"mine.toml runs code of the module own_mechanism ({file})." in first
    table = (folder / "out" / "tables" / "mine.md").read_text()
    assert "| heart | mine |" in table
    again = typed(folder, "mine.toml", "--datasets", "heart", "--jobs", "1")
    assert "4 trials are stored already, 0 remain" in again
    more = typed(folder, "mine.toml", "--datasets", "heart", "--full")
    assert "4 trials are stored already, 2 remain" in more


def test_code_is_announced_before_it_is_run(folder):
    (folder / "own_mechanism.py").write_text("print('runs', flush=True)\nimport nothing_of_it")
    printed = typed(folder, "mine.toml", code=2)
    assert printed.index("mine.toml runs code of the module own_mechanism") < printed.index(
        "runs\n"
    )
    assert "cannot be imported (No module named 'nothing_of_it')" in printed


def test_a_users_file_is_a_dataset(folder):
    rows = "".join(f"{k % 7},{k % 3},{'yes' if k % 7 > 3 else 'no'}\n" for k in range(120))
    (folder / "data.csv").write_text("a,b,label\n" + rows)
    typed(folder, "mine.toml", "--datasets", "data.csv::label", "--trials", "2")
    assert "data.csv" in (folder / "out" / "tables" / "mine.md").read_text()


def test_files_named_in_the_experiment_are_its_datasets(folder):
    rows = "".join(f"{k % 7},{k % 3},{'yes' if k % 7 > 3 else 'no'}\n" for k in range(120))
    (folder / "data.csv").write_text("a,b,label\n" + rows)
    spec = SPEC.replace("MECHANISM", "max").replace('"heart"', '"data.csv::label", "heart"')
    (folder / "files.toml").write_text(spec)
    words = ["files.toml", "files.toml", "./files.toml", "--jobs", "1"]
    assert "online-shoppers" not in typed(folder, *words)
    table = (folder / "out" / "tables" / "files.md").read_text()
    assert table.count("| data.csv::label |") == table.count("| heart |") == 2
    assert "2 trials of each method" in (folder / "out" / "report.html").read_text()


def test_an_experiment_without_trials_or_with_a_name_that_is_taken_is_refused(folder, type_in):
    spec = SPEC.replace("MECHANISM", "max")
    (folder / "mine.toml").write_text(spec.replace('"heart"', '"data.csv"'))
    assert "data.csv is not, seen from" in type_in("mine.toml", code=2)
    (folder / "mine.toml").write_text(spec.replace('datasets = ["heart"]', ""))
    printed = type_in("mine.toml", code=2)
    assert "mine must have a dataset that is available: it names none. Give one with" in printed
    (folder / "other").mkdir()
    (folder / "other" / "mine.toml").write_text(spec)
    printed = type_in("mine.toml", "other/mine.toml", code=2)
    assert "other/mine.toml has the name of mine.toml. Rename one" in printed


def test_unknown_names_are_reported_in_a_sentence(folder):
    printed = typed(folder, "tabel_3", code=2)
    assert "or a TOML file: got 'tabel_3'. Choose one of them." in printed
    for words in (["comparisn"], ["comparisn", "--datasets", "heart"]):
        printed = typed(folder, *words, code=2)
        assert "got 'comparisn'. Did you mean 'comparison'?" in printed
        assert "breast-cancer-w" not in printed
    printed = typed(folder, "comparison", "--datasets", "heart", "datasets.csv", code=2)
    assert "datasets.csv is not, seen from" in printed
    printed = typed(folder, "comparison", "--datasets", "hart", code=2)
    assert "got 'hart'. Did you mean 'heart'?" in printed
    assert "Traceback" not in printed


def test_names_of_files_are_shown_as_they_are(folder, type_in):
    for name in ("[/x].csv", "da[red]ta.csv", "a:red_heart:.csv"):
        printed = type_in("comparison", "--datasets", name, code=2)
        assert f"{name} is not, seen from" in printed


def test_a_store_that_cannot_be_used_is_reported_in_a_sentence(folder, type_in):
    words = ["harmful_states", "--datasets", "heart", "--out"]
    assert "mine.toml must be a folder" in type_in(*words, "mine.toml", code=2)
    (folder / "out").mkdir()
    (folder / "out" / "trials.sqlite").write_text("something else" * 100)
    assert "trials.sqlite must be a store of trials" in type_in(*words, "out", code=2)


def test_a_full_disk_is_reported_in_a_sentence(folder, type_in, monkeypatch):
    words = ["harmful_states", "--datasets", "heart"]
    type_in(*words)
    report = folder / "out" / "report.html"
    before = report.read_bytes()
    monkeypatch.setattr("reproduction.report._page", lambda *_: "x" * 200_000)
    with small_disk(100_000):
        said = type_in(*words, code=2)
    assert said.strip().endswith("out/report.html cannot be written (File too large).")
    assert "Traceback" not in said
    assert report.read_bytes() == before
    with small_disk(5_000):
        said = type_in(*words, "--out", "other", code=2)
    assert "trials.sqlite must be a store of trials that can be read and written" in said


def test_jobs_are_counted_as_joblib_does(type_in):
    assert "--jobs must not be 0" in type_in("--jobs", "0", code=2)
    assert [_n_processes(jobs) for jobs in (3, -1, -99)] == [3, cpu_count(), 1]


def test_a_comma_may_be_in_the_name_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a,b.csv", "c.csv"):
        (tmp_path / name).touch()
    assert _split_at_commas("heart,spambase") == ["heart", "spambase"]
    assert _split_at_commas("a,b.csv::x,c.csv::y,heart") == ["a,b.csv::x", "c.csv::y", "heart"]
    assert _split_at_commas("heart,a,b.csv") == ["heart", "a,b.csv"]


def test_datasets_are_named_as_one_would(folder):
    for words in (
        ["heart", "ionosphere"],
        ["heart,ionosphere"],
        ["heart", "--datasets", "ionosphere"],
    ):
        typed(folder, "mine.toml", "--datasets", *words, "--jobs", "1")
        table = (folder / "out" / "tables" / "mine.md").read_text()
        assert "| heart |" in table
        assert "| ionosphere |" in table


def test_a_dataset_that_is_not_here_or_damaged_is_left_out(folder):
    words = ["datasets", "mine.toml"]
    assert "online-shoppers is left out" in typed(folder, *words)
    (folder / "home").mkdir()
    (folder / "home" / "online-shoppers.csv").write_text("a,b\n1,2\n")
    printed = typed(folder, *words)
    assert "online-shoppers is left out" in printed
    assert "with the checksum" in printed
    assert "<td>online-shoppers</td>" in (folder / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)]
)
def test_a_signal_stops_cleanly_and_the_rest_is_done_later(folder, number):
    command = [*COMMAND, "mine.toml", "--datasets", "heart", "--trials", "60"]
    environment = os.environ | {"COLUMNS": "200"}
    running = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    store = folder / "out" / "trials.sqlite-wal"
    for _ in range(600):
        if store.exists() and store.stat().st_size > 30_000:
            break
        time.sleep(0.1)
    os.killpg(running.pid, number)  # workers get it as well, as from a terminal
    printed, _ = running.communicate(timeout=60)
    assert running.returncode == 128 + number, printed
    assert "Finished trials are kept" in printed
    assert "Traceback" not in printed
    printed = typed(folder, *command[3:])
    assert "trials are stored already" in printed
    assert "Done in" in printed


def test_a_lost_cluster_is_reported_in_a_sentence_and_the_rest_is_done_here(folder):
    spec = SPEC.replace("MECHANISM", "max").replace("n_estimators = 20", "n_estimators = 12")
    (folder / "mine.toml").write_text(spec)
    words = ["mine.toml", "--datasets", "heart", "--trials", "60"]
    with cluster_of(folder, 1) as cluster:
        running = subprocess.Popen(
            [*COMMAND, *words, "--scheduler", cluster.address],
            cwd=folder,
            env=os.environ | {"COLUMNS": "200"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        store = folder / "out" / "trials.sqlite-wal"
        wait_until(lambda: store.exists() and store.stat().st_size > 30_000)
        cluster.kill_the_scheduler()
        printed, _ = running.communicate(timeout=60)
    assert running.returncode == 3, printed
    assert f"connection to the scheduler at {cluster.address} was lost" in printed
    assert "Traceback" not in printed
    printed = typed(folder, *words)
    assert "trials are stored already" in printed
    assert "Done in" in printed


def test_a_missing_cluster_is_reported_in_a_sentence(folder):
    words = ["mine.toml", "--datasets", "heart", "--timeout", "0.5"]
    printed = typed(folder, *words, "--scheduler", "tcp://127.0.0.1:1", code=3)
    assert "There must be a scheduler at tcp://127.0.0.1:1" in printed
    assert "Traceback" not in printed
    printed = typed(folder, *words, "--scheduler", "[/bad", code=3)
    assert "must be like tcp://192.168.0.1:8786: '[/bad' is not" in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize("module", ["typer", "jinja2", "mpltern"])
def test_without_the_extra_a_sentence_names_it(module):
    main = "from reproduction.__main__ import main; main()"
    code = f"import sys; sys.modules[{module!r}] = None; {main}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"needs {module}, which is not installed" in done.stderr
    assert "pip install '.[reproduction]'" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_import_ends_without_a_traceback(number):
    code = """
import os, sys

class Signalling:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Signalling())
from reproduction.__main__ import main
main()
"""
    command = [sys.executable, "-c", code.format(number=int(number))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", "Stopped.\n")
