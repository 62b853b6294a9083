"""``skliquid datasets``: what data there are."""

from rich.console import Console
from rich.table import Table

from skliquid.datasets import DATASET_NAMES, available_datasets, load_dataset


def datasets() -> None:
    """List the paper's datasets, and which of them are here."""
    table = Table(title="The paper's datasets: UCI, CC BY 4.0", title_justify="left")
    for column in ("name", "rows", "features", "categorical", "missing", "classes"):
        table.add_column(column, no_wrap=True)
    here = available_datasets()
    for name in DATASET_NAMES:
        if name not in here:
            table.add_row(name, *["-"] * 4, "not here; downloaded when first loaded")
            continue
        data = load_dataset(name)
        table.add_row(
            name,
            str(len(data.y)),
            str(len(data.kinds)),
            str(list(data.kinds).count("categorical")),
            str(data.n_missing),
            ", ".join(f"{label}: {count}" for label, count in data.class_counts.items()),
        )
    Console().print(table)
