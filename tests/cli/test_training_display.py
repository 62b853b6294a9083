import io
import signal

import pytest
from rich.console import Console

from skliquid.cli.training_display import TrainingDisplay
from skliquid.streams import Progress


@pytest.fixture
def display():
    return TrainingDisplay(Console(file=io.StringIO(), force_terminal=True, width=200))


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


def test_a_signal_ends_training_after_an_increment(display):
    progress = Progress(500, 3000, 12, 70_000, 0.9)
    with display.shown():
        display.report(progress)
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            display.report(progress)


@pytest.mark.parametrize("is_later", [False, True], ids=["before training", "after training"])
def test_a_signal_outside_training_ends_at_once(display, is_later):
    with display.shown():
        if is_later:
            display.report(Progress(500, 3000, 12, 70_000, 0.9))
            display.say("Writing the replay")
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
