import numpy as np
import pytest

from plotting.records import random_record, record_of
from skliquid.plotting import WeightFlowDisplay


def test_there_is_a_piece_of_a_band_per_ribbon_and_column():
    display = WeightFlowDisplay.from_record(random_record(30, 6))
    flow = display.flow
    n_pieces = sum(len(flow.ribbons(column).weights) for column in range(flow.n_columns))
    assert len(display.bands_.get_paths()) == n_pieces
    assert len(display.bands_.get_facecolor()) == n_pieces


def test_pieces_have_the_height_of_their_votes_and_lie_in_the_axes():
    display = WeightFlowDisplay.from_record(random_record(30, 6, revokes=True))
    flow = display.flow
    weights = np.concatenate([flow.ribbons(column).weights for column in range(flow.n_columns)])
    for path, weight in zip(display.bands_.get_paths(), weights, strict=True):
        x, y = path.vertices.T
        assert y[-1] - y[0] == pytest.approx(weight)
        assert 0 <= y.min() <= y.max() <= flow.height + 1e-9
        assert x.min() >= display.ax_.get_xlim()[0]
        assert x.max() <= display.ax_.get_xlim()[1]


def test_votes_are_dark_when_their_last_representative_carries_them():
    display = WeightFlowDisplay.from_record(record_of([0, 0, 2], [2, 0, 2]))
    first, second, last = (display.flow.ribbons(column) for column in range(3))
    is_dark = [np.asarray(r.before == r.final) for r in (first, second, last)]
    assert [dark.sum() for dark in is_dark] == [1, 1, 1]
    colours = np.asarray(display.bands_.get_facecolor())[:, :3]
    dark, light = colours[np.concatenate(is_dark)], colours[~np.concatenate(is_dark)]
    assert len(np.unique(dark, axis=0)) == len(np.unique(light, axis=0)) == 1
    assert light.mean() > dark.mean() + 0.2


def test_the_heaviest_have_hues_and_others_are_grey():
    display = WeightFlowDisplay.from_record(record_of(list(range(10))))
    colours = np.unique(np.asarray(display.bands_.get_facecolor())[:, :3], axis=0)
    is_grey = np.ptp(colours, axis=1) == 0
    assert is_grey.sum() == 2
    assert (~is_grey).sum() == 6


def test_representatives_at_the_end_are_labelled_as_far_as_there_is_room():
    display = WeightFlowDisplay.from_record(record_of([0, 0, 0, 3, 3]))
    texts = {voter: label.get_text() for voter, label in display.labels_.items()}
    assert texts == {0: "0, w = 3", 3: "3, w = 2"}
    display = WeightFlowDisplay.from_record(record_of([0] * 50 + list(range(50, 350))))
    assert next(iter(display.labels_)) == 0
    assert len(display.labels_) < 20
    rest = 301 - len(display.labels_)
    assert f"{rest} more, w \N{LESS-THAN OR EQUAL TO} 1" in [
        t.get_text() for t in display.ax_.texts
    ]


def test_labels_do_not_overlap():
    display = WeightFlowDisplay.from_record(random_record(350, 12))
    middles = np.array([label.xy[1] for label in display.labels_.values()])
    line = display.ax_.get_window_extent().height / display.flow.height
    assert (np.diff(middles) * line >= 6.5 * display.figure_.dpi / 72).all()


def test_the_axis_says_how_many_increments_are_drawn():
    record = random_record(18, 100, revokes=True)
    assert (
        WeightFlowDisplay.from_record(record, max_columns=101)
        .ax_.get_xlabel()
        .startswith("Increment\n")
    )
    display = WeightFlowDisplay.from_record(record)
    assert display.flow.n_columns == 60
    assert display.ax_.get_xlabel().startswith("Increment (59 of 100, where votes move)\n")


def test_ticks_are_increments_and_the_numbers_of_representatives():
    record = random_record(30, 40)
    display = WeightFlowDisplay.from_record(record)
    ticks = [int(label.get_text()) for label in display.ax_.get_xticklabels()]
    assert (ticks[0], ticks[-1]) == (0, 40)
    assert len(ticks) <= 17
    (top,) = display.ax_.child_axes
    sizes = [int(label.get_text()) for label in top.get_xticklabels()]
    after = [30, *(increment.n_representatives for increment in record)]
    assert sizes == [after[tick] for tick in ticks]


@pytest.mark.parametrize("max_columns", [1, 0, -3])
def test_fewer_than_two_columns_are_refused(max_columns):
    with pytest.raises(ValueError, match=rf"max_columns must be 2 or more.* got {max_columns}\. "):
        WeightFlowDisplay.from_record(record_of([0, 0]), max_columns=max_columns)
