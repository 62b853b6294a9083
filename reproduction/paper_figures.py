"""The paper's Figures 3, 4 and 5: delegation cost, parameter search, and curves of training."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import matplotlib
import mpltern  # noqa: F401 (importing it registers the ternary projection)
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from reproduction.experiment import Experiment
from reproduction.figure_style import (
    COLUMN,
    PAGE,
    draw_legend,
    line_style,
    show_plain_numbers,
    style,
)
from reproduction.methods import Result
from reproduction.protocols import Floats
from reproduction.trial_statistics import Estimate, Results, by_method
from skliquid.theory import delegation_cost

_AXES = {
    "increment_size": "Increment size",
    "n_estimators": "Ensemble size",
    "delegation_rate": "Delegation rate",
}
_HEXAGON = np.array([[2, -1, -1], [1, 1, -2], [-1, 2, -1], [-2, 1, 1], [-1, -1, 2], [1, -2, 1]]) / 3
_MARGIN = 2 / 3  # from the centre of a hexagon to its corners, in steps


def delegation_cost_figure(experiment: Experiment) -> Figure:
    """Return the paper's lower bound on delegation cost, one line per final number of voters.

    Cost is a multiple of the increment size, and is divided by it.
    """
    options = experiment.options
    rates = np.geomspace(options["first_rate"], options["last_rate"], 200)
    with style():
        figure = Figure(figsize=(COLUMN, 2.5), layout="constrained")
        axes = figure.add_subplot()
        for k, n_final in enumerate(options["n_final"]):
            cost = [delegation_cost(options["n_voters"], n_final, float(rate)) for rate in rates]
            axes.plot(rates, cost, label=str(n_final), markevery=(5 + 9 * k, 50), **line_style(k))
        axes.set(xscale="log", xlabel="Delegation rate, $1 - r$")
        axes.set(yscale="log", ylabel="Delegation cost / increment size")
        show_plain_numbers(axes.xaxis, axes.yaxis)
        axes.legend(title="$n^{\\mathrm{final}}$", reverse=True)
    return figure


def curves_figure(experiment: Experiment, results: Results, dataset: str, protocol: str) -> Figure:
    """Return accuracy and minimum majority by the number of representatives, one line per row.

    Each point is the mean over the trials that have that increment; a band is two standard errors
    wide to each side. The line of Direct, in which the number never changes, is drawn against the
    representatives that the last mechanism has at the same increment.
    """
    rows, groups = experiment.rows, by_method(experiment, results, protocol)
    trials = [groups[dataset, row.label] for row in rows]
    sizes = [_curve(group, "representatives")[0] for group in trials]
    shrinking = [size for k, size in enumerate(sizes) if trials[k] and not rows[k].is_direct]
    with style():
        figure = Figure(figsize=(PAGE, 2.75), layout="constrained")
        accuracy, majority = figure.subplots(1, 2)
        for axes, name in ((accuracy, "accuracy"), (majority, "minimum_majority")):
            axes.set(xscale="log", xlabel="Number of representatives")
            for k, row in enumerate(rows):
                if trials[k]:
                    x = shrinking[-1] if row.is_direct and shrinking else sizes[k]
                    _draw_curve(axes, x, _curve(trials[k], name), row.label, k)
            _reverse(axes, max(row.method["n_estimators"] for row in rows))
        accuracy.set_ylabel("Test accuracy")
        majority.set(yscale="log", ylabel="Minimum majority")
        show_plain_numbers(majority.yaxis)
        draw_legend(figure, n_columns=len(rows))
    return figure


def _curve(results: Sequence[Result], name: str) -> tuple[Floats, Floats]:
    """Return mean and standard error at each increment, over the trials that have a value."""
    curves = zip_longest(*(result[f"curve_{name}"] for result in results))
    values = pd.DataFrame(curves, dtype=float)  # one row per increment, one column per trial
    error = (values.var(axis="columns") / values.count(axis="columns")) ** 0.5
    return values.mean(axis="columns").to_numpy(), error.to_numpy()


def _draw_curve(axes: Axes, x: Floats, curve: tuple[Floats, Floats], label: str, k: int) -> None:
    n, line = min(len(x), len(curve[0])), line_style(k)
    x, mean, error = x[:n], curve[0][:n], curve[1][:n]
    axes.plot(x, mean, label=label, markevery=(k % 2, 2), zorder=3, **line)
    if np.isfinite(error).any():
        low, high = mean - 2 * error, mean + 2 * error
        axes.fill_between(x, low, high, color=line["color"], alpha=0.1, linewidth=0)


def _reverse(axes: Axes, n_voters: int) -> None:
    """Let the number of representatives decrease to the right, from all voters."""
    least = axes.dataLim.x0 if axes.lines else n_voters / 10
    show_plain_numbers(axes.xaxis)
    ticks = LogLocator(subs=(1, 2, 5)).tick_values(least, n_voters)
    axes.set_xticks([*(tick for tick in ticks if least <= tick < n_voters / 1.5), n_voters])
    axes.set_xlim(n_voters, least / 1.05)


def search_figure(experiment: Experiment, results: Results, dataset: str) -> Figure:
    """Return maps of test accuracy on one dataset over three parameters, one per mechanism.

    The rows of the experiment are the cells. The positions of each cell among the levels of the
    three parameters must have the same sum, so that the cells make a triangle. A cell shows the
    mean over trials, and is hatched if there are none. The best cells of each mechanism are
    outlined.
    """
    levels = {name: sorted({row.method[name] for row in experiment.rows}) for name in _AXES}
    panels = _panels(experiment, results, dataset, levels)
    means = [mean for panel in panels.values() for mean in panel.values() if np.isfinite(mean)]
    norm = Normalize(min(means, default=0.0), max(means, default=1.0))
    n_rows = (len(panels) + 1) // 2
    with style():
        figure = Figure(figsize=(PAGE, 3.05 * n_rows + 0.55))
        sides = {"left": 0.09, "right": 0.91, "bottom": 1.15 / figure.get_figheight(), "top": 0.96}
        grid = figure.add_gridspec(n_rows, 2, hspace=0.3, wspace=0.3, **sides)
        for k, (mechanism, panel) in enumerate(panels.items()):
            total = sum(next(iter(panel)))  # of the positions, the same for all cells
            axes = figure.add_subplot(grid[k], projection="ternary", ternary_sum=total)
            title = mechanism.rpartition(":")[2].replace("_", "\n").title()
            size = matplotlib.rcParams["axes.titlesize"]
            axes.text(-0.1, 1, title, transform=axes.transAxes, va="top", size=size)
            _draw_levels(axes, levels)
            _draw_hexagons(axes, panel, norm)
        _draw_colour_bar(figure, norm)
    return figure


def _panels(
    experiment: Experiment, results: Results, dataset: str, levels: Mapping[str, Sequence[float]]
) -> dict[str, dict[tuple[int, ...], float]]:
    """Return, by mechanism, mean accuracies by the positions of cells among the levels."""
    groups = by_method(experiment, results, experiment.protocols[0])
    panels: dict[str, dict[tuple[int, ...], float]] = defaultdict(dict)
    for row in experiment.rows:
        places = tuple(levels[name].index(row.method[name]) for name in _AXES)
        accuracies = (trial["accuracy_final"] for trial in groups[dataset, row.label])
        panels[row.method["mechanism"]][places] = Estimate.of(accuracies).mean
    return panels


def _draw_levels(axes: Any, levels: Mapping[str, Sequence[float]]) -> None:
    first, last = -_MARGIN, max(map(len, levels.values())) - 1 + _MARGIN
    axes.set_ternary_lim(first, last, first, last, first, last)
    axes.grid(False)
    axes.spines[:].set_visible(False)
    for axis, (name, label) in zip(
        (axes.taxis, axes.laxis, axes.raxis), _AXES.items(), strict=True
    ):
        axis.set_ticks(range(len(levels[name])), [f"{level:g}" for level in levels[name]])
        axis.set_ticks_position("tick1")
        axis.set_label_position("tick1")
        axis.set_label_text(label)


def _draw_hexagons(axes: Any, panel: Mapping[tuple[int, ...], float], norm: Normalize) -> None:
    places, values = np.array(list(panel)), np.array(list(panel.values()))
    shapes = axes.transProjection.transform((places[:, None] + _HEXAGON).reshape(-1, 3))
    shapes = shapes.reshape(-1, 6, 2)
    is_known = np.isfinite(values)
    is_best = is_known & (values == np.max(values[is_known], initial=-np.inf))
    coloured = {"array": values, "cmap": "cividis", "norm": norm}
    layers: list[tuple[Any, dict[str, Any]]] = [
        (shapes, coloured | {"edgecolor": "white", "linewidth": 0.5}),
        (shapes[~is_known], {"fc": "white", "ec": "0.6", "linewidth": 0.5, "hatch": "////"}),
        (shapes[is_best], {"fc": "none", "ec": "black", "linewidth": 1.4}),
    ]
    for part, look in layers:
        axes.add_collection(PolyCollection(part, clip_on=False, **look), autolim=False)
    for shape, value in zip(shapes[is_best], values[is_best], strict=True):
        x, y = shape.mean(axis=0)
        colour = "black" if norm(value) > 0.5 else "white"
        centred = {"ha": "center", "va": "center", "transform": axes.transData}
        axes.text(x, y, f"{value:.3f}", fontsize=6.5, color=colour, **centred)


def _draw_colour_bar(figure: Figure, norm: Normalize) -> None:
    axes = figure.add_axes((0.3, 0.42 / figure.get_figheight(), 0.4, 0.1 / figure.get_figheight()))
    bar = figure.colorbar(ScalarMappable(norm, "cividis"), cax=axes, orientation="horizontal")
    bar.outline.set_visible(False)
    bar.locator = MaxNLocator(5)
    bar.set_label("Test accuracy")
