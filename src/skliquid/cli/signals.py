"""Signals that ask a command to end: Ctrl-C, SIGTERM, and SIGHUP of a terminal that is closed."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

Handler = Callable[[int, FrameType | None], object]
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # the last one is not on Windows


class Stopped(KeyboardInterrupt):
    """A signal has asked the command to end.

    ``text`` is what to say, and ``exit_code`` the one that shells expect.
    """

    def __init__(self, number: int):
        super().__init__()
        self.text, self.exit_code = "Stopped.", 128 + number


def raise_stopped(number: int, _: FrameType | None) -> NoReturn:
    """End by an exception, so that files are closed and temporary ones removed."""
    raise Stopped(number)


def end_at_once(number: int, _: FrameType | None) -> NoReturn:
    """End without an exception, which modules that are being imported would answer in their way."""
    os.write(2, b"Stopped.\n")
    os._exit(128 + number)


def handle(by: Handler) -> dict[int, Any]:
    """Let ``by`` handle signals that are not ignored, as by ``nohup``; return the old handlers."""
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    heard = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    return {number: signal.signal(number, by) for number in heard}


@contextmanager
def handled(by: Handler) -> Iterator[None]:
    """Return a context in which ``by`` handles signals."""
    before = handle(by)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
