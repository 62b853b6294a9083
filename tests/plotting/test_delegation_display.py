import numpy as np
import pytest

from plotting.records import random_record, record_of
from skliquid.delegation.record import VoterDescription
from skliquid.plotting import DelegationDisplay
from skliquid.plotting.forest_layout import votes_through

CHAIN = [1, 2, 2, 4, 4]


def area(corners):
    x, y = corners.T
    return abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1))) / 2


def test_lines_lead_from_delegators_to_the_voters_that_they_delegated_to():
    record = random_record(60, 8)
    display, graph = DelegationDisplay.from_record(record), record[-1].graph
    delegators = np.flatnonzero(graph.weights == 0)
    places = display.layout_.positions
    lines = np.array(display.delegations_.get_segments())
    assert np.allclose(lines[:, 0], places[delegators])
    assert np.allclose(lines[:, 1], places[graph.delegation[delegators]])


@pytest.mark.parametrize("names", ["a", "abc"])
def test_areas_of_marks_are_votes_whatever_their_shape(names):
    voters = tuple(VoterDescription(names[k % len(names)]) for k in range(60))
    record = random_record(60, 8, voters=voters)
    display = DelegationDisplay.from_record(record)
    areas = [area(path.vertices[:-1]) for path in display.voters_.get_paths()]
    votes = votes_through(record[-1].graph)
    assert np.allclose(np.array(areas) / votes, areas[0] / votes[0])
    corners = {len(path.vertices) for path in display.voters_.get_paths()}
    assert len(corners) == len(names)


def test_marks_are_where_the_voters_are():
    display = DelegationDisplay.from_record(random_record(30, 5))
    centres = [path.vertices[:60].mean(axis=0) for path in display.voters_.get_paths()]
    assert np.allclose(centres, display.layout_.positions)


def test_colours_are_the_competence_when_it_was_last_measured():
    record = record_of([0, 0, 2, 3], [0, 0, 0, 3], [0, 0, 0, 3])
    for t, increment in enumerate(record):
        increment.competence[:] += t
    display = DelegationDisplay.from_record(record)
    first = np.linspace(0.5, 0.9, 4)
    assert display.competence == pytest.approx(first + np.array([2, 0, 1, 2]))
    assert np.allclose(display.voters_.get_array(), display.competence)
    assert display.colorbar_.ax.get_ylabel() == "Competence when last measured"


@pytest.mark.parametrize(
    ("measure", "unit"),
    [
        ("contribution", "change of Brier score, positive is better"),
        ("prequential", "accuracy on new rows"),
        ("training", "accuracy on rows trained on"),
    ],
)
def test_the_colour_bar_says_what_competence_is(measure, unit):
    record = record_of([0, 0, 2])
    record.competence_measure = measure
    label = DelegationDisplay.from_record(record).colorbar_.ax.get_ylabel()
    assert label == f"Competence when last measured:\n{unit}"


def test_representatives_have_an_outline_in_the_colour_of_texts():
    display = DelegationDisplay.from_record(record_of(CHAIN))
    is_black = (np.asarray(display.voters_.get_edgecolor())[:, :3] == 0).all(axis=1)
    assert is_black.tolist() == [False, False, True, False, True]


@pytest.mark.parametrize("increment", [1, 2, 3])
def test_delegations_are_shown_after_the_chosen_increment(increment):
    record = record_of([0, 0, 2, 3], [0, 0, 0, 3], [0, 0, 0, 0])
    display = DelegationDisplay.from_record(record, increment=increment)
    assert display.graph is record[increment - 1].graph
    assert len(display.delegations_.get_segments()) == increment
    assert f"after increment {increment}" in display.ax_.get_title()


@pytest.mark.parametrize("increment", [0, 3, -1])
def test_an_unknown_increment_is_refused(increment):
    with pytest.raises(
        ValueError, match=rf"increment must .* from 1 to 2: got {increment}\. Choose"
    ):
        DelegationDisplay.from_record(record_of([0, 0], [0, 0]), increment=increment)


@pytest.mark.parametrize(
    ("delegation", "words"),
    [
        ([0, 1], "2 voters, 2 representatives, no delegations"),
        ([0, 0], "2 voters, 1 representative, chains of up to 1 delegation"),
        (CHAIN, "5 voters, 2 representatives, chains of up to 2 delegations"),
    ],
    ids=["none", "one", "chain"],
)
def test_the_title_counts(delegation, words):
    title = DelegationDisplay.from_record(record_of(delegation)).ax_.get_title()
    assert title == f"Who delegated to whom, after increment 1\n{words}"


def test_the_legend_names_estimators_if_there_are_several():
    voters = tuple(map(VoterDescription, ["linear", "forest", "linear"]))
    legend = DelegationDisplay.from_record(record_of([0, 0, 0], voters=voters)).legend_
    assert [text.get_text() for text in legend.get_texts()] == ["linear", "forest"]
    assert DelegationDisplay.from_record(record_of([0, 0, 0])).legend_ is None


def test_voters_without_competence_are_white():
    unknown = record_of([0, 0, 0], competence=np.full(3, np.nan))
    display = DelegationDisplay.from_record(unknown)
    assert display.colorbar_ is None
    assert (np.asarray(display.voters_.get_facecolor()) == 1).all()


def test_numbers_and_weights_are_written_into_marks_with_room():
    texts = DelegationDisplay.from_record(record_of([0, 0, 0, 3, 3])).labels_
    assert texts[0].get_text() == "0\nw = 3"
    assert texts[3].get_text() in ("3\nw = 2", "3")
    assert [texts[voter].get_text() for voter in (1, 2, 4)] == ["1", "2", "4"]


@pytest.mark.parametrize("n_voters", [12, 100, 350])
def test_labels_lie_within_their_marks(n_voters):
    display = DelegationDisplay.from_record(random_record(n_voters, 10))
    transform = display.ax_.transData
    for voter, label in display.labels_.items():
        path = display.voters_.get_paths()[voter].transformed(transform)
        assert path.contains_points(label.get_window_extent().corners()).all()


def test_of_many_voters_only_representatives_are_labelled():
    record = random_record(350, 12)
    graph, labels = record[-1].graph, DelegationDisplay.from_record(record).labels_
    assert set(labels) <= set(graph.representatives.tolist())
    assert int(graph.weights.argmax()) in labels
    assert not DelegationDisplay.from_record(record_of(list(range(350)))).labels_


def test_letters_are_light_on_dark_marks():
    display = DelegationDisplay.from_record(record_of([0, 0, 0, 0, 0, 5]), cmap="Greys")
    brightness = np.asarray(display.voters_.get_facecolor())[:, 0]
    inks = {voter: label.get_color() for voter, label in display.labels_.items()}
    assert {"white", "black"} == set(inks.values())
    assert all((ink == "white") == (brightness[voter] < 0.55) for voter, ink in inks.items())


def test_equal_competence_is_no_problem():
    display = DelegationDisplay.from_record(record_of([0, 0, 0], competence=np.full(3, 0.5)))
    display.figure_.canvas.draw()
    assert len(np.unique(display.voters_.get_facecolor(), axis=0)) == 1


def test_a_few_bad_voters_do_not_take_the_contrast_away():
    competence = np.linspace(0.8, 0.9, 30)
    competence[0] = -10
    display = DelegationDisplay.from_record(record_of(list(range(30)), competence=competence))
    assert display.voters_.norm.vmin > 0.7
    assert display.colorbar_.extend == "min"
