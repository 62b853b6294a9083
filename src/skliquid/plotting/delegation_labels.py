"""Delegation labels: numbers and weights of the voters in a DelegationDisplay, where they fit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from skliquid.delegation.arrays import Floats
from skliquid.delegation.graph import DelegationGraph
from skliquid.plotting.circle_labels import CircleLabels
from skliquid.plotting.delegation_layout import DelegationLayout, inner_radius, outer_radius
from skliquid.plotting.style import MIN_FONT_SIZE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_FONT_SIZES = (8.0, 7.0, MIN_FONT_SIZE)  # points
_MAX_BESIDE = 40  # representatives, for labels beside marks that are too small for them


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
    labels = CircleLabels.from_circles(ax, *_obstacles(graph, layout))
    inner = [inner_radius(shape) / outer_radius(shape) for shape in shapes]
    radii: Floats = labels.circles[: graph.n_voters, 2] * inner
    widest = "0" * len(str(graph.n_voters - 1))  # all numbers are written, or none
    shows_all = _choose_size(labels, widest, radii.min())
    has_few = len(graph.representatives) <= _MAX_BESIDE
    written: dict[int, Text | None] = {}
    for voter in np.argsort(-graph.weights, kind="stable").tolist():
        ink = "white" if _is_dark(colours[voter]) else "black"
        if weight := int(graph.weights[voter]):
            both, radius = f"{voter}\nw = {weight}", radii[voter]
            written[voter] = (
                _write_inside(labels, voter, both, ink, room=(both, radius))
                or _write_beside(labels, voter, weight, wanted=shows_all)
                or _write_inside(labels, voter, f"{voter}", ink, room=(widest, radius))
                or _write_beside(labels, voter, weight, wanted=has_few)
            )
        elif shows_all:
            written[voter] = labels.write_inside(voter, f"{voter}", ink)
    return {voter: label for voter, label in written.items() if label is not None}


def _write_inside(
    labels: CircleLabels, voter: int, text: str, ink: str, *, room: tuple[str, float]
) -> "Text | None":
    """Return a label if the text of ``room`` fits into a circle with the radius of ``room``."""
    return labels.write_inside(voter, text, ink) if labels.fits(*room) else None


def _write_beside(labels: CircleLabels, voter: int, weight: int, *, wanted: bool) -> "Text | None":
    if not wanted:
        return None
    both = labels.write_beside(voter, f"{voter}, w = {weight}")
    return both or labels.write_beside(voter, f"{voter}")


def _obstacles(graph: DelegationGraph, layout: DelegationLayout) -> tuple[Floats, Floats]:
    """Return circles around the marks, and small ones along the lines."""
    places, delegators = layout.positions, np.flatnonzero(graph.distances)
    start, end = places[delegators], places[graph.delegation[delegators]]
    points = [start + share * (end - start) for share in (0.3, 0.5, 0.7)]
    centres = np.concatenate([places, *points])
    return centres, np.concatenate([layout.around, np.full(3 * len(delegators), 0.05)])


def _choose_size(labels: CircleLabels, text: str, radius: float) -> bool:
    """Set the largest size at which a text fits into a circle, and return whether any does."""
    for size in _FONT_SIZES:
        labels.size = size
        if labels.fits(text, radius):
            return True
    return False


def _is_dark(colour: Floats) -> bool:
    return float(np.dot(colour[:3], (0.299, 0.587, 0.114))) < 0.55
