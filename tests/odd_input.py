"""A table of odd input: rows, labels and weights of odd types and shapes, for every public method.

``cases()`` is the table, and ``outcome(case)`` says how one of them ends: in a result, in an error
that tells the user what is wrong, or in something that should not happen. Some rows could end the
process, so ``python tests/odd_input.py`` names each case before it tries it; ``run`` calls it.
"""

import copy
import linecache
import os
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import odd_labels
import odd_rows
from odd_rows import N_ROWS, PLAIN, SPARSE, Y
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MaxAbsScaler
from sklearn.tree import DecisionTreeClassifier

from skliquid import Diversity, LiquidEnsembleClassifier, prune
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier


class Case(NamedTuple):
    """A method of a model, and what is odd about its input."""

    model: str
    method: str
    argument: str  # "X", "y", "sample_weight", or "map" for what a feature map returns
    odd: str  # the name of what is given for it

    def __str__(self) -> str:
        return f"{self.model}.{self.method}: {self.argument} = {self.odd}"


def small(estimator=None, **options):
    defaults = {"n_estimators": 4, "n_final": 2, "random_state": 0, "increment_size": 10}
    return LiquidEnsembleClassifier(estimator, **defaults | options)


def mapped(estimator, *maps):
    return small(estimator, diversity=Diversity(feature_maps=list(maps)), increment_size=N_ROWS)


class OddMap(TransformerMixin, BaseEstimator):
    """A feature map that returns the rows that it is given, or something odd."""

    returned = None

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X if OddMap.returned is None else OddMap.returned

    def __sklearn_is_fitted__(self):
        return True


ENSEMBLES = {
    "default": partial(small, n_estimators=3, increment_size="auto"),
    "linear": partial(small, SGDClassifier(loss="log_loss")),
    "hard": partial(small, SGDClassifier(average=True), voting="hard"),
    "subspaces": partial(small, SGDClassifier(), max_features=0.5, bootstrap=True),
    "maps": lambda: mapped(SGDClassifier(), MaxAbsScaler(), RBFSampler(n_components=4)),
    "forests": partial(small, RandomizedForestClassifier(2), n_estimators=2),
    "estimators": partial(small, DecisionTreeClassifier(max_depth=2)),
    "categories": partial(small, n_estimators=3, increment_size="auto", categorical_features=[0]),
}
MAPPED = {
    "mapped linear": lambda: mapped(SGDClassifier(average=2), OddMap()),
    "mapped forests": lambda: mapped(RandomizedForestClassifier(2), OddMap()),
    "mapped estimators": lambda: mapped(GaussianNB(), OddMap()),
}
VOTERS = {
    "forest": partial(RandomizedForestClassifier, 2, random_state=0),
    "boosted": partial(BoostedTreesClassifier, n_estimators=2, random_state=0),
}
PRUNED = {
    "pruned forest": partial(RandomForestClassifier, 3, max_depth=2, random_state=0),
    "pruned bagging": partial(BaggingClassifier, SGDClassifier(), 3, random_state=0),
}

ASKING = ("predict", "predict_proba", "decision_function")
METHODS = (
    dict.fromkeys(ENSEMBLES, ("fit", "partial_fit", "continue", "refit", "eval_set", *ASKING))
    | dict.fromkeys(VOTERS, ("fit", "partial_fit", "continue", "predict", "predict_proba"))
    | dict.fromkeys(PRUNED, ("prune", "continue", *ASKING))
    | dict.fromkeys(MAPPED, ("fit", "continue", *ASKING))
)
_STEP = 21
TAKES_WEIGHTS = ("fit", "partial_fit", "continue", "refit")
TAKES_LABELS = (*TAKES_WEIGHTS, "eval_set", "prune")
ODD = {
    "X": odd_rows.ROWS,
    "y": odd_labels.LABELS,
    "sample_weight": odd_labels.WEIGHTS,
    "map": odd_rows.ROWS,
}


def cases(*, everything: bool = True) -> list[Case]:
    """Return the table, or a part of it in which each odd value and each method comes up."""
    table = []
    for argument, values in ODD.items():
        methods = [pair for pair in _methods() if _takes(*pair, argument)]
        step = 1 if everything else min(_STEP, len(methods))
        for k, (model, method) in enumerate(methods):
            table += [Case(model, method, argument, odd) for odd in list(values)[k % step :: step]]
    return table


def _methods():
    return [(model, method) for model, methods in METHODS.items() for method in methods]


def _takes(model, method, argument):
    if argument == "map" or model in MAPPED:
        return argument == "map" and model in MAPPED
    if argument == "sample_weight":
        return method in TAKES_WEIGHTS and model in ENSEMBLES | VOTERS
    return argument == "X" or method in TAKES_LABELS


# What happens


def outcome(case: Case) -> str:
    """Return how a case ends: "result", "refused", or what is wrong with it."""
    value = ODD[case.argument][case.odd]()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _wrong_result(*_call(case, value)) or "result"
    except (ValueError, TypeError) as error:
        return "refused" if _is_told(error) else f"not at the door: {_told(error)}"
    except Exception as error:
        return f"wrong error: {_told(error)}"


def _call(case, value):
    """Return a model that was given ``value``, and probabilities and labels that it predicts."""
    given = {"X": PLAIN, "y": Y}
    if case.argument == "map":
        return _call_map(case, value, given)
    return _answered(case, given | {case.argument: value})


def _call_map(case, value, given):
    if case.method != "fit":
        _fitted(case.model, False)
    OddMap.returned = value
    try:
        return _answered(case, given)
    finally:
        OddMap.returned = None


def _answered(case, given):
    method, is_sparse = case.method, odd_rows.is_sparse(given["X"])
    if method in ("fit", "partial_fit", "prune", "eval_set"):
        model = _begun(case.model, method, given)
    else:
        model = copy.deepcopy(_fitted(case.model, is_sparse))
    if method == "continue":
        model.partial_fit(**given)
    elif method == "refit":
        model.refit(**given)
    asked = given["X"] if method != "eval_set" else PLAIN
    method = method if method in ASKING else "predict_proba"
    return model, getattr(model, method)(asked), method


def _begun(name, method, given):
    if method == "prune":
        plain = SPARSE if odd_rows.is_sparse(given["X"]) else PLAIN
        return prune(PRUNED[name]().fit(plain, Y), **given, n_final=2, random_state=0)
    model = (ENSEMBLES | VOTERS | MAPPED)[name]()
    if method == "eval_set":
        plain = SPARSE if odd_rows.is_sparse(given["X"]) else PLAIN
        return model.fit(plain, Y, eval_set=(given["X"], given["y"]))
    return getattr(model, method)(**given)


@cache
def _fitted(name, is_sparse):
    method = "prune" if name in PRUNED else "fit"
    return _begun(name, method, {"X": SPARSE if is_sparse else PLAIN, "y": Y})


def _wrong_result(model, found, method):
    """Return what is wrong with labels, probabilities or log-odds, or nothing."""
    if method == "predict":
        is_right = set(found.tolist()) <= set(model.classes_.tolist())
    elif method == "decision_function":
        is_right = np.isfinite(found).all()
    else:
        is_right = found.shape[1] == len(model.classes_) and np.all(found >= 0)
        is_right = is_right and np.allclose(found.sum(axis=1), 1)
    return "" if is_right else f"wrong result: {found[:3].tolist()}"


def _is_told(error):
    """Return whether an error comes from a check of skliquid or scikit-learn."""
    frames = list(traceback.walk_tb(error.__traceback__))
    files = [frame.f_code.co_filename.replace("\\", "/") for frame, _ in frames]
    ours = max(k for k, file in enumerate(files) if "/skliquid/" in file)
    if any("/sklearn/" in file for file in files[ours + 1 :]):
        return True
    line = linecache.getline(files[-1], frames[-1][1]).strip()
    return ours == len(files) - 1 and line.startswith("raise")


def _told(error):
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    return f"{type(error).__name__}: {error} ({frame.f_code.co_filename}:{line})"


# One process for many cases


def run(numbers: range, *, everything: bool = True, crash_at: int | None = None) -> dict[Case, str]:
    """Return how the cases with these ``numbers`` end, tried in processes that may crash.

    With ``crash_at``, the process ends at that number, to see that it is noticed.
    """
    table, found = cases(everything=everything), {}
    while numbers:
        for number, ending in _until_it_ends(numbers, everything, crash_at):
            found[table[number]] = ending
            numbers = range(number + numbers.step, numbers.stop, numbers.step)
    return found


def _until_it_ends(numbers, everything, crash_at) -> Iterator[tuple[int, str]]:
    """Yield the endings of cases in one process, that of the case that ends it included."""
    words = [everything, crash_at, numbers.start, numbers.stop, numbers.step]
    command = [sys.executable, __file__, *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        tried = None
        for line in process.stdout:
            number, _, ending = line.strip().partition(" ")
            tried = None if ending else int(number)
            if ending:
                yield int(number), ending
    if tried is not None:
        yield tried, f"crash: the process ended with {process.returncode}"
    elif process.returncode:
        raise RuntimeError(f"The table was not tried: the process ended with {process.returncode}.")


def main(everything: str, crash_at: str, *numbers: str) -> None:
    """Try some cases, and write the number of each before it and its ending after it."""
    table = cases(everything=everything == "True")
    for number in range(*map(int, numbers)):
        os.write(1, f"{number}\n".encode())
        if str(number) == crash_at:
            os.abort()
        ending = " ".join(outcome(table[number]).split())
        os.write(1, f"{number} {ending}\n".encode(errors="replace"))
    _fitted.cache_clear()


if __name__ == "__main__":
    main(*sys.argv[1:])
