"""How a command reports that it cannot do what was asked."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from signal import SIGINT

import typer
from rich.console import Console

from skliquid.cli.signals import Stopped, handled, raise_stopped

_NO_MEMORY = "There is not enough memory. Use smaller increments, fewer voters or fewer columns."


@contextmanager
def refusing(
    console: Console, errors: tuple[type[Exception], ...] = (ValueError, OSError, ImportError)
) -> Iterator[None]:
    """Turn an error of the user's into one red sentence and exit code 2, and end at a signal."""
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
        stopped = error if isinstance(error, Stopped) else Stopped(SIGINT)
        text, code = stopped.text, stopped.exit_code
    else:
        return
    with suppress(OSError):  # of a terminal that was closed
        console.print(text, style="red", markup=False, soft_wrap=True)
    raise typer.Exit(code)
