"""Dataset: rows and their classes, with the names and types of the features."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skliquid.datasets.catalogue import ColumnType


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows and their classes, as in the source: nothing is scaled, encoded or imputed.

    Attributes
    ----------
    name : str
        The dataset's name.
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
        Source, licence and citation of the data.
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
        size = f"{self.n_rows} rows, {self.n_features} features"
        return f"Dataset({self.name!r}, {size}, classes {classes})"

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


def dataset_from_frame(
    frame: Any, column_types: Sequence[ColumnType], *, target: str, as_frame: bool, **about: str
) -> Dataset:
    """Return the dataset whose classes are the column ``target`` of a pandas ``frame``, as text.

    The other columns are features of ``column_types``: floats, or text. ``about`` is the name, the
    source and so on.
    """
    X, y = frame.drop(columns=target), frame[target]
    names, types = tuple(X), tuple(column_types)
    if as_frame:
        categorical = [k for k, t in zip(names, types, strict=True) if t == "categorical"]
        X = X.astype(dict.fromkeys(categorical, "category"))
    else:
        dtype = float if set(types) == {"numerical"} else object
        X, y = np.array([_cells(X[k]) for k in names], dtype=dtype).T.copy(), np.array(y.tolist())
    return Dataset(X=X, y=y, feature_names=names, column_types=types, target_name=target, **about)


def _cells(column: Any) -> Any:
    """Return a column as an array, with NaN for a missing number and None for missing text."""
    is_text = column.dtype != float
    return column.astype(object).where(column.notna(), None) if is_text else column
