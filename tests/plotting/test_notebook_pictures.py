import re
from itertools import pairwise
from math import pi

import pytest

from skliquid.plotting.notebook_pictures import curve, delegations, format_number, table


def circles(svg):
    found = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"', svg)
    return [tuple(map(float, circle)) for circle in found]


def test_a_curve_rises_with_its_values_and_leaves_missing_ones_out():
    points = re.search(r'points="([^"]+)"', curve([float("nan"), 1.0, 3.0]))[1].split()
    (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in points)
    assert x2 > x1
    assert y2 < y1  # up, on a screen
    assert curve([float("nan")]) == ""


def test_a_constant_curve_is_drawn():
    assert "nan" not in curve([2.0, 2.0])


def test_areas_are_weights_and_delegators_stand_below_their_delegate():
    svg = delegations([0, 0, 1, 3], [3, 0, 0, 1])
    drawn = sorted(circles(svg), key=lambda circle: -circle[2])
    (_, y, large), (_, other_y, small), *dots = drawn
    assert large**2 * pi == pytest.approx(3 * small**2 * pi, rel=0.03)
    assert y == other_y
    assert sorted(dot[1] for dot in dots) == [y + 30, y + 60]
    assert "voter 0 carries 3 votes" in svg
    assert "voter 3 carries 1 vote<" in svg
    assert "voter 2 delegates to 1" in svg


def test_many_representatives_do_not_overlap():
    drawn = sorted(circles(delegations(list(range(350)), [1] * 350)))
    gaps = [b[0] - a[0] for a, b in pairwise(drawn)]
    assert min(gaps) >= 2 * drawn[0][2] - 0.2


def test_a_chain_of_a_thousand_voters_is_drawn():
    chain = [0, *range(999)]
    assert len(circles(delegations(chain, [1000, *[0] * 999]))) == 1000


def test_long_tables_show_their_beginning_and_their_end():
    text = table([{"increment": k, "n_rows": 1000} for k in range(1, 101)])
    shown = re.findall(r"<td>(\d+)</td><td>1,000</td>", text)
    assert shown == ["1", "2", "3", "4", "5", "96", "97", "98", "99", "100"]
    assert "n rows" in text
    assert table([]) == ""


def test_text_in_tables_is_escaped():
    assert "<b>" not in table([{"<b>": "<b>"}])
    assert format_number(1234.5678) == "1.23e+03"
