import numpy as np
import pytest

from plotting.records import record_of
from skliquid.plotting.marks import in_order, inner_radius, kinds_of, mark, outer_radius
from skliquid.voter_description import VoterDescription


def area(corners):
    x, y = corners.T
    return abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1))) / 2


@pytest.mark.parametrize("k", range(8))
def test_marks_have_the_area_of_the_unit_circle_and_lie_between_their_circles(k):
    corners = mark(k)
    assert area(corners) == pytest.approx(np.pi)
    assert np.allclose(np.hypot(*corners.T), outer_radius(k))
    middles = (corners + np.roll(corners, 1, axis=0)) / 2
    assert np.allclose(np.hypot(*middles.T), inner_radius(k))


def test_the_first_marks_differ():
    assert len({tuple(mark(k).round(3).ravel()) for k in range(7)}) == 7


def test_kinds_are_in_the_order_of_voters():
    voters = tuple(map(VoterDescription, ["b", "a", "b"]))
    assert in_order(kinds_of(record_of([0, 0, 0], voters=voters))) == ["b", "a"]
    assert kinds_of(record_of([0, 0, 0])) == ["", "", ""]
