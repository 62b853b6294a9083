import numpy as np
import pytest

from plotting.records import random_record, record_of
from skliquid.plotting import WeightFlowDisplay


def heights(display, increment):
    """Return the height of each band at an increment."""
    outlines = [path.vertices[:-1] for path in display.bands_.get_paths()]
    n = len(outlines[0]) // 2
    at = [int(np.argmin(abs(outline[:n, 0] - increment))) for outline in outlines]
    pairs = zip(outlines, at, strict=True)
    return [outline[::-1][k, 1] - outline[k, 1] for outline, k in pairs]


@pytest.mark.parametrize("n_increments", [6, 150], ids=["curves", "straight lines"])
def test_heights_of_bands_are_weights(n_increments):
    record = random_record(30, n_increments, revokes=True)
    display = WeightFlowDisplay.from_record(record)
    for increment in record:
        drawn = heights(display, increment.increment)
        assert drawn == pytest.approx(increment.graph.weights, abs=1e-9)
    assert heights(display, 0) == pytest.approx(np.ones(30))


def test_bands_of_a_tree_are_neighbours_below_their_representative():
    record = random_record(30, 6)
    graph, display = record[-1].graph, WeightFlowDisplay.from_record(record)
    tops = np.array([path.vertices[0, 1] for path in display.bands_.get_paths()])
    order = np.argsort(tops)
    starts = np.flatnonzero(np.diff(graph.gurus[order], prepend=-1))
    assert len(starts) == len(graph.representatives)  # each tree is in one piece
    assert np.array_equal(order[starts], graph.gurus[order][starts])
    assert (np.diff(graph.weights[order[starts]]) <= 0).all()


def test_representatives_have_strong_colours_and_their_delegators_light_ones():
    display = WeightFlowDisplay.from_record(record_of([0, 0, 2], [2, 0, 2]))
    colours = np.asarray(display.bands_.get_facecolor())[:, :3]
    assert np.array_equal(colours[0], colours[1])
    assert colours[0].mean() > colours[2].mean() + 0.2


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
    line = display.ax_.get_window_extent().height / 350
    assert (np.diff(middles) * line >= 6.5 * display.figure_.dpi / 72).all()


def test_ticks_are_increments_and_the_numbers_of_representatives():
    record = random_record(30, 40)
    display = WeightFlowDisplay.from_record(record)
    ticks = [int(tick) for tick in display.ax_.get_xticks() if 0 <= tick <= 40]
    (top,) = display.ax_.child_axes
    sizes = [int(label.get_text()) for label in top.get_xticklabels()]
    after = [30, *(increment.n_representatives for increment in record)]
    assert sizes == [after[tick] for tick in ticks]


def test_increments_that_were_not_kept_are_left_out():
    record = random_record(10, 6)
    del record.increments[:4]
    assert WeightFlowDisplay.from_record(record).ax_.get_xlim() == (4, 6)
