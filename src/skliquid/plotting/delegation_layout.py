"""Where voters are drawn: one tree around each representative, and the trees packed closely."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skliquid.arrays import Floats, Voters
from skliquid.delegation_graph import DelegationGraph
from skliquid.plotting.marks import outer_radius
from skliquid.plotting.packing import Shape, packed

_GAP = 0.35
"""Least distance between marks; the mark of a voter with one vote has the area of a circle of
diameter 1."""

MARGIN = 0.45
"""How far the ground of a tree reaches beyond its marks."""

_MOST_SPREAD = 1.6
"""How much more room than they need the delegators of a delegator get, where there is room."""


def votes_through(graph: DelegationGraph) -> Voters:
    """Return the votes that each voter carries, or that it passes on, its own included.

    Examples
    --------
    >>> chain = DelegationGraph.direct(4).delegate([0], to=[1]).delegate([1], to=[3])
    >>> votes_through(chain).tolist()
    [1, 2, 1, 3]
    """
    votes = np.ones(graph.n_voters, dtype=np.intp)
    for voter in np.argsort(-graph.distances, kind="stable"):  # the ends of chains first
        if graph.distances[voter]:
            votes[graph.delegation[voter]] += votes[voter]
    return votes


@dataclass(frozen=True, eq=False)
class DelegationLayout:
    """Places of all voters, in units of the diameter of a voter with one vote.

    Attributes
    ----------
    positions : array of shape (n_voters, 2)
        The centre of each voter's mark.
    radii : array of shape (n_voters,)
        The radius of a circle with the area of the mark, which grows with ``votes_through``.
    around : array of shape (n_voters,)
        The radius of the circle around each mark.
    """

    positions: Floats
    radii: Floats
    around: Floats

    @classmethod
    def of(
        cls, graph: DelegationGraph, shapes: Sequence[int], width_to_height: float = 1.0
    ) -> "DelegationLayout":
        """Return a layout of about these proportions, for marks of given shapes, one per voter."""
        radii: Floats = 0.5 * np.sqrt(votes_through(graph))
        around = radii * [outer_radius(shape) for shape in shapes]
        trees = [np.flatnonzero(graph.gurus == guru) for guru in graph.representatives]
        needed = [_needed_room(graph, voters, around) for voters in trees]
        positions = np.zeros((graph.n_voters, 2))
        for voters, shape in zip(trees, packed(needed, width_to_height), strict=True):
            positions[voters] = shape.centres[: len(voters)]
        return cls(positions, radii, around)

    @property
    def limits(self) -> Floats:
        """Lower and upper limits of both axes, one row each, with all marks inside."""
        reach = self.around[:, None] + MARGIN
        return np.column_stack(
            [(self.positions - reach).min(axis=0), (self.positions + reach).max(axis=0)]
        )


def _needed_room(graph: DelegationGraph, voters: Voters, around: Floats) -> Shape:
    """Return the circles that a tree needs: its marks, and some along each delegation."""
    places = _Tree.of(graph, voters, around).places()
    of_voter = dict(zip(voters.tolist(), places, strict=True))
    lines = [
        of_voter[voter] + share * (of_voter[int(graph.delegation[voter])] - of_voter[voter])
        for voter in voters[graph.distances[voters] > 0].tolist()
        for share in (0.3, 0.5, 0.7)
    ]
    centres = np.concatenate([places, np.reshape(lines, (-1, 2))])
    radii = np.concatenate([around[voters], np.zeros(len(lines))])
    return Shape(centres, radii + MARGIN)


@dataclass(frozen=True, eq=False)
class _Tree:
    """A representative and all voters that it represents, from the inside to the outside."""

    voters: Voters  # in ascending order
    depths: Voters
    children: dict[int, list[int]]  # who delegated directly to a voter
    radii: Floats  # of circles around the marks of all voters of the graph

    @classmethod
    def of(cls, graph: DelegationGraph, voters: Voters, radii: Floats) -> "_Tree":
        children: dict[int, list[int]] = {voter: [] for voter in voters.tolist()}
        for voter in voters[graph.distances[voters] > 0].tolist():
            children[int(graph.delegation[voter])].append(voter)
        return cls(voters, graph.distances[voters], children, radii)

    def places(self) -> Floats:
        """Return where its voters are: one ring per length of the chain to the representative."""
        rings = self._rings()
        needed = self._needed_angles(rings)
        outwards = self.voters[np.argsort(self.depths, kind="stable")].tolist()
        guru = outwards[0]
        wedges = _divided(np.pi / 2, 2 * np.pi, self.children[guru], needed)
        wedges[guru] = (0.0, 0.0)  # the middle and the width
        for voter in outwards[1:]:
            middle, width = wedges[voter]
            width = min(width, _MOST_SPREAD * sum(needed[k] for k in self.children[voter]))
            wedges |= _divided(middle, width, self.children[voter], needed)
        rings = rings * max(needed[guru] / (2 * np.pi), 1.0)
        angles = np.array([wedges[voter][0] for voter in self.voters.tolist()])
        directions = np.column_stack([np.cos(angles), np.sin(angles)])
        places: Floats = rings[self.depths, None] * directions
        return places

    def _rings(self) -> Floats:
        """Return distances from the centre at which voters do not touch those further inside."""
        depths = range(self.depths.max() + 1)
        largest = [self.radii[self.voters[self.depths == depth]].max() for depth in depths]
        steps = np.add(largest[:-1], largest[1:]) + _GAP
        rings: Floats = np.concatenate([[0.0], np.cumsum(steps)])
        return rings

    def _needed_angles(self, rings: Floats) -> dict[int, float]:
        """Return the angles that voters need, so that each lies apart from all on its ring."""
        needed: dict[int, float] = {}
        for k in np.argsort(-self.depths, kind="stable"):
            voter, ring = int(self.voters[k]), rings[self.depths[k]]
            of_children = sum(needed[child] for child in self.children[voter])
            sine = min((self.radii[voter] + _GAP / 2) / ring, 1.0) if ring else 0.0
            needed[voter] = max(2 * float(np.arcsin(sine)), of_children)
        return needed


def _divided(
    middle: float, width: float, voters: Sequence[int], needed: dict[int, float]
) -> dict[int, tuple[float, float]]:
    """Return the parts of a wedge that voters get, by the angles that they need."""
    total = sum(needed[voter] for voter in voters)
    start, wedges = middle - width / 2, {}
    for voter in voters:
        part = width * needed[voter] / total
        wedges[voter] = (start + part / 2, part)
        start += part
    return wedges
