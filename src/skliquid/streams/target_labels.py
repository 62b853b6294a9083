"""Target labels: the column of classes, understood by its distinct values."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_MAX_CLASSES = 1000
_INTEGER = re.compile(r"[+-]?(0|[1-9]\d{0,15})(\.0*)?")


def type_of_labels(values: Sequence[Any], place: str, *, are_cells: bool = True) -> str:
    """Return the type of labels, "number", "boolean" or "text", from their distinct values.

    Text is parsed only if the values ``are_cells`` of a CSV file.
    """
    texts = {str(value).strip() for value in values}
    if not 2 <= len(texts) <= _MAX_CLASSES:
        found = "more" if len(texts) > 1 else f"only {next(iter(values), None)!r}"
        raise ValueError(
            f"target must hold from 2 to {_MAX_CLASSES} classes: {place} holds {found}. Choose "
            "another target, or other files."
        )
    are_text = all(isinstance(value, str) for value in values)
    if are_text and not are_cells:
        return "text"
    if {text.lower() for text in texts} <= {"true", "false"}:
        return "boolean"
    if all(map(_INTEGER.fullmatch, texts)):
        return "number"
    if not are_text:
        raise ValueError(
            f"target must hold classes, as text, integers or booleans: {place} holds "
            f"{values[0]!r}. Choose another target, or write classes as text."
        )
    return "text"


def parse_label(value: Any, label_type: str) -> Any:
    """Return a value of the target as a label; one of another type as text."""
    text = str(value).strip()
    if label_type == "boolean" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if label_type == "number" and _INTEGER.fullmatch(text):
        return int(float(text))
    return str(value)


def labels_of(column: pa.ChunkedArray, label_type: str) -> NDArray[Any]:
    """Return the labels of rows that have one."""
    encoded = column.combine_chunks()
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    labels = [parse_label(value, label_type) for value in encoded.dictionary.to_pylist()]
    found: NDArray[Any] = np.array(labels)[encoded.indices.to_numpy()]
    return found


def parse_classes(classes: Any, label_type: str, known: Iterable[Any]) -> NDArray[Any]:
    """Return the classes that a user gave, sorted; the target has the ``known`` ones."""
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise TypeError(f"classes must be a list of labels: got {classes!r}. Give all labels.")
    given = {parse_label(label, label_type) for label in classes}
    missing = next((label for label in known if label not in given), None)
    if missing is not None or len({type(label) for label in given}) > 1:
        raise ValueError(
            f"classes must hold all labels, as they are in the target: got "
            f"{sorted(given, key=str)}, and the target has {next(iter(known))!r}"
            f"{'' if missing is None else f' and {missing!r}'}. Correct them, or leave classes out."
        )
    return np.array(sorted(given))
