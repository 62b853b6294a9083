import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from clusters import wait_until

from reproduction.process_runner import run_trials
from reproduction.tests.small_results import SMALL
from reproduction.trial import Trial
from reproduction.trial_store import Store

TRIALS = [Trial("heart", "ours", SMALL, number) for number in range(6)]


def table(path):
    with Store(path) as store:
        return store.to_pandas().drop(columns=["seconds", "finished"]).sort_values("key")


def test_results_do_not_depend_on_order_or_jobs(tmp_path):
    reported = []
    with Store(tmp_path / "a" / "t.sqlite") as store:
        assert run_trials(TRIALS, store, n_jobs=2, report=reported.append) == 0
    with Store(tmp_path / "b" / "t.sqlite") as store:
        run_trials(TRIALS[::-1], store, n_jobs=1)
    assert sum(reported) == 6
    assert table(tmp_path / "a" / "t.sqlite").equals(table(tmp_path / "b" / "t.sqlite"))


def test_a_worker_that_is_killed_costs_nothing(tmp_path, deadly):
    with Store(tmp_path / "t.sqlite") as store:
        assert run_trials([deadly("once"), *TRIALS], store, n_jobs=2) == 0
        assert store.missing([deadly("once"), *TRIALS]) == []


@pytest.mark.parametrize(("name", "words"), [("always", "process died"), ("wrong", "no way")])
def test_a_trial_that_keeps_failing_is_recorded_and_the_others_continue(
    tmp_path, deadly, name, words
):
    with Store(tmp_path / "t.sqlite") as store:
        assert run_trials([deadly(name), *TRIALS], store, n_jobs=2) == 1
        ((trial, error),) = store.errors([deadly(name), *TRIALS])
        assert trial == deadly(name)
        assert words in error
        assert len(store.results(TRIALS)) == 6


class FullStore:
    def add(self, outcomes):
        raise OSError(28, "No space left on device")


def test_no_process_is_left_when_results_cannot_be_stored(deadly):
    of_others = set(multiprocessing.active_children())  # such as joblib, which keeps its own
    with pytest.raises(OSError, match="No space left"):
        run_trials([deadly("endless"), TRIALS[0]], FullStore(), n_jobs=2)
    wait_until(lambda: of_others.issuperset(multiprocessing.active_children()))


DRIVER = """
import sys
from reproduction.process_runner import run_trials
from reproduction.trial_store import Store
from reproduction.trial import Trial
SMALL = {small!r}
if __name__ == "__main__":
    trials = [Trial("heart", "ours", SMALL, number) for number in range(60)]
    with Store(sys.argv[1]) as store:
        missing = store.missing(trials)
        run_trials(missing, store, n_jobs=2, report=lambda n: print(n, flush=True))
"""


def workers_of(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in children.read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads Linux's /proc")
def test_a_driver_that_is_killed_can_be_run_again(tmp_path):
    script, path = tmp_path / "driver.py", tmp_path / "t.sqlite"
    script.write_text(DRIVER.format(small=SMALL))
    command = [sys.executable, str(script), str(path)]
    killed = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    reported = int(killed.stdout.readline())
    workers = workers_of(killed.pid)
    os.kill(killed.pid, signal.SIGKILL)
    reported += sum(int(line) for line in killed.stdout.read().splitlines())
    killed.stdout.close()
    killed.wait()
    assert len(workers) >= 2
    n_done = len(table(path))
    assert n_done >= reported
    for _ in range(100):
        alive = [pid for pid in workers if Path(f"/proc/{pid}").exists()]
        if not alive:
            break
        time.sleep(0.1)
    assert not alive, "workers outlive their driver"
    rest = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert sum(map(int, rest.split())) == 60 - n_done
    assert len(table(path)) == 60
    undisturbed = tmp_path / "whole.sqlite"
    subprocess.run([*command[:-1], str(undisturbed)], check=True, capture_output=True)
    assert table(path).equals(table(undisturbed))
