import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pandas as pd
import pytest

from reproduction.tests.small_results import SMALL
from reproduction.trial import Trial
from reproduction.trial_store import Store, StoreDamagedError

TRIALS = [Trial("heart", "ours", SMALL, number) for number in range(4)]


def test_results_come_back_as_they_were(tmp_path):
    result = {"accuracy_final": 0.1 + 0.2, "curve_accuracy": [math.nan, 0.5], "refused": True}
    with Store(tmp_path / "new" / "trials.sqlite") as store:
        store.add([(TRIALS[0], result, None)])
        ((trial, found),) = store.results(TRIALS)
    assert trial == TRIALS[0]
    assert found["accuracy_final"] == 0.1 + 0.2
    assert math.isnan(found["curve_accuracy"][0])


def test_only_what_is_missing_is_missing_and_once(tmp_path):
    with Store(tmp_path / "trials.sqlite") as store:
        store.add([(TRIALS[0], {"a": 1}, None), (TRIALS[1], None, "went wrong")])
        assert store.missing([*TRIALS, *TRIALS]) == TRIALS[2:]
        assert store.errors([*TRIALS, *TRIALS]) == [(TRIALS[1], "went wrong")]
        store.forget_errors()
        assert store.missing(TRIALS) == TRIALS[1:]


def test_a_trial_is_stored_once(tmp_path):
    with Store(tmp_path / "trials.sqlite") as store:
        for value in (1, 2):
            store.add([(TRIALS[0], {"a": value}, None)])
        assert [result for _, result in store.results(TRIALS)] == [{"a": 2}]
        assert len(store.to_pandas()) == 1


def test_export(tmp_path):
    with Store(tmp_path / "trials.sqlite") as store:
        assert store.export(tmp_path) == []
        store.add([(t, {"accuracy_final": 0.5, "curve_accuracy": [0.1]}, None) for t in TRIALS])
        parquet, text, _ = store.export(tmp_path)
    assert pd.read_parquet(parquet)["curve_accuracy"].tolist()[0].tolist() == [0.1]
    frame = pd.read_csv(text)
    assert frame["number"].sort_values().tolist() == [0, 1, 2, 3]
    assert "curve_accuracy" not in frame
    assert set(frame["mechanism"]) == {"proportional_weighted"}


def test_a_file_that_is_no_store_is_named(tmp_path):
    path = tmp_path / "trials.sqlite"
    path.write_text("something else, and long enough to be read as a header" * 40)
    with pytest.raises(
        StoreDamagedError, match=r"trials\.sqlite must be a store of trials.*Move it"
    ):
        Store(path)
    with pytest.raises(NotADirectoryError, match=r"trials\.sqlite must be a folder.*Choose anot"):
        Store(path / "trials.sqlite")
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE trials (something TEXT)")
    with pytest.raises(StoreDamagedError, match="no such column: key"):
        Store(other)


def test_a_store_that_is_damaged_later_is_named(tmp_path):
    path = tmp_path / "trials.sqlite"
    with Store(path) as store:
        store.add([(trial, {"a": "b" * 9000}, None) for trial in TRIALS])
    path.write_bytes(path.read_bytes()[:8192])
    with pytest.raises(StoreDamagedError, match="malformed"), Store(path) as store:
        store.results(TRIALS)


WRITER = """
import sys
from reproduction.trial import Trial
from reproduction.trial_store import Store
store = Store(sys.argv[1])
number = int(sys.argv[2])
while True:
    trial = Trial("heart", "ours", {"method": "liquid", "mechanism": "max"}, number)
    store.add([(trial, {"n": number}, None)])
    print(number, flush=True)
    number += 1
"""


def test_what_was_acknowledged_survives_kill_9(tmp_path):
    path, acknowledged = tmp_path / "trials.sqlite", []
    for _ in range(3):
        start = len(acknowledged)
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(start)], stdout=subprocess.PIPE, text=True
        )
        acknowledged.append(int(process.stdout.readline()))
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGKILL)
        acknowledged += [int(line) for line in process.stdout.read().splitlines()]
        process.stdout.close()
        process.wait()
    with Store(path) as store:
        frame = store.to_pandas()
    assert set(acknowledged) <= set(frame["n"])
    assert frame["key"].is_unique
    assert len(acknowledged) > 10


def test_times_are_exported_to_a_separate_file(tmp_path):
    exported = []
    for seconds in (1.0, 2.0):
        folder = tmp_path / str(seconds)
        with Store(folder / "trials.sqlite") as store:
            varied = Trial("heart", "paper", SMALL | {"features_per_voter": 0.5}, 0)
            other = Trial("heart", "paper", SMALL | {"features_per_voter": 7}, 0)
            result = {"accuracy_final": 0.5, "seconds": seconds}
            store.add([(trial, result, None) for trial in (varied, other, TRIALS[0])])
            exported.append(store.export(folder))
    for first, second in list(zip(*exported, strict=True))[:2]:
        assert first.read_bytes() == second.read_bytes()
    times = pd.read_csv(exported[1][2])
    assert times.columns.tolist() == ["key", "finished", "seconds"]
    assert times["seconds"].tolist() == [2.0, 2.0, 2.0]
