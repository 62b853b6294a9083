"""Dataset: rows and their classes, with the names and types of the features."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from skliquid.datasets.catalogue import ColumnType
from skliquid.datasets.table import Table, numbers, words


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows and their classes, as in the source: nothing is scaled, encoded or imputed.

    Attributes
    ----------
    name : str
        The dataset's name, or that of its file.
    X : array or DataFrame
        The features. An array of floats when all are numerical, else of objects: floats for
        numerical features and text for others. A missing number is NaN, a missing text None. As a
        data frame: float columns, ``category`` columns and text for points in time.
    y : array or Series of str
        The class of each row, as the source spells it.
    feature_names : tuple of str
        The name of each feature.
    column_types : tuple of {"numerical", "categorical", "time"}
        The type of each feature.
    target_name : str
        The column that ``y`` was.
    source, licence, citation : str
        Source, licence and citation of the data; the last two are empty for a user's own file.
    """

    name: str
    X: Any
    y: Any
    feature_names: tuple[str, ...]
    column_types: tuple[ColumnType, ...]
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
        """Number of rows of each class, the largest first."""
        return dict(Counter(np.asarray(self.y).tolist()).most_common())


def dataset_from_table(
    table: Table, column_types: tuple[ColumnType, ...], *, target: str, as_frame: bool, **about: str
) -> Dataset:
    """Return the dataset whose classes are the column ``target``.

    The other columns are features of ``column_types``; ``about`` is the name, the source and so on.
    """
    names = tuple(name for name in table if name != target)
    columns: list[Any] = [
        numbers(table[name]) if column_type == "numerical" else words(table[name])
        for name, column_type in zip(names, column_types, strict=True)
    ]
    if as_frame:
        pd = import_pandas("A data frame")
        categorical = [k for k, t in zip(names, column_types, strict=True) if t == "categorical"]
        frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
        X = frame.astype(dict.fromkeys(categorical, "category"))
        y = pd.Series(list(table[target]), name=target)
    else:
        dtype = float if set(column_types) == {"numerical"} else object
        X, y = np.array(columns, dtype=dtype).T.copy(), np.array(table[target])
    return Dataset(
        X=X, y=y, feature_names=names, column_types=column_types, target_name=target, **about
    )


def import_pandas(what: str) -> Any:
    """Return pandas, or raise an error: ``what`` needs it."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            f"{what} needs pandas, which is not installed: pip install 'skliquid[pandas]'."
        ) from error
    return pd
