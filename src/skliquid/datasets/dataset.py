"""A dataset: rows, classes, and what is known of the features."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skliquid.datasets.catalogue import Kind
from skliquid.datasets.table import Table, numbers, words


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows and their classes, as they are in the source: nothing scaled, encoded or filled in.

    Attributes
    ----------
    name : str
        The dataset's name, or that of its file.
    X : array or DataFrame
        The features. An array of floats when all are numerical, else of objects: floats for
        numerical features and text for others. A missing number is not a number, a missing text
        None. As a frame: float columns, ``category`` columns and text for points in time.
    y : array or Series of str
        The class of each row, as the source spells it.
    feature_names : tuple of str
        The name of each feature.
    kinds : tuple of {"numerical", "categorical", "time"}
        The kind of each feature.
    target_name : str
        The column that ``y`` was.
    source, licence, citation : str
        Where the data is from, on what terms, and how to cite it; the last two are empty for a
        user's own file.
    """

    name: str
    X: Any
    y: Any
    feature_names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    target_name: str
    source: str
    licence: str = ""
    citation: str = ""

    def __repr__(self) -> str:
        classes = ", ".join(f"{label}: {count}" for label, count in self.class_counts.items())
        return (
            f"Dataset({self.name!r}, {self.n_rows} rows, {self.n_features} features, "
            f"classes {classes})"
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    @property
    def n_missing(self) -> int:
        """Number of cells of X without a value."""
        cells = np.asarray(self.X, dtype=object).ravel()
        return sum(cell is None or cell != cell for cell in cells)  # noqa: PLR0124 (NaN)

    @property
    def class_counts(self) -> dict[str, int]:
        """How many rows each class has, the largest first."""
        return dict(Counter(np.asarray(self.y).tolist()).most_common())


def dataset_from_table(
    table: Table,
    kinds: tuple[Kind, ...],
    *,
    target: str,
    as_frame: bool,
    **about: str,
) -> Dataset:
    """Return the dataset whose classes are the column ``target`` and whose features the others.

    ``kinds`` are those of the features; ``about`` is the name, the source and so on.
    """
    features = {
        name: column
        for name, column in zip(table.names, table.columns, strict=True)
        if name != target
    }
    labels = table.columns[table.names.index(target)]
    if as_frame:
        X = _frame(features, kinds)
        y = import_pandas("A data frame").Series(list(labels), name=target)
    else:
        X, y = _array(features, kinds), np.array(labels)
    return Dataset(
        X=X,
        y=y,
        feature_names=tuple(features),
        kinds=kinds,
        target_name=target,
        **about,
    )


def _array(features: dict[str, tuple[str, ...]], kinds: tuple[Kind, ...]) -> Any:
    if set(kinds) == {"numerical"}:
        return np.array([numbers(column) for column in features.values()]).T.copy()
    n_rows = len(next(iter(features.values())))
    X = np.empty((n_rows, len(features)), dtype=object)
    for position, (column, kind) in enumerate(zip(features.values(), kinds, strict=True)):
        X[:, position] = numbers(column) if kind == "numerical" else words(column)
    return X


def _frame(features: dict[str, tuple[str, ...]], kinds: tuple[Kind, ...]) -> Any:
    pd = import_pandas("A data frame")
    make: dict[Kind, Callable[[tuple[str, ...]], Any]] = {
        "numerical": lambda column: np.array(numbers(column)),
        "categorical": lambda column: pd.Categorical(words(column)),
        "time": words,
    }
    columns = {
        name: make[kind](column)
        for (name, column), kind in zip(features.items(), kinds, strict=True)
    }
    return pd.DataFrame(columns)


def import_pandas(what: str) -> Any:
    """Return pandas, or say that ``what`` needs it."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            f"{what} needs pandas, which is not installed: pip install 'skliquid[pandas]'."
        ) from error
    return pd
