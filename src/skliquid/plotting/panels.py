"""Panels: several axes in the place of one."""

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from skliquid.plotting.style import settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.gridspec import GridSpecBase


def grid_within(
    ax: "Axes", n_rows: int, n_columns: int, *, apart: tuple[float, float], **look: Any
) -> "GridSpecBase":
    """Return a grid of places for panels instead of ``ax``, which becomes invisible.

    Panels are ``apart`` by so many inches, horizontally and vertically, where the figure has no
    layout engine that leaves room for their words.
    """
    from matplotlib.gridspec import GridSpec

    ax.set_axis_off()
    if ax.figure.canvas.figure.get_layout_engine() is None:
        width, height = np.array(ax.get_window_extent().size) / ax.figure.dpi
        look["wspace"] = _relative(apart[0], width, n_columns)
        look["hspace"] = _relative(apart[1], height, n_rows)
    place = ax.get_subplotspec()
    if place is not None:
        return place.subgridspec(n_rows, n_columns, **look)
    box = ax.get_position()
    sides = {"left": box.x0, "right": box.x1, "bottom": box.y0, "top": box.y1}
    return GridSpec(n_rows, n_columns, figure=ax.figure.canvas.figure, **sides, **look)


def _relative(apart: float, total: float, n_panels: int) -> float:
    """Return a distance of panels relative to their size, as grids of matplotlib count it."""
    panel = (total - apart * (n_panels - 1)) / n_panels
    return apart / max(panel, 0.1)


def settle_panels(panels: Sequence["Axes"], loc: Literal["left", "center"] = "center") -> None:
    """Settle the figure; titles at ``loc`` that are wider than their panels get more lines."""
    import matplotlib

    settle(panels[0])
    letter = 0.55 * matplotlib.rcParams["axes.titlesize"] * panels[0].figure.dpi / 72
    before = [ax.get_title(loc) for ax in panels]
    for ax, title in zip(panels, before, strict=True):
        width = int(1.02 * ax.get_window_extent().width / letter)
        ax.set_title(fill(title, max(width, 8), break_long_words=False), loc=loc)
    if [ax.get_title(loc) for ax in panels] != before:
        settle(panels[0])


def given_panels(ax: Any, n_panels: int, names: str) -> "list[Axes] | None":
    """Return several axes that the user gave; None for one, or none at all."""
    if ax is None or not isinstance(ax, list | tuple | np.ndarray):
        return None
    panels = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(panels) != n_panels:
        raise ValueError(
            f"ax must be one Axes, or as many as there are panels: {len(panels)} Axes cannot show "
            f"{n_panels} panels ({names}). Give {n_panels}, or one that is divided."
        )
    return panels
