import subprocess
import sys

import pytest

from reproduction import trial as module
from reproduction.tests.small_results import SMALL
from reproduction.trial import Trial, code_version


def without_time(result):
    return {name: value for name, value in result.items() if name != "seconds"}


def test_a_trial_gives_the_same_in_any_process():
    trial = Trial("heart", "ours", SMALL, 1)
    code = (
        "from reproduction.trial import Trial\n"
        f"r = Trial('heart', 'ours', {SMALL!r}, 1).run()\n"
        "print(r['accuracy_final'], r['curve_accuracy'])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    result = trial.run()
    assert printed.split(maxsplit=1)[0] == str(result["accuracy_final"])
    assert printed.split(maxsplit=1)[1].strip() == str(result["curve_accuracy"])
    assert str(without_time(result)) == str(without_time(trial.run()))


def test_keys_differ_by_number_method_protocol_and_dataset():
    first = Trial("heart", "ours", SMALL, 0)
    keys = {
        first.key,
        Trial("heart", "ours", SMALL, 1).key,
        Trial("heart", "paper", SMALL, 0).key,
        Trial("heart", "ours", SMALL | {"n_final": 5}, 0).key,
        Trial("ionosphere", "ours", SMALL, 0).key,
    }
    assert len(keys) == 5
    assert first.key == Trial("heart", "ours", dict(reversed(SMALL.items())), 0).key


def test_the_key_follows_code_and_data(monkeypatch, table):
    trial = Trial(str(table), "ours", SMALL, 0, "class")
    key = trial.key
    monkeypatch.setattr(module, "code_version", lambda: "other")
    assert trial.key != key
    monkeypatch.undo()
    assert trial.key == key
    table.write_text(table.read_text() + "1,1,1,red,yes\n")
    module._data_version.cache_clear()
    assert trial.key != key


def test_the_key_follows_a_users_mechanism(monkeypatch, tmp_path):
    source = tmp_path / "own_mechanism_for_keys.py"
    source.write_text("from skliquid.mechanisms import MECHANISMS\nmine = MECHANISMS['max']\n")
    monkeypatch.syspath_prepend(tmp_path)
    trial = Trial("heart", "ours", SMALL | {"mechanism": "own_mechanism_for_keys:mine"}, 0)
    key = trial.key
    assert trial.run()["n_representatives"] == 4
    source.write_text(source.read_text() + "# changed\n")
    module._own_code_version.cache_clear()
    assert trial.key != key


def test_the_code_version_is_short_and_stable():
    assert code_version() == code_version()
    assert len(code_version()) == 16


@pytest.mark.parametrize("protocol", ["paper", "ours"])
def test_a_users_file_is_a_dataset(table, protocol):
    result = Trial(str(table), protocol, SMALL, 0, "class").run()
    assert result["accuracy_final"] > 0.7


def test_variations_have_the_same_seeds(monkeypatch):
    seeds = []
    monkeypatch.setattr(module, "run", lambda *arguments: seeds.append(arguments[-1]))
    varied = [
        {},
        {"candidates": "representatives"},
        {"features_per_voter": "all", "weight_of": "guru"},
        {"stopping_rule": "objective"},
    ]
    trials = [Trial("heart", "paper", SMALL | each, 0) for each in varied]
    for trial in trials:
        trial.run()
    assert len(set(seeds)) == 1
    assert len({trial.key for trial in trials}) == 4
    Trial("heart", "paper", SMALL | {"n_final": 5}, 0).run()
    assert len(set(seeds)) == 2


def test_a_rule_that_is_the_protocols_anyway_makes_no_other_trial():
    plain = Trial("heart", "paper", SMALL, 0)
    stated = SMALL | {"features_per_voter": 20, "candidates": "voters"}
    assert Trial("heart", "paper", stated, 0).key == plain.key
    assert Trial("heart", "ours", stated, 0).key != Trial("heart", "ours", SMALL, 0).key
