"""to_onnx: a fitted ensemble, alone or at the end of a pipeline, as an ONNX model."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import skliquid
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.onnx.ensemble_nodes import apply_temperature, representatives, vote_shares
from skliquid.onnx.graph_builder import Graph
from skliquid.onnx.map_nodes import apply_map
from skliquid.onnx.table_nodes import (
    encode_array,
    encode_categories,
    encode_category_table,
    encode_table,
)
from skliquid.onnx.voter_nodes import probabilities
from skliquid.pruned import PrunedEnsemble
from skliquid.tables.tabular import TableEncoder
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

_TREES = (RandomizedForestClassifier, BoostedTreesClassifier)
_MODELS = (LiquidEnsembleClassifier, PrunedEnsemble, *_TREES)
_DTYPES: dict[str, Any] = {"float64": np.float64, "float32": np.float32}


def to_onnx(model: Any, *, dtype: str = "float64") -> ModelProto:
    """Return a fitted model as an ONNX model, with the same predictions without Python.

    Its outputs are ``label``, the classes, and ``probabilities``, those of ``predict_proba``, one
    column per class. Its input is ``X``, with one row per sample; for a table there is one input of
    shape (n_rows, 1) for each column that is used, by name: float64 for numbers, text for
    categories, in which the empty text is a missing value.

    Parameters
    ----------
    model : LiquidEnsembleClassifier, PrunedEnsemble, tree voter, Pipeline or StreamedModel
        Fitted. Voters are linear or made of trees, and see the rows as they are or through feature
        maps that are listed on the page about ONNX. A pipeline ends with such a model, and may
        begin with scalers or with the encoder of :func:`~skliquid.tabular_pipeline`.
    dtype : {"float64", "float32"}, default="float64"
        The type of ``X``. The model predicts as ``model`` does for rows of this type.

    Returns
    -------
    onnx_model : onnx.ModelProto
        Write it to a file with ``onnx.save(onnx_model, path)``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skliquid import LiquidEnsembleClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = to_onnx(LiquidEnsembleClassifier(random_state=0).fit(X, y))
    >>> [value.name for value in (*model.graph.input, *model.graph.output)]
    ['X', 'label', 'probabilities']
    """
    if dtype not in _DTYPES:
        raise ValueError(
            f"dtype must be {' or '.join(map(repr, _DTYPES))}: got {dtype!r}. Choose one of them."
        )
    pipeline = getattr(model, "pipeline", model)  # that of a StreamedModel
    steps: list[Any] = []
    final = pipeline
    while isinstance(final, Pipeline):
        steps, final = [*steps, *(step for _, step in final.steps[:-1])], final.steps[-1][1]
    _check_model(pipeline, final)
    graph = Graph()
    rows = _rows(graph, steps, final, _DTYPES[dtype])
    found, power = _probabilities(graph, rows, final)
    labels = _labels(final.classes_)
    best = graph.op("ArgMax", found, axis=1, keepdims=0)
    outputs: dict[str, tuple[str, Any, list[Any]]] = {
        "label": (graph.op("Gather", labels, best), labels.dtype, [None]),
        "probabilities": (apply_temperature(graph, found, power), np.float64, [None, len(labels)]),
    }
    return graph.model(outputs, producer_name="skliquid", producer_version=skliquid.__version__)


def _check_model(pipeline: Any, final: Any) -> None:
    if not isinstance(final, _MODELS):
        known = ", ".join(cls.__name__ for cls in _MODELS)
        raise TypeError(
            f"model must be one of {known}, or a pipeline that ends with one: got "
            f"{type(final).__name__}. For scikit-learn's own models, use skl2onnx."
        )
    check_is_fitted(pipeline)
    if len(final.classes_) < 2:
        raise ValueError(
            f"model must know two classes or more: got {final.classes_.tolist()}. Fit it to rows "
            "of several classes."
        )


def _rows(graph: Graph, steps: list[Any], model: Any, dtype: Any) -> str:
    """Return the rows that the model sees, after the steps before it."""
    types = (getattr(steps[0], "kw_args", None) or {}).get("column_types") if steps else None
    has_categories = isinstance(model, _TREES) and model.coder is not None
    if types:  # the first step of a StreamedModel
        steps = steps[1:]
    if steps and isinstance(steps[0], TableEncoder | ColumnTransformer):
        booleans = [name for name, column_type in (types or {}).items() if column_type == "boolean"]
        rows, steps = _encode(graph, steps[0], booleans, dtype), steps[1:]
    elif not steps and has_categories and hasattr(model, "feature_names_in_"):
        return encode_category_table(graph, model)
    else:
        rows = _array_input(graph, (steps or [model])[0], dtype)
    for step in steps:
        rows = apply_map(graph, rows, step)
    return encode_categories(graph, rows, model) if has_categories else rows


def _encode(graph: Graph, step: Any, booleans: list[Any], dtype: Any) -> str:
    encoder = step.encoder_ if isinstance(step, TableEncoder) else step
    if hasattr(encoder, "feature_names_in_"):
        return encode_table(graph, encoder, booleans)
    return encode_array(graph, _array_input(graph, encoder, dtype), encoder)


def _array_input(graph: Graph, first: Any, dtype: Any) -> str:
    width = getattr(first, "n_features_in_", None)
    if width is None:
        raise ValueError(
            f"to_onnx supports models for rows of numbers, and tables: got {type(first).__name__}, "
            "which was fitted to something else, such as texts. Fit the model to numbers, and turn "
            "texts into them before."
        )
    name = graph.input("X", dtype, width)
    return name if dtype == np.float64 else graph.cast(name, np.float64)


def _probabilities(graph: Graph, rows: str, model: Any) -> tuple[str, float]:
    """Return class probabilities, and the inverse temperature that applies to them."""
    if isinstance(model, _TREES):
        return graph.sum(probabilities(graph, rows, [model]), 1), 1.0
    voters = representatives(model)
    found = vote_shares(graph, rows, voters, len(model.classes_), model.voting)
    return found, 1 / model.temperature_ if model.voting == "soft" else 1.0


def _labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Return classes in a type that ONNX has."""
    if classes.dtype.kind in "OU" and all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    types = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64}
    if classes.dtype.kind not in types:
        raise ValueError(
            "to_onnx supports labels that are texts, integers, floats or booleans: got "
            f"{classes.tolist()[0]!r}. Train on such labels."
        )
    return classes.astype(types[classes.dtype.kind])
