"""New classes: those found while streaming, and rows kept to retrain voters on all of them."""

from dataclasses import dataclass

import numpy as np

from skliquid.delegation.rows import Rows
from skliquid.delegation.storable import storable

MAX_ROWS_KEPT = 2000


@storable
@dataclass(frozen=True, eq=False)
class NewClasses:
    """The last rows of each class found so far.

    Parameters
    ----------
    rows : Rows or None
        At most 2,000 rows, balanced over the classes, with their labels as given; None before the
        first.
    """

    rows: Rows | None = None

    def followed_by(self, rows: Rows) -> Rows:
        """Return the rows kept, followed by ``rows``."""
        return rows if self.rows is None else self.rows.followed_by(rows)

    def update(self, rows: Rows) -> "NewClasses":
        """Return the rows to keep after ``rows``."""
        rows = self.followed_by(rows)
        classes, labels = np.unique(rows.y, return_inverse=True)
        n_kept = max(MAX_ROWS_KEPT // max(len(classes), 1), 1)
        kept = [np.flatnonzero(labels == label)[-n_kept:] for label in range(len(classes))]
        return NewClasses(rows.at(np.sort(np.concatenate(kept))) if kept else rows)
