"""Data types: checks of rows, labels and weights before they are converted to arrays."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import isnan
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils import check_array

from skliquid.validation.checks import printable
from skliquid.validation.limits import check_columns_fit
from skliquid.validation.mapped_files import refuse_cut_file

_COMPRESSED = ("csr", "csc", "bsr")
_Masked: Any = np.ma.MaskedArray
_DATES = ("date", "time", "duration", "period", "interval")


def refuse_unreadable(name: str, data: Any) -> None:
    """Raise when ``data`` is a lazy query of polars, or an array in a file that was cut."""
    refuse_cut_file(name, data)
    if type(data).__name__ == "LazyFrame":
        raise TypeError(
            f"{name} must hold data: got a LazyFrame, which is a query. Call {name}.collect() "
            "first."
        )


def convertible_rows(X: Any, *, are_numbers: bool = True) -> Any:
    """Return rows that can be converted to an array: ``X``, or a checked sparse matrix."""
    _refuse_odd_containers("X", X)
    refuse_repeated_names(column_names(X) if is_frame(X) else ())
    if are_numbers:
        _refuse_dates_and_records("X", X)
    return checked_sparse(X)


def check_convertible_labels(y: Any) -> None:
    """Raise when labels are missing or records, which have no order."""
    _refuse_odd_containers("y", y)
    try:
        labels = np.asarray(y)
    except (ValueError, TypeError):  # scikit-learn says what is wrong
        return
    if y is None or labels.dtype.kind not in "OV":
        return
    if labels.dtype.names or labels.dtype.kind == "V":
        raise TypeError(
            f"y must hold text or numbers: got the type {labels.dtype}. Give one of its fields."
        )
    for label in labels.flat:
        if is_missing(label):
            raise ValueError(
                f"y must not hold missing values (NaN): got {label!r}. Leave out its row, or give "
                "it a class of its own."
            )
        if isinstance(label, str) and label.endswith("\0"):  # which numpy leaves out
            raise ValueError(
                f"y must not hold text that ends with a null character: got {label!r}. Remove it."
            )


def converted_weights(sample_weight: Any) -> NDArray[np.float64]:
    """Return ``sample_weight`` as an array of finite numbers."""
    _refuse_odd_containers("sample_weight", sample_weight)
    _refuse_dates_and_records("sample_weight", sample_weight)
    with conversion_of("sample_weight"):
        weights: NDArray[np.float64] = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
        )
    return weights


def is_frame(data: Any) -> bool:
    """Return whether ``data`` is a data frame of pandas or polars, or a table of Arrow data."""
    if hasattr(data, "columns"):
        return hasattr(data, "dtypes") or hasattr(data, "__arrow_c_stream__")
    return hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__array__")  # as a Series has


def column_names(frame: Any) -> Any:
    """Return the names of the columns of a data frame, or of a table of pyarrow."""
    names = getattr(frame, "column_names", None)
    return getattr(frame, "columns", ()) if names is None else names


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or a missing value of pandas."""
    if isinstance(value, float | np.floating):
        return isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _refuse_odd_containers(name: str, data: Any) -> None:
    refuse_unreadable(name, data)
    n_masked = np.count_nonzero(np.ma.getmaskarray(data)) if isinstance(data, _Masked) else 0
    if n_masked:  # numpy would pass on what is behind the mask
        raise ValueError(
            f"{name} must not have masked values: got {n_masked}. Fill them, for example with "
            f"{name}.filled(np.nan)."
        )


def refuse_repeated_names(names: Any) -> None:
    """Raise when columns of ``X`` have the same name."""
    if len(set(names)) == len(names):
        return
    for name in (name for name, count in Counter(names).items() if count > 1):
        raise ValueError(
            f"Columns must have different names: X has {name!r} more than once. Rename one."
        )


def _refuse_dates_and_records(name: str, data: Any) -> None:
    """Raise for types that numpy would convert to numbers silently, or not at all."""
    if is_frame(data):
        names = column_names(data)
        if not len(names):
            raise ValueError(f"{name} must have columns: got a data frame without any. Add one.")
        dtypes = data.dtypes if hasattr(data, "dtypes") else data.schema.types
        types = {f"column {c!r} has": t for c, t in zip(names, dtypes, strict=True)}
    else:
        types = {"it has": getattr(data, "dtype", "")}
    for subject, found in types.items():
        if str(found).lower().startswith(_DATES) or getattr(found, "names", None):
            raise TypeError(
                f"{name} must hold numbers: {subject} the type {found}. Convert it to numbers; "
                "LiquidEnsembleClassifier encodes the dates of a data frame."
            )


@contextmanager
def conversion_of(
    name: str, errors: tuple[type[Exception], ...] = (OverflowError, LookupError)
) -> Iterator[None]:
    """Raise a ValueError that names an argument, where an error of its conversion does not.

    Errors of scikit-learn list names of columns as they are.
    """
    try:
        yield
    except ValueError as error:
        if str(error).replace("\n", "").isprintable():
            raise
        raise ValueError(printable(error, keep="\n")) from None
    except errors as error:
        raise ValueError(
            f"{name} must be an array of numbers, or what numpy can convert to one: {error!r}. "
            "Convert it with numpy.asarray."
        ) from error


def checked_sparse(X: Any) -> Any:
    """Return ``X``; if it is sparse, with indices that fit its shape, and none twice.

    Compiled code trusts indices; scipy checks them only when asked, and scikit-learn does not ask.
    Numbers stored for the same cell are added up. ``X`` itself stays as it is.
    """
    refuse_unreadable("X", X)
    matrix: Any = X
    if not scipy.sparse.issparse(X) or matrix.ndim != 2:  # scikit-learn raises for other shapes
        return X
    check_columns_fit(matrix.shape[1])
    try:
        return _without_repetitions(_rebuilt(matrix))
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(
            f"X must be a sparse matrix whose indices fit its shape {matrix.shape}: {error}. "
            "Build it again from its rows, columns and values."
        ) from error


def _rebuilt(matrix: Any) -> Any:
    """Return a checked matrix of the same parts, without the cached flags of the old one."""
    if matrix.format == "lil" and [*map(len, matrix.rows)] != [*map(len, matrix.data)]:
        raise ValueError("rows and data must have the same lengths")
    if matrix.format == "dia" and len(matrix.data) != len(matrix.offsets):
        raise ValueError("data and offsets must have the same lengths")
    if matrix.format not in (*_COMPRESSED, "coo"):
        matrix = matrix.tocsr()
    kind = "array" if isinstance(matrix, scipy.sparse.sparray) else "matrix"
    make = getattr(scipy.sparse, f"{matrix.format}_{kind}")
    is_coo = matrix.format == "coo"
    indices = (matrix.row, matrix.col) if is_coo else (matrix.indices, matrix.indptr)
    if any(part.dtype.kind not in "iu" for part in indices):
        raise TypeError("indices must be whole numbers")
    data = matrix.data.astype(np.float64) if matrix.dtype == object else matrix.data
    parts = (data, indices) if is_coo else (data, *indices)
    rebuilt = make(parts, shape=matrix.shape, copy=False)
    if not is_coo:  # which is checked when it is made
        rebuilt.check_format(full_check=True)
    return rebuilt


def _without_repetitions(matrix: Any) -> Any:
    if matrix.format in ("csr", "csc") and not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix.tocsr() if matrix.format in ("bsr", "coo") else matrix
