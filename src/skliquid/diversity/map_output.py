"""Map output: checks of the arrays that feature maps return."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from skliquid.validation.data_types import conversion_of, convertible_rows

_REALS = [np.dtype(np.float64), np.dtype(np.float32)]


def checked_view(view: Any, X: Any, *, name: str) -> Any:
    """Return the output of the map called ``name``, as an array or a CSR matrix.

    It may have missing values only if ``X`` has some, since its voters then accept them.
    """
    is_array = type(view) is np.ndarray and view.ndim == 2 and view.dtype in _REALS
    rows = view if is_array else _converted(view, name)
    if rows.shape[0] != X.shape[0]:
        raise ValueError(
            f"feature_maps must return one row for each row: {name} returned {rows.shape[0]} for "
            f"{X.shape[0]}. Correct its transform."
        )
    if not rows.shape[1]:
        raise ValueError(
            f"feature_maps must return columns: {name} returned none. Correct its transform."
        )
    if _has_new_gaps(rows, X):
        raise ValueError(
            f"feature_maps must return finite numbers: {name} returned infinite or missing ones "
            "(NaN). Correct its transform, or scale X before."
        )
    return rows


def check_width(view: Any, width: int, *, name: str) -> None:
    """Raise unless the output of a map has the ``width`` that it had in training."""
    if view.shape[1] != width:
        raise ValueError(
            f"feature_maps must return as many columns as in training: {name} returned "
            f"{view.shape[1]}, before {width}. Correct its transform."
        )


def _converted(view: Any, name: str) -> Any:
    try:
        with conversion_of("X"):
            return check_array(
                convertible_rows(view),
                accept_sparse="csr",
                dtype=_REALS,
                order="C",
                ensure_all_finite=False,
            )
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"feature_maps must return rows of numbers: {name} returned an object of the type "
            f"{type(view).__name__}, which cannot be converted ({error}). Correct its transform."
        ) from error


def _has_new_gaps(rows: Any, X: Any) -> bool:
    """Return whether numbers are infinite, or missing though none are in ``X``."""
    found, before = (Z.data if hasattr(Z, "indptr") else Z for Z in (rows, X))
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(found.sum()):  # one pass; a sum may overflow
            return False
    is_missing = np.isnan(found).any() and not np.isnan(before).any()
    return bool(np.isinf(found).any() or is_missing)
