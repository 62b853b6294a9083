import re

import numpy as np
import pytest

from plotting.records import random_record
from skliquid import DelegationGraph
from skliquid.plotting import DelegationDisplay
from skliquid.plotting.forest_layout import ForestLayout, votes_through
from skliquid.plotting.marks import MARKS
from skliquid.plotting.notebook_pictures import forest
from skliquid.plotting.replay_data import replay_data

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
    return ForestLayout.from_graph(graph, [MARKS[k % 4] for k in range(graph.n_voters)])


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


def test_display_replay_and_notebook_draw_the_same_forest():
    record = random_record(40, 6)
    positions = DelegationDisplay.from_record(record).layout_.positions
    assert np.array(replay_data(record)["positions"]) == pytest.approx(positions.ravel(), abs=0.006)
    circles = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', forest(record[-1].graph))
    x, y = np.array(circles, dtype=float).T
    assert np.corrcoef(x, positions[:, 0])[0, 1] == pytest.approx(1, abs=1e-4)
    assert np.corrcoef(y, positions[:, 1])[0, 1] == pytest.approx(-1, abs=1e-4)  # down, on a screen
