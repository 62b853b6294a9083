"""How a command ends early: by Ctrl-C and other signals, and by errors of the user's."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from skliquid.validation.checks import printable

if TYPE_CHECKING:
    from rich.console import Console

Handler = Callable[[int, FrameType | None], object]
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # the last one is not on Windows


class Stopped(KeyboardInterrupt):
    """A signal has asked the command to end.

    ``text`` is the message, and ``exit_code`` the one that shells expect.
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


_NO_MEMORY = "There is not enough memory. Use smaller increments, fewer voters or fewer columns."


@contextmanager
def refusing(
    console: "Console", errors: tuple[type[Exception], ...] = (ValueError, OSError, ImportError)
) -> Iterator[None]:
    """Turn an error of the user's into one red sentence and exit code 2, and end at a signal."""
    import typer  # signals are handled before it is imported

    try:
        with handled(raise_stopped):
            yield
    except BrokenPipeError:  # the reader has seen enough, which typer ends quietly
        raise
    except MemoryError:
        text, code = _NO_MEMORY, 2
    except errors as error:
        text, code = str(error), 2
    except KeyboardInterrupt as error:
        stopped = error if isinstance(error, Stopped) else Stopped(signal.SIGINT)
        text, code = stopped.text, stopped.exit_code
    else:
        return
    with suppress(OSError):  # of a terminal that was closed
        console.print(printable(text, keep="\n"), style="red", markup=False, soft_wrap=True)
    raise typer.Exit(code)
