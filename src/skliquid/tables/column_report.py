"""Column reports: the type, contents and assumptions of each column, for the user to check."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from skliquid.validation.data_types import is_missing

_MAX_EXAMPLE = 24


class ColumnReport(NamedTuple):
    """A column of a table: its type, counts, an example, and the assumptions about it."""

    name: str
    column_type: str  # "number", "category", "text", "date", or "left out"
    n_distinct: int
    n_missing: int
    example: str
    notes: list[str]  # for a column that is left out, the reason
    n_rows: int = 0


def _has_numbers_only(column: Any, encoded: Any, markers: Any) -> bool:
    is_number = encoded is None or (encoded.column_type == "number" and not encoded.notes)
    return is_number and not markers and str(column.type) in ("double", "float")


def _describe_numbers(name: str, column: Any) -> ColumnReport:
    """Return the report of a column of numbers, without a list of all of them."""
    values = column.to_numpy()
    present = values[~np.isnan(values)]
    example = str(present[0])[:_MAX_EXAMPLE] if len(present) else ""
    n_missing = len(values) - len(present)
    n_distinct = len(np.unique(present))
    return ColumnReport(name, "number", n_distinct, n_missing, example, [], len(values))


def describe_columns(
    X: Any, encoder: Any, markers: Mapping[str, Mapping[str, int]]
) -> list[ColumnReport]:
    """Return a report for each column of a pyarrow table.

    Without an ``encoder``, all columns are numbers. ``markers`` counts the cells of columns of
    numbers that count as missing, by their text.
    """
    encoded = {} if encoder is None else {column.name: column for column in encoder.columns_}
    reports = []
    for name in X.column_names:
        if _has_numbers_only(X[name], encoded.get(name), markers.get(name)):
            reports.append(_describe_numbers(name, X[name]))
            continue
        values, counts = X[name].value_counts().flatten()
        cells = dict(zip(values.to_pylist(), counts.to_pylist(), strict=True))
        column_type, notes, missing = "number", [], set(filter(is_missing, cells))
        if name in encoded:
            column_type, notes = encoded[name].column_type, list(encoded[name].notes)
            texts = [value for value in cells if isinstance(value, str)]
            missing |= encoded[name].missing_texts(texts)
        if name in markers:
            shown = ", ".join(repr(text) for text, _ in Counter(markers[name]).most_common(3))
            notes.append(f"{shown} counts as missing")
        present = [value for value in cells if value not in missing]
        example = str(present[0])[:_MAX_EXAMPLE] if present else ""
        n_missing = len(X) - sum(cells[value] for value in present)
        counts_of = len(present), n_missing
        reports.append(ColumnReport(name, column_type, *counts_of, example, notes, len(X)))
    return reports
