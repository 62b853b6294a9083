"""Panel grids: several axes in the place of one."""

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from skliquid.plotting.style import settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.gridspec import GridSpecBase


def divide_axes(
    ax: "Axes", n_rows: int, n_columns: int, *, gaps: tuple[float, float], **look: Any
) -> "GridSpecBase":
    """Return a grid for panels in the place of ``ax``, and hide ``ax``.

    ``gaps`` are the horizontal and vertical distances between panels, in inches. They apply if the
    figure has no layout engine that leaves room for titles and labels.
    """
    from matplotlib.gridspec import GridSpec

    ax.set_axis_off()
    if ax.figure.canvas.figure.get_layout_engine() is None:
        width, height = np.array(ax.get_window_extent().size) / ax.figure.dpi
        look["wspace"] = _relative_gap(gaps[0], width, n_columns)
        look["hspace"] = _relative_gap(gaps[1], height, n_rows)
    place = ax.get_subplotspec()
    if place is not None:
        return place.subgridspec(n_rows, n_columns, **look)
    box = ax.get_position()
    sides = {"left": box.x0, "right": box.x1, "bottom": box.y0, "top": box.y1}
    return GridSpec(n_rows, n_columns, figure=ax.figure.canvas.figure, **sides, **look)


def _relative_gap(gap: float, total: float, n_panels: int) -> float:
    """Return the gap relative to the size of a panel, the unit of matplotlib's grids."""
    panel = (total - gap * (n_panels - 1)) / n_panels
    return gap / max(panel, 0.1)


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


def user_panels(ax: Any, n_panels: int, names: str) -> "list[Axes] | None":
    """Return the axes if the user gave several; None for one Axes or None."""
    if not isinstance(ax, list | tuple | np.ndarray):
        return None
    panels = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(panels) != n_panels:
        raise ValueError(
            f"ax must be one Axes, or as many as there are panels: {len(panels)} Axes cannot show "
            f"{n_panels} panels ({names}). Give {n_panels}, or one that is divided."
        )
    return panels
