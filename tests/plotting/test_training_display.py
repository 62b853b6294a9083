import matplotlib.pyplot as plt
import numpy as np
import pytest

from plotting.records import random_record, record_of
from skliquid.plotting import TrainingDisplay
from skliquid.plotting.training_display import NAMES

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
    assert drawn["accuracy"][-1] == alike.record_.final_eval_accuracy


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
    assert (
        text.get_text() == "all in one\n4 voters,\n1 left, cost 40%\nof no delegation"
    )  # 10 + 10 of 10 + 40
    (text,) = TrainingDisplay.from_record(record).legend_.get_texts()
    assert text.get_text() == "4 voters,\n1 left, cost 40%\nof no delegation"


def test_titles_are_broken_in_narrow_axes():
    _, ax = plt.subplots(figsize=(2.8, 4))
    narrow = TrainingDisplay.from_estimators(SEVERAL, ax=ax).axes_["competence"]
    assert narrow.get_title().split() == ["Competence:", "mean", "and", "range"]
    assert "\n" in narrow.get_title()


def test_no_ensembles_are_refused():
    with pytest.raises(ValueError, match="estimators must name at least one ensemble"):
        TrainingDisplay.from_estimators({})


def test_an_ensemble_that_did_not_train_has_no_cost():
    record = record_of([0, 0, 0], cost=0)
    display = TrainingDisplay.from_record(record)
    title = " ".join(display.axes_["cost"].get_title().split())
    assert title == "Sample visits: none, voters were fitted before"
    (text,) = display.legend_.get_texts()
    assert text.get_text() == "3 voters,\n1 left"
    both = TrainingDisplay.from_estimators({"fitted": record, **SEVERAL})
    assert np.isnan(both.lines_["fitted"]["cost"].get_ydata()).all()


def test_a_single_increment_is_seen():
    display = TrainingDisplay.from_estimators({"one": record_of([0, 0]), "two": record_of([0, 0])})
    assert all(lines["accuracy"].get_marker() in "ov" for lines in display.lines_.values())


@pytest.mark.parametrize(("n_voters", "scale"), [(12, "linear"), (60, "log")])
def test_many_voters_are_counted_on_a_logarithmic_axis(n_voters, scale):
    display = TrainingDisplay.from_record(random_record(n_voters, 6))
    assert display.axes_["representatives"].get_yscale() == scale


def with_eval_set():
    return record_of([0, 0, 0], [0, 0, 0], eval_accuracy=0.9)


PLAIN, ASKED_BEFORE = random_record(12, 4), record_of([0, 0], n_trained=1)


@pytest.mark.parametrize(
    ("records", "title"),
    [
        ([with_eval_set()], "Accuracy on evaluation set, filled: after the final fit"),
        ([with_eval_set(), PLAIN], "Voters' accuracy on increments"),
        ([ASKED_BEFORE], "Voters' accuracy on new rows"),
        ([ASKED_BEFORE, PLAIN], "Voters' accuracy on increments"),
    ],
    ids=["all have it", "one has it", "asked before", "one asked before"],
)
def test_accuracy_is_what_all_ensembles_have(records, title):
    display = TrainingDisplay.from_estimators(dict(zip("ab", records, strict=False)))
    assert display.axes_["accuracy"].get_title().replace("\n", " ") == title


def test_titles_explain_competence_and_minimum_majority(mixed, alike):
    def title(panel, *ensembles):
        display = TrainingDisplay.from_estimators(dict(zip("ab", ensembles, strict=False)))
        return display.axes_[panel].get_title().replace("\n", " ")

    unit = "change of Brier score, positive is better"
    assert title("competence", mixed) == f"Competence: {unit}; mean and range"
    assert title("competence", mixed, alike) == "Competence: mean and range"
    majority = "Minimum majority: fewest representatives with over half of the votes"
    assert title("minimum_majority", mixed) == majority
