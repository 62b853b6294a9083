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
    except (ValueError, OSError, ImportError) as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        raise typer.Exit(2) from None
