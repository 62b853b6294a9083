"""Categories: which columns are categorical, and their values as numbers from 0."""

import math
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils import check_array

from skliquid import native
from skliquid.arrays import Floats
from skliquid.conversion import is_frame

MOST_CATEGORIES = native.MISSING_BIN
"""How many categories of a column are told apart: the most frequent; others count as missing."""

_ANY: dict[str, Any] = {"dtype": None, "ensure_all_finite": False}


def category_coder(X: Any, categorical_features: Any) -> "CategoryCoder | None":
    """Return what codes the categories of rows like ``X``, or None if it has none."""
    is_by_type = categorical_features is None or (
        isinstance(categorical_features, str) and categorical_features == "from_dtype"
    )
    if is_by_type and not is_frame(X):
        return None
    table = X if scipy.sparse.issparse(X) else _table(X)
    chosen = _chosen_columns(table, categorical_features)
    return CategoryCoder(chosen) if chosen.any() else None


class CategoryCoder:
    """Codes the categories of some columns as numbers from 0, the most frequent first.

    Parameters
    ----------
    is_categorical : array of bool
        Whether each column holds categories.

    Examples
    --------
    >>> coder = CategoryCoder(np.array([True, False]))
    >>> coder.learn(np.array([["red", 1.5], ["blue", 2.5], ["red", 3.5]], dtype=object))
    >>> coder.coded(np.array([["blue", 4.5], ["green", 5.5]], dtype=object)).tolist()
    [[1.0, 4.5], [nan, 5.5]]
    """

    def __init__(self, is_categorical: NDArray[np.bool_]):
        self.is_categorical = is_categorical
        self.codes: dict[int, dict[Any, int]] = {
            column: {} for column in np.flatnonzero(is_categorical).tolist()
        }

    def learn(self, X: Any) -> None:
        """Give numbers to categories that are new, as long as there is room."""
        X = _table(X)
        for column, known in self.codes.items():
            codes, values = _factorized(_column(X, column))
            counts = np.bincount(codes[codes >= 0], minlength=len(values))
            new = [k for k, value in enumerate(values) if value not in known]
            new.sort(key=lambda k: (-counts[k], str(values[k])))
            for k in new[: MOST_CATEGORIES - len(known)]:
                known[values[k]] = len(known)

    def coded(self, X: Any) -> NDArray[Any]:
        """Return rows in which categories are numbers, and others are as they were."""
        X = _table(X)
        coded = np.empty(X.shape, dtype=_dtype(X))
        for column in np.flatnonzero(~self.is_categorical).tolist():
            coded[:, column] = _numbers(_column(X, column))
        for column, known in self.codes.items():
            codes, values = _factorized(_column(X, column))
            numbers = np.array([*(known.get(value, np.nan) for value in values), np.nan])
            coded[:, column] = numbers[codes]  # that of missing values is the last
        return coded


def _chosen_columns(X: Any, categorical_features: Any) -> NDArray[np.bool_]:
    n_columns = X.shape[1]
    if categorical_features is None:
        return np.zeros(n_columns, dtype=bool)
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        return np.array([_is_category(_column(X, column).dtype) for column in range(n_columns)])
    chosen = np.isin(np.arange(n_columns), _positions(X, categorical_features))
    if chosen.any() and scipy.sparse.issparse(X):
        raise ValueError(
            "categorical_features must be None or 'from_dtype' where X is sparse: got "
            f"{categorical_features!r}. Give a dense array, or leave it out."
        )
    return chosen


def _positions(X: Any, categorical_features: Any) -> NDArray[Any]:
    """Return the numbers of columns that are given by number, by name or by booleans."""
    wanted, n_columns = np.asarray(categorical_features), X.shape[1]
    names = list(map(str, X.columns)) if is_frame(X) else []
    positions = wanted
    if wanted.dtype == bool and wanted.shape == (n_columns,):
        positions = np.flatnonzero(wanted)
    elif wanted.ndim == 1 and set(wanted.tolist()) <= set(names):
        positions = np.array([names.index(name) for name in wanted.tolist()], dtype=np.intp)
    are_numbers = positions.ndim == 1 and (positions.dtype.kind in "iu" or not positions.size)
    if not are_numbers or np.any((positions < 0) | (positions >= n_columns)):
        raise ValueError(
            "categorical_features must be 'from_dtype', None, or say which columns of X, by "
            f"number, by name or by one boolean each: got {categorical_features!r}. Give a list "
            "such as [0, 3]."
        )
    return positions


def _is_category(dtype: Any) -> bool:
    return str(dtype).lower().startswith(("category", "categorical", "enum"))


def _table(X: Any) -> Any:
    return X if is_frame(X) else check_array(X, **_ANY)


def _dtype(X: Any) -> Any:
    return np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64


def _column(X: Any, column: int) -> Any:
    return X.iloc[:, column] if hasattr(X, "iloc") else X[:, column]


def _factorized(values: Any) -> tuple[NDArray[np.intp], list[Any]]:
    """Return each value as its position in a list of all, -1 where it is missing."""
    if hasattr(values, "factorize"):  # pandas
        codes, uniques = values.factorize()
        return codes, uniques.tolist()
    plain = values.tolist() if hasattr(values, "tolist") else values.to_list()
    known = dict.fromkeys(value for value in plain if not _is_missing(value))
    positions = {value: position for position, value in enumerate(known)}
    return np.array([positions.get(value, -1) for value in plain], dtype=np.intp), list(known)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _numbers(values: Any) -> Floats:
    """Return a column as numbers, missing values as NaN."""
    if hasattr(values, "factorize"):  # pandas
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(values, dtype=np.float64)
