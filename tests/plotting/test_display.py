import builtins
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from plotting.records import record_of
from skliquid.plotting import (
    DelegationDisplay,
    SurvivorsDisplay,
    TrainingDisplay,
    WeightFlowDisplay,
)
from skliquid.plotting.display import arrange, blend, divide

DISPLAYS = [DelegationDisplay, SurvivorsDisplay, TrainingDisplay, WeightFlowDisplay]


@pytest.fixture
def ax():
    _, ax = plt.subplots()
    return ax


def test_colours_lie_between_the_background_and_the_texts(ax):
    assert blend(ax, 0).tolist() == [1, 1, 1]
    assert blend(ax, 1).tolist() == [0, 0, 0]
    assert blend(ax, 0.5, "red").tolist() == [1, 0.5, 0.5]
    ax.set_facecolor("none")
    assert blend(ax, 0).tolist() == [1, 1, 1]
    with plt.style.context("dark_background"):
        assert blend(ax, 0).tolist() == [0, 0, 0]


def test_a_grid_takes_the_place_of_the_axes():
    figure, axes = plt.subplots(1, 2)
    place = axes[1].get_position()
    grid = divide(axes[1], 2, 2)
    panels = [figure.add_subplot(grid[k]) for k in range(4)]
    boxes = np.array([panel.get_position().get_points() for panel in panels])
    assert boxes[:, 0].min(axis=0) == pytest.approx(place.min)
    assert boxes[:, 1].max(axis=0) == pytest.approx(place.max)
    assert not axes[1].axison


def test_axes_without_a_place_in_a_grid_are_divided_too():
    figure = plt.figure(figsize=(8, 6))
    ax = figure.add_axes((0.2, 0.3, 0.5, 0.4))
    grid = divide(ax, 1, 2)
    boxes = [figure.add_subplot(grid[k]).get_position() for k in range(2)]
    assert (boxes[0].x0, boxes[0].y0) == pytest.approx((0.2, 0.3))
    assert (boxes[1].x1, boxes[1].y1) == pytest.approx((0.7, 0.7))


def test_texts_that_are_wider_than_their_axes_get_more_lines():
    _, (narrow, wide) = plt.subplots(1, 2, width_ratios=[1, 6], figsize=(7, 3))
    titles = [ax.set_title("a title of some words") for ax in (narrow, wide)]
    arrange(narrow, titles)
    assert narrow.get_title().count("\n") >= 1
    assert wide.get_title().count("\n") == 0


@pytest.mark.parametrize("display", DISPLAYS)
def test_without_matplotlib_the_error_names_the_extra(display, monkeypatch):
    real_import = builtins.__import__

    def no_matplotlib(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_matplotlib)
    needs = rf"^{display.__name__} needs matplotlib.* pip install '\.\[plot\]' in a clone"
    with pytest.raises(ImportError, match=needs):
        display.from_record(record_of([0, 0]))


def test_importing_the_displays_does_not_import_matplotlib():
    code = "import sys, skliquid.plotting; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
