"""One method on one split: how well it predicts, and what it takes."""

import json
import pickle
import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from data import load
from halves import Halves
from rivals import METHODS
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from threadpoolctl import threadpool_limits

CLIPPED_AT = 1e-15
N_BINS = 15


def measured(name: str, data: Halves, seed: int) -> dict[str, Any]:
    """Return the scores of a method, and what it takes: CPU seconds and bytes."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _warm_up(name)
        return _measured(name, data, seed)


def _measured(name: str, data: Halves, seed: int) -> dict[str, Any]:
    model = METHODS[name](seed)
    fit = _least_seconds(lambda: model.fit(data.X_train, data.y_train))
    predict = _least_seconds(lambda: model.predict_proba(data.X_test))
    return scores(model, data) | {"fit": fit, "predict": predict, "bytes": n_bytes(model)}


def _least_seconds(task: Callable[[], Any]) -> float:
    """Return the least CPU time of up to three repetitions within a second."""
    times: list[float] = []
    while len(times) < 3 and sum(times) < 1:
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)


@cache
def _warm_up(name: str) -> None:
    """Load compiled code before anything is timed, once per process."""
    _measured(name, load("heart", 0, as_frame=True), 0)


def scores(model: Any, data: Halves) -> dict[str, Any]:
    """Return accuracies, and how good the class probabilities are.

    ``log_loss`` is infinite where a row's class has the probability zero, which it has on ``zeros``
    rows; for ``clipped``, probabilities are at least 1e-15. ROC-AUC is the mean over the classes of
    the test half, each against the others. The calibration error is that of the predicted class, in
    15 bins of equal width: ``bins`` holds the number of rows, the sum of their probabilities and
    the number of right ones.
    """
    y = data.y_test
    predicted = model.predict(data.X_test)
    is_right = predicted == y
    probabilities = np.asarray(model.predict_proba(data.X_test), dtype=np.float64)
    places = np.searchsorted(model.classes_, y)
    of_label = probabilities[np.arange(len(y)), places]
    compared = [1] if probabilities.shape[1] == 2 else np.unique(places)
    with np.errstate(divide="ignore"):
        log_loss = -np.log(of_label).mean()
    bins = _bins(probabilities.max(axis=1), is_right)
    return {
        "accuracy": is_right.mean(),
        "balanced": balanced_accuracy_score(y, predicted),
        "auc": np.mean([roc_auc_score(places == c, probabilities[:, c]) for c in compared]),
        "log_loss": log_loss,
        "clipped": -np.log(of_label.clip(CLIPPED_AT)).mean(),
        "zeros": int((of_label == 0).sum()),
        "brier": np.mean(np.sum(probabilities**2, axis=1) - 2 * of_label + 1),
        "calibration": np.abs(bins[1] - bins[2]).sum() / len(y),
        "bins": json.dumps(bins.round(4).tolist()),
    }


def _bins(confidence: np.ndarray, is_right: np.ndarray) -> np.ndarray:
    places = (confidence * N_BINS).astype(int).clip(0, N_BINS - 1)
    totals = (np.ones(len(confidence)), confidence, is_right)
    return np.array([np.bincount(places, total, N_BINS) for total in totals])


def n_bytes(model: Any) -> int:
    """Return the length of the pickled model, which is not held in memory."""
    counter = _Counter()
    pickle.dump(model, counter)
    return counter.n_bytes


class _Counter:
    n_bytes = 0

    def write(self, data: Any) -> int:
        self.n_bytes += memoryview(data).nbytes
        return memoryview(data).nbytes
