"""Methods: the ensembles that trials train, and what is recorded of them."""

import importlib
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.tree import DecisionTreeClassifier

from skliquid.arrays import Labels
from skliquid.delegation_graph import DelegationGraph
from skliquid.ensemble import LiquidEnsembleClassifier, shares
from skliquid.experiments.protocols import Halves, Protocol
from skliquid.experiments.real_adaboost import RealAdaBoost
from skliquid.increments import Rows, slices
from skliquid.mechanisms import MECHANISMS, Mechanism, as_mechanism
from skliquid.pools.linear_pool import LinearPool
from skliquid.record import TrainingRecord
from skliquid.schedules import Rounded, n_asked
from skliquid.training import Training, finish, train
from skliquid.voting import winner

Result = dict[str, Any]
ESTIMATORS = {"sgd": SGDClassifier, "tree": lambda: DecisionTreeClassifier(max_depth=1)}


def run(method: Mapping[str, Any], halves: Halves, protocol: Protocol, seed: int) -> Result:
    """Train a method on one half, score it on the other, and return the record."""
    start = perf_counter()
    result = METHODS[method["method"]](dict(method), halves, protocol, seed)
    return result | {"seconds": perf_counter() - start}


def liquid(method: dict[str, Any], halves: Halves, protocol: Protocol, seed: int) -> Result:
    """Return the record of a delegating ensemble.

    Beside the ensemble's parameters, ``method`` may hold: ``goes_on`` and the ``VARIATIONS``,
    instead of the protocol's; ``final_fit``, false to leave it out; and ``curves``, false to leave
    out the accuracy on the test half during training.
    """
    rules = protocol.varied(method)
    schedule = Rounded(method["delegation_rate"], rules.rounding)
    estimator = method.get("estimator", "sgd")
    is_finished, sees_all = method.get("final_fit", True), rules.features_per_voter == "all"
    ensemble = LiquidEnsembleClassifier(
        ESTIMATORS[estimator](),
        n_estimators=method["n_estimators"],
        n_final=method["n_final"],
        mechanism=_mechanism(method["mechanism"], rules.weight_of),
        delegation_rate=schedule,
        increment_size=method["increment_size"],
        competence=method.get("competence", "training"),
        candidates=rules.candidates,
        max_features=1.0 if sees_all else rules.features_per_voter,
        final_fit="scratch" if is_finished and not rules.goes_on else "none",
        pool="linear" if estimator == "sgd" else "auto",
        random_state=seed,
    )
    cuts = slices(len(halves.y_train), method["increment_size"])
    if not (is_finished or rules.goes_on):
        n_cuts = _n_delegations(schedule, method["n_estimators"], method["n_final"])
        cuts = cuts[: max(n_cuts, 1)]  # where nobody ever delegates, voters still learn something
    training, _ = ensemble._start(np.unique(halves.y_train), halves.X_train)
    if rules.stopping_rule and isinstance(training.pool, LinearPool):
        training.pool.stopping_rule = rules.stopping_rule
    data = Rows(range(len(halves.y_train)), halves.X_train, halves.y_train, None)
    order = training.rng.permutation(len(data.y))
    curve = _Curve(training, halves, always=not is_finished) if method.get("curves", True) else None
    train(training, ensemble._rules(len(cuts)), (data.at(order[cut]) for cut in cuts), curve)
    result = _scores(_predicted(training, halves), halves.y_test, halves.n_classes, "one_pass")
    if is_finished:
        finish(training, halves.X_train, halves.y_train, None)
        result |= _scores(_predicted(training, halves), halves.y_test, halves.n_classes, "final")
    return result | _of_training(training.record, method["increment_size"])


def adaboost(method: dict[str, Any], halves: Halves, protocol: Protocol, seed: int) -> Result:
    """Return the record of AdaBoost; scikit-learn refuses estimators worse than chance."""
    is_real = method["estimator"] == "tree" and protocol.varied(method).boosting == "SAMME.R"
    real: Any = partial(RealAdaBoost, n_classes=halves.n_classes)
    ensemble = (real if is_real else AdaBoostClassifier)(
        ESTIMATORS[method["estimator"]](),
        n_estimators=method["n_estimators"],
        random_state=np.random.RandomState(seed % 2**32),
    )
    try:
        ensemble.fit(halves.X_train, halves.y_train)
    except ValueError as error:
        if "worse than random" not in str(error):
            raise
        return {"refused": True}
    predicted = ensemble.predict(halves.X_test)
    passes = sum(getattr(estimator, "n_iter_", 1) for estimator in ensemble.estimators_)
    return _scores(predicted, halves.y_test, halves.n_classes, "final") | {
        "cost_increments": 0,
        "cost_final_fit": int(passes) * len(halves.y_train),
        "n_representatives": len(ensemble.estimators_),
    }


METHODS = {"liquid": liquid, "adaboost": adaboost}


def mechanism_named(name: str) -> Any:
    """Return the mechanism of that name, or that at ``module:name``."""
    if ":" not in name:
        return as_mechanism(name)
    module, attribute = name.split(":", 1)
    try:
        return as_mechanism(getattr(importlib.import_module(module), attribute))
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"mechanism must be one of {', '.join(MECHANISMS)}, or module:name of one of yours: "
            f"{name!r} cannot be imported ({error}). Put the module where Python finds it."
        ) from error


def _mechanism(name: str, weight_of: str | None) -> Any:
    """Return the mechanism, with ``weight_of`` replaced if given."""
    mechanism = mechanism_named(name)
    has_a_choice = weight_of is not None and isinstance(mechanism, Mechanism)
    return replace(mechanism, weight_of=weight_of) if has_a_choice else mechanism


class _Curve:
    """Accuracy on the test half during training: always, or only when some have delegated."""

    def __init__(self, training: Training, halves: Halves, *, always: bool):
        self._training, self._halves, self._always = training, halves, always
        self._last = training.graph

    def __call__(self, graph: DelegationGraph) -> float:
        if graph is self._last and not self._always:
            return math.nan
        self._last = graph
        predicted = _predicted(self._training, self._halves)
        return float(np.mean(predicted == self._halves.y_test))


def _predicted(training: Training, halves: Halves) -> Labels:
    return winner(shares(training, halves.X_test, halves.n_classes))


def _scores(predicted: Labels, y: Labels, n_classes: int, when: str) -> Result:
    """Return scikit-learn's scores of predictions, all from one confusion matrix."""
    counts = np.bincount(y * n_classes + predicted, minlength=n_classes**2)
    confusion = counts.reshape(n_classes, n_classes)
    correct, present, claimed = np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    f1 = 2 * correct / np.maximum(present + claimed, 1)
    recall = correct[present > 0] / present[present > 0]
    return {
        f"accuracy_{when}": float(correct.sum() / len(y)),
        f"f1_first_{when}": float(f1[0]),
        f"f1_second_{when}": float(f1[1]),
        f"f1_macro_{when}": float(f1.mean()),
        f"balanced_accuracy_{when}": float(recall.mean()),
    }


def _of_training(record: TrainingRecord, increment_size: int) -> Result:
    last = record[-1]
    return {
        "cost_increments": record.cost.increments,
        "cost_increments_nominal": sum(len(each.voters) for each in record) * increment_size,
        "cost_final_fit": record.cost.final_fit,
        "n_increments": len(record),
        "n_representatives": len(last.graph.representatives),
        "minimum_majority": last.minimum_majority,
        "largest_share": last.largest_share,
        "gini": last.gini,
        "curve_representatives": [len(each.graph.representatives) for each in record],
        "curve_accuracy": [each.eval_accuracy for each in record],
        "curve_minimum_majority": [each.minimum_majority for each in record],
        "curve_largest_share": [each.largest_share for each in record],
    }


def _n_delegations(schedule: Rounded, n_voters: int, n_final: int) -> int:
    """Return how many increments it takes until nobody is asked to delegate any more."""
    n_increments = 0
    while asked := n_asked(schedule, n_increments + 1, n_voters, n_final):
        n_voters, n_increments = n_voters - asked, n_increments + 1
    return n_increments
