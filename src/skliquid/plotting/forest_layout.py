"""ForestLayout: the places of voters in displays, notebooks and the first frame of replays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.graph import DelegationGraph
from skliquid.plotting.marks import CIRCLE, Mark
from skliquid.plotting.packing import Shape, pack

WIDTH_TO_HEIGHT = 1.5  # of the forest where no axes are given

# The mark of a voter with one vote has the area of a circle of diameter 1.
_GAP = 0.35  # minimum distance between marks
_MARGIN = 0.45  # of the ground of a tree, around its marks
_MAX_SPREAD = 1.6  # angle that the delegators of a delegator get, relative to the angle they need


def votes_through(graph: DelegationGraph) -> Voters:
    """Return the votes that each voter carries or passes on, its own included."""
    votes = np.ones(graph.n_voters, dtype=np.intp)
    for voter in np.argsort(-graph.distances, kind="stable"):  # the ends of chains first
        if graph.distances[voter]:
            votes[graph.delegation[voter]] += votes[voter]
    return votes


@dataclass(frozen=True, eq=False)
class ForestLayout:
    """Places of all voters, in units of the diameter of a voter with one vote."""

    positions: Floats  # centres of marks, of shape (n_voters, 2)
    radii: Floats  # of circles with the areas of the marks, which grow with `votes_through`
    around: Floats  # radii of the circles around the marks

    @classmethod
    def from_graph(
        cls,
        graph: DelegationGraph,
        marks: Sequence[Mark] = (),
        width_to_height: float = WIDTH_TO_HEIGHT,
    ) -> "ForestLayout":
        """Return a layout of about these proportions; voters without ``marks`` are circles."""
        radii: Floats = 0.5 * np.sqrt(votes_through(graph))
        around = radii * [mark.outer_radius for mark in marks or [CIRCLE] * graph.n_voters]
        trees = [np.flatnonzero(graph.gurus == guru) for guru in graph.representatives]
        outlines = [_outline(graph, voters, around) for voters in trees]
        positions = np.zeros((graph.n_voters, 2))
        for voters, shape in zip(trees, pack(outlines, width_to_height), strict=True):
            positions[voters] = shape.centres[: len(voters)]
        return cls(positions, radii, around)

    @property
    def limits(self) -> Floats:
        """Lower and upper limits of both axes, one row each, with all marks inside."""
        reach = self.around[:, None] + _MARGIN
        low, high = self.positions - reach, self.positions + reach
        return np.column_stack([low.min(axis=0), high.max(axis=0)])


def _outline(graph: DelegationGraph, voters: Voters, around: Floats) -> Shape:
    """Return the circles that a tree occupies: its marks, and three along each delegation."""
    places = _tree_places(graph, voters, around)
    delegators = np.flatnonzero(graph.distances[voters])
    delegates = np.searchsorted(voters, graph.delegation[voters[delegators]])
    start, end = places[delegators, None], places[delegates, None]
    lines = (start + np.array([[0.3], [0.5], [0.7]]) * (end - start)).reshape(-1, 2)
    radii = np.concatenate([around[voters], np.zeros(len(lines))])
    return Shape(np.concatenate([places, lines]), radii + _MARGIN)


def _tree_places(graph: DelegationGraph, voters: Voters, around: Floats) -> Floats:
    """Return the places of a representative's voters: one ring per length of their chains."""
    depths = graph.distances[voters]
    outwards = voters[np.argsort(depths, kind="stable")].tolist()
    children: dict[int, list[int]] = {voter: [] for voter in outwards}
    for voter in outwards[1:]:
        children[int(graph.delegation[voter])].append(voter)
    rings = _rings(depths, around[voters])
    needed: dict[int, float] = {}
    for voter in reversed(outwards):
        own = _needed_angle(around[voter], rings[graph.distances[voter]])
        needed[voter] = max(own, sum(needed[child] for child in children[voter]))
    guru = outwards[0]
    wedges = _divide_wedge(np.pi / 2, 2 * np.pi, children[guru], needed)
    wedges[guru] = (0.0, 0.0)  # the middle and the width
    for voter in outwards[1:]:
        middle, width = wedges[voter]
        width = min(width, _MAX_SPREAD * sum(needed[child] for child in children[voter]))
        wedges |= _divide_wedge(middle, width, children[voter], needed)
    rings = rings * max(needed[guru] / (2 * np.pi), 1.0)
    angles = np.array([wedges[voter][0] for voter in voters.tolist()])
    places: Floats = rings[depths, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    return places


def _rings(depths: Voters, radii: Floats) -> Floats:
    """Return the radius of each ring, so that voters do not touch those further inside."""
    largest = [radii[depths == depth].max() for depth in range(depths.max() + 1)]
    steps = np.add(largest[:-1], largest[1:]) + _GAP
    return np.concatenate([[0.0], np.cumsum(steps)])


def _needed_angle(radius: float, ring: float) -> float:
    """Return the angle that a voter needs, so that voters on a ring do not touch."""
    return 2 * float(np.arcsin(min((radius + _GAP / 2) / ring, 1.0))) if ring else 0.0


def _divide_wedge(
    middle: float, width: float, voters: Sequence[int], needed: dict[int, float]
) -> dict[int, tuple[float, float]]:
    """Return each voter's part of a wedge, in proportion to the angle that it needs."""
    total = sum(needed[voter] for voter in voters)
    start, wedges = middle - width / 2, {}
    for voter in voters:
        part = width * needed[voter] / total
        wedges[voter] = (start + part / 2, part)
        start += part
    return wedges
