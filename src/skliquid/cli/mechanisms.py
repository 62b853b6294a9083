"""``skliquid mechanisms``: the mechanisms by name."""

from rich.console import Console
from rich.table import Table

from skliquid.mechanisms import MECHANISMS


def mechanisms() -> None:
    """List the delegation mechanisms."""
    table = Table("name", "who delegates", "to whom", title="Mechanisms", title_justify="left")
    for name, mechanism in MECHANISMS.items():
        table.add_row(name, _first_line(mechanism.selection), _first_line(mechanism.probability))
    Console().print(table)


def _first_line(function: object) -> str:
    return (function.__doc__ or "").strip().splitlines()[0].partition(": the paper's")[0]
