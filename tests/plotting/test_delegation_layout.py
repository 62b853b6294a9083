import numpy as np
import pytest

from plotting.records import random_record
from skliquid import DelegationGraph
from skliquid.plotting.delegation_layout import (
    DelegationLayout,
    inner_radius,
    mark,
    outer_radius,
    votes_through,
)

GRAPHS = {
    "12 voters": random_record(12, 6)[-1].graph,
    "350 voters": random_record(350, 12)[-1].graph,
    "long chains": random_record(80, 10, any_voter=True)[-1].graph,
    "one chain": DelegationGraph([0, 0, 1, 2, 3, 4]),
    "a star": DelegationGraph([0] * 40),
    "no delegations": DelegationGraph.direct(30),
    "one voter": DelegationGraph.direct(1),
}


@pytest.fixture(scope="module", params=GRAPHS)
def graph(request):
    return GRAPHS[request.param]


@pytest.fixture(scope="module")
def layout(graph):
    return DelegationLayout.from_graph(graph, np.arange(graph.n_voters) % 4)


def test_votes_pass_through_every_voter_of_a_chain(graph):
    votes = votes_through(graph)
    through = np.zeros(graph.n_voters, dtype=int)
    for voter in range(graph.n_voters):
        chain = [voter]
        while (following := graph.delegation[chain[-1]]) != chain[-1]:
            chain.append(following)
        through[chain] += 1
    assert votes.tolist() == through.tolist()
    left = graph.representatives
    assert votes[left].tolist() == graph.weights[left].tolist()


def test_marks_do_not_touch(graph, layout):
    apart = np.hypot(*(layout.positions[:, None] - layout.positions).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    assert (apart > layout.around[:, None] + layout.around).all()


def test_areas_are_votes(graph, layout):
    assert np.allclose(layout.radii**2 / layout.radii.min() ** 2, votes_through(graph))


def test_the_distance_from_the_representative_is_the_length_of_the_chain(graph, layout):
    distances = np.hypot(*(layout.positions - layout.positions[graph.gurus]).T)
    for guru in graph.representatives:
        voters = np.flatnonzero(graph.gurus == guru)
        rings = [
            np.unique(distances[voters[graph.distances[voters] == depth]].round(6))
            for depth in range(graph.distances[voters].max() + 1)
        ]
        assert all(len(ring) == 1 for ring in rings)
        assert (np.diff(np.concatenate(rings)) > 0).all()


def test_limits_enclose_all_marks(layout):
    low, high = layout.limits.T
    assert (layout.positions - layout.around[:, None] > low).all()
    assert (layout.positions + layout.around[:, None] < high).all()


def area(corners):
    x, y = corners.T
    return abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1))) / 2


@pytest.mark.parametrize("k", range(8))
def test_marks_have_the_area_of_the_unit_circle_and_lie_between_their_circles(k):
    corners = mark(k)
    assert area(corners) == pytest.approx(np.pi)
    assert np.allclose(np.hypot(*corners.T), outer_radius(k))
    middles = (corners + np.roll(corners, 1, axis=0)) / 2
    assert np.allclose(np.hypot(*middles.T), inner_radius(k))


def test_the_first_marks_differ():
    assert len({tuple(mark(k).round(3).ravel()) for k in range(7)}) == 7
