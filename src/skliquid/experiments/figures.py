"""Figures: the paper's pictures, drawn from results in one style."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import zip_longest
from pathlib import Path
from typing import Any

import matplotlib.style
import mpltern  # noqa: F401 (importing it makes the ternary projection known)
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from skliquid.arrays import Floats
from skliquid.experiments.methods import Result
from skliquid.experiments.spec import Experiment
from skliquid.experiments.trial import Trial
from skliquid.theory import delegation_cost

Results = Sequence[tuple[Trial, Result]]
Cell = tuple[float, ...]

_STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that files do not vary with machines
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 2.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "lines.markeredgewidth": 0.6,
    "hatch.linewidth": 0.5,
    "svg.hashsalt": "skliquid",
    "svg.fonttype": "path",
}
_LINES: Sequence[dict[str, Any]] = (
    {"color": "#000000", "linestyle": "-", "marker": ""},
    {"color": "#E69F00", "linestyle": (0, (1, 1.2)), "marker": "v"},
    {"color": "#0072B2", "linestyle": (0, (5, 1.5)), "marker": "s"},
    {"color": "#56B4E9", "linestyle": (0, (5, 1.2, 1, 1.2)), "marker": "^"},
    {"color": "#CC79A7", "linestyle": (0, (3, 1, 1, 1, 1, 1)), "marker": "D"},
    {"color": "#D55E00", "linestyle": "-", "marker": "o"},
    {"color": "#009E73", "linestyle": (0, (2, 1)), "marker": "P"},
)
COLUMN, PAGE = 3.4, 7.0  # inches
_AXES = {
    "increment_size": "Increment size",
    "n_estimators": "Ensemble size",
    "delegation_rate": "Delegation rate",
}
_TITLES = {
    "max": "Max",
    "random_better": "Random Better",
    "proportional_better": "Proportional Better",
    "proportional_weighted": "Proportional Weighted",
}
_HEXAGON = np.array(
    [[2, -1, -1], [1, 1, -2], [-1, 2, -1], [-2, 1, 1], [-1, -1, 2], [1, -2, 1]]
) / 3.0  # fmt: skip
_PLAIN = FuncFormatter(lambda value, _: f"{value:,g}")
_MARGIN = 2 / 3  # how far a hexagon reaches out from its centre, in steps


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
        axes.set(xscale="log", yscale="log")
        show_plainly(axes.xaxis)
        show_plainly(axes.yaxis)
        axes.set_xlabel("Delegation rate, $1 - r$")
        axes.set_ylabel("Delegation cost / increment size")
        axes.legend(title="$n^{\\mathrm{final}}$", reverse=True)
    return figure


def search_figure(experiment: Experiment, results: Results, dataset: str) -> Figure:
    """Return maps of test accuracy on one dataset over three parameters, one a mechanism.

    Parameters
    ----------
    experiment : Experiment
        Its rows are the cells; their places among the levels of the three parameters must have
        the same sum, so that they make a triangle.
    results : sequence of (Trial, Result)
        Those of other datasets are left out. Of a cell, the mean is shown; a cell without results
        is hatched. The best of each mechanism are outlined.
    dataset : str
        Its name, or ``file::target``.
    """
    levels = {name: sorted({row.method[name] for row in experiment.rows}) for name in _AXES}
    labels = {row.method["mechanism"]: row.label for row in experiment.rows}
    means = _cell_means(results, dataset)
    panels = {mechanism: _panel(experiment, levels, means, mechanism) for mechanism in labels}
    known = [value for panel in panels.values() for value in panel.values() if np.isfinite(value)]
    norm = Normalize(min(known, default=0.0), max(known, default=1.0))
    n_rows = (len(panels) + 1) // 2
    with style():
        figure = Figure(figsize=(PAGE, 3.05 * n_rows + 0.55))
        bottom = 1.15 / figure.get_figheight()
        grid = figure.add_gridspec(
            n_rows, 2, left=0.09, right=0.91, bottom=bottom, top=0.96, hspace=0.3, wspace=0.3
        )
        sides = [levels[name] for name in _AXES]
        for k, (mechanism, panel) in enumerate(panels.items()):
            axes = figure.add_subplot(grid[k], projection="ternary", ternary_sum=_total(panel))
            title = _TITLES.get(mechanism, labels[mechanism]).replace(" ", "\n")
            axes.text(
                -0.1, 1, title, transform=axes.transAxes, va="top", size=_STYLE["axes.titlesize"]
            )
            _draw_levels(axes, sides)
            _draw_hexagons(axes, panel, norm)
        _draw_colour_bar(figure, norm)
    return figure


def curves_figure(experiment: Experiment, results: Results, dataset: str, protocol: str) -> Figure:
    """Return accuracy and minimum majority as representatives become fewer, a line a mechanism.

    Trials are averaged increment by increment, over those that came so far; a band is two standard
    errors wide to each side. Where nobody delegates, as in Direct, a line is drawn against
    the representatives that the last mechanism has at the same increment.

    Parameters
    ----------
    experiment : Experiment
        Its rows are the mechanisms.
    results : sequence of (Trial, Result)
        Those of other datasets and protocols are left out.
    dataset : str
        Its name, or ``file::target``.
    protocol : str
        The name of the protocol.
    """
    found = [
        (trial.method, result)
        for trial, result in _on(results, dataset)
        if trial.protocol == protocol
    ]
    of_row = [
        [result for method, result in found if method == row.under(protocol)]
        for row in experiment.rows
    ]
    shrinking = [
        _curve(each, "representatives")[0]
        for row, each in zip(experiment.rows, of_row, strict=True)
        if each and row.method["mechanism"] != "direct"
    ]
    with style():
        figure = Figure(figsize=(PAGE, 2.75), layout="constrained")
        accuracy, majority = figure.subplots(1, 2)
        for axes, name in ((accuracy, "accuracy"), (majority, "minimum_majority")):
            axes.set(xscale="log", xlabel="Number of representatives")
            for k, (row, each) in enumerate(zip(experiment.rows, of_row, strict=True)):
                if each:
                    is_direct = row.method["mechanism"] == "direct"
                    own = _curve(each, "representatives")[0]
                    x = shrinking[-1] if is_direct and shrinking else own
                    _draw_curve(axes, x, _curve(each, name), row.label, k)
            _reverse(axes, max(row.method["n_estimators"] for row in experiment.rows))
        accuracy.set_ylabel("Test accuracy")
        majority.set(yscale="log", ylabel="Minimum majority")
        show_plainly(majority.yaxis)
        handles, labels = accuracy.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(experiment.rows))
    return figure


def style() -> AbstractContextManager[None]:
    """Return a context in which matplotlib draws in the one style of all figures."""
    return matplotlib.style.context(_STYLE, after_reset=True)


def line_style(k: int) -> dict[str, Any]:
    """Return colour, dashes and mark of the k-th line, to be told apart in grey as well."""
    return {"markerfacecolor": "white"} | _LINES[k % len(_LINES)]


def _on(results: Results, dataset: str) -> Iterator[tuple[Trial, Result]]:
    return ((trial, result) for trial, result in results if trial.data == dataset)


def _cell(method: Mapping[str, Any]) -> Cell:
    return tuple(method[name] for name in _AXES)


def _cell_means(results: Results, dataset: str) -> dict[tuple[str, Cell], float]:
    accuracies = defaultdict(list)
    for trial, result in _on(results, dataset):
        accuracies[trial.method["mechanism"], _cell(trial.method)].append(result["accuracy_final"])
    return {key: float(np.mean(values)) for key, values in accuracies.items()}


def _panel(
    experiment: Experiment,
    levels: Mapping[str, Sequence[float]],
    means: Mapping[tuple[str, Cell], float],
    mechanism: str,
) -> dict[tuple[int, ...], float]:
    """Return the mean accuracy by the places of a cell among the levels of the parameters."""
    return {
        tuple(levels[name].index(row.method[name]) for name in _AXES): means.get(
            (mechanism, _cell(row.method)), np.nan
        )
        for row in experiment.rows
        if row.method["mechanism"] == mechanism
    }


def _total(panel: Mapping[tuple[int, ...], float]) -> int:
    totals = {sum(places) for places in panel}
    if len(totals) != 1:
        raise ValueError(
            "cells of a search must have places that sum to the same number, to make a triangle: "
            f"these sum to {sorted(totals)}. Give the experiment a slice."
        )
    return totals.pop()


def _draw_levels(axes: Any, sides: Sequence[Sequence[float]]) -> None:
    first, last = -_MARGIN, max(map(len, sides)) - 1 + _MARGIN
    axes.set_ternary_lim(first, last, first, last, first, last)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for axis, levels, label in zip(
        (axes.taxis, axes.laxis, axes.raxis), sides, _AXES.values(), strict=True
    ):
        axis.set_ticks(range(len(levels)), [f"{level:g}" for level in levels])
        axis.set_ticks_position("tick1")
        axis.set_label_position("tick1")
        axis.set_label_text(label)


def _draw_hexagons(axes: Any, panel: Mapping[tuple[int, ...], float], norm: Normalize) -> None:
    places, values = np.array(list(panel)), np.array(list(panel.values()))
    shapes = axes.transProjection.transform((places[:, None] + _HEXAGON).reshape(-1, 3))
    shapes = shapes.reshape(-1, 6, 2)
    is_known = np.isfinite(values)
    is_best = is_known & (values == np.max(values[is_known], initial=-np.inf))
    hexagons = PolyCollection(
        shapes, array=values, cmap="cividis", norm=norm, edgecolor="white", linewidth=0.5
    )
    empty = PolyCollection(
        shapes[~is_known], facecolor="white", edgecolor="0.6", linewidth=0.5, hatch="////"
    )
    best = PolyCollection(shapes[is_best], facecolor="none", edgecolor="black", linewidth=1.4)
    for collection in (hexagons, empty, best):
        collection.set_clip_on(False)
        axes.add_collection(collection, autolim=False)
    for shape, value in zip(shapes[is_best], values[is_best], strict=True):
        x, y = shape.mean(axis=0)
        colour = "black" if norm(value) > 0.5 else "white"
        axes.text(
            x,
            y,
            f"{value:.3f}",
            transform=axes.transData,
            ha="center",
            va="center",
            fontsize=6.5,
            color=colour,
        )


def _draw_colour_bar(figure: Figure, norm: Normalize) -> None:
    axes = figure.add_axes((0.3, 0.42 / figure.get_figheight(), 0.4, 0.1 / figure.get_figheight()))
    bar = figure.colorbar(ScalarMappable(norm, "cividis"), cax=axes, orientation="horizontal")
    bar.outline.set_visible(False)
    bar.locator = MaxNLocator(5)
    bar.set_label("Test accuracy")


def _curve(results: Sequence[Result], name: str) -> tuple[Floats, Floats]:
    """Return mean and standard error at each increment, over the results that have a number."""
    lists = [result[f"curve_{name}"] for result in results]
    rows = np.array(list(zip_longest(*lists, fillvalue=np.nan)), dtype=np.float64)
    numbers = np.ma.masked_invalid(rows.reshape(-1, len(lists)))
    n_known = numbers.count(axis=1)
    mean = numbers.mean(axis=1)
    squares = ((numbers - mean[:, None]) ** 2).sum(axis=1)
    error = np.ma.sqrt(squares / np.ma.masked_less(n_known * (n_known - 1), 1))
    return mean.filled(np.nan), error.filled(np.nan)


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
    ticks = LogLocator(subs=(1, 2, 5)).tick_values(least, n_voters)
    axes.set_xticks([*(tick for tick in ticks if least <= tick < n_voters / 1.5), n_voters])
    axes.xaxis.set_major_formatter(_PLAIN)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(n_voters, least / 1.05)


def show_plainly(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers at 1, 2 and 5 times the powers of ten."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(_PLAIN)
    axis.set_minor_locator(NullLocator())
