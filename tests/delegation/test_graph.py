import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliquid import DelegationGraph


@st.composite
def graphs(draw):
    """Any graph that can come about: voters delegate one by one to voters whose guru is another."""
    graph = DelegationGraph.direct(draw(st.integers(1, 12)))
    for _ in range(draw(st.integers(0, graph.n_voters - 1))):
        delegator = draw(st.sampled_from(graph.representatives.tolist()))
        others = np.flatnonzero(graph.gurus != delegator).tolist()
        graph = graph.delegate([delegator], to=[draw(st.sampled_from(others))])
    return graph


def follow(delegation, voter):
    while delegation[voter] != voter:
        voter = delegation[voter]
    return voter


def test_in_a_direct_graph_every_voter_represents_itself():
    graph = DelegationGraph.direct(3)
    assert graph.delegation.tolist() == graph.gurus.tolist() == [0, 1, 2]
    assert graph.representatives.tolist() == [0, 1, 2]
    assert graph.weights.tolist() == [1, 1, 1]


def test_weight_flows_through_chains():
    graph = DelegationGraph.direct(4).delegate([0, 1], to=[1, 2]).delegate([2], to=[3])
    assert graph.gurus.tolist() == [3, 3, 3, 3]
    assert graph.weights.tolist() == [0, 0, 0, 4]


@given(graphs())
def test_gurus_are_where_chains_end(graph):
    assert graph.gurus.tolist() == [follow(graph.delegation, i) for i in range(graph.n_voters)]


@given(graphs())
def test_weights_follow_the_definition_and_are_conserved(graph):
    expected = [
        sum(follow(graph.delegation, j) == i for j in range(graph.n_voters))
        if graph.delegation[i] == i
        else 0
        for i in range(graph.n_voters)
    ]
    assert graph.weights.tolist() == expected
    assert graph.weights.dtype.kind == "i"
    assert graph.weights.sum() == graph.n_voters


@given(graphs())
def test_distances_count_the_delegations_on_the_way_to_the_guru(graph):
    steps = []
    for voter in range(graph.n_voters):
        at, n_steps = voter, 0
        while graph.delegation[at] != at:
            at, n_steps = graph.delegation[at], n_steps + 1
        steps.append(n_steps)
    assert graph.distances.tolist() == steps
    assert graph.distances.dtype.kind == "i"


@given(graphs())
def test_representatives_are_exactly_the_gurus(graph):
    assert set(graph.representatives.tolist()) == set(graph.gurus.tolist())


@given(graphs())
def test_copies_are_equal_and_as_immutable(graph):
    for other in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
        assert np.array_equal(other.delegation, graph.delegation)
        with pytest.raises(ValueError, match="read-only"):
            other.delegation[0] = 0


def test_a_graph_cannot_be_changed():
    given_array = np.arange(3)
    graph = DelegationGraph(given_array)
    given_array[0] = 2
    assert graph.delegation.tolist() == [0, 1, 2]
    arrays = graph.delegation, graph.gurus, graph.representatives, graph.weights, graph.distances
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        graph.delegation = given_array


def test_delegating_leaves_the_old_graph_alone():
    old = DelegationGraph.direct(2)
    old.delegate([0], to=[1])
    assert old.weights.tolist() == [1, 1]


def test_a_cycle_is_named():
    with pytest.raises(ValueError, match=r"must end at a representative: .*1 -> 2 -> 1.* cycle"):
        DelegationGraph([0, 2, 1])
    with pytest.raises(ValueError, match="cycle"):
        DelegationGraph.direct(3).delegate([0, 1, 2], to=[1, 2, 0])


@given(st.integers(2, 20))
def test_a_cycle_of_any_length_is_found(n):
    with pytest.raises(ValueError, match="cycle"):
        DelegationGraph(np.roll(np.arange(n), 1))


@pytest.mark.parametrize(
    ("delegators", "to", "message"),
    [
        ([0], [7], "to must name known voters: there is no voter 7 among 4.* from 0 to 3"),
        ([-1], [0], "delegators must name known voters: there is no voter -1 among 4"),
        ([3], [0], "delegators must be representatives: voter 3 already delegates"),
        ([0, 0], [1, 2], "delegators must be distinct: voter 0 cannot delegate twice"),
        ([0, 1], [2], "2 delegators cannot share 1 choices"),
        ([1], [1], "to must not name the delegator itself: voter 1"),
    ],
)
def test_wrong_delegations_are_refused(delegators, to, message):
    graph = DelegationGraph.direct(4).delegate([3], to=[2])
    with pytest.raises(ValueError, match=message):
        graph.delegate(delegators, to=to)


def test_unknown_voters_in_a_delegation_are_refused():
    with pytest.raises(ValueError, match=r"delegation must name known .* no voter 2 among 2"):
        DelegationGraph([0, 2])


@pytest.mark.parametrize("wrong", [[0.5, 1], [[0, 1]], "ab", [True, False]])
def test_delegations_must_be_a_list_of_indices(wrong):
    with pytest.raises(TypeError, match="delegation must be a list of voters by their integer"):
        DelegationGraph(wrong)


def test_a_graph_needs_a_voter():
    for wrong in (0, "a", 2.5):
        with pytest.raises(ValueError, match=f"n_voters must be a whole number .*got {wrong!r}"):
            DelegationGraph.direct(wrong)
    with pytest.raises(ValueError, match="delegation must hold at least one voter"):
        DelegationGraph([])


def test_a_graph_may_stay_direct():
    assert DelegationGraph.direct(2).delegate([], to=[]).weights.tolist() == [1, 1]


@given(graphs(), st.data())
def test_a_voter_that_revokes_takes_its_followers_along(graph, data):
    delegators = np.flatnonzero(graph.weights == 0).tolist()
    back = data.draw(st.lists(st.sampled_from(delegators), unique=True)) if delegators else []
    after = graph.revoke(back)
    assert after.weights.sum() == graph.n_voters
    assert set(after.representatives) == set(graph.representatives) | set(back)
    for voter in range(graph.n_voters):
        at = voter
        while at not in back and graph.delegation[at] != at:
            at = graph.delegation[at]
        assert after.gurus[voter] == at


def test_only_delegators_revoke():
    graph = DelegationGraph([1, 1, 2])
    assert graph.revoke([]) is graph
    with pytest.raises(ValueError, match="voter 2 represents itself already"):
        graph.revoke([0, 2])
    with pytest.raises(ValueError, match=r"delegators must name known .* no voter 5 among 3"):
        graph.revoke([5])


def test_a_graph_shows_a_small_picture_in_notebooks():
    page = DelegationGraph(np.array([0, 0, 1, 3]))._repr_html_()
    assert page.count("<circle") == 4
    assert "4 voters, 2 representatives" in page
