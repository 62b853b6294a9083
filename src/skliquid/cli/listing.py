"""How a command prints a list."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table


def print_list(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table without cutting text: folded on a screen, at full width in a pipe."""
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column == columns[0])
    for row in rows:
        table.add_row(*row)
    screen = Console()
    (screen if screen.is_terminal else Console(width=10_000)).print(table)


def listed(columns: Iterable[str]) -> str:
    """Return the names of columns as text."""
    return ", ".join(name or "a column without a name" for name in columns)
