"""Labels: the target of a table as classes."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from skliquid.streams.files import DataFiles
from skliquid.streams.kinds import Kind, check_column, is_used

MOST_CLASSES = 1000
_LARGEST_WHOLE_NUMBER = 2**53


def check_target(target: str, files: DataFiles) -> None:
    """Raise unless ``target`` is a column that may hold classes."""
    check_column(target, files.kinds, files.path, parameter="target")
    if files.kinds[target] == "empty":
        raise ValueError(
            f"target must hold classes: the column {target!r} of {files.path} begins without a "
            "value. Choose another target, or other files."
        )
    if not is_used(files.kinds[target]):
        raise ValueError(
            f"target must hold classes: the column {target!r} of {files.path} holds neither text "
            "nor whole numbers nor truth values. Choose another target, or write it as text."
        )


def labels_of(column: pa.ChunkedArray, start: int, files: DataFiles) -> NDArray[Any]:
    """Return the labels in a column whose first row is row ``start``: text, integers or truth.

    None may be missing.
    """
    is_missing = pc.is_null(column, nan_is_null=True).to_numpy()
    if is_missing.any():
        row = files.where(start + int(np.argmax(is_missing)))
        raise ValueError(
            f"Each row must have a label: {row} has none. Remove such rows, or choose another "
            "target."
        )
    labels: NDArray[Any] = column.to_numpy()
    if pa.types.is_string(column.type):
        return labels.astype(str)
    return _whole(labels, start, files) if pa.types.is_floating(column.type) else labels


def classes_in(files: DataFiles, target: str) -> NDArray[Any]:
    """Return the classes, sorted, for which the target alone is read to its end."""
    classes: set[Any] = set()
    start = 0
    for table in files.batches([target]):
        classes.update(np.unique(labels_of(table[target], start, files)).tolist())
        _check_few(classes, target, files)
        start += len(table)
    if len(classes) < 2:
        what = f"only {classes.pop()!r}" if classes else "no row"
        raise ValueError(
            f"target must hold two classes or more: the column {target!r} of {files.path} holds "
            f"{what}. Choose another target, or other files."
        )
    return np.array(sorted(classes))


def announced(classes: Iterable[Any], kind: Kind) -> NDArray[Any]:
    """Return classes that the user gave, as labels of a target of this kind, sorted.

    A class that is given as text is read as a cell of a CSV file would be.

    Examples
    --------
    >>> announced(["true", False], "truth").tolist(), announced(["2", 1], "number").tolist()
    ([False, True], [1, 2])
    """
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise TypeError(
            f"classes must be a list of labels: {classes!r} is none. Give all labels that may come."
        )
    return np.unique([_label(each, kind) for each in classes])


def _label(value: Any, kind: Kind) -> str | int | bool:
    is_text, is_truth = isinstance(value, str), isinstance(value, bool | np.bool_)
    if kind == "text" and is_text:
        return str(value)
    if kind == "truth" and (is_truth or str(value).lower() in ("true", "false")):
        return str(value).lower() == "true"
    if kind == "number" and not is_truth:
        with suppress(ValueError, TypeError):
            if int(value) == float(value):
                return int(value)
    words = {"text": "text", "truth": "truth values", "number": "whole numbers"}[kind]
    raise ValueError(
        f"classes must be {words}, as the target is: {value!r} is not. Give the labels as they "
        "are in the file."
    )


def check_known(labels: NDArray[Any], classes: NDArray[Any], start: int, files: DataFiles) -> None:
    """Raise if a label is none of the ``classes`` that were announced."""
    is_strange = ~np.isin(labels, classes)
    if is_strange.any():
        first = int(np.argmax(is_strange))
        raise ValueError(
            f"classes must hold all labels: {labels[first].item()!r}, in "
            f"{files.where(start + first)}, is none of {classes.tolist()}. Add it, or leave "
            "classes out."
        )


def _whole(labels: NDArray[Any], start: int, files: DataFiles) -> NDArray[Any]:
    is_whole = (labels == np.floor(labels)) & (np.abs(labels) < _LARGEST_WHOLE_NUMBER)
    if not is_whole.all():
        first = int(np.argmin(is_whole))
        raise ValueError(
            f"target must hold classes, as text or as whole numbers: {files.where(start + first)} "
            f"has {labels[first].item()!r}. Choose another target, or write classes as text."
        )
    return labels.astype(np.int64)


def _check_few(classes: set[Any], target: str, files: DataFiles) -> None:
    if len(classes) > MOST_CLASSES:
        raise ValueError(
            f"target must hold no more than {MOST_CLASSES} classes: the column {target!r} of "
            f"{files.path} has more different values. Choose another target."
        )
