import pytest

from reproduction.result_figures import agreement_figure, results_figure
from reproduction.result_summary import published_beside_measured
from reproduction.tests.small_results import (
    BOOSTED,
    DIRECT,
    MAX,
    as_published,
    experiment,
    results,
)


def labels_of(axes):
    return [tick.get_text() for tick in axes.get_yticklabels()]


@pytest.mark.parametrize(
    "datasets",
    [
        ["heart"],
        ["spambase", "heart"],
        ["heart", "spambase", "ionosphere", "kr-vs-kp", "occupancy-det"],
    ],
    ids=["one", "two", "five"],
)
def test_each_dataset_has_a_panel_and_each_method_a_row(datasets):
    comparison, found = as_published("comparison", datasets, n_trials=2)
    figure = results_figure(comparison, found, "accuracy")
    figure.draw_without_rendering()
    assert [axes.get_title() for axes in figure.axes] == datasets
    assert labels_of(figure.axes[0]) == [row.label for row in comparison.rows]
    words = [text.get_text() for text in figure.legends[0].texts]
    assert words == ["published", "their rules", "our rules"]


def test_a_mark_is_at_the_published_value_and_one_at_each_mean():
    comparison, found = as_published("comparison", offset=lambda label: 0.1)
    (axes,) = results_figure(comparison, found, "accuracy").axes
    printed, paper, ours = (line.get_xdata()[0] for line in axes.lines[:3])
    assert (printed, paper, ours) == pytest.approx((0.584, 0.684, 0.684))


def test_costs_are_drawn_without_direct_by_powers_of_ten():
    figure = results_figure(experiment(), results(), "cost")
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert labels_of(axes) == ["Max", "Ada DT Small"]
    assert axes.get_xscale() == "log"
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0.01", "0.1", "1"]


def test_what_was_not_measured_is_not_drawn():
    found = [pair for pair in results("own.csv") if pair[0].method in (MAX, BOOSTED)]
    assert results_figure(experiment(), found, "cost") is None  # nothing to relate it to
    figure = results_figure(experiment(), found, "accuracy")
    assert labels_of(figure.axes[0]) == ["Max", "Ada DT Small"]
    assert [text.get_text() for text in figure.legends[0].texts] == ["their rules", "our rules"]
    alone = [pair for pair in results() if pair[0].method == DIRECT]
    assert results_figure(experiment(), alone, "cost") is None


@pytest.mark.parametrize("datasets", [["heart"], ["spambase", "heart"]], ids=["one", "two"])
def test_the_figure_of_agreement_has_a_mark_for_each_delegating_ensemble(datasets):
    figure = agreement_figure(published_beside_measured([as_published("comparison", datasets)]))
    figure.draw_without_rendering()
    accuracy, cost = figure.axes
    marks = [line for line in accuracy.lines if line.get_marker() in "osD^vP*X"]
    assert sum(len(line.get_xdata()) for line in marks) == 3 * len(datasets)
    assert cost.get_xscale() == "log"
    assert [text.get_text() for text in figure.legends[0].texts] == datasets
