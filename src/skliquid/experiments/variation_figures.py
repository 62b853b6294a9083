"""Figures of variations: the distance to the published values, by what is varied."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skliquid.experiments.figures import PAGE, line_style, show_plainly, style
from skliquid.experiments.spec import Experiment
from skliquid.experiments.tables import Results
from skliquid.experiments.variations import (
    Comparison,
    comparisons,
    in_words,
    summary,
    variations_of,
)


def variation_figure(experiment: Experiment, results: Results) -> Figure | None:
    """Return the distance to the published values by variation; None where none is published."""
    found = [each for each in comparisons(experiment, results) if each.published is not None]
    if not found:
        return None
    is_scan = len(experiment.vary) == 1 and any(_is_number(v[0]) for v in variations_of(found))
    return _scan_figure(experiment, found) if is_scan else _dot_figure(experiment, found)


def _dot_figure(experiment: Experiment, found: Sequence[Comparison]) -> Figure:
    """Return a panel per setting: datasets from top to bottom, a mark per variation."""
    settings = list(dict.fromkeys(each.setting for each in found))
    names = [*dict.fromkeys(each.dataset for each in found), "mean"]
    with style():
        figure = Figure(figsize=(PAGE, 1.0 + 0.28 * len(names)), layout="constrained")
        panels = figure.subplots(1, len(settings), sharey=True, sharex=True, squeeze=False)[0]
        for axes, setting in zip(panels, settings, strict=True):
            here = [each for each in found if each.setting == setting]
            variations = variations_of(found)
            for k, variation in enumerate(variations):
                of_variation = [each for each in here if each.variation == variation]
                by_name = {
                    name: [each for each in of_variation if name in (each.dataset, "mean")]
                    for name in names
                }
                distance = [summary(some)[0] for some in by_name.values()]
                look = line_style(k) | {"linestyle": "", "marker": "osD^v"[k % 5]}
                rows = np.arange(len(names)) + 0.5 * ((k + 0.5) / len(variations) - 0.5)
                axes.plot(distance, rows, label=in_words(experiment, variation), **look)
            axes.axhline(len(names) - 1.5, color="0.6", linewidth=0.6)
            axes.set_title(setting)
            axes.set_xlabel(f"Mean distance to the published {experiment.measure}")
            axes.set_xscale("log")
            show_plainly(axes.xaxis)
        panels[0].set_yticks(range(len(names)), names)
        panels[0].invert_yaxis()
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure


def _scan_figure(experiment: Experiment, found: Sequence[Comparison]) -> Figure:
    """Return two panels, numbers and shares, with a line per dataset and one for their mean."""
    datasets = list(dict.fromkeys(each.dataset for each in found))
    numbers = [each for each in found if isinstance(each.variation[0], int)]
    shares = [each for each in found if not isinstance(each.variation[0], int)]
    parts = [(numbers, "Features per voter"), (shares, "Share of the features per voter")]
    parts = [(part, label) for part, label in parts if part]
    with style():
        figure = Figure(figsize=(PAGE, 2.9), layout="constrained")
        panels = figure.subplots(1, len(parts), sharey=True, squeeze=False)[0]
        for axes, (part, label) in zip(panels, parts, strict=True):
            for k, dataset in enumerate(datasets):
                of_dataset = [each for each in part if each.dataset == dataset]
                _draw_scan(axes, of_dataset, dataset, 1 + k % 6)  # 0 is the mean's
            _draw_scan(axes, part, "mean", 0)
            axes.set_xlabel(label)
            axes.set_yscale("log")
            show_plainly(axes.yaxis)
            levels = sorted({_as_number(each.variation[0]) for each in part})
            axes.set_xticks(levels, [f"{level:g}" for level in levels])
        panels[0].set_ylabel(f"Mean distance to the\npublished {experiment.measure}")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _draw_scan(axes: Axes, found: Sequence[Comparison], label: str, k: int) -> None:
    levels = sorted({_as_number(each.variation[0]) for each in found})
    distance = [
        summary(each for each in found if _as_number(each.variation[0]) == level)[0]
        for level in levels
    ]
    look = line_style(k) | ({"linewidth": 2.2} if label == "mean" else {})
    axes.plot(levels, distance, label=label, **look)
    if label == "mean":
        best = int(np.argmin(distance))
        axes.plot(levels[best], distance[best], "o", color="black", markersize=5)


def _as_number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 1.0  # "all"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)
