"""Packing: shapes made of circles, rotated and moved closely together without overlap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats

# Distance between the places that are tried, where the smallest circles have a radius of about 1.
# It grows if there are more than `_MAX_STEPS` from the middle to the outline.
_STEP, _MAX_STEPS, _N_ROTATIONS = 0.4, 200, 12
_PLACES_AT_ONCE = 4096
_BASIS = np.array([[1.0, 0.0], [0.5, np.sqrt(0.75)]])  # of a lattice of equilateral triangles
_ROUNDING = np.sqrt(0.75)  # the largest distance to a point of the lattice, in steps


class Shape(NamedTuple):
    """Circles that move together."""

    centres: Floats
    radii: Floats

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
    areas = [np.square(shape.radii) for shape in shapes]
    middles = [np.average(s.centres, axis=0, weights=a) for s, a in zip(shapes, areas, strict=True)]
    packed = [shape.move(-middle) for shape, middle in zip(shapes, middles, strict=True)]
    room = _Room.for_shapes(packed, np.sqrt([width_to_height, 1 / width_to_height]))
    for k in sorted(range(len(shapes)), key=lambda k: -areas[k].sum()):
        n_rotations = _N_ROTATIONS if len(areas[k]) > 1 and len(shapes) > 1 else 1
        angles = 2 * np.pi * np.arange(n_rotations) / n_rotations
        places = [room.nearest_place(packed[k].rotate(angle)) for angle in angles]
        packed[k] = min(places, key=room.reach)
        room.occupy(packed[k])
    return packed


@dataclass(frozen=True)
class _Room:
    """The points of a lattice, and the distance of each from the circles around it."""

    points: Floats  # of shape (n_rows, n_rows, 2)
    free: Floats  # distances; infinite where no circle is near
    places: NDArray[np.intp]  # points in the order of their distance from the middle
    step: float
    stretch: Floats
    max_radius: float  # of all circles

    @classmethod
    def for_shapes(cls, shapes: Sequence[Shape], stretch: Floats) -> "_Room":
        max_radius = max(float(shape.radii.max()) for shape in shapes)
        extent = max_radius + max(float(np.hypot(*shape.centres.T).max()) for shape in shapes)
        area = sum(float(np.square(shape.radii).sum()) for shape in shapes)
        radius = 1.5 * np.sqrt(area) + extent
        step = max(_STEP, radius / _MAX_STEPS)
        border = extent + 3 * max_radius + 8 * step
        n = int((stretch.max() * radius + border) / (step * _BASIS[1, 1])) + 1
        rows, columns = np.mgrid[-n : n + 1, -n : n + 1]
        points = step * np.stack([columns, rows], axis=-1) @ _BASIS
        distances = np.hypot(*np.moveaxis(points / stretch, -1, 0)).ravel()
        places = np.argsort(distances, kind="stable")[: np.sum(distances <= radius)]
        return cls(points, np.full(columns.shape, np.inf), places, step, stretch, max_radius)

    def nearest_place(self, shape: Shape) -> Shape:
        """Return the shape at the free place that is nearest to the middle."""
        offsets = self._cells(shape.centres) @ (1, len(self.points))
        rounding = _ROUNDING * self.step if len(offsets) > 1 else -1e-9
        free, largest_first = self.free.ravel(), np.argsort(-shape.radii)
        for block in np.array_split(self.places, -(-len(self.places) // _PLACES_AT_ONCE)):
            places = block
            for k in largest_first:  # they leave the fewest places
                places = places[free[places + offsets[k]] >= shape.radii[k] + rounding]
            if len(places):
                break
        return shape.move(self.points.reshape(-1, 2)[places[0]])

    def occupy(self, shape: Shape) -> None:
        """Reduce the free distances around a shape."""
        cells = self._cells(shape.centres) + len(self.points) // 2
        for centre, radius, (column, row) in zip(*shape, cells, strict=True):
            n = int((radius + self.max_radius + self.step) / (self.step * _BASIS[1, 1])) + 1
            near = np.s_[row - n : row + n + 1, column - n : column + n + 1]
            distances = np.hypot(*np.moveaxis(self.points[near] - centre, -1, 0)) - radius
            self.free[near] = np.minimum(self.free[near], distances)

    def _cells(self, places: Floats) -> NDArray[np.intp]:
        """Return the column and row of the lattice next to each place."""
        return np.rint(places @ np.linalg.inv(_BASIS) / self.step).astype(np.intp)

    def reach(self, shape: Shape) -> float:
        """Return the distance from the middle to the outermost point of a shape."""
        return float(np.max(np.hypot(*(shape.centres / self.stretch).T) + shape.radii))
