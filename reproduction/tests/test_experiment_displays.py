from dataclasses import replace

import pytest

from reproduction.experiment_displays import DISPLAYS, Picture
from reproduction.tests import test_weight_displays
from reproduction.tests.small_results import (
    as_published,
    experiment_named,
    result,
    search_results,
    variation,
    variation_results,
)


def curves(n_trials):
    experiment = experiment_named("during_delegation")
    more = {"curve_representatives": [300, 200], "curve_minimum_majority": [90, 50]}
    trials = experiment.trials(["heart"], n_trials)
    return experiment, [(trial, result(0.7, **more)) for trial in trials]


def search(n_trials):
    experiment = experiment_named("parameter_search")
    return experiment, search_results(experiment, n_trials)


def variations(n_trials):
    experiment = variation(candidates=["voters", "representatives"])
    return experiment, variation_results(experiment, lambda _: 0.6, n_trials=n_trials)


def weights(n_trials):
    return test_weight_displays.MINE, test_weight_displays.results(n_trials, datasets=["heart"])


def results(n_trials):
    return as_published("comparison", n_trials=n_trials)


@pytest.mark.parametrize("dataset", ["heart", "data/own.csv"])
@pytest.mark.parametrize("n_trials", [1, 2])
@pytest.mark.parametrize("make", [results, curves, search, variations, weights])
def test_one_dataset_with_few_trials_has_a_figure(make, n_trials, dataset):
    experiment, found = make(n_trials)
    found = [(replace(trial, dataset=dataset), values) for trial, values in found]
    display = list(DISPLAYS[experiment.kind](experiment, found))
    pictures = [part for part in display if isinstance(part, Picture)]
    assert pictures
    assert len(display) > len(pictures)
    assert len({part.name for part in display}) == len(display)
    for picture in pictures:
        picture.figure.draw_without_rendering()
