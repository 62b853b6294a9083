"""``skliquid datasets``: what data there are."""

from skliquid.cli.listing import print_list
from skliquid.datasets import DATASET_NAMES, available_datasets, load_dataset


def datasets() -> None:
    """List the paper's datasets, and which of them are here."""
    columns = ("name", "rows", "features", "categorical", "missing", "classes")
    here = available_datasets()
    rows = [_row(name, is_here=name in here) for name in DATASET_NAMES]
    print_list("The paper's datasets: UCI, CC BY 4.0", columns, rows)


def _row(name: str, *, is_here: bool) -> list[str]:
    if not is_here:
        return [name, *["-"] * 4, "not here; downloaded when first loaded"]
    data = load_dataset(name)
    classes = ", ".join(f"{label}: {count}" for label, count in data.class_counts.items())
    n_categorical = list(data.column_types).count("categorical")
    return [name, *map(str, (data.n_rows, data.n_features, n_categorical, data.n_missing)), classes]
