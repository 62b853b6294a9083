"""Votes: the answers of voters, and what the ensemble makes of them."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.pipeline import Pipeline

from skliquid.onnx import linear_voters, tree_voters
from skliquid.onnx.categories import coded
from skliquid.onnx.feature_maps import mapped
from skliquid.onnx.graph import Graph
from skliquid.pruned import PrunedEnsemble
from skliquid.voters import TreeVoter
from skliquid.voting import LEAST_SHARE

_LINEAR = (SGDClassifier, Perceptron)


class Voter(NamedTuple):
    """A fitted classifier, what it sees, how much it counts, and which classes it knows."""

    estimator: Any
    features: NDArray[np.intp] | None  # that it sees; None means all
    weight: float
    classes: tuple[int, ...]  # positions of its classes among all


def voters_of(ensemble: Any) -> list[Voter]:
    """Return the representatives of an ensemble."""
    if isinstance(ensemble, PrunedEnsemble):
        members = [(v.estimator, v.features, v.labels) for v in ensemble.voters()[0]]
    else:
        pairs = zip(ensemble.estimators_, ensemble.estimators_features_, strict=True)
        members = [(*pair, ensemble.classes_) for pair in pairs]
    weights, everything = ensemble.vote_weights_.tolist(), np.arange(ensemble.n_features_in_)
    return [
        Voter(
            estimator,
            None if _are(features, everything) else features,
            float(weight),
            _positions(estimator, labels),
        )
        for (estimator, features, labels), weight in zip(members, weights, strict=True)
    ]


def _are(features: NDArray[np.intp] | None, everything: NDArray[np.intp]) -> bool:
    return features is None or np.array_equal(features, everything)


def shares(graph: Graph, rows: str, voters: Sequence[Voter], n_classes: int, voting: str) -> str:
    """Return the weighted mean of the voters' answers: (n_rows, n_classes)."""
    parts = []
    for (view, classes, _), group in _groups(graph, rows, voters).items():
        estimators = [estimator for estimator, _ in group]
        answers = _ANSWERS[voting](graph, view, estimators)
        if classes != tuple(range(n_classes)):
            answers = graph.op("MatMul", answers, np.eye(n_classes)[list(classes)])
        weights = np.array([[weight] for _, weight in group])
        parts.append(graph.summed(graph.op("Mul", answers, weights), 1))
    total = np.float64(sum(voter.weight for voter in voters))
    return graph.op("Div", graph.op("Sum", *parts) if len(parts) > 1 else parts[0], total)


def tempered(graph: Graph, probabilities: str, power: float) -> str:
    """Return class probabilities at an inverse temperature."""
    if power == 1:
        return probabilities
    least = graph.op("Max", probabilities, np.float64(LEAST_SHARE))
    powers = graph.op("Pow", least, np.float64(power))
    return graph.op("Div", powers, graph.summed(powers, 1, keepdims=True))


def _groups(graph: Graph, rows: str, voters: Iterable[Voter]) -> dict[Any, list[tuple[Any, float]]]:
    """Return voters and weights by what they see, their classes, and what else they share."""
    groups: dict[Any, list[tuple[Any, float]]] = {}
    for voter in voters:
        estimator, view = voter.estimator, rows
        if voter.features is not None:
            view = graph.columns(rows, voter.features)
        while isinstance(estimator, Pipeline):
            for _, step in estimator.steps[:-1]:
                view = mapped(graph, view, step)
            estimator = estimator.steps[-1][1]
        if isinstance(estimator, TreeVoter):
            view = coded(graph, view, estimator)
        key = view, voter.classes, _group_of(estimator)
        groups.setdefault(key, []).append((estimator, voter.weight))
    return groups


def _group_of(estimator: Any) -> Any:
    """Return what voters share whose answers are computed together."""
    if type(estimator) in _LINEAR:
        return linear_voters.group_of(estimator)
    if type(estimator) in tree_voters.KINDS:
        return tree_voters.group_of(estimator)
    known = ", ".join(kind.__name__ for kind in (*_LINEAR, *tree_voters.KINDS))
    raise ValueError(
        f"to_onnx supports the voters {known}, also at the end of pipelines: got "
        f"{type(estimator).__name__}. Train an ensemble of such voters."
    )


def _soft(graph: Graph, view: str, voters: Sequence[Any]) -> str:
    """Return class probabilities: (n_rows, n_voters, n_classes)."""
    is_linear = type(voters[0]) in _LINEAR
    of_kind = linear_voters.probabilities if is_linear else tree_voters.probabilities
    return of_kind(graph, view, voters)


def _hard(graph: Graph, view: str, voters: Sequence[Any]) -> str:
    """Return one for the class of each vote: (n_rows, n_voters, n_classes)."""
    is_linear = type(voters[0]) in _LINEAR
    found = (linear_voters.margins if is_linear else tree_voters.probabilities)(graph, view, voters)
    best = graph.op("ArgMax", found, axis=2, keepdims=1)
    is_best = graph.op("Equal", best, np.arange(len(voters[0].classes_)))
    return graph.cast(is_best, np.float64)


def _positions(estimator: Any, labels: NDArray[Any]) -> tuple[int, ...]:
    """Return where the classes of a voter are among all, by what it predicts for each."""
    known = {label: position for position, label in enumerate(labels.tolist())}
    return tuple(known[label] for label in getattr(estimator, "classes_", labels).tolist())


_ANSWERS = {"soft": _soft, "hard": _hard}
