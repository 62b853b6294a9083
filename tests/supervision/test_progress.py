import re

import pytest
from sklearn.linear_model import SGDClassifier

from skliquid import LiquidEnsembleClassifier


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr("skliquid.supervision.progress.SECONDS_BETWEEN_MESSAGES", 0)


def small(**options):
    voter = SGDClassifier()
    return LiquidEnsembleClassifier(voter, n_estimators=12, n_final=3, random_state=0, **options)


@pytest.mark.usefixtures("impatient")
def test_training_prints_its_progress(binary, capsys):
    X, y = binary
    ensemble = small(increment_size=100, verbose=1).fit(X, y)
    *increments, last = capsys.readouterr().out.splitlines()
    assert last == "[skliquid] final fit of 3 representatives"
    finished = ensemble.record_[: len(increments)]
    assert len(finished) == len(ensemble.record_) - 1  # after the last comes the final fit
    for line, increment in zip(increments, finished, strict=True):
        n_left = increment.n_representatives
        is_measured = increment.increment > 1
        accuracy = " of mean accuracy 0." if is_measured else ", "
        assert line.startswith(f"[skliquid] {n_left} representatives{accuracy}")
        assert re.search(rf"increment {increment.increment} of 6, \d+ s$", line)


def test_training_prints_the_accuracy_after_the_final_fit(binary, capsys):
    ensemble = small(verbose=1).fit(*binary, eval_set=binary)
    accuracy = f"{ensemble.score(*binary):.3f}"
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"[skliquid] accuracy on the evaluation set: {accuracy}"


@pytest.mark.usefixtures("impatient")
def test_a_stream_prints_its_progress(binary, capsys):
    X, y = binary
    ensemble = small(increment_size=20, verbose=True).partial_fit(X[:40], y[:40], classes=[0, 1])
    ensemble.partial_fit(X[40:80], y[40:80])
    places = re.findall(r"increment (\d of \d)", capsys.readouterr().out)
    assert places == ["1 of 2", "2 of 2", "3 of 4", "4 of 4"]


def test_a_terminal_gets_a_bar(binary, capsys, monkeypatch):
    pytest.importorskip("rich", reason="bars need rich")
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes it for a terminal
    small(increment_size=100, verbose=1).fit(*binary)
    printed = capsys.readouterr().out
    assert "━" in printed
    assert "sample visits" not in printed  # which lines have
    assert "3 representatives of mean accuracy" in printed


def test_a_short_training_prints_nothing_of_its_increments(binary, capsys):
    small(verbose=1).fit(*binary)
    assert "increment" not in capsys.readouterr().out
    small().fit(*binary)
    assert capsys.readouterr().out == ""
