import numpy as np
import pytest
from matplotlib.text import Text

from plotting.records import random_record, record_of
from skliquid.plotting import DelegationDisplay


def test_representatives_are_labelled_with_number_and_weight():
    display = DelegationDisplay.from_record(record_of([0, 0, 0, 3, 3]))
    texts = {voter: label.get_text() for voter, label in display.labels_.items()}
    assert "".join(texts[0].split()).replace(",", "") == "0w=3"
    assert "".join(texts[3].split()).replace(",", "") == "3w=2"
    assert [texts[voter] for voter in (1, 2, 4)] == ["1", "2", "4"]


def test_of_many_voters_only_representatives_are_labelled():
    record = random_record(350, 12)
    graph, display = record[-1].graph, DelegationDisplay.from_record(record)
    assert set(display.labels_) <= set(graph.representatives.tolist())
    assert int(graph.weights.argmax()) in display.labels_
    assert len(display.labels_) > 0.8 * len(graph.representatives)


def test_equal_voters_are_labelled_alike_or_not_at_all():
    display = DelegationDisplay.from_record(record_of(list(range(350))))
    assert not display.labels_


@pytest.mark.parametrize("n_voters", [12, 100, 350])
def test_labels_do_not_overlap(n_voters):
    display = DelegationDisplay.from_record(random_record(n_voters, 10))
    boxes = [label.get_window_extent() for label in display.labels_.values()]
    assert not any(box.overlaps(other) for k, box in enumerate(boxes) for other in boxes[:k])


def test_letters_are_light_on_dark_marks():
    record = record_of([0, 0, 0, 0, 0, 5])
    display = DelegationDisplay.from_record(record, cmap="Greys")
    assert isinstance(display.labels_[5], Text)
    brightness = np.asarray(display.voters_.get_facecolor())[:, 0]
    inside = [v for v, label in display.labels_.items() if "," not in label.get_text()]
    inks = {voter: display.labels_[voter].get_color() for voter in inside}
    assert {"white", "black"} == set(inks.values())
    assert all((ink == "white") == (brightness[voter] < 0.55) for voter, ink in inks.items())
