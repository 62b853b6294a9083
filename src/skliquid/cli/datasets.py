"""``skliquid datasets``: the paper's datasets."""

from skliquid.cli.listing import print_list
from skliquid.datasets import DATASET_NAMES, available_datasets, load_dataset


def datasets() -> None:
    """List the paper's datasets, and which of them are installed."""
    columns = ("name", "rows", "features", "categorical", "missing", "classes")
    print_list("The paper's datasets: UCI, CC BY 4.0", columns, map(_row, DATASET_NAMES))


def _row(name: str) -> list[str]:
    if name not in available_datasets():
        return [name, *["-"] * 4, "not here; downloaded when first loaded"]
    data = load_dataset(name)
    classes = ", ".join(f"{label}: {count}" for label, count in data.class_counts.items())
    n_categorical = data.column_types.count("categorical")
    return [name, *map(str, (data.n_rows, data.n_features, n_categorical, data.n_missing)), classes]
