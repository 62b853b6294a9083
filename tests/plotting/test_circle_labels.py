import matplotlib.pyplot as plt
import numpy as np
import pytest

from skliquid.plotting.circle_labels import CircleLabels
from skliquid.plotting.style import settle


@pytest.fixture
def ax():
    _, ax = plt.subplots(figsize=(4, 4))
    ax.set(xlim=(0, 10), ylim=(0, 10), aspect="equal")
    settle(ax)
    return ax


def test_circles_are_in_pixels(ax):
    labels = CircleLabels.from_circles(ax, np.array([[0, 0], [10, 10]]), np.array([1, 2]))
    area = ax.get_window_extent()
    assert labels.circles[0].tolist() == pytest.approx([area.x0, area.y0, area.width / 10])
    assert labels.circles[1].tolist() == pytest.approx([area.x1, area.y1, area.width / 5])


def test_a_text_fits_into_large_circles_only(ax):
    labels = CircleLabels.from_circles(ax, np.array([[5, 5]]), np.array([1]))
    assert labels.fits("12", 50)
    assert not labels.fits("12", 5)
    assert not ax.texts


def test_labels_inside_are_in_the_middle(ax):
    labels = CircleLabels.from_circles(ax, np.array([[5, 5], [2, 7]]), np.array([1, 1]))
    label = labels.write_inside(1, "3", "white")
    assert label.get_position() == pytest.approx((2, 7))
    assert label.get_color() == "white"


def test_labels_beside_cover_neither_circles_nor_labels(ax):
    rng = np.random.default_rng(0)
    centres, radii = rng.uniform(1, 9, (40, 2)), rng.uniform(0.1, 0.5, 40)
    labels = CircleLabels.from_circles(ax, centres, radii)
    written = {k: labels.write_beside(k, f"{k}, w = 3") for k in range(40)}
    boxes = {k: label.get_window_extent() for k, label in written.items() if label is not None}
    assert 5 < len(boxes) < 40  # the others have no room
    assert len(ax.texts) == len(boxes)
    for k, box in boxes.items():
        assert not any(box.overlaps(other) for other in list(boxes.values()) if other is not box)
        nearest = np.clip(labels.circles[:, :2], box.min, box.max)
        apart = np.hypot(*(nearest - labels.circles[:, :2]).T)
        assert (apart >= labels.circles[:, 2]).all()
        assert apart[k] < labels.circles[k, 2] + 40
