"""Exits of the command: errors and signals that end it with one sentence and an exit code."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

Handler = Callable[[int, FrameType | None], object]


class Stopped(KeyboardInterrupt):
    """A signal has stopped the command; ``text`` is the message to print."""

    def __init__(self, number: int = signal.SIGINT):
        super().__init__()
        self.text, self.exit_code = "Stopped.", 128 + number


def raise_stopped(number: int, _: FrameType | None) -> NoReturn:
    """Handle a signal by an exception, so that files are closed and workers end."""
    raise Stopped(number)


def exit_at_once(number: int, _: FrameType | None) -> NoReturn:
    """Handle a signal without an exception, which modules that are being imported may catch."""
    os.write(2, b"Stopped.\n")
    os._exit(128 + number)


def set_signal_handlers(handler: Handler) -> dict[int, Any]:
    """Handle Ctrl-C, SIGTERM and a closed terminal; return the handlers before."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    # nohup ignores some signals, and they stay ignored
    handled = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in handled}


@contextmanager
def exit_on_error(
    print_error: Callable[[str], None],
    errors: tuple[type[Exception], ...] = (ValueError, OSError, ImportError),
) -> Iterator[None]:
    """Print an error or a signal as a sentence, and raise ``SystemExit``."""
    before = set_signal_handlers(raise_stopped)
    try:
        yield
    except BrokenPipeError:  # the reader has closed the pipe; typer exits quietly
        raise
    except MemoryError:
        text, code = "There is not enough memory. Use fewer --jobs or smaller datasets.", 2
    except errors as error:
        text, code = str(error), 2
    except KeyboardInterrupt as error:
        stopped = error if isinstance(error, Stopped) else Stopped()
        text, code = stopped.text, stopped.exit_code
    else:
        return
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    with suppress(OSError):  # the terminal may have been closed
        print_error(text)
    raise SystemExit(code)
