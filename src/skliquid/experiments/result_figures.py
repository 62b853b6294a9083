"""Figures of results: accuracy or cost of each method on each dataset, beside what is published."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from skliquid.experiments.estimates import Results, short_name
from skliquid.experiments.figures import PAGE
from skliquid.experiments.spec import Experiment
from skliquid.experiments.tables import TITLES, results_table
from skliquid.plotting.style import style

_LABELS = {"accuracy": "Accuracy", "cost": "Cost relative to Direct"}
_LOOKS: dict[str, dict[str, Any]] = {
    "published": {"color": "black", "marker": "|", "markersize": 11, "markeredgewidth": 1.4},
    "paper": {"color": "#0072B2", "marker": "o"},
    "ours": {"color": "#D55E00", "marker": "s", "markerfacecolor": "white"},
}
_MOST_COLUMNS = 4
_APART = 0.26  # between the marks of two protocols, in rows


def results_figure(experiment: Experiment, results: Results, measure: str) -> Figure | None:
    """Return one panel per dataset, one row per method; None if nothing was measured.

    Bars are two standard errors long to each side.
    """
    values = pd.DataFrame(results_table(experiment, results).values)
    values = values[values["measure"] == measure].dropna(subset="mean")
    if measure == "cost":  # Direct's is 1 by definition
        direct = [row.label for row in experiment.rows if row.is_direct]
        values = values[~values["ensemble"].isin(direct) & (values["mean"] > 0)]
    if values.empty:
        return None
    labels, datasets = list(values["ensemble"].unique()), list(values["dataset"].unique())
    n_columns = min(_MOST_COLUMNS, len(datasets))
    n_rows = -(-len(datasets) // n_columns)
    with style():
        height = 0.7 + n_rows * (0.55 + 0.17 * len(labels))
        figure = Figure(figsize=(PAGE * (n_columns + 2) / 6, height), layout="constrained")
        panels = figure.subplots(n_rows, n_columns, sharey=True, squeeze=False).flatten().tolist()
        for axes, dataset in zip(panels, datasets, strict=False):
            _draw_dataset(axes, values[values["dataset"] == dataset], labels)
            _scale(axes, values["mean"], is_logarithmic=measure == "cost")
            axes.set_title(short_name(dataset))
        for axes in panels[len(datasets) :]:
            axes.remove()
        panels[0].invert_yaxis()
        figure.supxlabel(_LABELS[measure], fontsize=8)
        _draw_legend(figure, values)
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


def _draw_dataset(axes: Axes, values: pd.DataFrame, labels: Sequence[str]) -> None:
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
        rows = part["ensemble"].map(places) + _APART * (k - (len(protocols) - 1) / 2)
        bars, look = 2 * part["standard_error"].fillna(0), _LOOKS[protocol]
        axes.errorbar(part["mean"], rows, xerr=bars, linestyle="", elinewidth=0.8, **look)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(-0.6, len(labels) - 0.4)


def _draw_legend(figure: Figure, values: pd.DataFrame) -> None:
    """Draw what the marks mean, above all panels."""
    names = dict.fromkeys(["published"] * bool((values["published"] != "").any()))
    names |= dict.fromkeys(values["protocol"].unique())
    axes = figure.axes[0]
    handles = [axes.plot([], [], linestyle="", **_LOOKS[name])[0] for name in names]
    words = [TITLES.get(name, name) for name in names]
    figure.legend(handles, words, loc="outside upper center", ncols=len(words))
