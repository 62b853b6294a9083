"""to_onnx: a fitted ensemble, alone or at the end of a pipeline, as an ONNX model."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import skliquid
from skliquid.delegation.votes import LEAST_SHARE
from skliquid.fitted.fitted_votes import FittedVotes
from skliquid.onnx.graph_builder import Graph, Tensor
from skliquid.onnx.scikit_learn_nodes import is_exported, probability_nodes, transform, votes
from skliquid.onnx.table_nodes import (
    encode_categories,
    encode_category_table,
    encode_table,
    has_codes,
)
from skliquid.pruned import PrunedEnsemble, fitted_voters
from skliquid.tables.table_encoder import TableEncoder

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
        Fitted, to numbers or to a table of numbers and categories. Voters are linear or made of
        trees, and see the rows as they are or through feature maps that are listed on the page
        about ONNX. A pipeline ends with such a model, and may begin with scalers or with a
        :class:`~skliquid.TableEncoder`.
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
    pipeline = getattr(model, "ensemble", model)  # that of a StreamedModel
    steps, final = _split(pipeline)
    _check_model(pipeline, final)
    graph = Graph()
    rows = _rows(graph, steps, final, _DTYPES[dtype])
    if isinstance(final, FittedVotes):
        shares = _vote_shares(rows, final)
        found = _apply_temperature(shares, final)
    else:
        shares = found = probability_nodes(final)(rows, [final]).sum(1)
    labels = _labels(final.classes_)
    best = graph.op("Gather", labels, shares.op("ArgMax", axis=1, keepdims=0))
    outputs: dict[str, tuple[Tensor, Any, list[Any]]] = {
        "label": (best, labels.dtype, [None]),
        "probabilities": (found, np.float64, [None, len(labels)]),
    }
    return graph.model(outputs, producer_name="skliquid", producer_version=skliquid.__version__)


def _split(pipeline: Any) -> tuple[list[Any], Any]:
    """Return the steps of a pipeline, and the estimator at its end."""
    steps: list[Any] = []
    while isinstance(pipeline, Pipeline):
        steps.extend(step for _, step in pipeline.steps[:-1])
        pipeline = pipeline.steps[-1][1]
    return steps, pipeline


def _check_model(pipeline: Any, final: Any) -> None:
    if not (
        isinstance(final, FittedVotes) or is_exported(final, "onnx_probabilities", "probabilities")
    ):
        raise TypeError(
            "model must be one of LiquidEnsembleClassifier, PrunedEnsemble and the voters of "
            f"skliquid, or a pipeline that ends with one: got {type(final).__name__}. For "
            "scikit-learn's own models, use skl2onnx."
        )
    check_is_fitted(pipeline)
    if len(final.classes_) < 2:
        raise ValueError(
            f"model must know two classes or more: got {final.classes_.tolist()}. Fit it to rows "
            "of several classes."
        )


def _rows(graph: Graph, steps: list[Any], model: Any, dtype: Any) -> Tensor:
    """Return the rows that the model sees, after the steps before it."""
    encoder = getattr(model, "encoder_", None)
    if steps and encoder is not None:
        raise ValueError(
            "to_onnx supports tables as the input of a model: got a step before an ensemble with "
            "an encoder. Fit the ensemble to the table, or put a TableEncoder first."
        )
    if steps and isinstance(steps[0], TableEncoder):
        rows, steps = transform(encode_table(graph, steps[0]), steps[0].view_), steps[1:]
    elif encoder is not None:
        rows = encode_table(graph, encoder)
        return rows if encoder.gives_codes else transform(rows, encoder.view_)
    elif not steps and has_codes(model) and hasattr(model, "feature_names_in_"):
        return encode_category_table(graph, model)
    else:
        rows = _array_input(graph, (steps or [model])[0], dtype)
    for step in steps:
        rows = transform(rows, step)
    return encode_categories(rows, model)


def _array_input(graph: Graph, first: Any, dtype: Any) -> Tensor:
    width = getattr(first, "n_features_in_", None)
    if width is None:
        raise ValueError(
            f"to_onnx supports models for rows of numbers, and tables: got {type(first).__name__}, "
            "which was fitted to something else, such as texts. Fit the model to numbers, and turn "
            "texts into them before."
        )
    rows = graph.input("X", dtype, width)
    return rows if dtype == np.float64 else rows.cast(np.float64)


def _vote_shares(rows: Tensor, ensemble: Any) -> Tensor:
    """Return the weighted mean of the votes: (n_rows, n_classes)."""
    n_classes = len(ensemble.classes_)
    parts: list[Tensor] = []
    for (view, classes, probabilities), group in _groups(rows, ensemble).items():
        voters, weights = zip(*group, strict=True)
        found = probabilities(view, voters) if ensemble.voting == "soft" else votes(view, voters)
        if classes != tuple(range(n_classes)):
            found = found @ np.eye(n_classes)[list(classes)]
        parts.append((found * np.array([weights]).T).sum(1))
    shares = sum(parts[1:], parts[0]) / float(sum(ensemble.vote_weights_.tolist()))
    uniform = ensemble.uniform_share_
    return shares * (1 - uniform) + uniform / n_classes if uniform else shares


def _groups(rows: Tensor, ensemble: Any) -> dict[Any, list[tuple[Any, float]]]:
    """Return representatives and vote weights, in groups whose votes are computed together."""
    groups: dict[Any, list[tuple[Any, float]]] = {}
    is_pruned = isinstance(ensemble, PrunedEnsemble)
    everything = np.arange(ensemble._n_columns)  # noqa: SLF001 (of the encoded table)
    members, _ = ensemble.voters() if is_pruned else fitted_voters(ensemble)
    for member, weight in zip(members, ensemble.vote_weights_.tolist(), strict=True):
        steps, voter = _split(member.estimator)
        sees_all = member.features is None or np.array_equal(member.features, everything)
        view = rows if sees_all else rows.columns(member.features)
        for step in steps:
            view = transform(view, step)
        known = getattr(member.estimator, "classes_", member.labels)
        classes = tuple(np.searchsorted(member.labels, known).tolist())
        key = encode_categories(view, voter), classes, probability_nodes(voter)
        groups.setdefault(key, []).append((voter, weight))
    return groups


def _apply_temperature(probabilities: Tensor, ensemble: Any) -> Tensor:
    """Return class probabilities at the temperature of soft votes."""
    if ensemble.voting == "hard" or ensemble.temperature_ == 1:
        return probabilities
    powers = probabilities.op("Max", LEAST_SHARE).op("Pow", 1 / ensemble.temperature_)
    return powers / powers.sum(1, keepdims=True)


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
