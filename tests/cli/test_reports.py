import io
import signal
from threading import current_thread, main_thread

import numpy as np
import pytest
from rich.console import Console

from skliquid.cli.ending import Stopped
from skliquid.cli.reports import TrainingProgress, confusion_table
from skliquid.streams import Progress
from skliquid.tables.column_report import ColumnReport


@pytest.fixture
def display():
    return TrainingProgress(Console(file=io.StringIO(), force_terminal=True, width=80))


def progress(n_rows, n_rows_in_all=3000, stage="training", columns=()):
    share = n_rows / n_rows_in_all
    return Progress(stage, share, n_rows, n_rows_in_all, 12, 70_000, 0.9, np.nan, columns)


def shown(display):
    return display.bar.console.file.getvalue()


def test_the_line_follows_training_and_scoring(display):
    with display.shown():
        display.report(progress(500))
        display.bar.refresh()
        assert "Training: 500 of 3,000 rows" in shown(display)
        assert "17 %" in shown(display)
        assert " left" in shown(display)
        assert "…" not in shown(display)  # it fits 80 columns
        display.report(progress(40, 300, "scoring"))
        display.bar.refresh()
        assert "Scoring held-out rows" in shown(display)
        assert display.bar.tasks[0].completed == pytest.approx(40 / 300)
        display.say("Writing the replay")
        display.bar.refresh()
        assert "Writing the replay" in shown(display)


def test_growing_shows_the_representatives_and_their_loss(display):
    with display.shown():
        display.report(progress(3000, stage="choosing"))
        assert display.bar.tasks[0].description == "Choosing voters: 3,000 rows, 12 representatives"
        grown = progress(3000, stage="growing")._replace(share=0.5, log_loss=0.4)
        display.report(grown)
        text = "Growing voters: 3,000 rows, 12 representatives, log-loss 0.4000"
        assert display.bar.tasks[0].description == text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_training_after_an_increment(display, number):
    with display.shown():
        display.report(progress(500))
        signal.raise_signal(number)
        with pytest.raises(Stopped) as caught:
            display.report(progress(500))
    assert caught.value.exit_code == 128 + number


def test_a_terminal_that_was_closed_does_not_hide_the_signal(display):
    class ClosedTerminal(io.StringIO):
        def write(self, text):
            if current_thread() is main_thread():  # not in the one that refreshes the line
                raise OSError(5, "Input/output error")
            return len(text)

    def train():
        with display.shown():
            display.report(progress(500))
            display.bar.console.file = ClosedTerminal()
            signal.raise_signal(signal.SIGHUP)
            display.report(progress(600))

    with pytest.raises(Stopped) as caught:
        train()
    assert caught.value.exit_code == 129


@pytest.mark.parametrize("is_later", [False, True], ids=["before training", "after training"])
def test_a_signal_outside_training_ends_at_once(display, is_later):
    with display.shown():
        if is_later:
            display.report(progress(500))
            display.say("Writing the replay")
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_without_a_terminal_there_is_a_line_every_ten_seconds(monkeypatch):
    now = 0.0
    monkeypatch.setattr("skliquid.cli.reports.perf_counter", lambda: now)
    display = TrainingProgress(Console(file=io.StringIO(), width=80))
    with display.shown():
        for now in range(0, 50, 2):
            display.report(progress(100 + 50 * now))
    lines = shown(display).splitlines()
    assert len(lines) == 4
    assert lines[0] == "Training: 600 of 3,000 rows, 20%, 0:00:48 left"
    assert all(len(line) <= 80 for line in lines)


def test_columns_are_shown_once():
    display = TrainingProgress(Console(file=io.StringIO(), width=80))
    columns = [
        ColumnReport("age", "number", 70, 5, "41.5", ["5 cells '-' count as missing"]),
        ColumnReport("[b]", "left out", 0, 0, "", ["an id"]),
    ]
    for n_rows in (100, 200):
        display.report(progress(n_rows, columns=columns))
    said = shown(display)
    assert said.count("age") == 1
    assert "[b]" in said
    assert max(map(len, said.splitlines())) <= 80


def cells(confusion, classes):
    console = Console(file=io.StringIO(), width=300)
    console.print(confusion_table(np.array(confusion), np.array(classes)))
    lines = console.file.getvalue().splitlines()
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]


def test_classes_are_rows_and_predictions_are_columns():
    assert cells([[5, 1], [2, 2000]], ["no", "yes"]) == [
        ["no", "5", "1", "83%"],
        ["yes", "2", "2,000", "100%"],
    ]


def test_a_class_without_held_out_rows_has_no_share():
    assert cells([[0, 0], [2, 3]], [0, 1]) == [["0", "0", "0", ""], ["1", "2", "3", "60%"]]


def test_of_many_classes_the_rare_are_summed():
    counts = np.ones((13, 13), dtype=int) + np.diag(np.arange(13))  # class 12 is most frequent
    rows = cells(counts, range(13))
    assert [row[0] for row in rows] == [*map(str, range(3, 13)), "3 others"]
    assert rows[0] == ["3", "4", *["1"] * 9, "3", "25%"]
    assert rows[-1] == ["3 others", *["3"] * 10, "12", "14%"]
    assert sum(int(cell) for row in rows for cell in row[1:-1]) == counts.sum()
