"""Tables: the encoder of tables as operators, with an input for each column."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from skliquid.onnx.categories import column_input, text_codes, with_missing
from skliquid.onnx.feature_maps import mapped
from skliquid.onnx.graph import Graph
from skliquid.table_columns import as_numbers, as_text

_FIRST_STEPS = {"numbers": as_numbers, "categories": as_text}
_NOT_CONVERTED = {
    "dates": "dates",
    "classes": "more than 50 categories",
    "spelling": "more than 50 categories",
    "words": "texts",
}
_OTHER_SPELLINGS = {"False": ("false", "FALSE", "0"), "True": ("true", "TRUE", "1")}


def encoded(graph: Graph, encoder: ColumnTransformer, booleans: Collection[Any]) -> str:
    """Return a table as the numbers that ``encoder`` makes of it.

    ``booleans`` are the names of columns of which we know that they hold nothing else.
    """
    names, parts = encoder.feature_names_in_.tolist(), []
    for part, transformer, columns in encoder.transformers_:
        if not len(columns) or part == "remainder":
            continue
        used = [names[k] if isinstance(k, int) else k for k in columns]
        _check_part(part, transformer, used)
        if part == "numbers":
            numbers = graph.joined([column_input(graph, name, np.float64) for name in used], axis=1)
            parts.append(mapped(graph, numbers, transformer[1:]))
        else:
            parts.extend(_one_hot(graph, used, transformer[-1], booleans))
    return graph.joined(parts, axis=1)


def encoded_array(graph: Graph, rows: str, encoder: ColumnTransformer) -> str:
    """Return what ``encoder`` makes of an array, whose columns are all numbers."""
    (part, transformer, columns), *_ = encoder.transformers_
    _check_part(part, transformer, columns)
    return mapped(graph, graph.columns(rows, np.array(columns)), transformer[1:])


def _check_part(part: str, transformer: Any, columns: Sequence[Any]) -> None:
    """Raise unless a part of an encoder is one of ours that has operators."""
    is_pipeline = isinstance(transformer, Pipeline) and part in _FIRST_STEPS
    if is_pipeline and getattr(transformer[0], "func", None) is _FIRST_STEPS[part]:
        return
    what = _NOT_CONVERTED.get(part, f"the transformer {part!r}, {type(transformer).__name__},")
    raise ValueError(
        "to_onnx supports tables of numbers, booleans and up to 50 categories per column, as "
        f"tabular_pipeline encodes them: got {what} in {', '.join(map(repr, columns))}. Leave "
        "these columns out, or turn them into numbers before."
    )


def _one_hot(
    graph: Graph, names: Sequence[Any], encoder: OneHotEncoder, booleans: Collection[Any]
) -> list[str]:
    """Return columns of zeros and ones for each column of categories."""
    parts = []
    every = zip(names, encoder.categories_, encoder.infrequent_categories_, strict=True)
    for name, known, infrequent in every:
        rare = [] if infrequent is None else infrequent.tolist()
        frequent = [category for category in known.tolist() if category not in rare]
        positions = {category: k for k, category in enumerate(frequent)}
        codes = with_missing(name, positions | dict.fromkeys(rare, len(frequent)))
        if name in booleans:
            codes = _with_other_spellings(codes)
        # those that are not known have the column of the rare ones, or else none
        table = np.eye(len(frequent) + 1)[:, : len(frequent) + bool(rare)]
        found = text_codes(graph, name, codes, float(len(frequent)))
        positions_only = graph.op("Reshape", graph.cast(found, np.int64), np.array([-1]))
        parts.append(graph.op("Gather", table, positions_only))
    return parts


def _with_other_spellings(codes: dict[str, int]) -> dict[str, int]:
    pairs = ((text, spelling) for text, others in _OTHER_SPELLINGS.items() for spelling in others)
    return {spelling: codes[text] for text, spelling in pairs if text in codes} | codes
