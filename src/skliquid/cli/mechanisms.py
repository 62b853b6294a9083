"""``skliquid mechanisms``: the mechanisms by name."""

from rich.console import Console
from rich.table import Table

from skliquid.mechanisms import MECHANISMS, Revocable


def mechanisms() -> None:
    """List the delegation mechanisms."""
    columns = ["name", "who delegates", "to whom", "who returns"]
    table = Table(*columns, title="Mechanisms", title_justify="left")
    for name, named in MECHANISMS.items():
        returns = _first_line(named.returns) if isinstance(named, Revocable) else "Nobody."
        pair = named.mechanism if isinstance(named, Revocable) else named
        table.add_row(name, _first_line(pair.selection), _first_line(pair.probability), returns)
    Console().print(table)


def _first_line(function: object) -> str:
    return (function.__doc__ or "").strip().splitlines()[0].partition(": the paper's")[0]
