import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PathCollection

from skliquid.plotting.trait_panels import draw_trait, panel_height
from skliquid.plotting.traits import Trait


@pytest.fixture
def ax():
    _, ax = plt.subplots()
    return ax


def test_bars_are_the_shares_of_voters_and_of_weight(ax):
    trait = Trait("svm", "kernel", ("rbf", "rbf", "poly", "poly"), np.array([3, 0, 0, 1]))
    draw_trait(ax, trait, 2)
    drawn, left = ([bar.get_width() for bar in bars] for bars in ax.containers)
    assert drawn == [0.5, 0.5]
    assert left == [0.75, 0.25]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["rbf", "poly"]
    assert [text.get_text().strip() for text in ax.texts] == ["75%", "25%"]
    assert ax.get_title("left") == "svm: kernel"


def test_numbers_have_a_line_each_and_representatives_a_circle_with_their_weight_as_area(ax):
    values = (1.234e-4, 0.056789, 0.23456, 3.4567)
    draw_trait(ax, Trait("", "alpha", values, np.array([0, 2, 0, 8])), 4)
    (lines,) = ax.lines
    (circles,) = (one for one in ax.collections if isinstance(one, PathCollection))
    assert lines.get_xdata().tolist() == list(values)
    assert circles.get_offsets()[:, 0].tolist() == [0.056789, 3.4567]
    small, large = circles.get_sizes()
    assert large == pytest.approx(4 * small)
    assert ax.get_xscale() == "log"


@pytest.mark.parametrize("values", [("a", "b"), (0.12345, 0.54321)], ids=["words", "numbers"])
def test_it_is_said_if_no_voter_with_an_estimator_is_left(ax, values):
    draw_trait(ax, Trait("forest", "p", values, np.zeros(2, dtype=int)), 2)
    words = [text.get_text() for text in (*ax.texts, *ax.get_yticklabels())]
    assert "none left" in words


def test_bars_of_a_row_are_equally_wide(ax):
    draw_trait(ax, Trait("", "p", ("a", "b"), np.ones(2, dtype=int)), 5)
    assert ax.get_ylim() == (4.6, -0.6)


def test_panels_with_more_values_are_higher():
    few = Trait("", "p", ("a", "b"), np.ones(2, dtype=int))
    many = Trait("", "p", tuple("abcd"), np.ones(4, dtype=int))
    assert panel_height(many) == 2 * panel_height(few)
