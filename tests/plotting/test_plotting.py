"""What all displays have in common."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_ensembles import small

import skliquid.plotting
from plotting.records import random_record, record_of
from skliquid import prune
from skliquid.delegation.record import VoterDescription
from skliquid.plotting import (
    DelegationDisplay,
    SurvivorsDisplay,
    TrainingDisplay,
    WeightFlowDisplay,
)

DISPLAYS = [DelegationDisplay, SurvivorsDisplay, TrainingDisplay, WeightFlowDisplay]
VOTERS = tuple(
    VoterDescription(
        "linear", f"map_{k % 2}", {"alpha": 10.0 ** -(k % 7), "loss": "hinge"[k % 3 :]}
    )
    if k % 3
    else VoterDescription("forest", "", {"max_depth": k % 5})
    for k in range(350)
)
RECORDS = {
    "one voter": record_of([0]),
    "nobody delegates": record_of([0, 1, 2]),
    "12 voters": random_record(12, 6, voters=VOTERS[:12]),
    "350 voters": random_record(350, 12, voters=VOTERS),
    "votes return": random_record(18, 80, revokes=True, voters=VOTERS[:18]),
    "without descriptions": random_record(30, 10),
}
SMALL = RECORDS["12 voters"]


@pytest.fixture(params=RECORDS)
def record(request):
    return RECORDS[request.param]


def texts_of(figure):
    """Return the texts that are seen."""
    texts = figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_visible())
    hidden = {
        text
        for ax in figure.axes
        if not ax.axison
        for axis in (ax.xaxis, ax.yaxis)
        for text in axis.findobj(Text)
    }
    return [text for text in texts if text.get_text().strip() and text not in hidden]


def test_the_public_names_are_the_displays():
    names = [*(display.__name__ for display in DISPLAYS), "DecisionDisplay", "FrontDisplay"]
    assert skliquid.plotting.__all__ == sorted(names)


@pytest.mark.parametrize("display", DISPLAYS)
def test_every_record_has_a_picture_without_cut_or_tiny_words(display, record):
    figure = display.from_record(record).figure_
    drawn, size = figure.get_tightbbox(), figure.get_size_inches()
    assert (drawn.min > -0.04).all()
    assert (drawn.max < size + 0.04).all()
    assert min(text.get_fontsize() for text in texts_of(figure)) >= 6.5


@pytest.mark.parametrize("display", DISPLAYS)
def test_estimators_and_their_records_give_the_same_picture(display, mixed):
    pictures = []
    for shown in (display.from_estimator(mixed), display.from_record(mixed.record_)):
        assert isinstance(shown, display)
        shown.figure_.canvas.draw()
        pictures.append(np.asarray(shown.figure_.canvas.buffer_rgba()))
    assert np.array_equal(*pictures)
    assert pictures[0].std() > 0


@pytest.mark.parametrize("display", DISPLAYS)
def test_plot_draws_again_and_returns_the_display(display):
    shown = display.from_record(SMALL)
    first = shown.figure_
    assert shown.plot() is shown
    assert shown.figure_ is not first


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("layout", [None, "constrained"])
def test_given_axes_are_used_and_no_others(display, layout):
    figure, (left, right) = plt.subplots(1, 2, figsize=(14, 5), layout=layout)
    shown = display.from_record(SMALL, ax=right)
    assert shown.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    assert not left.has_data()
    assert not left.texts
    figure.canvas.draw()


@pytest.mark.parametrize("display", DISPLAYS)
def test_axes_of_a_subfigure_are_used(display):
    figure = plt.figure(figsize=(14, 5), layout="constrained")
    part = figure.subfigures(1, 2)[1]
    assert display.from_record(SMALL, ax=part.subplots()).figure_ is part
    figure.canvas.draw()


@pytest.mark.parametrize("display", DISPLAYS)
def test_settings_of_matplotlib_stay_as_they_were(display):
    with mpl.rc_context({"font.size": 17, "axes.grid": False}):
        before = dict(mpl.rcParams)
        display.from_record(SMALL)
        assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("display", DISPLAYS)
def test_pictures_follow_the_style_of_matplotlib(display, mixed):
    with plt.style.context("dark_background"):
        figure = display.from_estimator(mixed).figure_
    figure.canvas.draw()
    assert np.asarray(figure.canvas.buffer_rgba())[:, :, :3].mean() < 128
    colours = [mpl.colors.to_rgb(text.get_color()) for text in texts_of(figure)]
    lines = figure.findobj(lambda artist: type(artist).__name__ == "Line2D")
    assert not any(str(line.get_color()).startswith("C") for line in lines)  # of another style
    is_label = [text.get_text()[0].isdigit() for text in texts_of(figure)]  # may lie on a mark
    pairs = zip(colours, is_label, strict=True)
    assert min(np.mean(colour) for colour, is_inside in pairs if not is_inside) > 0.4


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("font_size", [6, 10, 16])
def test_texts_follow_the_font_size_of_matplotlib(display, font_size, mixed):
    with mpl.rc_context({"font.size": font_size}):
        sizes = [text.get_fontsize() for text in texts_of(display.from_estimator(mixed).figure_)]
    assert 0.6 * font_size < min(sizes) <= max(sizes) < 1.3 * font_size


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("column", [0, 1])
def test_texts_are_not_cut_off_in_small_axes(display, column, mixed):
    figure, axes = plt.subplots(1, 2, figsize=(9, 4))
    display.from_estimator(mixed, ax=axes[column])
    box = figure.get_tightbbox()
    assert (box.min > -0.04).all()
    assert (box.max < np.array([9, 4]) + 0.04).all()
    other = axes[1 - column]
    words = {text for text in texts_of(figure) if len(text.get_text()) > 5}  # no ticks
    own = words - set(other.findobj(Text))
    assert not any(text.get_window_extent().overlaps(other.get_tightbbox()) for text in own)


@pytest.mark.parametrize("display", DISPLAYS)
def test_all_that_was_trained_is_drawn(display, mixed, binary):
    X, y = binary
    pipeline = make_pipeline(StandardScaler(), small()).fit(X[:200], y[:200])
    pruned = prune(mixed.estimators_, X, y, n_final=2, random_state=0)
    for trained in (mixed, mixed.record_, pipeline, pruned):
        assert isinstance(display.from_estimator(trained), display)
    with pytest.raises(TypeError, match=r"record must be .* or a TrainingRecord: got dict"):
        display.from_record({})
