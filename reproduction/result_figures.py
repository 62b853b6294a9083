"""Figures of results: ours beside the published values, by method and dataset."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from reproduction.experiment import Experiment
from reproduction.figure_style import (
    BLUE,
    ORANGE,
    PAGE,
    draw_legend,
    line_style,
    show_plain_numbers,
    style,
)
from reproduction.result_tables import TITLES, result_values
from reproduction.trial_statistics import Results, short_name

MEASURES = {"accuracy": "Accuracy", "cost": "Cost relative to Direct"}
"""The measures that are drawn, and the labels of their axes."""

_LOOKS: dict[str, dict[str, Any]] = {
    "published": {"color": "black", "marker": "|", "markersize": 11, "markeredgewidth": 1.4},
    "paper": {"color": BLUE, "marker": "o"},
    "ours": {"color": ORANGE, "marker": "s", "markerfacecolor": "white"},
}
_MARKERS = "osD^vP*X"
_MAX_COLUMNS = 4
_OFFSET = 0.26  # between the marks of two protocols, in rows


def results_figure(experiment: Experiment, results: Results, measure: str) -> Figure | None:
    """Return one panel per dataset with one row per method, or None if nothing was measured.

    Bars are two standard errors long to each side.
    """
    values = result_values(experiment, results)
    values = values[values["measure"] == measure].dropna(subset="mean")
    if measure == "cost":  # Direct's is 1 by definition
        values = values[~values["ensemble"].isin(experiment.direct) & (values["mean"] > 0)]
    if values.empty:
        return None
    labels, datasets = list(values["ensemble"].unique()), list(values["dataset"].unique())
    n_columns = min(_MAX_COLUMNS, len(datasets))
    n_rows = -(-len(datasets) // n_columns)
    with style():
        height = 0.7 + n_rows * (0.55 + 0.17 * len(labels))
        figure = Figure(figsize=(PAGE * (n_columns + 2) / 6, height), layout="constrained")
        panels = figure.subplots(n_rows, n_columns, sharey=True, squeeze=False).flatten().tolist()
        for axes, dataset in zip(panels, datasets, strict=False):
            _draw_methods(axes, values[values["dataset"] == dataset], labels)
            _scale(axes, values["mean"], is_logarithmic=measure == "cost")
            axes.set_title(short_name(dataset))
        for axes in panels[len(datasets) :]:
            axes.remove()
        panels[0].invert_yaxis()
        figure.supxlabel(MEASURES[measure], fontsize=8)
        _draw_marks_legend(figure, values)
    return figure


def _scale(axes: Axes, means: pd.Series, *, is_logarithmic: bool) -> None:
    """Give all panels of costs one axis, by powers of ten, and each of accuracies its own."""
    if not is_logarithmic:
        axes.xaxis.set_major_locator(MaxNLocator(4))
        return
    low, high = means.min() / 1.6, max(means.max(), 1) * 1.6
    powers = [10.0**k for k in range(-9, 3) if low <= 10.0**k <= high]
    axes.set(xscale="log", xlim=(low, high))
    axes.set_xticks(powers, [f"{power:g}" for power in powers])
    axes.xaxis.set_minor_locator(NullLocator())


def _draw_methods(axes: Axes, values: pd.DataFrame, labels: Sequence[str]) -> None:
    places = {label: k for k, label in enumerate(labels)}
    printed = values[values["published"] != ""].drop_duplicates("ensemble")
    if len(printed):
        axes.plot(
            printed["published"].astype(float),
            printed["ensemble"].map(places),
            linestyle="",
            **_LOOKS["published"],
        )
    protocols = list(values["protocol"].unique())
    for k, protocol in enumerate(protocols):
        part = values[values["protocol"] == protocol]
        rows = part["ensemble"].map(places) + _OFFSET * (k - (len(protocols) - 1) / 2)
        bars, look = 2 * part["standard_error"].fillna(0), _LOOKS[protocol]
        axes.errorbar(part["mean"], rows, xerr=bars, linestyle="", elinewidth=0.8, **look)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(-0.6, len(labels) - 0.4)


def _draw_marks_legend(figure: Figure, values: pd.DataFrame) -> None:
    """Draw the meaning of the marks above all panels."""
    names = dict.fromkeys(["published"] * bool((values["published"] != "").any()))
    names |= dict.fromkeys(values["protocol"].unique())
    axes = figure.axes[0]
    handles = [axes.plot([], [], linestyle="", **_LOOKS[name])[0] for name in names]
    words = [TITLES.get(name, name) for name in names]
    figure.legend(handles, words, loc="outside upper center", ncols=len(words))


def agreement_figure(values: pd.DataFrame) -> Figure:
    """Return our means against the published values of delegating ensembles, by measure.

    ``values`` are those of ``published_beside_measured``.
    """
    values = values[~values["is_boosted"]]
    measures = [measure for measure in MEASURES if (values["measure"] == measure).any()]
    datasets = list(values["dataset"].unique())
    with style():
        figure = Figure(figsize=(PAGE, 3.5), layout="constrained")
        panels = figure.subplots(1, len(measures), squeeze=False)[0]
        for axes, measure in zip(panels, measures, strict=True):
            part = values[values["measure"] == measure]
            for k, dataset in enumerate(datasets):
                _draw_means(axes, part[part["dataset"] == dataset], dataset, k)
            _draw_diagonal(axes, part, is_logarithmic=measure == "cost")
            words = MEASURES[measure][0].lower() + MEASURES[measure][1:]
            axes.set(xlabel=f"Published {words}", ylabel=f"Our {words}", aspect="equal")
        draw_legend(figure, n_columns=4)
    return figure


def _draw_means(axes: Axes, part: pd.DataFrame, dataset: str, k: int) -> None:
    """Draw means with bars of two standard errors; marks outside them are filled."""
    colour, marker = line_style(k)["color"], _MARKERS[k % len(_MARKERS)]
    look = {"color": colour, "marker": marker, "linestyle": ""}
    axes.plot([], [], label=short_name(dataset), markerfacecolor="white", **look)
    for differs, marks in part.groupby("differs"):
        bars = 2 * marks["standard_error"].fillna(0)
        axes.errorbar(
            *(marks["published"], marks["mean"], bars),
            markerfacecolor=colour if differs else "white",
            elinewidth=0.6,
            **look,
        )


def _draw_diagonal(axes: Axes, part: pd.DataFrame, *, is_logarithmic: bool) -> None:
    """Draw the line of equal values, over the range of both."""
    low, high = part[["published", "mean"]].min().min(), part[["published", "mean"]].max().max()
    if is_logarithmic:
        axes.set(xscale="log", yscale="log")
        limits = (max(low, 1e-4) / 1.4, high * 1.4)
        show_plain_numbers(axes.xaxis, axes.yaxis)
    else:
        limits = (low - 0.02, high + 0.02)
    axes.axline((limits[0], limits[0]), (limits[1], limits[1]), color="0.6", linewidth=0.8)
    axes.set(xlim=limits, ylim=limits)
