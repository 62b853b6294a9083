"""The artists of a DelegationDisplay: grounds, lines, marks and their legends."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skliquid.arrays import Floats, Voters
from skliquid.delegation_graph import DelegationGraph
from skliquid.plotting.delegation_layout import DelegationLayout, votes_through
from skliquid.plotting.marks import mark, outer_radius

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.colorbar import Colorbar
    from matplotlib.legend import Legend

_GROUND, _AROUND_MARKS, _AROUND_LINES = "0.94", 0.4, 0.5
_LOW_PERCENTILE = 10
"""Below it, competence has the same colour: a few bad voters would take all contrast away."""


@dataclass(frozen=True)
class Drawing:
    """The artists, to be drawn in this order."""

    ax: "Axes"
    graph: DelegationGraph
    layout: DelegationLayout
    shapes: Sequence[int]

    @property
    def _delegators(self) -> Voters:
        return np.flatnonzero(self.graph.distances)

    @property
    def _segments(self) -> Floats:
        """From each delegator to the voter that it delegated to."""
        places, delegators = self.layout.positions, self._delegators
        return np.stack([places[delegators], places[self.graph.delegation[delegators]]], axis=1)

    def draw_grounds(self) -> None:
        """Draw a common ground for all voters of a representative."""
        from matplotlib.collections import PolyCollection

        radii = self.layout.around + _AROUND_MARKS
        discs = self.layout.positions[:, None] + radii[:, None, None] * mark(0)
        start, end = np.moveaxis(self._segments, 1, 0)
        along = (end - start) / np.hypot(*(end - start).T)[:, None]
        aside = _AROUND_LINES * along[:, ::-1] * (-1, 1)
        strips = np.stack([start - aside, start + aside, end + aside, end - aside], axis=1)
        for corners in (discs, strips):
            ground = PolyCollection(list(corners), facecolors=_GROUND, linewidths=0, zorder=1)
            self.ax.add_collection(ground, autolim=False)

    def delegations(self) -> "LineCollection":
        """Draw a line per delegator, wider where more votes flow."""
        from matplotlib.collections import LineCollection

        widths = 0.5 * np.sqrt(votes_through(self.graph)[self._delegators])
        lines = LineCollection(list(self._segments), colors="0.45", linewidths=widths, zorder=2)
        self.ax.add_collection(lines, autolim=False)
        return lines

    def voters(self, competence: Floats, cmap: Any) -> "PolyCollection":
        """Draw a mark per voter; where competence is not known, in white."""
        from matplotlib.collections import PolyCollection

        is_left = self.graph.weights > 0
        corners = [
            place + radius * mark(shape)
            for place, radius, shape in zip(
                self.layout.positions, self.layout.radii, self.shapes, strict=True
            )
        ]
        marks = PolyCollection(
            corners,
            array=np.ma.masked_invalid(competence),
            cmap=_colours(cmap),
            norm=_contrast(competence),
            edgecolors=np.where(is_left, "black", "0.5"),
            linewidths=np.where(is_left, 0.9, 0.4),
            zorder=3,
        )
        self.ax.add_collection(marks, autolim=False)
        return marks

    def colour_bar(self, voters: "PolyCollection", competence: Floats) -> "Colorbar | None":
        """Draw the colours of competence, if any is known."""
        known = competence[np.isfinite(competence)]
        if not len(known):
            return None
        extend = "min" if known.min() < voters.norm.vmin else "neither"
        bar = self.ax.figure.colorbar(
            voters, ax=self.ax, shrink=0.6, aspect=25, pad=0.02, extend=extend
        )
        bar.outline.set_visible(False)
        bar.set_label("Competence when last measured")
        return bar

    def legend(self, kinds: Sequence[str]) -> "Legend | None":
        """Draw the shape of each kind above the voters, if there are several kinds."""
        from matplotlib.lines import Line2D
        from matplotlib.path import Path

        if len(kinds) == 1:
            return None
        look: dict[str, Any] = {"linestyle": "", "markerfacecolor": "0.6", "markeredgecolor": "0.4"}
        handles = [
            Line2D([], [], marker=Path(mark(k)), markersize=6 * outer_radius(k), label=kind, **look)
            for k, kind in enumerate(kinds)
        ]
        where: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}
        return self.ax.legend(
            handles=handles, ncols=min(len(kinds), 5), handletextpad=0.1, borderaxespad=0.2, **where
        )

    def set_axes(self, title: str, below: float) -> None:
        """Set limits and words, the title with room ``below`` it, in points."""
        import matplotlib

        x, y = self.layout.limits
        self.ax.set(xlim=x, ylim=y, aspect="equal", xticks=[], yticks=[])
        self.ax.spines[:].set_visible(False)
        self.ax.set_title(title, pad=below)
        note = "Area: votes carried or passed on. Black outline: representative."
        self.ax.set_xlabel(note, size=matplotlib.rcParams["axes.labelsize"])


def _colours(cmap: Any) -> Any:
    """Return a colour map; blues that are neither white nor black for None."""
    import matplotlib
    from matplotlib.colors import ListedColormap

    if cmap is not None:
        return cmap
    blues = ListedColormap(matplotlib.colormaps["Blues"](np.linspace(0.06, 0.97, 256)))
    return blues.with_extremes(bad="white")


def _contrast(competence: Floats) -> Any:
    from matplotlib.colors import Normalize

    known = competence[np.isfinite(competence)]
    if not len(known):
        return Normalize(0, 1)
    return Normalize(np.percentile(known, _LOW_PERCENTILE), known.max(), clip=False)
