"""Marks: the shapes of estimators in displays, notebooks, replays and the figures of the docs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from skliquid.delegation.arrays import Floats
from skliquid.presets import ESTIMATOR_NAMES


class Mark(NamedTuple):
    """A regular polygon with the area of the unit circle."""

    marker: str  # its name in matplotlib
    n_corners: int
    first: float  # angle of the first corner, in degrees

    @property
    def outer_radius(self) -> float:
        """The radius of the circle around it."""
        return float(np.sqrt(2 * np.pi / (self.n_corners * np.sin(2 * np.pi / self.n_corners))))

    @property
    def inner_radius(self) -> float:
        """The radius of the largest circle inside it."""
        return self.outer_radius * float(np.cos(np.pi / self.n_corners))

    @property
    def corners(self) -> Floats:
        """Its corners around zero, of shape (n_corners, 2)."""
        angles = np.radians(self.first) + 2 * np.pi * np.arange(self.n_corners) / self.n_corners
        return self.outer_radius * np.column_stack([np.cos(angles), np.sin(angles)])


# In the default ensemble: linear voters, forests and boosted trees, then four more.
MARKS = (
    CIRCLE := Mark("o", 60, 0.0),
    TRIANGLE := Mark("^", 3, 90.0),
    SQUARE := Mark("s", 4, 45.0),
    Mark("D", 4, 0.0),
    Mark("H", 6, 0.0),
    Mark("v", 3, -90.0),
    Mark("p", 5, 90.0),
)


def marks_by_estimator(estimators: Sequence[str]) -> dict[str, Mark]:
    """Return the mark of each estimator: default names have the same in every ensemble."""
    given = dict.fromkeys(estimators)
    names = dict.fromkeys([*ESTIMATOR_NAMES, *given]) if given.keys() & ESTIMATOR_NAMES else given
    return {name: MARKS[k % len(MARKS)] for k, name in enumerate(names) if name in given}
