"""What a replay shows: numbers and texts for JSON."""

import numpy as np
from small_records import chain, increment, many, record_of

from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.record import TrainingRecord, VoterDescription
from skliquid.plotting.replay_data import MAX_INCREMENTS, replay_data


def test_objects_among_the_hyperparameters_have_no_addresses():
    record = chain()
    record.voters = tuple(VoterDescription("own", "", {"a": object()}) for _ in range(4))
    assert replay_data(record)["hyperparameters"][0] == {"a": "<object object>"}


def test_moves_give_back_every_graph_of_the_record():
    record = many(40, 12)
    delegation = np.arange(40)
    for moves, one in zip(replay_data(record)["moves"], record, strict=True):
        for voter, to in zip(moves[::2], moves[1::2], strict=True):
            delegation[voter] = to
        np.testing.assert_array_equal(delegation, one.graph.delegation)


def test_the_weakest_delegate_first():
    start = DelegationGraph.direct(4)
    record = TrainingRecord(n_final=1)
    record.append(increment(1, start, start.delegate([0, 1, 2], to=[3, 3, 3]), [0.7, 0.5, 0.6, 1]))
    assert replay_data(record)["moves"] == [[1, 3, 2, 3, 0, 3]]


def test_no_order_of_moves_makes_a_cycle():
    before = DelegationGraph(np.array([1, 1, 2]))
    after = DelegationGraph(np.array([2, 0, 2]))  # 0 delegates to another, and 1 to 0
    record = TrainingRecord(n_final=1)
    record.append(increment(1, before, after, [0.1, 0.9]))
    assert replay_data(record)["start"] == [1, 1, 2]
    (moves,) = replay_data(record)["moves"]
    assert moves[:2] == [0, 0]
    delegation = before.delegation.copy()
    for voter, to in zip(moves[::2], moves[1::2], strict=True):
        delegation[voter] = to
        DelegationGraph(delegation)  # which raises if there is a cycle


def test_visits_are_compared_with_all_voters_training():
    data = replay_data(chain())
    assert data["visits"] == [100, 200, 300]
    assert data["visits_of_all"] == [133, 333, 467]  # 4 voters, of which 3, 2 and 3 trained
    assert (data["final_fit"], data["final_fit_of_all"]) == (400, 533)
    assert data["visits_elsewhere"] == 0


def test_an_increment_without_training_costs_nothing_either_way():
    start = DelegationGraph.direct(2)
    record = TrainingRecord(n_final=1)
    record.append(increment(1, start, start, cost=0, n_trained=0))
    assert replay_data(record)["visits_of_all"] == [0]


def test_nan_is_null_and_competence_keeps_its_differences():
    start = DelegationGraph.direct(3)
    record = TrainingRecord(n_final=1)
    record.append(increment(1, start, start, [np.nan, 0.00012, -0.00013]))
    data = replay_data(record)
    assert data["competence"] == [[None, 1200, -1300]]
    assert data["competence_digits"] == 7
    assert data["eval_accuracy"] == [None]


def test_estimators_have_the_marks_of_the_displays():
    data = replay_data(chain())
    assert (data["estimators"], data["estimator"]) == (
        ["linear", "forest", "boosted"],
        [0, 1, 0, 2],
    )
    circle, triangle, square = data["marks"]
    assert circle is None
    assert (len(triangle), len(square)) == (6, 8)
    assert triangle[0] == 0 < triangle[1]  # it points up


def test_the_score_after_the_final_fit_and_the_unit_of_competence_are_shown():
    record = chain()
    assert replay_data(record)["final_eval_accuracy"] is None
    assert replay_data(record)["competence_unit"] == ""
    record.final_eval_accuracy, record.competence_measure = 0.98765432, "contribution"
    assert replay_data(record)["final_eval_accuracy"] == 0.98765
    assert replay_data(record)["competence_unit"].startswith("change of Brier score")


def test_of_many_increments_evenly_spaced_ones_are_shown():
    start = DelegationGraph.direct(2)
    graphs = [start, start.delegate([0], to=[1])]
    record = record_of([graphs[k % 3 == 1] for k in range(1101)], max_increments=1000)
    data = replay_data(record)
    assert len(data["increment"]) == MAX_INCREMENTS
    assert (data["increment"][0], data["increment"][-1]) == (101, 1100)
    assert set(np.diff(data["increment"])) <= {5, 6}
    assert (data["n_kept"], data["n_increments"]) == (1000, 1100)
    assert data["visits_elsewhere"] == 100 * 100
    assert data["visits"][-1] == 1000 * 100
