"""Trait panels: bars for traits with few values, and an axis for traits with many numbers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from skliquid.plotting.style import DRAWN_COLOUR, FINAL_COLOUR, MIN_FONT_SIZE
from skliquid.plotting.traits import Trait

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR_HEIGHT, _AXIS_HEIGHT = 0.17, 0.5  # inches
_WIDE_RATIO = 100.0  # between the largest and the smallest number; only powers of ten are labelled
_MAX_AREA = 90.0  # of the circle of the heaviest voter, in square points


def panel_height(trait: Trait) -> float:
    """Return the height that a panel needs, in inches."""
    return _AXIS_HEIGHT if trait.is_continuous else _BAR_HEIGHT * len(trait.categories)


def draw_trait(ax: "Axes", trait: Trait, n_bars: int) -> None:
    """Draw a trait; with room for ``n_bars``, bars of all panels in a row are equally wide."""
    ax.set_title(trait.title, loc="left")
    ax.grid(axis="y", visible=False)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    if trait.is_continuous:
        _draw_numbers(ax, trait)
    else:
        _draw_categories(ax, trait, n_bars)


def _draw_categories(ax: "Axes", trait: Trait, n_bars: int) -> None:
    labels, drawn, left = zip(*trait.categories, strict=True)
    places = np.arange(len(labels))
    ax.barh(places, drawn, height=0.76, color=DRAWN_COLOUR)
    ax.barh(places, left, height=0.34, color=FINAL_COLOUR)
    for place, category in enumerate(trait.categories):
        end = max(category.drawn, category.left)
        text = f" {category.left:.0%}" if trait.weights.any() else ""
        ax.text(end, place, text, va="center", size=MIN_FONT_SIZE, color="0.25")
    ax.set_yticks(places, labels)
    ax.set(xlim=(0, 1.2), ylim=(n_bars - 0.4, -0.6), xticks=[])
    ax.spines["bottom"].set_visible(False)
    if not trait.weights.any():
        ax.text(1.15, len(places) / 2 - 0.5, "none left", ha="right", va="center", color="0.4")


def _draw_numbers(ax: "Axes", trait: Trait) -> None:
    values, weights = np.array(trait.values, dtype=float), trait.weights
    ax.plot(values, np.zeros(len(values)), "|", color="0.5", markersize=6, markeredgewidth=0.7)
    is_left = weights > 0
    if is_left.any():
        areas = _MAX_AREA * weights[is_left] / weights.max()
        look: dict[str, Any] = {"alpha": 0.75, "edgecolors": "white", "linewidths": 0.5}
        heights = np.ones_like(areas)
        ax.scatter(values[is_left], heights, s=areas, color=FINAL_COLOUR, zorder=3, **look)
    if trait.is_logarithmic:
        _make_logarithmic(ax, values.max() / values.min())
    ax.set_yticks([1, 0], ["at the end" if is_left.any() else "none left", "drawn"])
    ax.set_ylim(-0.6, 1.8)
    ax.margins(x=0.06)


def _make_logarithmic(ax: "Axes", ratio: float) -> None:
    """Label powers of ten, and a number between them if they are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    is_wide = ratio >= _WIDE_RATIO
    ax.xaxis.set_major_locator(LogLocator(subs=(1,) if is_wide else (1, 3), numticks=6))
    ax.xaxis.set_minor_formatter(NullFormatter())
    if not is_wide:
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
