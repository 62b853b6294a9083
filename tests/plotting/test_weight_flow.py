import numpy as np
import pytest

from plotting.records import random_record, record_of
from skliquid.plotting.weight_flow import WeightFlow, drawn_columns

RECORDS = {
    "350 voters": random_record(350, 12),
    "any voter": random_record(40, 8, any_voter=True),
    "votes return": random_record(18, 30, revokes=True),
    "one voter": record_of([0]),
    "nobody delegates": record_of([0, 1, 2]),
}


@pytest.fixture(params=RECORDS)
def record(request):
    return RECORDS[request.param]


@pytest.fixture
def flow(record):
    return WeightFlow.from_record(record, 60)


def test_bands_are_the_weights_of_the_representatives(record, flow):
    graphs = [record[0].before, *(increment.graph for increment in record)]
    assert flow.increments.tolist() == list(range(len(graphs)))
    for column, graph in enumerate(graphs):
        assert sorted(flow.orders[column]) == graph.representatives.tolist()
        assert flow.weights(column).tolist() == graph.weights[flow.orders[column]].tolist()
        assert flow.weights(column).sum() == flow.n_voters


def test_bands_do_not_overlap_and_fill_the_same_height(flow):
    for column in range(flow.n_columns):
        tops, weights = flow.tops(column), flow.weights(column)
        assert (tops[1:] > tops[:-1] + weights[:-1]).all()
        if len(tops) > 1:
            assert tops[0] == 0
            assert tops[-1] + weights[-1] == pytest.approx(flow.height)


def test_ribbons_conserve_weight_and_fill_the_bands_at_both_ends(flow):
    for column in range(flow.n_columns - 1):
        ribbons = flow.ribbons(column)
        assert ribbons.weights.sum() == flow.n_voters
        for side, carriers in enumerate((ribbons.before, ribbons.after)):
            order, tops = flow.orders[column + side], flow.tops(column + side)
            for voter, top, weight in zip(order, tops, flow.weights(column + side), strict=True):
                own = np.flatnonzero(carriers == voter)
                own = own[np.argsort(ribbons.tops[own, side])]
                ends = ribbons.tops[own, side] + ribbons.weights[own]
                assert ribbons.tops[own, side] == pytest.approx([top, *ends[:-1]])
                assert ends[-1] == pytest.approx(top + weight)


def test_ribbons_lead_from_each_guru_to_the_next(record, flow):
    for column, increment in enumerate(record):
        ribbons = flow.ribbons(column)
        found = {
            (before, after, final): weight
            for before, after, final, weight in zip(
                ribbons.before, ribbons.after, ribbons.final, ribbons.weights, strict=True
            )
        }
        moves = zip(
            increment.before.gurus, increment.graph.gurus, record[-1].graph.gurus, strict=True
        )
        expected = {}
        for move in moves:
            expected[move] = expected.get(move, 0) + 1
        assert found == expected


@pytest.mark.parametrize("name", ["350 voters", "any voter"])
def test_ribbons_do_not_cross_if_no_votes_return(name):
    flow = WeightFlow.from_record(RECORDS[name], 60)
    for column in range(flow.n_columns - 1):
        tops = flow.ribbons(column).tops
        assert (np.diff(tops[np.argsort(tops[:, 0])][:, 1]) > 0).all()


def test_ribbons_into_the_same_band_do_not_cross(flow):
    for column in range(flow.n_columns - 1):
        ribbons = flow.ribbons(column)
        for voter in flow.orders[column + 1]:
            tops = ribbons.tops[ribbons.after == voter]
            sources = ribbons.before[ribbons.after == voter]
            order = np.argsort(tops[:, 1])
            places = [flow.orders[column].tolist().index(source) for source in sources[order]]
            assert places == sorted(places)


def test_votes_flow_in_from_both_sides_the_heavier_ones_closer():
    flow = WeightFlow.from_record(record_of([0, 1, 1, 3, 4, 4, 4], [0, 0, 1, 0, 0, 4, 4]), 60)
    assert flow.orders[1].tolist() == [3, 4, 0, 1]


def test_the_heaviest_are_at_the_top_in_the_end(flow):
    assert (np.diff(flow.weights(flow.n_columns - 1)) <= 0).all()


def test_few_columns_are_all_drawn():
    gurus = np.zeros((60, 3), dtype=int)
    assert drawn_columns(gurus, 60).tolist() == list(range(60))


def test_of_many_columns_those_are_drawn_at_which_votes_move():
    gurus = np.tile(np.arange(4), (300, 1))
    gurus[7:, 0] = 1
    gurus[120:, 2] = 3
    assert drawn_columns(gurus, 60).tolist() == [0, 7, 120, 299]


def test_of_too_many_moves_some_are_drawn_at_regular_intervals():
    gurus = np.tile(np.arange(2), (1001, 1))
    gurus[::2, 0] = 1
    columns = drawn_columns(gurus, 60)
    assert len(columns) == 60
    assert (columns[0], columns[-1]) == (0, 1000)
    assert set(np.diff(columns)) <= {16, 17}


def test_increments_are_counted_from_the_first_that_is_kept():
    record = random_record(10, 6)
    del record.increments[:4]
    assert WeightFlow.from_record(record, 60).increments.tolist() == [4, 5, 6]
