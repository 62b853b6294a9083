"""Predictions: votes, probabilities and margins of a classifier, for the ensemble's classes."""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from skliquid.delegation.arrays import Floats, Labels, Voters, Votes
from skliquid.delegation.voter_pool import VoterPool

_NUMBERS, _TEXT = set("biuf"), {"U"}
_MISSING = {"probability": 0.0, "margin": -1e4}  # for classes that a voter was not fitted to


def votes_of(estimator: Any, X: Any, classes: NDArray[Any]) -> Labels:
    """Return the predictions of ``estimator``, as positions in the sorted ``classes``."""
    labels = np.asarray(estimator.predict(X))
    n_rows = _n_rows(X)
    if labels.shape not in ((n_rows,), (n_rows, 1)):
        raise ValueError(
            f"A voter must predict one label for each row: {type(estimator).__name__} gives an "
            f"array of shape {labels.shape} for {n_rows} rows. Choose a classifier with a single "
            "output."
        )
    labels = labels.ravel()
    votes = _positions(labels, classes)
    _check_known(estimator, labels[votes < 0], classes)
    return votes


def stack_predictions(predictions: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the predictions of several voters in one array.

    It is C-contiguous, even if its parts are not: the order of sums depends on it.
    """
    return np.ascontiguousarray(np.stack(predictions))


def probabilities_of(estimator: Any, X: Any, classes: NDArray[Any]) -> Floats:
    """Return class probabilities of ``estimator``, one column for each of ``classes``.

    They are its ``predict_proba``; without one, its margins (``decision_function``) through
    :func:`logistic`; without both, one for the class that it predicts. Rows for which it gives NaN
    or only zeros get equal probabilities.
    """
    if hasattr(estimator, "predict_proba"):
        with np.errstate(divide="ignore", invalid="ignore"):  # some divide zero by zero
            found = np.asarray(estimator.predict_proba(X))
        found = _align_columns(estimator, found, X, classes, "probability")
    else:
        margins = _margins(estimator, X, classes)
        if margins is None:
            found = np.zeros((_n_rows(X), len(classes)))
            found[np.arange(len(found)), votes_of(estimator, X, classes)] = 1
            return found
        found = logistic(margins)
    is_known = found.sum(axis=1) > 0  # false for NaN, too
    return found if is_known.all() else np.where(is_known[:, None], found, 1 / len(classes))


def margins_of(estimator: Any, X: Any, classes: NDArray[Any]) -> Floats:
    """Return the ``decision_function`` of ``estimator`` per class, zero where it has none."""
    margins = _margins(estimator, X, classes)
    if margins is None:
        return np.zeros((_n_rows(X), len(classes)))
    return np.stack([-margins, margins], axis=1) if margins.ndim == 1 else margins


PREDICTIONS = {"vote": votes_of, "probabilities": probabilities_of, "margins": margins_of}
"""Functions that compute the predictions of one voter, by the method of its pool."""


class DispatchingPool(VoterPool):
    """A pool that computes votes, probabilities and margins in one place: ``_predict``."""

    def vote(self, voters: Voters, X: Any) -> Votes:
        return self._predict("vote", voters, X)

    def probabilities(self, voters: Voters, X: Any) -> Floats:
        return self._predict("probabilities", voters, X)

    def margins(self, voters: Voters, X: Any) -> Floats:
        return self._predict("margins", voters, X)

    @abstractmethod
    def _predict(self, method: str, voters: Voters, X: Any) -> NDArray[Any]:
        """Return the result of the method with this name."""


def logistic(margins: NDArray[Any]) -> Floats:
    r"""Return class probabilities from margins.

    .. math:: p(x) = 1 / (1 + e^{-f(x)})

    for two classes and a margin f(x). For more, each class has such a number, and they are divided
    by their sum; where all are zero, all classes are equally probable. These are the probabilities
    of ``SGDClassifier(loss="log_loss")``.
    """
    positive = expit(margins)
    return binary_probabilities(positive) if positive.ndim == 1 else normalize(positive)


def binary_probabilities(positive: NDArray[Any]) -> Floats:
    """Return the probabilities of two classes from those of the second."""
    return np.stack([1 - positive, positive], axis=-1)


def normalize(numbers: NDArray[Any]) -> Floats:
    """Return numbers divided by their sum over the last axis; equal shares if the sum is zero."""
    total = numbers.sum(axis=-1)
    is_zero = total == 0
    if is_zero.any():
        numbers[is_zero] = 1
        total[is_zero] = numbers.shape[-1]
    numbers /= total[..., None]
    return numbers


def _margins(estimator: Any, X: Any, classes: NDArray[Any]) -> Floats | None:
    """Return margins: one per row for two classes, else one per class; None without any."""
    if not hasattr(estimator, "decision_function"):
        return None
    margins = np.asarray(estimator.decision_function(X))
    own = np.asarray(getattr(estimator, "classes_", classes))
    if len(own) == 2 and margins.size == _n_rows(X):
        margins = margins.reshape(-1)
        if np.array_equal(own, classes):
            return margins
        margins = np.stack([-margins, margins], axis=1)
    if margins.ndim != 2 or margins.shape[1] != len(own) or _is_one_vs_one(estimator):
        return None
    return _align_columns(estimator, margins, X, classes, "margin")


def _is_one_vs_one(estimator: Any) -> bool:
    """Return whether margins are of pairs of classes: of three classes, there are three pairs."""
    params = estimator.get_params() if hasattr(estimator, "get_params") else {}
    shapes = (params[name] for name in params if name.endswith("decision_function_shape"))
    return "ovo" in shapes


def _align_columns(
    estimator: Any, found: NDArray[Any], X: Any, classes: NDArray[Any], what: str
) -> NDArray[Any]:
    """Return ``found``, with columns for ``classes`` instead of those of ``estimator``."""
    own = np.asarray(getattr(estimator, "classes_", classes))
    if found.shape != (_n_rows(X), len(own)):
        raise ValueError(
            f"A voter must give one {what} for each row and class: {type(estimator).__name__} "
            f"gives an array of shape {found.shape} for {_n_rows(X)} rows and {len(own)} classes. "
            "Choose a classifier with a single output, or set voting='hard'."
        )
    if len(own) == len(classes) and np.array_equal(own, classes):
        return found
    columns = _positions(own, classes)
    _check_known(estimator, own[columns < 0], classes)
    aligned = np.full((len(found), len(classes)), _MISSING[what], dtype=found.dtype)
    aligned[:, columns] = found
    return aligned


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _check_known(estimator: Any, unknown: NDArray[Any], classes: NDArray[Any]) -> None:
    if len(unknown):
        raise ValueError(
            f"A voter must predict known classes only: {type(estimator).__name__} predicts "
            f"{unknown.tolist()[0]!r}, which is not among {classes.tolist()}. Set the parameter "
            "that makes it do so, such as outlier_label, to one of them, or choose another voter."
        )


def _positions(labels: NDArray[Any], classes: NDArray[Any]) -> Labels:
    """Return the position of each label in ``classes``, or -1 where it is not among them."""
    dtypes = {labels.dtype.kind, classes.dtype.kind}
    if dtypes <= _NUMBERS or dtypes == _TEXT:
        found = np.searchsorted(classes, labels)
        found[classes.take(found, mode="clip") != labels] = -1
        return found
    known = {label: position for position, label in enumerate(classes.tolist())}
    return np.fromiter(map(known.get, labels.tolist(), repeat(-1)), np.intp, len(labels))
