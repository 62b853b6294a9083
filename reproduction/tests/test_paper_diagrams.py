import pytest

from reproduction.figure_style import save_figure
from reproduction.paper_diagrams import (
    pivotal_states_figure,
    states_with_pivotal_voters,
    worked_example,
    worked_example_figure,
)
from reproduction.tests.small_results import experiment_named
from skliquid.theory import group_accuracy, pivotal_examples, pivotal_voters


@pytest.fixture
def experiment():
    return experiment_named("diagrams")


def test_figure_1_is_as_its_caption_says(experiment):
    first, second, third = worked_example(experiment.options["accuracy"], n_final=3)
    assert first.graph.weights.tolist() == [1, 1, 1, 1, 1]
    assert (first.accuracy.argmin(), first.accuracy.argmax()) == (0, 3)
    assert second.graph.delegation.tolist() == [3, 1, 2, 3, 4]  # v1's weight goes to v4
    assert second.accuracy.argmin() == 2
    assert third.graph.delegation.tolist() == [3, 1, 0, 3, 4]  # v3's to "the more accurate" v1
    assert third.graph.gurus[2] == 3
    assert len(third.graph.representatives) / 5 == 0.6


def test_figure_2_is_as_its_caption_says():
    first, second = states_with_pivotal_voters()
    assert pivotal_examples(first).tolist() == [False, False, False, True, True]
    assert pivotal_examples(second).all()
    for state in (first, second):
        assert pivotal_voters(state).any(axis=1).all()
        assert group_accuracy(state, [0, 2, 1, 1, 1]) == group_accuracy(state)


@pytest.mark.parametrize("draw", [worked_example_figure, pivotal_states_figure])
def test_they_are_saved_to_the_same_bytes_each_time(draw, experiment, tmp_path):
    arguments = [experiment] if draw is worked_example_figure else []
    files = [
        save_figure(draw(*arguments), tmp_path / name, "figure") for name in ("first", "again")
    ]
    first, again = ([path.read_bytes() for path in each] for each in files)
    assert first == again


def test_every_voter_and_every_answer_is_drawn(experiment):
    panels = worked_example_figure(experiment).axes
    assert [axes.get_title() for axes in panels] == [
        "t = 1: 5 of 5 train",
        "t = 2: 4 of 5 train",
        "t = 3: 3 of 5 train",
    ]
    texts = [text.get_text() for text in panels[2].texts]
    assert {"$v_1$", "$v_5$", "$q$ = 0.55", "$q$ = 0.88\n$w$ = 3"} <= set(texts)
    first, _ = pivotal_states_figure().axes
    marks = "".join(text.get_text() for text in first.texts)
    assert marks.count("\N{CHECK MARK}") == states_with_pivotal_voters()[0].sum()
