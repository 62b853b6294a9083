"""Displays: the tables and figures that each kind of experiment shows, in the paper's order."""

import re
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from reproduction import (
    paper_diagrams,
    paper_figures,
    result_tables,
    variations,
    weight_displays,
)
from reproduction.experiment import Experiment
from reproduction.result_figures import MEASURES, results_figure
from reproduction.result_tables import TITLES, Table
from reproduction.trial_statistics import Results, datasets_of


class Picture(NamedTuple):
    """A figure, its caption, and the name of its files."""

    caption: str
    name: str
    figure: Figure


Display = Iterable[Table | Picture]


def _diagrams(experiment: Experiment, _: Results) -> Display:
    caption = "Figure 1: the weakest delegates. Area is weight; black arrows are new."
    yield Picture(caption, "worked_example", paper_diagrams.worked_example_figure(experiment))
    caption = "Figure 2: who is right on which example, in two states."
    yield Picture(caption, "pivotal_states", paper_diagrams.pivotal_states_figure())


def _delegation_cost(experiment: Experiment, _: Results) -> Display:
    figure = paper_figures.delegation_cost_figure(experiment)
    yield Picture(experiment.caption, experiment.name, figure)


def _search(experiment: Experiment, results: Results) -> Display:
    yield result_tables.search_table(experiment, results)
    for dataset in datasets_of(results):
        name = f"{experiment.name}_{file_name(dataset)}"
        yield Picture(dataset, name, paper_figures.search_figure(experiment, results, dataset))


def _curves(experiment: Experiment, results: Results) -> Display:
    yield result_tables.curve_ends_table(experiment, results)
    yield result_tables.significance_table(experiment, results)
    for dataset, protocol in product(datasets_of(results), experiment.protocols):
        figure = paper_figures.curves_figure(experiment, results, dataset, protocol)
        name = f"{experiment.name}_{file_name(dataset)}_{protocol}"
        yield Picture(f"{dataset}, {TITLES[protocol]}", name, figure)


def _results(experiment: Experiment, results: Results) -> Display:
    for measure in MEASURES:
        if figure := results_figure(experiment, results, measure):
            caption = f"{measure.capitalize()}; bars are two standard errors to each side."
            yield Picture(caption, f"{experiment.name}_{measure}", figure)
    if experiment.published == "comparison":
        yield result_tables.headline_table(experiment, results)
    yield result_tables.results_table(experiment, results)


def _variations(experiment: Experiment, results: Results) -> Display:
    yield variations.variation_table(experiment, results)
    if figure := variations.variation_figure(experiment, results):
        caption = "Mean distance to the published values."
        yield Picture(caption, f"{experiment.name}_distances", figure)
    if figure := variations.unpublished_figure(experiment, results):
        caption = f"Mean {experiment.measure} of all ensembles, where nothing is published."
        yield Picture(caption, f"{experiment.name}_{experiment.measure}", figure)


def _weights(experiment: Experiment, results: Results) -> Display:
    caption = "Mean accuracy over datasets, by mechanism and vote weights."
    figure = weight_displays.mechanism_figure(results)
    yield Picture(caption, f"{experiment.name}_mechanisms", figure)
    yield weight_displays.summary_table(experiment, results)
    caption = (
        "Accuracy less that of one vote each, mean over the mechanisms that choose; bars are two "
        "standard errors to each side."
    )
    figure = weight_displays.dataset_figure(results)
    yield Picture(caption, f"{experiment.name}_datasets", figure)
    yield weight_displays.value_table(experiment, results)


DISPLAYS: dict[str, Callable[[Experiment, Results], Display]] = {
    "diagrams": _diagrams,
    "harmful_states": lambda experiment, _: [result_tables.harmful_states_table(experiment)],
    "delegation_cost": _delegation_cost,
    "datasets": lambda experiment, _: [result_tables.dataset_table(experiment)],
    "search": _search,
    "curves": _curves,
    "results": _results,
    "variations": _variations,
    "weights": _weights,
}


def file_name(dataset: str) -> str:
    """Return a name for the files of a dataset.

    Examples
    --------
    >>> file_name("heart"), file_name("a/my data.csv"), file_name("b.csv::y z")
    ('heart', 'my_data', 'b_y_z')
    """
    file, _, target = dataset.partition("::")
    return re.sub(r"[^\w.-]+", "_", "_".join(filter(None, [Path(file).stem, target])))
