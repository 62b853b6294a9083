"""Methods: the ensembles that trials train, and their scores and costs."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.tree import DecisionTreeClassifier

from reproduction.mixture_weights import Votes, likelihoods_of_votes, mixture_weights
from reproduction.protocols import Floats, Halves, Labels, Protocol
from reproduction.real_adaboost import RealAdaBoost
from skliquid import LiquidEnsembleClassifier, TrainingRecord, as_mechanism
from skliquid.diversity import VoterSpec
from skliquid.mechanisms import MECHANISMS, Rounded
from skliquid.pools import LinearPool, VoterPool, pool_for

Result = dict[str, Any]
ESTIMATORS = {"sgd": SGDClassifier, "tree": lambda: DecisionTreeClassifier(max_depth=1)}


def run(method: Mapping[str, Any], halves: Halves, protocol: Protocol, seed: int) -> Result:
    """Train a method on one half and return its scores on the other, its costs and its time."""
    start = perf_counter()
    result = METHODS[method["method"]](dict(method), halves, protocol, seed)
    return result | {"seconds": perf_counter() - start}


def liquid(method: dict[str, Any], halves: Halves, protocol: Protocol, seed: int) -> Result:
    """Return the scores and costs of a delegating ensemble.

    Besides the ensemble's parameters, ``method`` may have ``goes_on`` and the ``VARIATIONS``, which
    override the protocol; ``final_fit``, false to leave it out; ``other_weights``, whether to score
    the representatives by other vote weights after one pass; and ``curves``, whether to record the
    accuracy on the test half during training. By default it is recorded, unless voters continue
    after the last delegation and a final fit follows.
    """
    rules, is_finished = protocol.varied(method), method.get("final_fit", True)
    ensemble = _ensemble(method, rules, seed)
    X, y = halves.X_train, halves.y_train
    if not (is_finished or rules.goes_on):  # then training ends with delegation
        X, y = _rows_until_delegation_ends(ensemble, X, y, seed)
    has_curves = method.get("curves", not (is_finished and rules.goes_on))
    ensemble.fit(X, y, eval_set=(halves.X_test, halves.y_test) if has_curves else None)
    result = {"accuracy_one_pass": ensemble.record_[-1].eval_accuracy}
    if not ensemble.final_fit:
        result = _scores(ensemble.predict(halves.X_test), halves, "one_pass")
        if method.get("other_weights", False):
            result |= _scores_by_weights(ensemble, halves)
        if is_finished:
            ensemble.refit(X, y)
    if is_finished:
        result |= _scores(ensemble.predict(halves.X_test), halves, "final")
    return result | _record_values(ensemble.record_, method["increment_size"])


def _ensemble(method: dict[str, Any], rules: Protocol, seed: int) -> LiquidEnsembleClassifier:
    estimator = method.get("estimator", "sgd")
    sees_all = rules.features_per_voter == "all"
    changes = {"candidates": rules.candidates, "weight_of": rules.weight_of}
    return LiquidEnsembleClassifier(
        ESTIMATORS[estimator](),
        n_estimators=method["n_estimators"],
        n_final=method["n_final"],
        mechanism=as_mechanism(
            mechanism_named(method["mechanism"]),
            **{name: value for name, value in changes.items() if value is not None},
        ),
        delegation_rate=Rounded(method["delegation_rate"], rules.rounding),
        increment_size=method["increment_size"],
        competence=method.get("competence", "training"),
        voting="hard",
        max_features=1.0 if sees_all else rules.features_per_voter,
        final_fit=method.get("final_fit", True) and not rules.goes_on,
        pool=_Voters(
            "linear" if estimator == "sgd" else "auto",
            rules.stopping_rule,
            keeps_votes=method.get("other_weights", False),
        ),
        random_state=seed,
    )


@dataclass
class _Voters:
    """Voters in a pool: how it stops a final fit, and whether it keeps votes before training.

    ``stopping_rule`` may be that of another version of scikit-learn.
    """

    name: str
    stopping_rule: str | None
    keeps_votes: bool = False
    pool: Any = None  # the last one made

    def pool_for(self, spec: VoterSpec, classes: NDArray[Any], n_jobs: int | None) -> VoterPool:
        self.pool = pool_for(self.name, spec, classes, n_jobs)
        if self.stopping_rule and isinstance(self.pool, LinearPool):
            self.pool.stopping_rule = self.stopping_rule
        if self.keeps_votes:
            self.pool = _VotesKept(self.pool)
        return self.pool


class _VotesKept(VoterPool):
    """A pool that keeps the votes on each increment but the first, from before training on it."""

    def __init__(self, pool: VoterPool):
        self.pool, self.kept, self.is_trained = pool, list[tuple[Labels, Votes, Labels]](), False

    def train(self, voters: Labels, rows: Any) -> int:
        if self.is_trained:
            self.kept.append((voters, self.pool.vote(voters, rows.X), rows.y))
        self.is_trained = True
        return self.pool.train(voters, rows)

    def finish(self, voters: Labels, rows: Any, max_passes: int | None = None) -> int:
        return self.pool.finish(voters, rows, max_passes)

    def vote(self, voters: Labels, X: Any) -> Votes:
        return self.pool.vote(voters, X)

    def probabilities(self, voters: Labels, X: Any) -> Floats:
        return self.pool.probabilities(voters, X)

    def estimators(self, voters: Labels) -> list[Any]:
        return self.pool.estimators(voters)

    def votes_before_training(self, voters: Labels) -> tuple[Votes, Labels]:
        """Return the votes of voters that trained on all increments, and the labels."""
        if not self.kept:
            return np.zeros((len(voters), 0), dtype=np.intp), np.zeros(0, dtype=np.intp)
        votes = [kept[trained.searchsorted(voters)] for trained, kept, _ in self.kept]
        return np.concatenate(votes, axis=1), np.concatenate([y for _, _, y in self.kept])


def _rows_until_delegation_ends(
    ensemble: LiquidEnsembleClassifier, X: Floats, y: Labels, seed: int
) -> tuple[Floats, Labels]:
    """Return a random sample of the rows, enough for the increments until delegation ends."""
    schedule, n_left, n_increments = ensemble.delegation_rate, ensemble.n_estimators, 0
    while n := min(schedule.n_delegators(n_increments + 1, n_left), n_left - ensemble.n_final):
        n_left, n_increments = n_left - n, n_increments + 1
    n_rows = max(n_increments, 1) * ensemble.increment_size  # at least one increment to learn from
    rows = np.random.default_rng(seed).permutation(len(y))[:n_rows]
    return X[rows], y[rows]


def _scores_by_weights(ensemble: LiquidEnsembleClassifier, halves: Halves) -> Result:
    """Return the scores of the representatives by other vote weights, and their minimum majority.

    ``fitted`` are mixture weights for the votes before training, halfway to equal votes, and
    ``hindsight`` those of maximum likelihood on the test half itself. ``ties`` is the share of rows
    on which one vote each leaves a tie, which goes to the first class.
    """
    pool, n_classes = ensemble.pool.pool, halves.n_classes
    voters, mechanism = ensemble.delegation_graph_.representatives, ensemble.mechanism
    earlier, y = pool.votes_before_training(voters)
    tested = pool.vote(voters, halves.X_test)
    fitted = _fitted(earlier, y, n_classes, strength=1)
    hindsight = _fitted(tested, halves.y_test, n_classes, strength=0)
    weights: dict[str, Any] = {"equal": "equal", "log_odds": "log_odds"}
    weights |= {"fitted": lambda *_: fitted, "hindsight": lambda *_: hindsight}
    counts = np.sort([(tested == k).sum(axis=0) for k in range(n_classes)], axis=0)
    result: Result = {"ties": float((counts[-1] == counts[-2]).mean())}
    for name, own in weights.items():
        ensemble.mechanism = as_mechanism(mechanism, vote_weights=own)
        result |= _scores(ensemble.predict(halves.X_test), halves, f"one_pass_{name}")
        result[f"minimum_majority_{name}"] = _minimum_majority(ensemble.vote_weights_)
    ensemble.mechanism = mechanism
    return result


def _fitted(votes: Votes, y: Labels, n_classes: int, strength: float) -> Floats:
    return mixture_weights(likelihoods_of_votes(votes, y, n_classes), strength)


def _minimum_majority(weights: NDArray[Any]) -> int:
    """Return how many voters hold more than half of the weight, at least."""
    held = np.cumsum(np.sort(weights)[::-1])
    return int((2 * held <= held[-1]).sum()) + 1


def adaboost(method: dict[str, Any], halves: Halves, protocol: Protocol, seed: int) -> Result:
    """Return the scores and costs of AdaBoost, which refuses estimators worse than chance."""
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
    return _scores(predicted, halves, "final") | {
        "cost_increments": 0,
        "cost_final_fit": int(passes) * len(halves.y_train),
        "n_representatives": len(ensemble.estimators_),
    }


METHODS = {"liquid": liquid, "adaboost": adaboost}


def mechanism_named(name: str) -> Any:
    """Return the mechanism with this name, or import it from ``module:name``."""
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


def _scores(predicted: Labels, halves: Halves, when: str) -> Result:
    """Return the same scores as scikit-learn, computed from one confusion matrix."""
    y, n_classes = halves.y_test, halves.n_classes
    counts = np.bincount(y * n_classes + predicted, minlength=n_classes**2)
    confusion = counts.reshape(n_classes, n_classes)
    correct, present, returned = np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    f1 = 2 * correct / np.maximum(present + returned, 1)
    recall = correct[present > 0] / present[present > 0]
    return {
        f"accuracy_{when}": float(correct.sum() / len(y)),
        f"f1_first_{when}": float(f1[0]),
        f"f1_second_{when}": float(f1[1]),
        f"f1_macro_{when}": float(f1.mean()),
        f"balanced_accuracy_{when}": float(recall.mean()),
    }


def _record_values(record: TrainingRecord, increment_size: int) -> Result:
    last = record[-1]
    return {
        "cost_increments": record.cost.increments,
        "cost_increments_nominal": sum(len(i.voters) for i in record) * increment_size,
        "cost_final_fit": record.cost.final_fit,
        "n_increments": len(record),
        "n_representatives": len(last.graph.representatives),
        "minimum_majority": last.minimum_majority,
        "largest_share": last.largest_share,
        "gini": last.gini,
        "curve_representatives": [len(i.graph.representatives) for i in record],
        "curve_accuracy": [i.eval_accuracy for i in record],
        "curve_minimum_majority": [i.minimum_majority for i in record],
        "curve_largest_share": [i.largest_share for i in record],
    }
