import io
import signal
from threading import current_thread, main_thread

import pytest
from rich.console import Console

from skliquid.cli.signals import Stopped
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
