"""Categories: which columns are categorical, and their values as numbers from 0."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils import check_array

from skliquid import native
from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import Array, require, storable
from skliquid.validation.data_types import is_frame

MAX_CATEGORIES = native.MISSING_BIN  # the most frequent of a column; others count as missing


@dataclass(frozen=True, eq=False)
class StoredCodes:
    """The categories of each categorical column, in the order of their codes."""

    is_categorical: Annotated[NDArray[np.bool_], Array("n_columns")]
    categories: list[list[Any]]


@storable
class CategoryCoder:
    """Codes the categories of the categorical columns as numbers from 0, the most frequent first.

    Examples
    --------
    >>> coder = CategoryCoder(np.array([True, False]))
    >>> coder.learn(np.array([["red", 1.5], ["blue", 2.5], ["red", 3.5]], dtype=object))
    >>> coder.encode(np.array([["blue", 4.5], ["green", 5.5]], dtype=object)).tolist()
    [[1.0, 4.5], [nan, 5.5]]
    """

    stored_as = StoredCodes

    def __init__(self, is_categorical: NDArray[np.bool_]):
        self.is_categorical = is_categorical
        self.codes: dict[int, dict[Any, int]] = {
            column: {} for column in np.flatnonzero(is_categorical).tolist()
        }

    def learn(self, X: Any) -> None:
        """Give numbers to new categories, up to ``MAX_CATEGORIES`` per column."""
        X = _table(X)
        for column, known in self.codes.items():
            codes, values = _factorize(_column(X, column))
            counts = np.bincount(codes[codes >= 0], minlength=len(values))
            new = [k for k, value in enumerate(values) if value not in known]
            new.sort(key=lambda k: (-counts[k], str(values[k])))
            for k in new[: MAX_CATEGORIES - len(known)]:
                known[values[k]] = len(known)

    def to_stored(self) -> StoredCodes:
        """Return the categories."""
        return StoredCodes(self.is_categorical, list(map(list, self.codes.values())))

    @classmethod
    def from_stored(cls, stored: StoredCodes) -> "CategoryCoder":
        """Return a coder with these categories."""
        coder = cls(stored.is_categorical)
        for known, values in zip(coder.codes.values(), stored.categories, strict=True):
            require(len(values) <= MAX_CATEGORIES, f"at most {MAX_CATEGORIES} categories")
            known.update({value: code for code, value in enumerate(values)})
        return coder

    def encode(self, X: Any) -> NDArray[Any]:
        """Return rows in which categories are numbers, and other values are unchanged."""
        X = _table(X)
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        coded = np.empty(X.shape, dtype=dtype)
        for column in np.flatnonzero(~self.is_categorical).tolist():
            coded[:, column] = _to_numbers(_column(X, column))
        for column, known in self.codes.items():
            codes, values = _factorize(_column(X, column))
            numbers = np.array([*(known.get(value, np.nan) for value in values), np.nan])
            coded[:, column] = numbers[codes]  # the last is for missing values
        return coded


@storable
@dataclass(frozen=True, eq=False)
class CodedCategories:
    """Categorical columns of rows in which categories are codes already, as in encoded tables.

    It is a value of ``categorical_features``, and a coder that changes nothing.
    """

    is_categorical: Annotated[NDArray[np.bool_], Array("n_columns")]

    def among(self, features: Any) -> "CodedCategories":
        """Return the same for some of the columns."""
        return CodedCategories(self.is_categorical[features])

    def learn(self, X: Any) -> None:
        """Learn nothing: all codes are known."""

    def encode(self, X: Any) -> Any:
        """Return the rows."""
        return X

    def __repr__(self) -> str:
        return f"CodedCategories({np.flatnonzero(self.is_categorical).tolist()})"


Coder: TypeAlias = CategoryCoder | CodedCategories


def category_coder(X: Any, categorical_features: Any) -> Coder | None:
    """Return a coder for the categories of rows like ``X``, or None if it has none."""
    if categorical_features is None:
        return None
    if isinstance(categorical_features, CodedCategories):
        return categorical_features
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        n_columns = X.shape[1] if is_frame(X) else 0
        types = [str(_column(X, column).dtype).lower() for column in range(n_columns)]
        chosen = np.array([t.startswith(("category", "categorical", "enum")) for t in types])
    else:
        table: Any = X if scipy.sparse.issparse(X) else _table(X)
        chosen = np.isin(np.arange(table.shape[1]), _positions(table, categorical_features))
        if chosen.any() and scipy.sparse.issparse(X):
            raise ValueError(
                "categorical_features must be None or 'from_dtype' where X is sparse: got "
                f"{categorical_features!r}. Give a dense array, or leave it out."
            )
    return CategoryCoder(chosen) if chosen.any() else None


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


def _table(X: Any) -> Any:
    return X if is_frame(X) else check_array(X, dtype=None, ensure_all_finite=False)


def _column(X: Any, column: int) -> Any:
    return X.iloc[:, column] if hasattr(X, "iloc") else X[:, column]


def _factorize(values: Any) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the distinct values, and the position of each value in them, -1 if it is missing."""
    if hasattr(values, "factorize"):  # pandas
        codes, uniques = values.factorize()
        return codes, uniques.tolist()
    plain = values.tolist() if hasattr(values, "tolist") else values.to_list()
    known = dict.fromkeys(value for value in plain if not _is_missing(value))
    positions = {value: position for position, value in enumerate(known)}
    return np.array([positions.get(value, -1) for value in plain], dtype=np.intp), list(known)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _to_numbers(values: Any) -> Floats:
    """Return a column as numbers, missing values as NaN."""
    if hasattr(values, "factorize"):  # pandas
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(values, dtype=np.float64)
