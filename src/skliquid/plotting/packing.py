"""Packing: shapes made of circles, rotated and moved closely together without overlap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats

# Distance between the places that are tried, where the smallest circles have a radius of about 1.
# It grows if there are more than `_MAX_STEPS` from the middle to the outline.
_STEP, _MAX_STEPS = 0.4, 200
_N_ROTATIONS = 12
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

    def rotate(self, angle: float) -> "Shape":
        """Return the shape after a rotation around zero."""
        cosine, sine = np.cos(angle), np.sin(angle)
        return Shape(self.centres @ np.array([[cosine, sine], [-sine, cosine]]), self.radii)

    def move(self, by: Floats) -> "Shape":
        """Return the shape at another place."""
        return Shape(self.centres + by, self.radii)


def pack(shapes: Sequence[Shape], width_to_height: float = 1.0) -> list[Shape]:
    """Return the shapes, rotated and moved, so that no two overlap, the largest in the middle.

    Their outline is about an ellipse of these proportions. Equal circles form a regular pattern.
    """
    centred = [shape.move(-shape.middle) for shape in shapes]
    room, packed = _Room.for_shapes(centred, width_to_height), centred
    for k in sorted(range(len(shapes)), key=lambda k: -np.square(shapes[k].radii).sum()):
        n_rotations = _N_ROTATIONS if len(shapes[k].radii) > 1 else 1
        angles = [2 * np.pi * turn / n_rotations for turn in range(n_rotations)]
        places = [room.nearest_place(centred[k].rotate(angle)) for angle in angles]
        packed[k] = min(places, key=room.reach)
        room.occupy(packed[k])
    corners = np.array([shape.corners for shape in packed])
    middle = (corners[:, 0].min(axis=0) + corners[:, 1].max(axis=0)) / 2
    return [shape.move(-middle) for shape in packed]


@dataclass(frozen=True)
class _Room:
    """The points of a lattice, and the distance of each from the circles around it."""

    points: Floats
    free: Floats  # distances; infinite where no circle is near
    places: NDArray[np.intp]  # points in the order of their distance from the middle
    n_columns: int
    step: float
    stretch: Floats
    max_radius: float  # of all circles

    @classmethod
    def for_shapes(cls, shapes: Sequence[Shape], width_to_height: float) -> "_Room":
        stretch = np.sqrt([width_to_height, 1 / width_to_height])
        extent = max(float(np.hypot(*shape.corners.T).max()) for shape in shapes)
        max_radius = max(float(shape.radii.max()) for shape in shapes)
        area = sum(float(np.square(shape.radii).sum()) for shape in shapes)
        radius = 1.5 * np.sqrt(area) + extent
        step = max(_STEP, radius / _MAX_STEPS)
        width, height = radius * stretch + extent + 3 * max_radius + 8 * step  # with free borders
        n_rows = int(height / (step * _BASIS[1, 1])) + 1
        n_columns = int(width / step + n_rows / 2) + 1
        rows, columns = np.mgrid[-n_rows : n_rows + 1, -n_columns : n_columns + 1]
        points = step * np.column_stack([columns.ravel(), rows.ravel()]) @ _BASIS
        distances = np.hypot(*(points / stretch).T)
        places = np.argsort(distances, kind="stable")[: np.sum(distances <= radius)]
        free = np.full(len(points), np.inf)
        return cls(points, free, places, 2 * n_columns + 1, step, stretch, max_radius)

    def nearest_place(self, shape: Shape) -> Shape:
        """Return the shape at the free place that is nearest to the middle."""
        cells = self._cells(shape.centres) @ (1, self.n_columns)
        rounding = _ROUNDING * self.step if len(cells) > 1 else -1e-9
        for start in range(0, len(self.places), _PLACES_AT_ONCE):
            places = self.places[start : start + _PLACES_AT_ONCE]
            for k in np.argsort(-shape.radii):  # the largest leave the fewest places
                places = places[self.free[places + cells[k]] >= shape.radii[k] + rounding]
                if not len(places):
                    break
            else:
                return shape.move(self.points[places[0]])
        raise AssertionError("the lattice has room for all shapes")  # pragma: no cover

    def occupy(self, shape: Shape) -> None:
        """Reduce the free distances around a shape."""
        for centre, radius in zip(*shape, strict=True):
            near = self._near(centre, radius + self.max_radius + self.step)
            distances = np.hypot(*(self.points[near] - centre).T) - radius
            self.free[near] = np.minimum(self.free[near], distances)

    def _near(self, centre: Floats, distance: float) -> NDArray[np.intp]:
        """Return the points in a parallelogram around a centre."""
        column, row = self._cells(centre)
        n = int(distance / (self.step * _BASIS[1, 1])) + 1
        rows, columns = np.mgrid[row - n : row + n + 1, column - n : column + n + 1]
        near: NDArray[np.intp] = columns + self.n_columns * rows + len(self.points) // 2
        return near.ravel()

    def _cells(self, places: Floats) -> NDArray[np.intp]:
        """Return the column and row of the lattice next to each place."""
        return np.rint(places @ np.linalg.inv(_BASIS) / self.step).astype(np.intp)

    def reach(self, shape: Shape) -> float:
        """Return the distance from the middle to the outermost point of a shape."""
        return float(np.max(np.hypot(*(shape.centres / self.stretch).T) + shape.radii))
