"""Class weights: weights of rows by class, against class imbalance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats
from skliquid.delegation.rows import Rows
from skliquid.delegation.storable import Array, Classes, storable


@storable
@dataclass(frozen=True, eq=False)
class ClassCounts:
    """The number of rows per class so far.

    Examples
    --------
    >>> counts = ClassCounts().plus(np.array(["no", "no", "yes"])).plus(np.array(["no"]))
    >>> counts.labels.tolist(), counts.n_rows.tolist()
    (['no', 'yes'], [3, 1])
    """

    labels: Classes | None = None
    n_rows: Annotated[NDArray[np.int64], Array("n_classes")] | None = None

    def plus(self, y: NDArray[Any]) -> "ClassCounts":
        """Return the counts after rows with the labels ``y``."""
        return self + ClassCounts(*np.unique(y, return_counts=True))

    def __add__(self, other: "ClassCounts") -> "ClassCounts":
        """Return the counts of both."""
        if self.labels is None or self.n_rows is None:
            return other
        if other.labels is None or other.n_rows is None:
            return self
        both, places = np.unique(np.concatenate([self.labels, other.labels]), return_inverse=True)
        counts = np.zeros(len(both), dtype=np.int64)
        np.add.at(counts, places, np.concatenate([self.n_rows, other.n_rows]))
        return ClassCounts(both, counts)


def with_class_weights(rows: Rows, class_weight: Any, counts: ClassCounts | None = None) -> Rows:
    r"""Return ``rows`` weighted by class, without those of weight zero.

    ``"balanced"`` gives a row of class c the weight :math:`n / (C n_c)`, for :math:`n_c` of
    :math:`n` rows and C classes, so that all classes have the same total weight. The
    numbers come from ``counts``, or from ``rows`` if ``counts`` is None.
    """
    rows = rows.without_zero_weights()
    if class_weight is not None:
        counts = ClassCounts().plus(rows.y) if counts is None else counts
        weights = class_factors(rows.y, class_weight, counts)
        if rows.sample_weight is not None:
            weights = weights * rows.sample_weight
        rows = rows._replace(sample_weight=weights).without_zero_weights()
    return rows


def class_factors(y: NDArray[Any], class_weight: Any, counts: ClassCounts) -> Floats:
    """Return the weight of each row's class."""
    labels, places = np.unique(y, return_inverse=True)
    return _weights(labels, class_weight, counts)[places]


def _weights(labels: NDArray[Any], class_weight: Any, counts: ClassCounts) -> Floats:
    if isinstance(class_weight, Mapping):
        return np.array([float(class_weight.get(label, 1.0)) for label in labels.tolist()])
    assert counts.labels is not None
    assert counts.n_rows is not None
    n_rows = counts.n_rows[np.searchsorted(counts.labels, labels)]
    balanced: Floats = counts.n_rows.sum() / (len(counts.labels) * n_rows)
    return balanced
