"""Tables: one input per column, encoded tables, and categories as codes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skliquid.onnx.graph_builder import Graph, Tensor
from skliquid.tables.column_encoders import OTHER, Codes, Numbers
from skliquid.tables.table_encoder import TableEncoder

_MISSING = ""  # ONNX has texts, but no missing ones
_OUTPUTS = ("label", "probabilities")


def encode_table(graph: Graph, encoder: TableEncoder) -> Tensor:
    """Return the encoding of a table, in which categories are codes, from one input per column."""
    columns = []
    for column in (column for column in encoder.columns_ if column.encoders):
        (first, *others), name = column.encoders, column.name
        if others or not isinstance(first, Numbers | Codes):
            raise ValueError(
                "to_onnx supports tables of numbers, booleans and up to 62 categories per column: "
                f"got a {column.column_type} in {name!r} that is encoded otherwise. Leave this "
                "column out, or turn it into numbers before."
            )
        if isinstance(first, Numbers):
            columns.append(_column_input(graph, name, np.float64))
        else:
            columns.append(_codes(graph, name, first))
    return _concat(columns)


def _codes(graph: Graph, name: Any, encoder: Codes) -> Tensor:
    """Return the codes of a column of categories."""
    missing = OTHER if encoder.missing_is_other else np.nan
    return _text_codes(graph, name, encoder.known, OTHER, missing)


def has_codes(voter: Any) -> bool:
    """Return whether a voter codes categories itself."""
    return hasattr(getattr(voter, "coder", None), "codes")


def encode_categories(rows: Tensor, voter: Any) -> Tensor:
    """Return rows in which numbers that are categories have the codes of ``voter``."""
    if not has_codes(voter):
        return rows
    codes = voter.coder.codes
    columns = range(voter.n_features_in_)
    return _concat([_number_codes(rows.columns([k]), k, codes.get(k)) for k in columns])


def encode_category_table(graph: Graph, voter: Any) -> Tensor:
    """Return a table with the codes of ``voter``, from one input per column."""
    columns = []
    for k, name in enumerate(voter.feature_names_in_.tolist()):
        codes = voter.coder.codes.get(k)
        if codes is not None and all(isinstance(category, str) for category in codes):
            columns.append(_text_codes(graph, name, codes, np.nan, np.nan))
        else:
            columns.append(_number_codes(_column_input(graph, name, np.float64), name, codes))
    return _concat(columns)


def _concat(columns: Sequence[Tensor]) -> Tensor:
    return columns[0].concat(*columns[1:], axis=1)


def _column_input(graph: Graph, name: Any, dtype: Any) -> Tensor:
    if str(name) in _OUTPUTS:
        raise ValueError(
            f"Columns must not have the name of an output, {' or '.join(_OUTPUTS)}: got {name!r}. "
            "Rename the column before training."
        )
    return graph.input(str(name), dtype, 1)


def _text_codes(
    graph: Graph, name: Any, codes: Mapping[str, float], unknown: float, missing: float
) -> Tensor:
    """Return the codes of a column of texts, in which an empty text is a missing one."""
    if _MISSING in codes:
        raise ValueError(
            "to_onnx supports categories other than the empty text, which stands for missing "
            f"values in ONNX: column {name!r} has it. Replace it in the training data, by None or "
            "by a word."
        )
    found = _column_input(graph, name, object).op(
        "LabelEncoder",
        domain="ai.onnx.ml",
        keys_strings=[*codes, _MISSING],
        values_floats=[*map(float, codes.values()), float(missing)],
        default_float=float(unknown),
    )
    return found.cast(np.float64)


def _number_codes(column: Tensor, name: Any, codes: Mapping[Any, int] | None) -> Tensor:
    """Return the codes of a column of numbers, NaN for unknown ones; without codes the column."""
    if codes is None:
        return column
    if not all(isinstance(category, int | float) for category in codes):
        types = sorted({type(category).__name__ for category in codes})
        raise ValueError(
            "to_onnx supports categories that are all texts of a data frame, or all numbers: "
            f"column {name!r} has {', '.join(types)}. Convert them before training."
        )
    numbers = np.array([list(codes)], dtype=np.float64)
    is_category = column.op("Equal", numbers).cast(np.float64)
    is_known = is_category.sum(1, keepdims=True).op("Greater", 0.0)
    return is_known.op("Where", is_category @ [[k] for k in codes.values()], np.nan)
