"""Ensembles: their representatives, and the weighted mean of the votes."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skliquid.delegation.votes import LEAST_SHARE
from skliquid.onnx import voter_nodes
from skliquid.onnx.graph_builder import Graph
from skliquid.onnx.map_nodes import apply_map
from skliquid.onnx.table_nodes import encode_categories
from skliquid.pruned import PrunedEnsemble
from skliquid.voters import TreeVoter


class Voter(NamedTuple):
    """A fitted classifier of an ensemble, with its vote weight."""

    estimator: Any
    features: NDArray[np.intp] | None  # that it sees; None means all
    weight: float
    classes: tuple[int, ...]  # positions of its classes among all


def representatives(ensemble: Any) -> list[Voter]:
    """Return the voters of an ensemble that have a vote weight."""
    if isinstance(ensemble, PrunedEnsemble):
        members = [(v.estimator, v.features, v.labels) for v in ensemble.voters()[0]]
    else:
        pairs = zip(ensemble.estimators_, ensemble.estimators_features_, strict=True)
        members = [(*pair, ensemble.classes_) for pair in pairs]
    weights, everything = ensemble.vote_weights_.tolist(), np.arange(ensemble.n_features_in_)
    voters = []
    for (estimator, features, labels), weight in zip(members, weights, strict=True):
        seen = None if features is None or np.array_equal(features, everything) else features
        positions = {label: k for k, label in enumerate(labels.tolist())}
        classes = [positions[label] for label in getattr(estimator, "classes_", labels).tolist()]
        voters.append(Voter(estimator, seen, float(weight), tuple(classes)))
    return voters


def vote_shares(
    graph: Graph, rows: str, voters: Sequence[Voter], n_classes: int, voting: str
) -> str:
    """Return the weighted mean of the voters' votes: (n_rows, n_classes)."""
    predict = voter_nodes.probabilities if voting == "soft" else voter_nodes.votes
    parts = []
    for (view, classes, _), group in _groups(graph, rows, voters).items():
        found = predict(graph, view, [estimator for estimator, _ in group])
        if classes != tuple(range(n_classes)):
            found = graph.op("MatMul", found, np.eye(n_classes)[list(classes)])
        weights = np.array([[weight] for _, weight in group])
        parts.append(graph.sum(graph.op("Mul", found, weights), 1))
    total = np.float64(sum(voter.weight for voter in voters))
    return graph.op("Div", graph.op("Sum", *parts) if len(parts) > 1 else parts[0], total)


def apply_temperature(graph: Graph, probabilities: str, power: float) -> str:
    """Return class probabilities at the inverse temperature ``power``."""
    if power == 1:
        return probabilities
    positive = graph.op("Max", probabilities, np.float64(LEAST_SHARE))
    powers = graph.op("Pow", positive, np.float64(power))
    return graph.op("Div", powers, graph.sum(powers, 1, keepdims=True))


def _groups(graph: Graph, rows: str, voters: Iterable[Voter]) -> dict[Any, list[tuple[Any, float]]]:
    """Return estimators and weights, in groups whose votes are computed together."""
    groups: dict[Any, list[tuple[Any, float]]] = {}
    for voter in voters:
        estimator, view = voter.estimator, rows
        if voter.features is not None:
            view = graph.columns(rows, voter.features)
        while isinstance(estimator, Pipeline):
            for _, step in estimator.steps[:-1]:
                view = apply_map(graph, view, step)
            estimator = estimator.steps[-1][1]
        if isinstance(estimator, TreeVoter):
            view = encode_categories(graph, view, estimator)
        key = view, voter.classes, voter_nodes.group_key(estimator)
        groups.setdefault(key, []).append((estimator, voter.weight))
    return groups
