"""``skliquid datasets`` and ``skliquid mechanisms``: lists, printed as tables."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from skliquid.datasets import DATASET_NAMES, available_datasets, load_dataset
from skliquid.mechanisms import MECHANISMS


def datasets() -> None:
    """List the paper's datasets, and which of them are installed."""
    columns = ("name", "rows", "features", "categorical", "missing", "classes")
    _print_list("The paper's datasets: UCI, CC BY 4.0", columns, map(_dataset_row, DATASET_NAMES))


def _dataset_row(name: str) -> list[str]:
    if name not in available_datasets():
        return [name, *["-"] * 4, "not here; downloaded when first loaded"]
    data = load_dataset(name)
    classes = ", ".join(f"{label}: {count}" for label, count in data.class_counts.items())
    n_categorical = data.column_types.count("categorical")
    return [name, *map(str, (data.n_rows, data.n_features, n_categorical, data.n_missing)), classes]


def mechanisms() -> None:
    """List the delegation mechanisms."""
    rows = [
        [
            name,
            _first_line(mechanism.selection),
            _first_line(mechanism.probability),
            _first_line(mechanism.returns) if mechanism.returns else "No voter.",
        ]
        for name, mechanism in MECHANISMS.items()
    ]
    _print_list("Mechanisms", ["name", "who delegates", "to whom", "who returns"], rows)


def _first_line(function: object) -> str:
    return (function.__doc__ or "").strip().splitlines()[0].partition(": the paper's")[0]


def _print_list(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table without cutting text: folded on a screen, at full width in a pipe."""
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column == columns[0])
    for row in rows:
        table.add_row(*row)
    screen = Console()
    (screen if screen.is_terminal else Console(width=10_000)).print(table)
