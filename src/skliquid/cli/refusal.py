"""How a command says that it cannot do what was asked."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console


@contextmanager
def refusing(console: Console) -> Iterator[None]:
    """Turn an error of the user's into one red sentence and exit code 2."""
    try:
        yield
    except BrokenPipeError:  # who reads has seen enough, which typer knows to end quietly
        raise
    except (ValueError, OSError, ImportError) as error:
        _say(console, str(error))
        raise typer.Exit(2) from None
    except MemoryError:
        _say(
            console,
            "There is not enough memory. Give smaller increments, fewer voters or fewer columns, "
            "or use a machine that has more.",
        )
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        _say(console, "Stopped.")
        raise typer.Exit(130) from None


def _say(console: Console, text: str) -> None:
    console.print(text, style="red", markup=False, soft_wrap=True)
