"""Target labels: the column of classes, checked and as an array of labels."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from skliquid.streams.column_types import ARROW_TYPES, ColumnType, check_column
from skliquid.streams.data_files import DataFiles, Locate

_MAX_CLASSES = 1000
_MAX_INTEGER = 2**53
_ROWS_AT_ONCE = 8192
_PLURALS: dict[ColumnType, str] = {"text": "text", "boolean": "booleans", "number": "integers"}


def check_target(target: str, files: DataFiles) -> ColumnType:
    """Return the type of the column ``target``, or raise if it cannot hold classes."""
    check_column(target, files.column_types, files.path, parameter="target")
    target_type = files.column_types[target]
    if target_type not in ARROW_TYPES:
        problem = "begins without a value" if target_type == "empty" else "holds other values"
        raise ValueError(
            f"target must hold text, integers or booleans: the column {target!r} of {files.path} "
            f"{problem}. Choose another target, or write it as text."
        )
    return "number" if target_type == "code" else target_type


def labels_of(column: pa.ChunkedArray, locate: Locate) -> NDArray[Any]:
    """Return the labels in a column: text, integers or booleans."""
    is_missing = pc.is_null(column, nan_is_null=True).to_numpy()
    if is_missing.any():
        raise ValueError(
            f"Each row must have a label: {locate(int(np.argmax(is_missing)))} has none. Remove "
            "such rows, or choose another target."
        )
    labels: NDArray[Any] = column.to_numpy()
    if pa.types.is_string(column.type):
        return labels.astype(str)
    return _integers(labels, locate) if pa.types.is_floating(column.type) else labels


def _integers(labels: NDArray[Any], locate: Locate) -> NDArray[Any]:
    is_integer = (labels == np.floor(labels)) & (np.abs(labels) < _MAX_INTEGER)
    if not is_integer.all():
        first = int(np.argmin(is_integer))
        raise ValueError(
            f"target must hold classes, as text or as integers: {locate(first)} has "
            f"{labels[first].item()!r}. Choose another target, or write classes as text."
        )
    return labels.astype(np.int64)


def check_known(labels: NDArray[Any], classes: NDArray[Any], locate: Locate) -> None:
    """Raise if a label is not among the ``classes`` that the user gave."""
    is_unknown = ~np.isin(labels, classes)
    if is_unknown.any():
        first = int(np.argmax(is_unknown))
        raise ValueError(
            f"classes must hold all labels: got {classes.tolist()}, and {labels[first].item()!r} "
            f"in {locate(first)}. Add it, or leave classes out."
        )


def find_classes(files: DataFiles, target: str, target_type: ColumnType) -> NDArray[Any]:
    """Return the classes, sorted; the column ``target`` alone is read, to its end."""
    classes: set[Any] = set()
    for table, locate in files.tables({target: target_type}, _ROWS_AT_ONCE):
        classes.update(np.unique(labels_of(table[target], locate)).tolist())
        if len(classes) > _MAX_CLASSES:
            break
    if not 2 <= len(classes) <= _MAX_CLASSES:
        values = "more" if len(classes) > 1 else f"only {classes.pop()!r}" if classes else "no row"
        raise ValueError(
            f"target must hold from 2 to {_MAX_CLASSES} classes: the column {target!r} of "
            f"{files.path} holds {values}. Choose another target, or other files."
        )
    return np.array(sorted(classes))


def parse_classes(classes: Iterable[Any], target_type: ColumnType) -> NDArray[Any]:
    """Return the classes that a user gave, sorted; text is read like a cell of a CSV file."""
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise TypeError(f"classes must be a list of labels: got {classes!r}. Give all labels.")
    return np.unique([_parse_label(label, target_type) for label in classes])


def _parse_label(value: Any, target_type: ColumnType) -> str | int | bool:
    is_boolean = isinstance(value, bool | np.bool_)
    if target_type == "text" and isinstance(value, str):
        return str(value)
    if target_type == "boolean" and (is_boolean or str(value).lower() in ("true", "false")):
        return str(value).lower() == "true"
    if target_type == "number" and not is_boolean:
        with suppress(ValueError, TypeError):
            if int(value) == float(value):
                return int(value)
    raise ValueError(
        f"classes must be like the target, which holds {_PLURALS[target_type]}: got {value!r}. "
        "Give the labels as they are in the file."
    )
