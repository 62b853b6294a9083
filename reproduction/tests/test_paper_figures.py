import math

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from reproduction.figure_style import save_figure
from reproduction.paper_figures import curves_figure, delegation_cost_figure, search_figure
from reproduction.tests.small_results import experiment_named, search_results
from skliquid.theory import delegation_cost

HEXAGONS_IN_A_PANEL = 21
DATASET = "heart"


def curve_results(experiment, n_trials=3):
    rng = np.random.default_rng(0)
    results = []
    for trial in experiment.trials([DATASET], n_trials):
        sizes = [280, 224, 180, 144, 116, 93, 75, 60, 48, 39][: 8 + trial.number]
        accuracy = rng.uniform(0.6, 0.9, len(sizes)).tolist()
        if trial.method["mechanism"] == "direct":
            sizes = [350] * len(sizes)
        results.append(
            (
                trial,
                {
                    "curve_representatives": sizes,
                    "curve_accuracy": accuracy,
                    "curve_minimum_majority": [max(size // 3, 1) for size in sizes],
                },
            )
        )
    return results


def panels_of(figure):
    return [axes for axes in figure.axes if axes.name == "ternary"]


def hexagons_of(panel):
    return [each for each in panel.collections if isinstance(each, PolyCollection)]


def lines_of(axes):
    return {line.get_label(): line for line in axes.lines}


def cost():
    return delegation_cost_figure(experiment_named("delegation_cost"))


def search():
    experiment = experiment_named("parameter_search")
    return search_figure(experiment, search_results(experiment), DATASET)


def curves():
    experiment = experiment_named("during_delegation")
    return curves_figure(experiment, curve_results(experiment), DATASET, "paper")


@pytest.mark.parametrize("draw", [cost, search, curves])
def test_a_figure_is_saved_to_the_same_bytes_each_time(draw, tmp_path):
    first = save_figure(draw(), tmp_path / "first", "figure")
    again = save_figure(draw(), tmp_path / "again", "figure")
    assert [path.name for path in first] == ["figure.png", "figure.svg"]
    contents = [path.read_bytes() for path in first]
    assert contents == [path.read_bytes() for path in again]
    assert not any(word in contents[0] for word in (b"Software", b"tIME"))
    assert b"dc:date" not in contents[1]


def test_cost_has_a_line_for_each_number_left_at_the_end():
    experiment = experiment_named("delegation_cost")
    lines = lines_of(delegation_cost_figure(experiment).axes[0])
    assert list(lines) == [str(n_final) for n_final in experiment.options["n_final"]]
    rate, cost = lines["10"].get_xydata()[-1]
    assert cost == pytest.approx(delegation_cost(350, 10, rate))
    assert rate == pytest.approx(experiment.options["last_rate"])


def test_each_mechanism_has_a_panel_of_whole_hexagons():
    panels = panels_of(search())
    assert len(panels) == 4
    for panel in panels:
        hexagons, *_ = hexagons_of(panel)
        assert len(hexagons.get_paths()) == HEXAGONS_IN_A_PANEL
        assert not hexagons.get_clip_on()


def test_a_hexagon_has_the_mean_accuracy_of_its_cell_and_the_best_is_printed():
    experiment = experiment_named("parameter_search")
    results = search_results(experiment, n_trials=2)
    panel = panels_of(search_figure(experiment, results, DATASET))[0]
    accuracies = {}
    for trial, result in results:
        if trial.method["mechanism"] == "max":
            cell = tuple(trial.method.values())
            accuracies.setdefault(cell, []).append(result["accuracy_final"])
    means = [np.mean(each) for each in accuracies.values()]
    shown = hexagons_of(panel)[0].get_array()
    np.testing.assert_allclose(sorted(shown), sorted(means))
    assert f"{max(means):.3f}" in [text.get_text() for text in panel.texts]


def test_the_levels_of_a_cell_can_be_read_off_the_sides():
    panel = panels_of(search())[0]
    rates = [label.get_text() for label in panel.raxis.get_ticklabels()]
    assert rates == ["0.05", "0.2", "0.35", "0.5", "0.65", "0.8"]
    assert panel.raxis.get_label_text() == "Delegation rate"


@pytest.mark.parametrize("n_known", [0, 1, 50])
def test_cells_without_results_are_drawn_hatched(n_known):
    experiment = experiment_named("parameter_search")
    figure = search_figure(experiment, search_results(experiment, 1)[:n_known], DATASET)
    figure.draw_without_rendering()
    n_hatched = [len(hexagons_of(panel)[1].get_paths()) for panel in panels_of(figure)]
    assert sum(n_hatched) == 4 * HEXAGONS_IN_A_PANEL - n_known
    assert all(hexagons_of(panel)[1].get_hatch() for panel in panels_of(figure))


def test_a_panel_has_the_name_of_its_mechanism():
    titles = [panel.texts[0].get_text() for panel in panels_of(search())]
    assert titles == ["Max", "Random\nBetter", "Proportional\nBetter", "Proportional\nWeighted"]


def test_curves_average_what_there_is_at_each_increment():
    experiment = experiment_named("during_delegation")
    results = curve_results(experiment, n_trials=3)
    for _, result in results:
        result["curve_accuracy"][0] = math.nan
    figure = curves_figure(experiment, results, DATASET, "paper")
    figure.draw_without_rendering()
    of_max = [each for trial, each in results if trial.method["mechanism"] == "max"]
    x, y = lines_of(figure.axes[0])["Max"].get_data()
    assert len(x) == max(len(each["curve_accuracy"]) for each in of_max)
    assert math.isnan(y[0])
    assert y[1] == pytest.approx(np.mean([each["curve_accuracy"][1] for each in of_max]))
    assert y[-1] == pytest.approx(of_max[-1]["curve_accuracy"][-1])


def test_bands_are_two_standard_errors_to_each_side():
    experiment = experiment_named("during_delegation")
    results = curve_results(experiment, n_trials=3)
    figure = curves_figure(experiment, results, DATASET, "paper")
    of_direct = [each for trial, each in results if trial.method["mechanism"] == "direct"]
    first = [each["curve_accuracy"][0] for each in of_direct]
    corners = figure.axes[0].collections[0].get_paths()[0].vertices
    at_first = corners[corners[:, 0] == 280, 1]
    height = 4 * np.std(first, ddof=1) / math.sqrt(3)
    assert np.ptp(at_first) == pytest.approx(height)


def test_one_trial_has_no_band():
    experiment = experiment_named("during_delegation")
    figure = curves_figure(experiment, curve_results(experiment, 1), DATASET, "paper")
    assert not figure.axes[0].collections


def test_direct_is_drawn_against_the_representatives_of_the_last_mechanism():
    lines = lines_of(curves().axes[1])
    assert list(lines) == ["Direct", "Random", "Max", "Rand B", "Prop B", "Prop W"]
    np.testing.assert_array_equal(lines["Direct"].get_xdata(), lines["Prop W"].get_xdata())


def test_lines_differ_in_dash_or_marker_and_not_only_in_colour():
    axes = curves().axes[0]
    looks = {(str(line._unscaled_dash_pattern), line.get_marker()) for line in axes.lines}
    assert len(looks) == len(axes.lines)


@pytest.mark.parametrize("kept", [[], ["direct"], ["max"]])
def test_curves_do_without_missing_mechanisms(kept):
    experiment = experiment_named("during_delegation")
    results = [each for each in curve_results(experiment) if each[0].method["mechanism"] in kept]
    figure = curves_figure(experiment, results, DATASET, "paper")
    figure.draw_without_rendering()
    assert len(figure.axes[0].lines) == len(kept)
