import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from skliquid.experiments.figures import save, search_figure
from skliquid.experiments.spec import experiment_files, load_experiment

HEXAGONS_IN_A_PANEL = 21
DATASET = "heart"


@pytest.fixture
def experiment():
    return load_experiment(experiment_files()["parameter_search"])


def search_results(experiment, n_trials=2):
    rng = np.random.default_rng(0)
    trials = experiment.trials([DATASET], n_trials)
    return [(trial, {"accuracy_final": rng.uniform(0.6, 0.9)}) for trial in trials]


def panels_of(figure):
    return [axes for axes in figure.axes if axes.name == "ternary"]


def hexagons_of(panel):
    return [each for each in panel.collections if isinstance(each, PolyCollection)]


@pytest.fixture
def figure(experiment):
    return search_figure(experiment, search_results(experiment), DATASET)


def test_it_is_saved_to_the_same_bytes_each_time(experiment, tmp_path):
    contents = []
    for folder in ("first", "again"):
        figure = search_figure(experiment, search_results(experiment), DATASET)
        contents.append([path.read_bytes() for path in save(figure, tmp_path / folder, "figure")])
    assert contents[0] == contents[1]


def test_each_mechanism_has_a_panel_of_whole_hexagons(figure):
    panels = panels_of(figure)
    assert len(panels) == 4
    for panel in panels:
        hexagons, *_ = hexagons_of(panel)
        assert len(hexagons.get_paths()) == HEXAGONS_IN_A_PANEL
        assert not hexagons.get_clip_on()


def test_a_hexagon_has_the_mean_accuracy_of_its_cell_and_the_best_is_printed(experiment):
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


def test_the_levels_of_a_cell_can_be_read_off_the_sides(figure):
    panel = panels_of(figure)[0]
    rates = [label.get_text() for label in panel.raxis.get_ticklabels()]
    assert rates == ["0.05", "0.2", "0.35", "0.5", "0.65", "0.8"]
    assert panel.raxis.get_label_text() == "Delegation rate"


@pytest.mark.parametrize("n_known", [0, 1, 50])
def test_cells_without_results_are_drawn_hatched(experiment, n_known):
    figure = search_figure(experiment, search_results(experiment, 1)[:n_known], DATASET)
    figure.draw_without_rendering()
    n_hatched = [len(hexagons_of(panel)[1].get_paths()) for panel in panels_of(figure)]
    assert sum(n_hatched) == 4 * HEXAGONS_IN_A_PANEL - n_known
    assert all(hexagons_of(panel)[1].get_hatch() for panel in panels_of(figure))
