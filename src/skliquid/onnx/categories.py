"""Categories: texts and numbers that stand for categories, as codes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from skliquid.onnx.graph import Graph

MISSING = ""
"""How a missing category is written: ONNX has texts, but no missing ones."""

_OUTPUTS = ("label", "probabilities")


def column_input(graph: Graph, name: Any, dtype: Any) -> str:
    """Return the input for a column of a table."""
    if str(name) in _OUTPUTS:
        raise ValueError(
            f"Columns must not have the name of an output, which are {' and '.join(_OUTPUTS)}: got "
            f"{name!r}. Rename the column before training."
        )
    return graph.input(str(name), dtype, 1)


def text_codes(graph: Graph, name: Any, codes: Mapping[str, int], unknown: float) -> str:
    """Return the codes of a column of texts: (n_rows, 1), float64."""
    found = graph.op(
        "LabelEncoder",
        column_input(graph, name, object),
        domain="ai.onnx.ml",
        keys_strings=list(codes),
        values_floats=[float(code) for code in codes.values()],
        default_float=unknown,
    )
    return graph.cast(found, np.float64)


def with_missing(name: Any, codes: Mapping[Any, int]) -> dict[str, int]:
    """Return codes in which missing categories are empty texts."""
    if MISSING in codes:
        raise ValueError(
            "to_onnx supports categories other than the empty text, which stands for missing "
            f"values in ONNX: column {name!r} has it. Replace it in the training data, by None or "
            "by a word."
        )
    return {MISSING if text is None else text: code for text, code in codes.items()}


# Categories of voters made of trees


def coded(graph: Graph, rows: str, voter: Any) -> str:
    """Return rows in which numbers that stand for categories are coded as ``voter`` codes them."""
    if voter.coder is None:
        return rows
    columns = []
    for k in range(voter.n_features_in_):
        column, known = graph.columns(rows, np.array([k])), voter.coder.codes.get(k)
        columns.append(column if known is None else _number_codes(graph, column, k, known))
    return graph.joined(columns, axis=1)


def coded_table(graph: Graph, voter: Any) -> str:
    """Return a table as ``voter`` codes it, with an input for each column."""
    columns = []
    for k, name in enumerate(voter.feature_names_in_.tolist()):
        known = voter.coder.codes.get(k)
        if known is None:
            columns.append(column_input(graph, name, np.float64))
        elif all(isinstance(category, str) for category in known):
            columns.append(text_codes(graph, name, with_missing(name, known), np.nan))
        else:
            column = column_input(graph, name, np.float64)
            columns.append(_number_codes(graph, column, name, known))
    return graph.joined(columns, axis=1)


def _number_codes(graph: Graph, column: str, name: Any, codes: Mapping[Any, int]) -> str:
    """Return the codes of a column of numbers, NaN for those that are not known."""
    if not all(isinstance(category, int | float) for category in codes):
        types = sorted({type(category).__name__ for category in codes})
        raise ValueError(
            "to_onnx supports categories that are all texts of a data frame, or all numbers: "
            f"column {name!r} has {', '.join(types)}. Convert them before training."
        )
    numbers = np.array([list(codes)], dtype=np.float64)
    is_category = graph.cast(graph.op("Equal", column, numbers), np.float64)
    code = graph.op("MatMul", is_category, np.array([[float(k)] for k in codes.values()]))
    n_equal = graph.summed(is_category, 1, keepdims=True)
    is_known = graph.op("Greater", n_equal, np.float64(0))
    return graph.op("Where", is_known, code, np.array(np.nan))
