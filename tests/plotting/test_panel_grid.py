import matplotlib.pyplot as plt
import numpy as np
import pytest

from skliquid.plotting.panel_grid import divide_axes, settle_panels, user_panels
from skliquid.plotting.style import style


def test_a_grid_takes_the_place_of_the_axes():
    figure, axes = plt.subplots(1, 2)
    place = axes[1].get_position()
    grid = divide_axes(axes[1], 2, 2, gaps=(0.3, 0.3))
    panels = [figure.add_subplot(grid[k]) for k in range(4)]
    boxes = np.array([panel.get_position().get_points() for panel in panels])
    assert boxes[:, 0].min(axis=0) == pytest.approx(place.min)
    assert boxes[:, 1].max(axis=0) == pytest.approx(place.max)
    assert not axes[1].axison


def test_gaps_are_in_inches_without_a_layout_engine():
    figure, ax = plt.subplots(figsize=(8, 6))
    grid = divide_axes(ax, 2, 2, gaps=(0.5, 0.7))
    first, second, third = (figure.add_subplot(grid[k]).get_position() for k in range(3))
    assert 8 * (second.x0 - first.x1) == pytest.approx(0.5)
    assert 6 * (first.y0 - third.y1) == pytest.approx(0.7)


def test_axes_without_a_place_in_a_grid_are_divided_too():
    figure = plt.figure(figsize=(8, 6))
    ax = figure.add_axes((0.2, 0.3, 0.5, 0.4))
    grid = divide_axes(ax, 1, 2, gaps=(0.5, 0.5))
    boxes = [figure.add_subplot(grid[k]).get_position() for k in range(2)]
    assert (boxes[0].x0, boxes[0].y0) == pytest.approx((0.2, 0.3))
    assert (boxes[1].x1, boxes[1].y1) == pytest.approx((0.7, 0.7))


def test_one_axes_or_none_are_not_panels():
    _, ax = plt.subplots()
    assert user_panels(None, 3, "") is None
    assert user_panels(ax, 3, "") is None
    assert user_panels([ax, ax], 2, "") == [ax, ax]


def test_titles_of_narrow_panels_get_more_lines():
    _, (narrow, wide) = plt.subplots(1, 2, width_ratios=[1, 6], figsize=(7, 3))
    for ax in (narrow, wide):
        ax.set_title("a title of some words", loc="left")
    with style():
        settle_panels([narrow, wide], loc="left")
    assert narrow.get_title("left").count("\n") >= 1
    assert wide.get_title("left").count("\n") == 0
