"""DelegationDrawing: the lines, marks, labels and legends of a DelegationDisplay."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skliquid.delegation.arrays import Floats
from skliquid.delegation.graph import DelegationGraph
from skliquid.plotting.display import blend, small
from skliquid.plotting.forest_layout import ForestLayout, votes_through
from skliquid.plotting.marks import Mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.colorbar import Colorbar
    from matplotlib.legend import Legend
    from matplotlib.text import Text

_LOW_PERCENTILE = 10  # of competence; all below has one colour, so that outliers take no contrast


@dataclass(frozen=True)
class DelegationDrawing:
    """The artists, to be drawn in this order."""

    ax: "Axes"
    graph: DelegationGraph
    layout: ForestLayout
    marks: Sequence[Mark]

    def draw_delegations(self) -> "LineCollection":
        """Draw a line from each delegator to its delegate, wider where more votes flow."""
        from matplotlib.collections import LineCollection

        places, delegators = self.layout.positions, np.flatnonzero(self.graph.distances)
        ends = np.stack([places[delegators], places[self.graph.delegation[delegators]]], axis=1)
        look: dict[str, Any] = {"colors": [blend(self.ax, 0.55)], "zorder": 2}
        widths = 0.5 * np.sqrt(votes_through(self.graph)[delegators])
        lines = LineCollection(list(ends), linewidths=widths, **look)
        self.ax.add_collection(lines, autolim=False)
        return lines

    def draw_voters(self, competence: Floats, cmap: Any) -> "PolyCollection":
        """Draw a mark per voter, in the colour of the background without a competence."""
        from matplotlib.collections import PolyCollection

        is_left = self.graph.weights > 0
        voters = zip(self.layout.positions, self.layout.radii, self.marks, strict=True)
        marks = PolyCollection(
            [place + radius * mark.corners for place, radius, mark in voters],
            array=np.ma.masked_invalid(competence),
            cmap=_colour_map(self.ax) if cmap is None else cmap,
            norm=_contrast(competence),
            edgecolors=np.where(is_left[:, None], blend(self.ax, 1.0), blend(self.ax, 0.5)),
            linewidths=np.where(is_left, 1.2, 0.4),
            zorder=3,
        )
        self.ax.add_collection(marks, autolim=False)
        return marks

    def draw_colour_bar(self, voters: "PolyCollection", competence: Floats) -> "Colorbar | None":
        """Draw the colours of competence beside the voters, if any was measured."""
        measured = competence[np.isfinite(competence)]
        if not len(measured):
            return None
        extend = "min" if measured.min() < voters.norm.vmin else "neither"
        place = self.ax.inset_axes((1.02, 0.2, 0.03, 0.6))
        bar = self.ax.figure.colorbar(voters, cax=place, extend=extend)
        bar.outline.set_visible(False)
        return bar

    def draw_legend(self, marks: Mapping[str, Mark]) -> "Legend | None":
        """Draw the mark of each estimator above the voters, if there are several."""
        from matplotlib.lines import Line2D

        if len(marks) == 1:
            return None
        look: dict[str, Any] = {"linestyle": "", "markersize": small()}
        look |= {"markerfacecolor": blend(self.ax, 0.4), "markeredgecolor": blend(self.ax, 0.6)}
        handles = [
            Line2D([], [], marker=mark.marker, label=name, **look) for name, mark in marks.items()
        ]
        n_letters = self.ax.get_window_extent().width / small()
        where: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}
        where["ncols"] = max(int(n_letters / (max(map(len, marks)) + 5)), 1)
        return self.ax.legend(handles=handles, handletextpad=0.1, borderaxespad=0.2, **where)

    def write_labels(self, colours: Floats) -> "dict[int, Text]":
        """Write numbers, and below them weights of representatives, into marks with room."""
        inner = [mark.inner_radius for mark in self.marks]
        (left, _), (right, _) = self.ax.transData.transform([(0, 0), (1, 0)])
        radii = (right - left) * self.layout.radii * inner * 72 / self.ax.figure.dpi  # points
        digits, labels = len(str(self.graph.n_voters - 1)), {}
        has_room = radii.min() > _room_for("0" * digits)  # for the number of every voter
        for voter, (weight, radius) in enumerate(zip(self.graph.weights, radii, strict=True)):
            both = f"{voter}\nw = {weight}"
            if weight and radius > _room_for(both):
                labels[voter] = self._write(voter, both, colours[voter])
            elif has_room or (weight and radius > _room_for("0" * digits)):
                labels[voter] = self._write(voter, f"{voter}", colours[voter])
        return labels

    def _write(self, voter: int, text: str, background: Floats) -> "Text":
        is_dark = float(np.dot(background[:3], (0.299, 0.587, 0.114))) < 0.55
        look: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 5, "linespacing": 1.0}
        look |= {"size": small(), "color": "white" if is_dark else "black"}
        x, y = self.layout.positions[voter].tolist()
        return self.ax.text(x, y, text, **look)


def _room_for(text: str) -> float:
    """Return the radius of a circle around a text, in points."""
    lines, size = text.splitlines(), small()
    return float(np.hypot(0.62 * size * max(map(len, lines)), 0.9 * size * len(lines)) / 2)


def _colour_map(ax: "Axes") -> Any:
    """Return colours from the background to the first colour of the style, and on to that of texts.

    It ends neither in the colour of the background nor in that of texts.
    """
    from matplotlib.colors import LinearSegmentedColormap

    first, ink = blend(ax, 1.0, "C0"), blend(ax, 1.0)
    colours = [blend(ax, 0.1, "C0"), first, 0.55 * first + 0.45 * ink]
    return LinearSegmentedColormap.from_list("competence", colours).with_extremes(bad=blend(ax, 0))


def _contrast(competence: Floats) -> Any:
    from matplotlib.colors import Normalize

    measured = competence[np.isfinite(competence)]
    if not len(measured):
        return Normalize(0, 1)
    return Normalize(np.percentile(measured, _LOW_PERCENTILE), measured.max(), clip=False)
