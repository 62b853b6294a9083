"""DelegationDrawing: the grounds, lines, marks and legends of a DelegationDisplay."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.graph import DelegationGraph
from skliquid.plotting.delegation_layout import DelegationLayout, mark, outer_radius, votes_through

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.colorbar import Colorbar
    from matplotlib.legend import Legend

_GROUND, _AROUND_MARKS, _AROUND_LINES = "0.94", 0.4, 0.5
_LOW_PERCENTILE = 10  # of competence; all below has one colour, so that outliers take no contrast


@dataclass(frozen=True)
class DelegationDrawing:
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

    def draw_delegations(self) -> "LineCollection":
        """Draw a line per delegator, wider where more votes flow."""
        from matplotlib.collections import LineCollection

        widths = 0.5 * np.sqrt(votes_through(self.graph)[self._delegators])
        lines = LineCollection(list(self._segments), colors="0.45", linewidths=widths, zorder=2)
        self.ax.add_collection(lines, autolim=False)
        return lines

    def draw_voters(self, competence: Floats, cmap: Any) -> "PolyCollection":
        """Draw a mark per voter, in white where competence was not measured."""
        from matplotlib.collections import PolyCollection

        is_left = self.graph.weights > 0
        voters = zip(self.layout.positions, self.layout.radii, self.shapes, strict=True)
        marks = PolyCollection(
            [place + radius * mark(shape) for place, radius, shape in voters],
            array=np.ma.masked_invalid(competence),
            cmap=_blues() if cmap is None else cmap,
            norm=_contrast(competence),
            edgecolors=np.where(is_left, "black", "0.5"),
            linewidths=np.where(is_left, 0.9, 0.4),
            zorder=3,
        )
        self.ax.add_collection(marks, autolim=False)
        return marks

    def draw_colour_bar(self, voters: "PolyCollection", competence: Floats) -> "Colorbar | None":
        """Draw the colours of competence, if any was measured."""
        measured = competence[np.isfinite(competence)]
        if not len(measured):
            return None
        extend = "min" if measured.min() < voters.norm.vmin else "neither"
        bar = self.ax.figure.colorbar(
            voters, ax=self.ax, shrink=0.6, aspect=25, pad=0.02, extend=extend
        )
        bar.outline.set_visible(False)
        bar.set_label("Competence when last measured")
        return bar

    def draw_legend(self, estimators: Sequence[str]) -> "Legend | None":
        """Draw the shape of each estimator above the voters, if there are several."""
        from matplotlib.lines import Line2D
        from matplotlib.path import Path

        if len(estimators) == 1:
            return None
        look: dict[str, Any] = {"linestyle": "", "markerfacecolor": "0.6", "markeredgecolor": "0.4"}
        handles = [
            Line2D([], [], marker=Path(mark(k)), markersize=6 * outer_radius(k), label=name, **look)
            for k, name in enumerate(estimators)
        ]
        where: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}
        where |= {"handletextpad": 0.1, "borderaxespad": 0.2, "ncols": min(len(estimators), 5)}
        return self.ax.legend(handles=handles, **where)

    def set_axes(self, title: str, pad: float) -> None:
        """Set limits and texts; below the title there is room of ``pad`` points."""
        import matplotlib

        x, y = self.layout.limits
        self.ax.set(xlim=x, ylim=y, aspect="equal", xticks=[], yticks=[])
        self.ax.spines[:].set_visible(False)
        self.ax.set_title(title, pad=pad)
        note = "Area: votes carried or passed on. Black outline: representative."
        self.ax.set_xlabel(note, size=matplotlib.rcParams["axes.labelsize"])


def _blues() -> Any:
    """Return a colour map that ends neither in white nor in black."""
    import matplotlib
    from matplotlib.colors import ListedColormap

    blues = ListedColormap(matplotlib.colormaps["Blues"](np.linspace(0.06, 0.97, 256)))
    return blues.with_extremes(bad="white")


def _contrast(competence: Floats) -> Any:
    from matplotlib.colors import Normalize

    measured = competence[np.isfinite(competence)]
    if not len(measured):
        return Normalize(0, 1)
    return Normalize(np.percentile(measured, _LOW_PERCENTILE), measured.max(), clip=False)
