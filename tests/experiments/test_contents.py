from dataclasses import replace

import pytest

from experiments.test_agreement import as_published
from experiments.test_figures import experiment_named, search_results
from experiments.test_tables import result
from experiments.test_variations import experiment as varied
from experiments.test_variations import results as varied_results
from skliquid.experiments.contents import CONTENTS, Picture, file_name


def curves(n_trials):
    experiment = experiment_named("during_delegation")
    more = {"curve_representatives": [300, 200], "curve_minimum_majority": [90, 50]}
    trials = experiment.trials(["heart"], n_trials)
    return experiment, [(trial, result(0.7, **more)) for trial in trials]


def search(n_trials):
    experiment = experiment_named("parameter_search")
    return experiment, search_results(experiment, n_trials)


def variations(n_trials):
    experiment = varied(candidates=["voters", "representatives"])
    return experiment, varied_results(experiment, lambda _: 0.6, n_trials=n_trials)


def results(n_trials):
    return as_published("comparison", n_trials=n_trials)


@pytest.mark.parametrize("dataset", ["heart", "data/own.csv"])
@pytest.mark.parametrize("n_trials", [1, 2])
@pytest.mark.parametrize("make", [results, curves, search, variations])
def test_one_dataset_with_few_trials_has_a_figure(make, n_trials, dataset):
    experiment, found = make(n_trials)
    found = [(replace(trial, dataset=dataset), values) for trial, values in found]
    contents = list(CONTENTS[experiment.kind](experiment, found))
    pictures = [content for content in contents if isinstance(content, Picture)]
    assert pictures
    assert len(contents) > len(pictures)
    assert len({content.name for content in contents}) == len(contents)
    for picture in pictures:
        picture.figure.draw_without_rendering()


@pytest.mark.parametrize(
    ("dataset", "name"),
    [("heart", "heart"), ("a/my data.csv", "my_data"), ("b.csv::y z", "b_y_z")],
)
def test_files_are_named_after_their_dataset(dataset, name):
    assert file_name(dataset) == name
