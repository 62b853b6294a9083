"""Class discovery: classes found while streaming, and rows kept to retrain voters on them all."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import unique_labels

from skliquid.rows import Rows
from skliquid.validation import check_classes

_MOST_ROWS = 2000


@dataclass(frozen=True, eq=False)
class Discovery:
    """The classes found so far, and the last rows of each.

    Parameters
    ----------
    rows : Rows or None
        At most 2,000 rows, balanced over the classes, with their labels as given; None before the
        first.
    """

    rows: Rows | None = None

    def classes(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the classes found so far and in ``y``, sorted."""
        labels = [y] if self.rows is None else [self.rows.y, y]
        classes: NDArray[Any] = unique_labels(*labels)  # which refuses to mix text and numbers
        return classes

    def followed_by(self, rows: Rows) -> Rows:
        """Return the rows kept, followed by ``rows``."""
        return rows if self.rows is None else self.rows.followed_by(rows)

    def update(self, rows: Rows) -> "Discovery":
        """Return the discovery after ``rows``."""
        rows = self.followed_by(rows)
        classes, labels = np.unique(rows.y, return_inverse=True)
        n_kept = max(_MOST_ROWS // max(len(classes), 1), 1)
        kept = [np.flatnonzero(labels == label)[-n_kept:] for label in range(len(classes))]
        return Discovery(rows.at(np.sort(np.concatenate(kept))) if kept else rows)


def resolve_classes(
    rows: Rows, announced: Any, known: NDArray[Any] | None, discovery: Discovery | None
) -> tuple[Rows, NDArray[Any], Discovery | None]:
    """Return the rows to train on, all classes, and the discovery unless they were announced."""
    if known is None and discovery is None and announced is None:
        discovery = Discovery()
    if discovery is None:
        return rows, check_classes(announced, known), None
    found = discovery.classes(rows.y) if announced is None else check_classes(announced, known)
    to_train = discovery.followed_by(rows) if known is None else rows
    return to_train, found, discovery.update(rows)
