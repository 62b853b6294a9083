"""Contents: the tables and figures that each kind of experiment shows."""

import re
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from skliquid.experiments import diagrams, figures, tables, variations
from skliquid.experiments.agreement import MEASURES
from skliquid.experiments.estimates import Results, datasets_of
from skliquid.experiments.result_figures import results_figure
from skliquid.experiments.spec import Experiment
from skliquid.experiments.tables import Table


class Picture(NamedTuple):
    """A figure, its caption, and the name of its files."""

    caption: str
    name: str
    figure: Figure


Contents = Iterable[Table | Picture]


def _diagrams(experiment: Experiment, _: Results) -> Contents:
    caption = "Figure 1: the weakest delegates. Area is weight; black arrows are new."
    yield Picture(caption, "worked_example", diagrams.worked_example_figure(experiment))
    caption = "Figure 2: who is right on which example, in two states."
    yield Picture(caption, "pivotal_states", diagrams.pivotal_states_figure())


def _delegation_cost(experiment: Experiment, _: Results) -> Contents:
    figure = figures.delegation_cost_figure(experiment)
    yield Picture(experiment.caption, experiment.name, figure)


def _search(experiment: Experiment, results: Results) -> Contents:
    yield tables.search_table(experiment, results)
    for dataset in datasets_of(results):
        name = f"{experiment.name}_{file_name(dataset)}"
        yield Picture(dataset, name, figures.search_figure(experiment, results, dataset))


def _curves(experiment: Experiment, results: Results) -> Contents:
    yield tables.curve_ends_table(experiment, results)
    yield tables.significance_table(experiment, results)
    for dataset, protocol in product(datasets_of(results), experiment.protocols):
        figure = figures.curves_figure(experiment, results, dataset, protocol)
        name = f"{experiment.name}_{file_name(dataset)}_{protocol}"
        yield Picture(f"{dataset}, {tables.TITLES[protocol]}", name, figure)


def _results(experiment: Experiment, results: Results) -> Contents:
    for measure in MEASURES:
        if figure := results_figure(experiment, results, measure):
            caption = f"{measure.capitalize()}; bars are two standard errors to each side."
            yield Picture(caption, f"{experiment.name}_{measure}", figure)
    if experiment.published == "comparison":
        yield tables.headline_table(experiment, results)
    yield tables.results_table(experiment, results)


def _variations(experiment: Experiment, results: Results) -> Contents:
    yield variations.variation_table(experiment, results)
    if figure := variations.variation_figure(experiment, results):
        caption = "Mean distance to the published values."
        yield Picture(caption, f"{experiment.name}_distances", figure)
    if figure := variations.unpublished_figure(experiment, results):
        caption = f"Mean {experiment.measure} of all ensembles, where nothing is published."
        yield Picture(caption, f"{experiment.name}_{experiment.measure}", figure)


CONTENTS: dict[str, Callable[[Experiment, Results], Contents]] = {
    "diagrams": _diagrams,
    "harmful_states": lambda experiment, _: [tables.harmful_states_table(experiment)],
    "delegation_cost": _delegation_cost,
    "datasets": lambda experiment, _: [tables.dataset_table(experiment)],
    "search": _search,
    "curves": _curves,
    "results": _results,
    "variations": _variations,
}
"""The tables and figures of each kind of experiment, in the order of the page."""


def file_name(dataset: str) -> str:
    """Return a name for the files of a dataset, ``file::target`` included."""
    file, _, target = dataset.partition("::")
    return re.sub(r"[^\w.-]+", "_", "_".join(filter(None, [Path(file).stem, target])))
