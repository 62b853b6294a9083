"""CircleLabels: labels inside or beside circles, never over a circle or another label."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skliquid.delegation.arrays import Floats
from skliquid.plotting.style import MIN_FONT_SIZE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_GAP = 2.0  # points between a circle and its label
_DIGIT_HEIGHT = 0.8  # relative to a line
_DIRECTIONS = np.array(
    [(1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1)], dtype=float
)


@dataclass
class CircleLabels:
    """The circles of axes, in pixels, and their labels; axes must be settled."""

    ax: "Axes"
    circles: Floats  # centres and radii
    boxes: Floats  # lower left and upper right corners of the labels beside circles
    size: float = MIN_FONT_SIZE

    @classmethod
    def from_circles(cls, ax: "Axes", centres: Floats, radii: Floats) -> "CircleLabels":
        """Return an object without labels yet, for circles in units of the axes."""
        places = ax.transData.transform(centres)
        (left, _), (right, _) = ax.transData.transform([(0, 0), (1, 0)])
        return cls(ax, np.column_stack([places, (right - left) * radii]), np.zeros((0, 4)))

    def fits(self, text: str, radius: float) -> bool:
        """Return whether a text fits into a circle of ``radius`` pixels, with a small margin."""
        label = self._write(text, "black")
        width, height = label.get_window_extent().size
        label.remove()
        return bool(np.hypot(width, height * _DIGIT_HEIGHT) / 2 <= radius - self._pixels(0.6))

    def write_inside(self, circle: int, text: str, colour: str) -> "Text":
        """Return a new label in the middle of a circle."""
        label = self._write(text, colour)
        self._move(label, self.circles[circle, :2])
        return label

    def write_beside(self, circle: int, text: str) -> "Text | None":
        """Return a new label next to a circle, or None if there is no room."""
        label = self._write(text, "black")
        size = np.array(label.get_window_extent().size) + self._pixels(1)
        for centre in self._candidates(circle, size):
            box = np.concatenate([centre - size / 2, centre + size / 2])
            if self._is_free(box):
                self.boxes = np.vstack([self.boxes, box])
                self._move(label, centre)
                return label
        label.remove()
        return None

    def _pixels(self, points: float) -> float:
        return points * self.ax.figure.dpi / 72

    def _write(self, text: str, colour: str) -> "Text":
        look: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 5, "linespacing": 1.0}
        return self.ax.text(0, 0, text, size=self.size, color=colour, **look)

    def _move(self, label: "Text", place: Floats) -> None:
        x, y = self.ax.transData.inverted().transform(place)
        label.set_position((float(x), float(y)))

    def _candidates(self, circle: int, size: Floats) -> Floats:
        """Return centres of boxes of ``size`` around a circle, the best first."""
        unit = _DIRECTIONS / np.hypot(*_DIRECTIONS.T)[:, None]
        distance = self.circles[circle, 2] + self._pixels(_GAP)
        near = self.circles[circle, :2] + distance * unit + _DIRECTIONS * size / 2
        return np.concatenate([near, near + 0.5 * unit * size])

    def _is_free(self, box: Floats) -> bool:
        low, high = box[:2], box[2:]
        nearest = np.clip(self.circles[:, :2], low, high)
        touches = np.hypot(*(nearest - self.circles[:, :2]).T) < self.circles[:, 2]
        overlaps = (self.boxes[:, :2] < high).all(axis=1) & (self.boxes[:, 2:] > low).all(axis=1)
        area = self.ax.get_window_extent()
        is_inside = bool((low >= area.min).all() and (high <= area.max).all())
        return is_inside and not touches.any() and not overlaps.any()
