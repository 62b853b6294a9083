"""The figure of a parameter search: accuracy over three parameters, as hexagons in a triangle."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import mpltern  # noqa: F401 (importing it makes the ternary projection known)
import numpy as np
from matplotlib import rcParams
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from skliquid.experiments.estimates import Estimate, Results, by_method
from skliquid.experiments.figures import PAGE, style
from skliquid.experiments.spec import Experiment, label_of

_AXES = {
    "increment_size": "Increment size",
    "n_estimators": "Ensemble size",
    "delegation_rate": "Delegation rate",
}
_TITLES = {
    "max": "Max",
    "random_better": "Random\nBetter",
    "proportional_better": "Proportional\nBetter",
    "proportional_weighted": "Proportional\nWeighted",
}
_HEXAGON = np.array(
    [[2, -1, -1], [1, 1, -2], [-1, 2, -1], [-2, 1, 1], [-1, -1, 2], [1, -2, 1]]
) / 3.0  # fmt: skip
_MARGIN = 2 / 3  # from the centre of a hexagon to its corners, in steps


def search_figure(experiment: Experiment, results: Results, dataset: str) -> Figure:
    """Return maps of test accuracy on one dataset over three parameters, one per mechanism.

    The rows of the experiment are the cells; the positions of a cell among the levels of the three
    parameters must have the same sum, so that they make a triangle. A cell shows the mean over
    trials, and is hatched if there are none. The best cells of each mechanism are outlined.
    """
    levels = {name: sorted({row.method[name] for row in experiment.rows}) for name in _AXES}
    panels = _panels(experiment, results, dataset, levels)
    known = [value for panel in panels.values() for value in panel.values() if np.isfinite(value)]
    norm = Normalize(min(known, default=0.0), max(known, default=1.0))
    n_rows = (len(panels) + 1) // 2
    with style():
        figure = Figure(figsize=(PAGE, 3.05 * n_rows + 0.55))
        bottom = 1.15 / figure.get_figheight()
        grid = figure.add_gridspec(
            n_rows, 2, left=0.09, right=0.91, bottom=bottom, top=0.96, hspace=0.3, wspace=0.3
        )
        for k, (mechanism, panel) in enumerate(panels.items()):
            total = sum(next(iter(panel)))  # of the positions, the same for all cells
            axes = figure.add_subplot(grid[k], projection="ternary", ternary_sum=total)
            title = _TITLES.get(mechanism, label_of({"method": "liquid", "mechanism": mechanism}))
            size = rcParams["axes.titlesize"]
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
