"""Tables: one input per column, encoded tables, and categories as codes."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from skliquid.onnx.graph_builder import Graph, Tensor
from skliquid.onnx.scikit_learn_nodes import transform
from skliquid.tables.table_columns import as_numbers, as_text

_MISSING = ""  # ONNX has texts, but no missing ones
_OUTPUTS = ("label", "probabilities")
_FIRST_STEPS = {"numbers": as_numbers, "categories": as_text}
_NOT_SUPPORTED = {
    "dates": "dates",
    "classes": "more than 50 categories",
    "spelling": "more than 50 categories",
    "words": "texts",
}
_SPELLINGS = {
    **dict.fromkeys(("false", "FALSE", "0"), "False"),
    **dict.fromkeys(("true", "TRUE", "1"), "True"),
}


def encode_table(graph: Graph, encoder: ColumnTransformer, booleans: Collection[Any]) -> Tensor:
    """Return the numbers that ``encoder`` makes of a table.

    ``booleans`` are the names of columns that are known to hold nothing else.
    """
    names, parts = encoder.feature_names_in_.tolist(), []
    for part, transformer, columns in encoder.transformers_:
        if not len(columns) or part == "remainder":
            continue
        used = [names[k] if isinstance(k, int) else k for k in columns]
        _check_part(part, transformer, used)
        if part == "numbers":
            numbers = _concat([_column_input(graph, name, np.float64) for name in used])
            parts.append(transform(numbers, transformer[1:]))
        else:
            parts.extend(_one_hot(graph, used, transformer[-1], booleans))
    return _concat(parts)


def encode_array(rows: Tensor, encoder: ColumnTransformer) -> Tensor:
    """Return the numbers that ``encoder`` makes of an array."""
    (part, transformer, columns), *_ = encoder.transformers_
    _check_part(part, transformer, columns)
    return transform(rows.columns(columns), transformer[1:])


def _check_part(part: str, transformer: Any, columns: Sequence[Any]) -> None:
    is_pipeline = isinstance(transformer, Pipeline) and part in _FIRST_STEPS
    if is_pipeline and getattr(transformer[0], "func", None) is _FIRST_STEPS[part]:
        return
    what = _NOT_SUPPORTED.get(part, f"the transformer {part!r}, {type(transformer).__name__},")
    raise ValueError(
        "to_onnx supports tables of numbers, booleans and up to 50 categories per column, as "
        f"tabular_pipeline encodes them: got {what} in {', '.join(map(repr, columns))}. Leave "
        "these columns out, or turn them into numbers before."
    )


def _one_hot(
    graph: Graph, names: Sequence[Any], encoder: OneHotEncoder, booleans: Collection[Any]
) -> list[Tensor]:
    """Return columns of zeros and ones for each column of categories."""
    parts = []
    columns = zip(names, encoder.categories_, encoder.infrequent_categories_, strict=True)
    for name, known, infrequent in columns:
        rare = [] if infrequent is None else infrequent.tolist()
        frequent = [category for category in known.tolist() if category not in rare]
        codes: dict[Any, int] = {category: k for k, category in enumerate(frequent)}
        codes |= dict.fromkeys(rare, len(frequent))
        if name in booleans:
            others = {other: codes[text] for other, text in _SPELLINGS.items() if text in codes}
            codes = others | codes
        # unknown categories have the column of the rare ones, or else none
        table = graph.constant(np.eye(len(frequent) + 1)[:, : len(frequent) + bool(rare)])
        found = _text_codes(graph, name, codes, float(len(frequent)))
        parts.append(table.op("Gather", found.cast(np.int64).op("Reshape", np.array([-1]))))
    return parts


def encode_categories(rows: Tensor, voter: Any) -> Tensor:
    """Return rows in which numbers that are categories have the codes of ``voter``."""
    if getattr(voter, "coder", None) is None:
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
            columns.append(_text_codes(graph, name, codes, np.nan))
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


def _text_codes(graph: Graph, name: Any, codes: Mapping[Any, int], unknown: float) -> Tensor:
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
        keys_strings=[_MISSING if text is None else text for text in codes],
        values_floats=[float(code) for code in codes.values()],
        default_float=unknown,
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
