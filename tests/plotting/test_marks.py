import numpy as np
import pytest

from skliquid.plotting.marks import MARKS, marks_by_estimator


def area(corners):
    x, y = corners.T
    return abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1))) / 2


@pytest.mark.parametrize("mark", MARKS)
def test_marks_have_the_area_of_the_unit_circle_and_lie_between_their_circles(mark):
    assert area(mark.corners) == pytest.approx(np.pi)
    assert np.allclose(np.hypot(*mark.corners.T), mark.outer_radius)
    middles = (mark.corners + np.roll(mark.corners, 1, axis=0)) / 2
    assert np.allclose(np.hypot(*middles.T), mark.inner_radius)


def test_marks_differ():
    assert len({tuple(mark.corners.round(3).ravel()) for mark in MARKS}) == len(MARKS)
    assert len({mark.marker for mark in MARKS}) == len(MARKS)


def test_more_estimators_than_marks_share_them():
    marks = marks_by_estimator([f"estimator {k}" for k in range(9)])
    assert len(marks) == 9
    assert set(marks.values()) == set(MARKS)


def test_default_estimators_have_the_same_marks_in_every_ensemble():
    marks = marks_by_estimator(["boosted", "other", "forest"])
    assert marks == {"boosted": MARKS[2], "other": MARKS[3], "forest": MARKS[1]}
