"""Which voters of a DelegationDisplay have labels: representatives, and all if there is room."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from skliquid.arrays import Floats
from skliquid.delegation_graph import DelegationGraph
from skliquid.plotting.delegation_layout import DelegationLayout
from skliquid.plotting.labels import SMALLEST, Labels
from skliquid.plotting.marks import inner_radius, outer_radius

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_SIZES = (8.0, 7.0)  # points, of letters where there is room
_MOST_BESIDE = 40


def write_labels(
    ax: "Axes",
    graph: DelegationGraph,
    layout: DelegationLayout,
    shapes: Sequence[int],
    colours: Floats,
) -> "dict[int, Text]":
    """Write number and weight of representatives, the heaviest first, and return the labels.

    All delegators have their number inside their marks, or none has.
    """
    labels = Labels.among(ax, *_obstacles(graph, layout))
    inner = [inner_radius(shape) / outer_radius(shape) for shape in shapes]
    inside: Floats = labels.circles[: graph.n_voters, 2] * inner
    widest = "0" * len(str(graph.n_voters - 1))  # or else only small numbers would be written
    shows_all = _choose_size(labels, widest, inside.min())
    inks = ["white" if _is_dark(colour) else "black" for colour in colours]
    has_few = len(graph.representatives) <= _MOST_BESIDE
    written: dict[int, Text | None] = {}
    for voter in np.argsort(-graph.weights, kind="stable").tolist():
        weight = int(graph.weights[voter])
        if weight:
            both = f"{voter}\nw = {weight}"
            written[voter] = (
                _inside(labels, voter, both, inks[voter], room=(both, inside[voter]))
                or _beside(labels, voter, weight, is_wanted=shows_all)
                or _inside(labels, voter, f"{voter}", inks[voter], room=(widest, inside[voter]))
                or _beside(labels, voter, weight, is_wanted=has_few)
            )
        elif shows_all:
            written[voter] = labels.inside(voter, str(voter), inks[voter])
    return {voter: label for voter, label in written.items() if label is not None}


def _inside(
    labels: Labels, voter: int, text: str, ink: str, *, room: tuple[str, float]
) -> "Text | None":
    """Return a label if there is ``room``: a text as wide, which fits into a circle."""
    return labels.inside(voter, text, ink) if labels.fits(*room) else None


def _beside(labels: Labels, voter: int, weight: int, *, is_wanted: bool) -> "Text | None":
    if not is_wanted:
        return None
    return labels.beside(voter, f"{voter}, w = {weight}") or labels.beside(voter, f"{voter}")


def _obstacles(graph: DelegationGraph, layout: DelegationLayout) -> tuple[Floats, Floats]:
    """Return circles around the marks, and small ones along the lines."""
    places, delegators = layout.positions, np.flatnonzero(graph.distances)
    start, end = places[delegators], places[graph.delegation[delegators]]
    points = [start + share * (end - start) for share in (0.3, 0.5, 0.7)]
    centres = np.concatenate([places, *points])
    return centres, np.concatenate([layout.around, np.full(3 * len(delegators), 0.05)])


def _choose_size(labels: Labels, text: str, radius: float) -> bool:
    """Set the largest size at which a text fits into a circle, and return whether any does."""
    for size in (*_SIZES, SMALLEST):
        labels.size = size
        if labels.fits(text, radius):
            return True
    return False


def _is_dark(colour: Floats) -> bool:
    return float(np.dot(colour[:3], (0.299, 0.587, 0.114))) < 0.55
