import numpy as np
import pytest

from reproduction.result_summary import findings
from reproduction.tests.small_results import variation, variation_results
from reproduction.variations import (
    comparisons,
    mean_distance,
    unpublished_figure,
    variation_figure,
    variation_table,
)


def test_each_variation_is_compared_with_the_table_of_its_setting():
    mine = variation(candidates=["voters", "representatives"])
    trials = variation_results(mine, lambda m: 0.58 if m["candidates"] == "voters" else 0.5)
    found = comparisons(mine, trials).set_index(["candidates", "ensemble"])
    assert found["published"]["voters", "Direct"] == 0.584
    assert found["published"]["voters", "Max"] == 0.578
    assert found["distance"]["voters", "Max"] == pytest.approx(0.5815 - 0.578)
    assert found["is_within"]["representatives", "Max"] == 0
    distance, n_within, n = mean_distance(found.loc["voters"])
    assert n == 2
    assert distance == pytest.approx((0.0025 + 0.0035) / 2)
    assert n_within == 0  # two standard errors of these trials are a thousandth


def test_costs_are_relative_to_direct_under_the_same_variation():
    mine = variation(measure="cost", stopping_rule=["loss", "objective"])
    found = variation_results(mine, lambda _: 0.5)
    for trial, result in found:
        if trial.method["stopping_rule"] == "objective":
            result["cost_final_fit"] *= 2
    costs = comparisons(mine, found).set_index(["stopping_rule", "ensemble"])["mean"]
    assert ("loss", "Direct") not in costs  # it is 1 by definition
    assert costs["loss", "Max"] == pytest.approx(0.25)
    assert costs["objective", "Max"] == pytest.approx(0.225)


def test_the_table_has_published_values_each_variation_and_a_summary():
    mine = variation(candidates=["voters", "representatives"])
    table = variation_table(mine, variation_results(mine, lambda _: 0.58))
    assert table.header[3:5] == ["Direct", "Max"]
    assert [row[2] for row in table.rows] == [
        "published",
        "any voter",
        "representatives only",
        "any voter",
        "representatives only",
    ]
    assert table.rows[0][3:5] == ["0.584", "0.578"]
    assert table.rows[-1][:2] == ["mean distance", "all"]
    assert set(table.values["candidates"]) == {"voters", "representatives"}


def test_what_is_not_published_is_shown_without_a_distance():
    mine = variation(candidates=["voters", "representatives"])
    found = variation_results(mine, lambda _: 0.5, dataset="own.csv")
    table = variation_table(mine, found)
    assert table.rows[0][3:] == ["-", "-", "-", "-"]
    assert table.rows[1][-2:] == ["-", "-"]
    assert variation_figure(mine, found) is None
    assert findings([(mine, found)]) == []


def test_one_trial_has_no_standard_error():
    of = variation(candidates=["voters", "representatives"])
    found = variation_results(of, lambda _: 0.1, n_trials=1)
    distance, n_within, n = mean_distance(comparisons(of, found))
    assert distance > 0.4
    assert (n_within, n) == (0, 0)
    assert variation_table(of, found).rows[1][-2:] == ["0.4810", "-"]
    (words,) = findings([(of, found)])
    assert "standard errors" not in words


def test_values_near_the_published_are_within_two_standard_errors():
    of = variation(candidates=["voters", "representatives"])
    found = variation_results(of, lambda m: 0.5825 if m["mechanism"] == "direct" else 0.5765)
    assert mean_distance(comparisons(of, found))[1:] == (4, 4)


def test_methods_without_a_value_are_left_out():
    of = variation(candidates=["voters", "representatives"])
    found = [(trial, {"refused": True}) for trial, _ in variation_results(of, lambda _: 0.5)]
    assert comparisons(of, found).empty
    assert variation_figure(of, found) is None


def test_the_nearest_variation_is_named_first():
    mine = variation(candidates=["representatives", "voters"])
    found = variation_results(mine, lambda m: 0.58 if m["candidates"] == "voters" else 0.5)
    (words,) = findings([(mine, found)])
    assert words.startswith("Mine: mean distance to the published accuracy, nearest first")
    assert words.index("any voter: 0.0030 (0 of 2") < words.index("representatives only: 0.07")


def test_a_scan_has_a_panel_of_numbers_and_one_of_shares():
    mine = variation(features_per_voter=[10, 20, 0.5, "all"])
    distance = {10: 0.5, 20: 0.58, 0.5: 0.55, "all": 0.4}
    found = variation_results(mine, lambda m: distance[m["features_per_voter"]])
    numbers, shares = variation_figure(mine, found).axes
    assert numbers.lines[0].get_xdata().tolist() == [10, 20]
    assert shares.lines[0].get_xdata().tolist() == [0.5, 1.0]
    lines = {line.get_label(): line.get_ydata() for line in numbers.lines}
    assert np.argmin(lines["mean"]) == 1


def test_other_variations_are_marks_by_dataset_and_setting():
    mine = variation(candidates=["voters", "representatives"])
    found = variation_results(mine, lambda _: 0.58)
    (panel,) = variation_figure(mine, found).axes
    assert panel.get_title() == "u = 65, rate 0.05"
    assert [tick.get_text() for tick in panel.get_yticklabels()] == ["heart"]
    assert panel.lines[0].get_label() == "any voter"
    found += variation_results(mine, lambda _: 0.58, dataset="spambase")
    (panel,) = variation_figure(mine, found).axes
    assert [tick.get_text() for tick in panel.get_yticklabels()] == ["heart", "spambase", "mean"]


@pytest.mark.parametrize(
    "levels",
    [{"candidates": ["voters", "representatives"]}, {"features_per_voter": [10, 20, 0.5]}],
    ids=["marks", "scan"],
)
def test_where_nothing_is_published_the_measure_itself_is_drawn(levels):
    mine = variation(**levels)
    found = variation_results(mine, lambda _: 0.58)
    assert unpublished_figure(mine, found) is None
    found += variation_results(mine, lambda _: 0.7, dataset="data/own.csv")
    figure = unpublished_figure(mine, found)
    figure.draw_without_rendering()
    words = [text.get_text() for text in figure.legends[0].texts]
    names = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert "own.csv" in (words if "features_per_voter" in levels else names)
    values = np.concatenate([line.get_xydata().ravel() for line in figure.axes[0].lines])
    assert np.isclose(values, 0.7015).any()
