"""How a command prints a list."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

_WIDEST = 10_000


def print_list(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of which nothing is cut: folded on a screen, as wide as it is in a pipe."""
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column == columns[0])
    for row in rows:
        table.add_row(*row)
    on_screen = Console()
    console = on_screen if on_screen.is_terminal else Console(width=_WIDEST)
    console.print(table)


def listed(columns: Iterable[str]) -> str:
    """Return the names of columns in words."""
    return ", ".join(name or "a column without a name" for name in columns)
