"""Discovery: classes that nobody announced, and rows kept to learn again from when one comes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import unique_labels

from skliquid.increments import Rows

_MOST_ROWS = 2000


@dataclass(frozen=True, eq=False)
class Discovery:
    """The classes found so far, and the last rows of each.

    Parameters
    ----------
    rows : Rows or None
        At most 2,000, of all classes alike, with the labels as they came; None before the first.
    """

    rows: Rows | None = None

    def classes(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the classes found, those in ``y`` included, sorted."""
        parts = [y] if self.rows is None else [self.rows.y, y]
        classes: NDArray[Any] = unique_labels(*parts)  # which refuses to mix text and numbers
        return classes

    def before(self, data: Rows) -> Rows:
        """Return what was kept, followed by ``data``."""
        return data if self.rows is None else self.rows.followed_by(data)

    def after(self, data: Rows) -> "Discovery":
        """Return the discovery when ``data`` have come."""
        rows = self.before(data)
        classes, labels = np.unique(rows.y, return_inverse=True)
        share = max(_MOST_ROWS // max(len(classes), 1), 1)
        kept = [np.flatnonzero(labels == label)[-share:] for label in range(len(classes))]
        return Discovery(rows.at(np.sort(np.concatenate(kept))) if kept else rows)
