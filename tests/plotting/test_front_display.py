"""FrontDisplay: what is drawn of a front."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from skliquid import front
from skliquid.plotting import FrontDisplay


@pytest.fixture(scope="module")
def found(mixed, binary):
    return front(mixed, *binary)


def test_each_ensemble_is_a_point_and_the_front_a_line(found):
    display = FrontDisplay(found).plot()
    places = display.points_.get_offsets()
    assert np.allclose(places[:, 0], [one.bytes / 1000 for one in found])
    assert np.allclose(places[:, 1], [one.accuracy for one in found])
    assert len(display.line_.get_xdata()) == len(found.best)
    assert [text.get_text() for text in display.texts_] == [
        str(one.n_representatives) for one in found
    ]
    assert display.ax_.get_xlabel() == "kilobytes of the file"


def test_an_ensemble_is_drawn_in_given_axes(mixed, binary):
    axes = plt.figure().add_subplot()
    display = FrontDisplay.from_estimator(
        mixed, *binary, score="log_loss", cost="milliseconds", ax=axes
    )
    assert display.ax_ is axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("milliseconds per 1,000 rows", "log-loss")


def test_a_record_has_no_front(mixed):
    with pytest.raises(TypeError, match="Call from_estimator"):
        FrontDisplay.from_record(mixed.record_)
