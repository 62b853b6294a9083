"""How a command reports that it cannot do what was asked."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

_NO_MEMORY = "There is not enough memory. Use smaller increments, fewer voters or fewer columns."


@contextmanager
def refusing(console: Console) -> Iterator[None]:
    """Turn an error of the user's into one red sentence and exit code 2."""
    try:
        yield
    except BrokenPipeError:  # the reader has seen enough, which typer ends quietly
        raise
    except (ValueError, OSError, ImportError, MemoryError) as error:
        text, code = _NO_MEMORY if isinstance(error, MemoryError) else str(error), 2
    except KeyboardInterrupt:
        text, code = "Stopped.", 130
    else:
        return
    console.print(text, style="red", markup=False, soft_wrap=True)
    raise typer.Exit(code)
