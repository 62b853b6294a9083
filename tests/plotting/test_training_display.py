import matplotlib.pyplot as plt
import numpy as np
import pytest

from plotting.records import random_record, record_of
from skliquid.plotting import TrainingDisplay
from skliquid.plotting.training_panels import NAMES

SEVERAL = {"first": random_record(60, 8), "second": random_record(60, 5, seed=1)}


def test_lines_are_the_history(alike):
    display = TrainingDisplay.from_estimator(alike)
    (lines,), (history,) = display.lines_.values(), display.histories.values()
    drawn = {panel: line.get_ydata() for panel, line in lines.items()}
    assert drawn["competence"] == pytest.approx(history.competence[:, 1])
    assert drawn["accuracy"] == pytest.approx(history.eval_accuracy)
    assert drawn["representatives"] == pytest.approx(history.representatives)
    assert drawn["cost"] == pytest.approx(history.cost)
    assert drawn["minimum_majority"] == pytest.approx(history.minimum_majority)
    x = lines["cost"].get_xdata()
    assert x[-1] == x[-2] == history.increments[-1]  # the final fit


def test_there_are_five_panels_by_name(alike):
    display = TrainingDisplay.from_estimator(alike)
    assert tuple(display.axes_) == NAMES
    assert len(set(display.axes_.values())) == 5
    assert all(ax.get_xlim()[0] < 1 < 8 < ax.get_xlim()[1] for ax in display.axes_.values())


def test_several_ensembles_share_the_panels(alike, mixed):
    display = TrainingDisplay.from_estimators({"alike": alike, "mixed": mixed})
    assert list(display.lines_) == ["alike", "mixed"]
    colours = {lines["accuracy"].get_color() for lines in display.lines_.values()}
    assert len(colours) == 2
    for panel in NAMES:
        assert {lines[panel].axes for lines in display.lines_.values()} == {display.axes_[panel]}
    names = [text.get_text().split("\n")[0] for text in display.legend_.get_texts()]
    assert names == ["alike", "mixed"]


def test_the_legend_counts_voters_and_costs():
    record = record_of([0, 0, 0, 0], [0, 0, 0, 0])
    (text,) = TrainingDisplay.from_record(record, name="all in one").legend_.get_texts()
    assert text.get_text() == "all in one\n4 voters, 1 left, cost 40%"  # 10 + 10 of 10 + 40
    (text,) = TrainingDisplay.from_record(record).legend_.get_texts()
    assert text.get_text() == "4 voters, 1 left, cost 40%"


def test_five_given_axes_are_used_as_they_are():
    _, axes = plt.subplots(5, 1, figsize=(5, 12), layout="constrained")
    display = TrainingDisplay.from_records(SEVERAL, ax=axes)
    assert list(display.axes_.values()) == list(axes)
    assert display.legend_.axes is axes[0]


def test_titles_are_broken_in_narrow_axes():
    _, ax = plt.subplots(figsize=(4, 4))
    narrow = TrainingDisplay.from_records(SEVERAL, ax=ax).axes_["competence"]
    assert narrow.get_title().split() == ["Competence:", "mean", "and", "range"]
    assert "\n" in narrow.get_title()


def test_another_number_of_axes_is_refused():
    _, axes = plt.subplots(2, 2)
    with pytest.raises(
        ValueError, match=r"ax must be .* 4 Axes cannot show 5 panels \(competence,"
    ):
        TrainingDisplay.from_records(SEVERAL, ax=axes)


def test_no_ensembles_are_refused():
    with pytest.raises(ValueError, match="records must name at least one ensemble"):
        TrainingDisplay.from_records({})


def test_an_ensemble_that_did_not_train_has_no_cost():
    record = record_of([0, 0, 0], cost=0)
    display = TrainingDisplay.from_record(record)
    assert "nothing was trained" in display.axes_["cost"].texts[0].get_text()
    (text,) = display.legend_.get_texts()
    assert text.get_text() == "3 voters, 1 left"
    both = TrainingDisplay.from_records({"fitted": record, **SEVERAL})
    assert not both.axes_["cost"].texts
    assert np.isnan(both.lines_["fitted"]["cost"].get_ydata()).all()


def test_a_single_increment_is_seen():
    display = TrainingDisplay.from_records({"one": record_of([0, 0]), "two": record_of([0, 0])})
    assert all(lines["accuracy"].get_marker() == "o" for lines in display.lines_.values())


@pytest.mark.parametrize(("n_voters", "scale"), [(12, "linear"), (60, "log")])
def test_many_voters_are_counted_on_a_logarithmic_axis(n_voters, scale):
    display = TrainingDisplay.from_record(random_record(n_voters, 6))
    assert display.axes_["representatives"].get_yscale() == scale
