"""votes_of: what a classifier says of rows, in classes that the ensemble knows."""

from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Labels

_NUMBERS, _TEXT = set("biuf"), {"U"}


def votes_of(estimator: Any, X: Any, classes: NDArray[Any]) -> Labels:
    """Return the positions in ``classes``, which are sorted, of what ``estimator`` predicts.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> votes_of(DummyClassifier().fit([[0]], ["no"]), [[1], [2]], np.array(["maybe", "no"]))
    array([1, 1])
    """
    labels = np.asarray(estimator.predict(X))
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if labels.shape not in ((n_rows,), (n_rows, 1)):
        raise ValueError(
            f"A voter must predict one label for each row: {type(estimator).__name__} gives an "
            f"array of shape {labels.shape} for {n_rows} rows. Choose one that tells classes of "
            "a single output apart."
        )
    labels = labels.ravel()
    votes = _positions(labels, classes)
    unknown = labels[votes < 0]
    if len(unknown):
        raise ValueError(
            f"A voter must predict known classes only: {type(estimator).__name__} predicts "
            f"{unknown.tolist()[0]!r}, which is not among {classes.tolist()}. Set the parameter "
            "that makes it do so, such as outlier_label, to one of them, or choose another voter."
        )
    return votes


def _positions(labels: NDArray[Any], classes: NDArray[Any]) -> Labels:
    """Return the position of each label in ``classes``, or -1 where it is not among them."""
    kinds = {labels.dtype.kind, classes.dtype.kind}
    if kinds <= _NUMBERS or kinds == _TEXT:
        found = np.searchsorted(classes, labels)
        found[classes.take(found, mode="clip") != labels] = -1
        return found
    known = {label: position for position, label in enumerate(classes.tolist())}
    return np.fromiter(map(known.get, labels.tolist(), repeat(-1)), np.intp, len(labels))
