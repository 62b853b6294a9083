import io
import signal
from threading import current_thread, main_thread

import numpy as np
import pytest
from rich.console import Console

from skliquid.cli.ending import Stopped
from skliquid.cli.reports import TrainingProgress, confusion_table
from skliquid.streams import Progress


@pytest.fixture
def display():
    return TrainingProgress(Console(file=io.StringIO(), force_terminal=True, width=200))


def shown(display):
    return display.bar.console.file.getvalue()


def test_the_line_follows_training_and_scoring(display):
    with display.shown():
        display.report(Progress(500, 3000, 12, 70_000, 0.9))
        display.bar.refresh()
        assert "500 rows" in shown(display)
        assert "12 representatives, cost 70,000" in shown(display)
        display.report(Progress(40, 300, 5, 90_000, 0.9, "scoring"))
        display.bar.refresh()
        assert "Scoring held-out rows" in shown(display)
        assert display.bar.tasks[0].total == 300
        display.say("Writing the replay")
        display.bar.refresh()
        assert "Writing the replay" in shown(display)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_training_after_an_increment(display, number):
    progress = Progress(500, 3000, 12, 70_000, 0.9)
    with display.shown():
        display.report(progress)
        signal.raise_signal(number)
        with pytest.raises(Stopped) as caught:
            display.report(progress)
    assert caught.value.exit_code == 128 + number


def test_a_terminal_that_was_closed_does_not_hide_the_signal(display):
    class ClosedTerminal(io.StringIO):
        def write(self, text):
            if current_thread() is main_thread():  # not in the one that refreshes the line
                raise OSError(5, "Input/output error")
            return len(text)

    def train():
        with display.shown():
            display.report(Progress(500, 3000, 12, 70_000, 0.9))
            display.bar.console.file = ClosedTerminal()
            signal.raise_signal(signal.SIGHUP)
            display.report(Progress(600, 3000, 12, 70_000, 0.9))

    with pytest.raises(Stopped) as caught:
        train()
    assert caught.value.exit_code == 129


@pytest.mark.parametrize("is_later", [False, True], ids=["before training", "after training"])
def test_a_signal_outside_training_ends_at_once(display, is_later):
    with display.shown():
        if is_later:
            display.report(Progress(500, 3000, 12, 70_000, 0.9))
            display.say("Writing the replay")
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


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
