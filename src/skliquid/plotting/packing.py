"""Shapes made of circles, turned and moved so that they take little room without touching."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats

_STEP, _STEPS = 0.4, 200
"""Distance between the places that are tried, where the smallest circles have a radius of about 1;
it is larger if it takes more steps than these from the middle to the outline."""

_N_TURNS = 12
_PLACES_AT_ONCE = 4096
_BASIS = np.array([[1.0, 0.0], [0.5, np.sqrt(0.75)]])  # of a lattice of equilateral triangles

_ROUNDING = np.sqrt(0.75)  # the largest distance to a point of the lattice, in steps


class Shape(NamedTuple):
    """Circles that move together."""

    centres: Floats
    radii: Floats

    @property
    def middle(self) -> Floats:
        """The centre of gravity of its circles."""
        middle: Floats = np.average(self.centres, axis=0, weights=np.square(self.radii))
        return middle

    @property
    def corners(self) -> Floats:
        """The lower left and the upper right corner of the box around it."""
        radii = self.radii[:, None]
        return np.stack([(self.centres - radii).min(axis=0), (self.centres + radii).max(axis=0)])

    def turned(self, angle: float) -> "Shape":
        """Return the shape after a turn around zero."""
        cosine, sine = np.cos(angle), np.sin(angle)
        return Shape(self.centres @ np.array([[cosine, sine], [-sine, cosine]]), self.radii)

    def moved(self, by: Floats) -> "Shape":
        """Return the shape elsewhere."""
        return Shape(self.centres + by, self.radii)


def packed(shapes: Sequence[Shape], width_to_height: float = 1.0) -> list[Shape]:
    """Return the shapes, turned and moved, so that no two overlap, the largest in the middle.

    Their outline is about an ellipse of these proportions. Equal circles form a regular pattern.
    """
    centred = [shape.moved(-shape.middle) for shape in shapes]
    room, placed = _Room.for_shapes(centred, width_to_height), centred
    for k in sorted(range(len(shapes)), key=lambda k: -np.square(shapes[k].radii).sum()):
        n_turns = _N_TURNS if len(shapes[k].radii) > 1 else 1
        turns = [centred[k].turned(2 * np.pi * turn / n_turns) for turn in range(n_turns)]
        placed[k] = min(map(room.nearest, turns), key=room.reach)
        room.fill(placed[k])
    corners = np.array([shape.corners for shape in placed])
    middle = (corners[:, 0].min(axis=0) + corners[:, 1].max(axis=0)) / 2
    return [shape.moved(-middle) for shape in placed]


@dataclass(frozen=True)
class _Room:
    """The points of a lattice, and how far each is from the circles around it."""

    points: Floats
    free: Floats  # distances; infinite where no circle is near
    places: NDArray[np.intp]  # points in the order of their distance from the middle
    n_columns: int
    step: float
    stretch: Floats
    largest: float  # radius of the circles to come

    @classmethod
    def for_shapes(cls, shapes: Sequence[Shape], width_to_height: float) -> "_Room":
        stretch = np.sqrt([width_to_height, 1 / width_to_height])
        extent = max(float(np.hypot(*shape.corners.T).max()) for shape in shapes)
        largest = max(float(shape.radii.max()) for shape in shapes)
        area = sum(float(np.square(shape.radii).sum()) for shape in shapes)
        radius = 1.5 * np.sqrt(area) + extent
        step = max(_STEP, radius / _STEPS)
        width, height = radius * stretch + extent + 3 * largest + 8 * step  # none is at the border
        n_rows = int(height / (step * _BASIS[1, 1])) + 1
        n_columns = int(width / step + n_rows / 2) + 1
        rows, columns = np.mgrid[-n_rows : n_rows + 1, -n_columns : n_columns + 1]
        points = step * np.column_stack([columns.ravel(), rows.ravel()]) @ _BASIS
        distances = np.hypot(*(points / stretch).T)
        places = np.argsort(distances, kind="stable")[: np.sum(distances <= radius)]
        free = np.full(len(points), np.inf)
        return cls(points, free, places, 2 * n_columns + 1, step, stretch, largest)

    def nearest(self, shape: Shape) -> Shape:
        """Return the shape at the place with room for it that is nearest to the middle."""
        columns, rows = self._cells(shape.centres).T
        cells = columns + self.n_columns * rows
        rounding = _ROUNDING * self.step if len(cells) > 1 else -1e-9
        for start in range(0, len(self.places), _PLACES_AT_ONCE):
            places = self.places[start : start + _PLACES_AT_ONCE]
            for k in np.argsort(-shape.radii):  # the largest leave the fewest places
                places = places[self.free[places + cells[k]] >= shape.radii[k] + rounding]
                if not len(places):
                    break
            else:
                return shape.moved(self.points[places[0]])
        raise AssertionError("the lattice has room for all shapes")  # pragma: no cover

    def fill(self, shape: Shape) -> None:
        """Take note that there is a shape."""
        for centre, radius in zip(*shape, strict=True):
            near = self._near(centre, radius + self.largest + self.step)
            distances = np.hypot(*(self.points[near] - centre).T) - radius
            self.free[near] = np.minimum(self.free[near], distances)

    def _near(self, centre: Floats, distance: float) -> NDArray[np.intp]:
        """Return the points in a parallelogram around a centre."""
        column, row = self._cells(centre)
        n = int(distance / (self.step * _BASIS[1, 1])) + 1
        rows, columns = np.mgrid[row - n : row + n + 1, column - n : column + n + 1]
        middle = len(self.points) // 2
        near: NDArray[np.intp] = (middle + columns + self.n_columns * rows).ravel()
        return near

    def _cells(self, places: Floats) -> NDArray[np.intp]:
        """Return the column and row of the lattice next to each place."""
        cells: NDArray[np.intp] = np.rint(places @ np.linalg.inv(_BASIS) / self.step).astype(int)
        return cells

    def reach(self, shape: Shape) -> float:
        """Return how far out a shape reaches."""
        return float(np.max(np.hypot(*(shape.centres / self.stretch).T) + shape.radii))
