"""The panels of a SurvivorsDisplay: bars for a few values, and an axis for many numbers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from skliquid.plotting.labels import SMALLEST
from skliquid.plotting.style import FADES, SURVIVES
from skliquid.plotting.traits import Trait

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE, _AXIS = 0.17, 0.5  # inches
_WIDE = 100.0
_LARGEST = 90.0
"""Area of the circle of the heaviest voter of a trait, in square points."""


def height_of(trait: Trait) -> float:
    """Return the height that a panel needs, in inches."""
    return _AXIS if trait.is_continuous else _LINE * len(trait.categories)


def draw_trait(ax: "Axes", trait: Trait, n_lines: int) -> None:
    """Draw a trait; bars of panels in a row are equally wide if they have room for ``n_lines``."""
    ax.set_title(trait.title, loc="left")
    ax.grid(axis="y", visible=False)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    if trait.is_continuous:
        _draw_numbers(ax, trait)
    else:
        _draw_categories(ax, trait, n_lines)


def _draw_categories(ax: "Axes", trait: Trait, n_lines: int) -> None:
    categories = trait.categories
    labels, drawn, left = zip(*categories, strict=True)
    places = np.arange(len(categories))
    ax.barh(places, drawn, height=0.76, color=FADES)
    ax.barh(places, left, height=0.34, color=SURVIVES)
    for place, category in zip(places.tolist(), categories, strict=True):
        end = max(category.drawn, category.left)
        text = f" {category.left:.0%}" if trait.weights.any() else ""
        ax.text(end, place, text, va="center", size=SMALLEST, color="0.25")
    ax.set_yticks(places, labels)
    ax.set(xlim=(0, 1.2), ylim=(n_lines - 0.4, -0.6), xticks=[])
    ax.spines["bottom"].set_visible(False)
    if not trait.weights.any():
        ax.text(1.15, len(places) / 2 - 0.5, "none left", ha="right", va="center", color="0.4")


def _draw_numbers(ax: "Axes", trait: Trait) -> None:
    values, weights = np.array(trait.values, dtype=float), trait.weights
    ax.plot(values, np.zeros(len(values)), "|", color="0.5", markersize=6, markeredgewidth=0.7)
    is_left = weights > 0
    if is_left.any():
        areas = _LARGEST * weights[is_left] / weights.max()
        look: dict[str, Any] = {
            "color": SURVIVES,
            "alpha": 0.75,
            "edgecolors": "white",
            "linewidths": 0.5,
        }
        ax.scatter(values[is_left], np.ones(is_left.sum()), s=areas, zorder=3, **look)
    if trait.is_logarithmic:
        _make_logarithmic(ax, values.max() / values.min())
    ax.set_yticks([1, 0], ["at the end" if is_left.any() else "none left", "drawn"])
    ax.set_ylim(-0.6, 1.8)
    ax.margins(x=0.06)


def _make_logarithmic(ax: "Axes", ratio: float) -> None:
    """Label powers of ten, and a number between them if they are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 3) if ratio < _WIDE else (1,), numticks=6))
    ax.xaxis.set_minor_formatter(NullFormatter())
    if ratio < _WIDE:
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
