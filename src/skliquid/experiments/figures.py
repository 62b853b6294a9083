"""Figures: the paper's pictures, drawn from results in one style."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import zip_longest
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from skliquid.arrays import Floats
from skliquid.experiments.estimates import Results, by_method
from skliquid.experiments.methods import Result
from skliquid.experiments.spec import Experiment
from skliquid.experiments.variations import comparisons
from skliquid.theory import delegation_cost

COLUMN, PAGE = 3.4, 7.0  # inches


def style() -> AbstractContextManager[None]:
    """Return a context in which matplotlib draws in the one style of all figures."""
    return matplotlib.style.context("skliquid.experiments.paper", after_reset=True)


def line_style(k: int) -> dict[str, Any]:
    """Return colour, dashes and marker of the k-th line, inside the style."""
    lines = list(matplotlib.rcParams["axes.prop_cycle"])
    return {"markerfacecolor": "white", **lines[k % len(lines)]}


def save(figure: Figure, folder: Path, stem: str) -> list[Path]:
    """Write a figure as PNG and as SVG, to the same bytes each time, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    png, svg = folder / f"{stem}.png", folder / f"{stem}.svg"
    with style():
        figure.savefig(png, dpi=200, metadata={"Software": None})
        figure.savefig(svg, metadata={"Date": None, "Creator": None})
    return [png, svg]


def delegation_cost_figure(experiment: Experiment) -> Figure:
    """Return the paper's lower bound on delegation cost, a line for each number left at the end.

    Cost is divided by the increment size, of which it is a multiple.
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
        show_plainly(axes.xaxis, axes.yaxis)
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
        show_plainly(majority.yaxis)
        _draw_legend(figure, n_columns=len(rows))
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
    """Let representatives become fewer to the right, from all voters on."""
    least = axes.dataLim.x0 if axes.lines else n_voters / 10
    show_plainly(axes.xaxis)
    ticks = LogLocator(subs=(1, 2, 5)).tick_values(least, n_voters)
    axes.set_xticks([*(tick for tick in ticks if least <= tick < n_voters / 1.5), n_voters])
    axes.set_xlim(n_voters, least / 1.05)


def variation_figure(experiment: Experiment, results: Results) -> Figure | None:
    """Return the distance to the published values by variation; None if none is published."""
    frame = comparisons(experiment, results).dropna(subset="published")
    if frame.empty:
        return None
    levels = frame[experiment.vary[0]]
    is_scan = len(experiment.vary) == 1 and any(isinstance(v, int | float) for v in levels)
    label = f"Mean distance to the published {experiment.measure}"
    return _scan_figure(frame, levels, label) if is_scan else _dot_figure(frame, label)


def _dot_figure(frame: pd.DataFrame, label: str) -> Figure:
    """Return one panel per setting: datasets from top to bottom, one mark per variation."""
    settings, variations = frame["setting"].unique(), frame["variation"].unique()
    datasets = list(frame["dataset"].unique())
    with style():
        figure = Figure(figsize=(PAGE, 1.28 + 0.28 * len(datasets)), layout="constrained")
        panels = figure.subplots(1, len(settings), sharey=True, sharex=True, squeeze=False)[0]
        for axes, setting in zip(panels, settings, strict=True):
            for k, variation in enumerate(variations):
                part = frame[(frame["setting"] == setting) & (frame["variation"] == variation)]
                distance = part.groupby("dataset")["distance"].mean().reindex(datasets)
                look = line_style(k) | {"linestyle": "", "marker": "osD^v"[k % 5]}
                rows = np.arange(len(datasets) + 1) + 0.5 * ((k + 0.5) / len(variations) - 0.5)
                axes.plot([*distance, part["distance"].mean()], rows, label=variation, **look)
            axes.axhline(len(datasets) - 0.5, color="0.6", linewidth=0.6)
            axes.set(title=setting, xlabel=label, xscale="log")
            show_plainly(axes.xaxis)
        panels[0].set_yticks(range(len(datasets) + 1), [*datasets, "mean"])
        panels[0].invert_yaxis()
        _draw_legend(figure, n_columns=2)
    return figure


def _scan_figure(frame: pd.DataFrame, levels: pd.Series, label: str) -> Figure:
    """Return two panels, numbers and shares, with one line per dataset and one for their mean."""
    frame = frame.assign(level=levels.map(lambda v: 1.0 if v == "all" else float(v)))
    is_count = levels.map(lambda v: isinstance(v, int))
    names = is_count.map({True: "Features per voter", False: "Share of the features per voter"})
    parts = list(frame.groupby(names))
    with style():
        figure = Figure(figsize=(PAGE, 2.9), layout="constrained")
        panels = figure.subplots(1, len(parts), sharey=True, squeeze=False)[0]
        for axes, (name, part) in zip(panels, parts, strict=True):
            for k, dataset in enumerate(frame["dataset"].unique()):
                distance = part[part["dataset"] == dataset].groupby("level")["distance"].mean()
                axes.plot(distance, label=dataset, **line_style(1 + k % 6))  # 0 is the mean's
            mean = part.groupby("level")["distance"].mean()
            axes.plot(mean, label="mean", **line_style(0) | {"linewidth": 2.2})
            axes.plot(mean.idxmin(), mean.min(), "ko", markersize=5)
            axes.set(xlabel=name, yscale="log")
            show_plainly(axes.yaxis)
            axes.set_xticks(mean.index, [f"{level:g}" for level in mean.index])
        panels[0].set_ylabel(label.replace("the ", "the\n"))
        _draw_legend(figure, n_columns=frame["dataset"].nunique() + 1)
    return figure


def _draw_legend(figure: Figure, n_columns: int) -> None:
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=n_columns)


def show_plainly(*logarithmic: Axis) -> None:
    """Label axes with plain numbers at 1, 2 and 5 times the powers of ten."""
    for axis in logarithmic:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_locator(NullLocator())
