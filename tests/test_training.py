from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from algorithm_1 import algorithm_1, weighted_vote
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier

from skliquid import DelegationGraph, LiquidEnsembleClassifier
from skliquid.delegation.calibration import GroupAnswers
from skliquid.delegation.competence import (
    CONTRIBUTION_SHARE,
    CompetenceMeasure,
    Evaluation,
    contributions,
)
from skliquid.delegation.rows import Rows
from skliquid.delegation.running_averages import Measurement, OverallAverage
from skliquid.delegation.votes import VOTINGS
from skliquid.mechanisms import CANDIDATES, MECHANISMS, PAPER_MECHANISMS, as_mechanism, revocable
from skliquid.mechanisms.probability import any_candidate, best_of_the_lightest
from skliquid.mechanisms.schedules import FixedCount, Rounded
from skliquid.mechanisms.sizes import Sizes
from skliquid.theory import expected_training_cost
from skliquid.training import Rules, Training, finish, train


class ScriptedPool:
    """Voters that do nothing and are right as often as the script says; all labels are 0."""

    is_fitted = False

    def __init__(self, n_correct):
        self.n_correct = n_correct
        self.t = 0
        self.trained = []

    def expect(self, rows):
        pass

    def train(self, voters, rows):
        self.t += 1
        self.trained.append(voters.tolist())
        return len(voters) * rows.n_rows

    def vote(self, voters, X):
        return (np.arange(len(X)) >= self.n_correct[self.t - 1][voters][:, None]).astype(np.uint8)


def rules(mechanism="max", schedule=None, n_final=1, **options):
    schedule = schedule or Rounded(0.2)
    defaults = {
        "mechanism": as_mechanism(mechanism),
        "sizes": Sizes(n_final, n_final, schedule, schedule),
        "measure": CompetenceMeasure("training"),
        "voting": VOTINGS["hard"],
        "n_classes": 2,
    }
    return Rules(**defaults | options)


def scripted(n_correct, n_rows, rules):
    n_correct = [np.array(row) for row in n_correct]
    n_voters = len(n_correct[0])
    pool = ScriptedPool(n_correct)
    training = Training.start(pool, n_voters, rules, np.random.default_rng(0))
    increments = (Rows(np.zeros((n, 1)), np.zeros(n, int)) for n in n_rows)
    train(training, rules, increments)
    return training


# The worked example of the paper's first figure: five voters, three steps


def test_the_papers_worked_example():
    # t = 1: v1 is the weakest, v4 the strongest. t = 2: v3 is the weakest of the four left.
    n_correct = [[1, 6, 5, 9, 7], [0, 6, 3, 9, 7], [0, 6, 0, 9, 7]]
    training = scripted(n_correct, [10, 10, 10], rules("max", FixedCount(1), n_final=3))
    first, second, third = training.record
    assert first.voters.tolist() == [0, 1, 2, 3, 4]
    assert first.graph.weights.tolist() == [0, 1, 1, 2, 1]
    assert (first.delegators.tolist(), first.delegates.tolist()) == ([0], [3])
    assert second.voters.tolist() == [1, 2, 3, 4]
    assert (second.delegators.tolist(), second.delegates.tolist()) == ([2], [4])
    assert second.graph.weights.tolist() == [0, 1, 0, 2, 2]
    assert third.voters.tolist() == [1, 3, 4]
    assert len(third.voters) / 5 == 0.6
    assert third.delegators.tolist() == []
    assert third.graph is second.graph


def test_the_papers_worked_example_as_its_caption_says():
    # the caption sends v3's weight to v1, which delegates already: v4, its guru, receives it
    n_correct = [[5, 6, 6, 9, 7], [0, 6, 3, 9, 7], [0, 6, 0, 9, 7]]
    any_voter = as_mechanism("max", candidates="voters")
    training = scripted(n_correct, [10, 10, 10], rules(any_voter, FixedCount(1), n_final=3))
    first, second, third = training.record
    assert (first.delegators.tolist(), first.delegates.tolist()) == ([0], [3])
    assert (second.delegators.tolist(), second.delegates.tolist()) == ([2], [0])
    assert third.graph.delegation.tolist() == [3, 1, 0, 3, 4]
    assert third.graph.weights.tolist() == [0, 1, 0, 3, 1]


# Laws


@st.composite
def runs(draw):
    n_voters = draw(st.integers(2, 14))
    n_rows = draw(st.lists(st.integers(1, 12), min_size=1, max_size=8))
    n_correct = [
        draw(st.lists(st.integers(0, 12), min_size=n_voters, max_size=n_voters)) for _ in n_rows
    ]
    schedule = draw(
        st.sampled_from(
            [Rounded(0.2), Rounded(0.5, "floor"), FixedCount(2), Rounded(lambda t: 1 / t)]
        )
    )
    return {
        "n_correct": n_correct,
        "n_rows": n_rows,
        "rules": rules(
            as_mechanism(
                draw(st.sampled_from(PAPER_MECHANISMS)),
                candidates=draw(st.sampled_from(CANDIDATES)),
            ),
            schedule,
            n_final=draw(st.integers(1, n_voters)),
            measure=CompetenceMeasure(draw(st.sampled_from(["prequential", "training"]))),
            last_increment=draw(st.sampled_from([None, len(n_rows)])),
        ),
    }


@given(runs())
def test_laws_of_training(run):
    mechanism, n_final = run["rules"].mechanism, run["rules"].sizes.fewest
    training = scripted(**run)
    n_voters = len(run["n_correct"][0])
    before = DelegationGraph.direct(n_voters)
    for record in training.record:
        assert n_final <= record.n_representatives <= len(record.voters)
        assert record.voters.tolist() == before.representatives.tolist()
        assert len(record.voters) - len(record.delegators) == record.n_representatives
        assert record.n_trained == len(trained_on(record, run["rules"]))
        assert record.cost == record.n_trained * record.n_rows
        accuracy = dict(zip(record.voters, record.competence, strict=True))
        if mechanism.probability is not any_candidate:
            is_measured = np.isin(record.delegates, record.voters)
            chosen = [accuracy[voter] for voter in record.delegates[is_measured]]
            assert np.all(np.array(chosen) > [accuracy[v] for v in record.delegators[is_measured]])
        assert record.weights.tolist() == record.graph.weights[record.graph.weights > 0].tolist()
        assert 1 <= record.minimum_majority <= record.n_representatives
        assert 0 <= record.gini < 1
        before = record.graph
    assert training.record.cost.increments == sum(record.cost for record in training.record)
    assert training.graph is before or len(training.record) == 0


def trained_on(record, rules):
    """Return the voters that train on an increment."""
    if not rules.measure.before_training:
        return record.voters
    if record.increment > 1 and rules.are_settled(record.increment, record.n_representatives):
        return record.voters[:0]  # the final fit is all that is left
    return record.graph.representatives


@given(runs())
def test_mean_accuracy_is_the_average_of_what_was_measured(run):
    training = scripted(**run)
    measured = {}
    for record in training.record:
        for voter, accuracy, mean in zip(
            record.voters, record.accuracy, record.competence, strict=True
        ):
            if not np.isnan(accuracy):
                measured.setdefault(voter, []).append(accuracy)
            if voter in measured:
                assert np.isclose(mean, np.mean(measured[voter]))
            else:
                assert np.isnan(mean)


def test_no_voter_delegates_before_accuracy_was_measured():
    prequential = rules("random", measure=CompetenceMeasure("prequential"))
    training = scripted([[3, 2, 1]] * 3, [4, 4, 4], prequential)
    assert [len(record.delegators) for record in training.record] == [0, 1, 1]
    assert np.isnan(training.record[0].accuracy).all()


def test_training_stops_when_no_voter_will_delegate_and_a_final_fit_follows():
    script = [[1, 2, 3, 4]] * 6
    n_rows = [5] * 6
    cases = [
        (rules("max", FixedCount(1), n_final=2), 2),
        (rules("direct"), 1),
        (rules("max", Rounded(0.25, "floor"), n_final=1), 1),  # a quarter of three is less than one
        (rules("max", Rounded(lambda t: 0.0 if t < 3 else 0.5), n_final=1), 4),  # a late start
    ]
    for endless, n_increments in cases:
        stopping = replace(endless, last_increment=6)
        assert len(scripted(script, n_rows, stopping).record) == n_increments
        assert len(scripted(script, n_rows, endless).record) == 6


def test_a_delegation_after_the_last_increment_is_not_waited_for():
    at_the_seventh = Rounded(lambda t: 0.5 if t == 7 else 0.0)
    for last_increment, is_settled in [(6, True), (7, False), (None, False)]:
        late = rules("max", at_the_seventh, last_increment=last_increment)
        assert late.are_settled(1, 4) == is_settled


def test_significantly_weaker_voters_delegate_where_the_size_is_open():
    between = Sizes(1, 4, FixedCount(0), FixedCount(9))
    training = scripted([[10, 90, 90, 90]], [100], rules("max", sizes=between))
    assert training.graph.representatives.tolist() == [1, 2, 3]


def test_the_mechanism_knows_how_often_voters_were_measured():
    n_answers = []

    def spy(graph, competence, n_representatives, rng, knowledge):
        n_answers.append(knowledge.n_answers.tolist())
        return graph.representatives[:0], competence

    scripted([[1, 2, 3]] * 2, [4, 5], rules(revocable("max", spy)))
    assert n_answers == [[4, 4, 4], [9, 9, 9]]


@pytest.mark.parametrize("last_increment", [None, 4])
@pytest.mark.parametrize("measured", ["prequential", "training"])
def test_voters_that_are_measured_before_training_delegate_before_it_too(measured, last_increment):
    measuring = rules(
        "max", FixedCount(1), measure=CompetenceMeasure(measured), last_increment=last_increment
    )
    training = scripted([[1, 2, 3, 4]] * 4, [5, 6, 7, 8], measuring)
    costs = [record.cost for record in training.record]
    if measured == "training":  # all train, and then one delegates
        n_increments = 3 if last_increment else 4
        expected = [[0, 1, 2, 3], [1, 2, 3], [2, 3], [3]][:n_increments]
    else:  # nothing is known at the first increment, and who delegates need not train
        expected = [[0, 1, 2, 3], [1, 2, 3], [2, 3], [] if last_increment else [3]]
    assert training.pool.trained == list(filter(None, expected))
    assert costs == [len(voters) * n for voters, n in zip(expected, [5, 6, 7, 8], strict=False)]
    assert training.record.cost.increments == sum(costs)


def test_the_first_increment_is_trained_on_even_if_nobody_will_delegate():
    for measured in ("prequential", "training"):
        settled = rules("direct", measure=CompetenceMeasure(measured), last_increment=3)
        training = scripted([[1, 2]] * 3, [5, 5, 5], settled)
        assert training.pool.trained == [[0, 1]]


def test_max_spreads_weight_over_the_better_voters():
    n_correct = [[0, 1, 2, 7, 8, 9]] * 3
    training = scripted(n_correct, [9, 9, 9], rules("max", FixedCount(1), n_final=3))
    assert training.graph.weights.tolist() == [0, 0, 0, 2, 2, 2]
    assert training.graph.delegation.tolist()[:3] == [5, 4, 3]
    assert MECHANISMS["max"].probability is best_of_the_lightest


def increments_of(*sizes):
    """Return increments of so many rows, which know their positions in the data."""
    ends = np.cumsum([0, *sizes]).tolist()
    return [
        Rows(np.zeros((stop - start, 1)), np.zeros(stop - start, int), None, range(start, stop))
        for start, stop in pairwise(ends)
    ]


def test_increments_are_announced_and_recorded_with_the_score_of_the_new_graph():
    pool, announced = ScriptedPool([np.array([1, 2, 3])] * 2), []
    pool.expect = announced.append
    one_by_one = rules("max", FixedCount(1), n_final=1)
    training = Training.start(pool, 3, one_by_one, np.random.default_rng(0))
    increments = increments_of(4, 5)
    train(training, one_by_one, increments, lambda: len(training.graph.representatives) / 10)
    assert list(map(id, announced)) == list(map(id, increments))
    assert [record.rows for record in training.record] == [range(4), range(4, 9)]
    assert [record.eval_accuracy for record in training.record] == [0.2, 0.1]
    assert [record.increment for record in training.record] == [1, 2]
    assert np.isnan(scripted([[1, 2, 3]], [4], one_by_one).record[0].eval_accuracy)


def test_the_record_knows_how_many_should_remain_by_the_latest_rules():
    training = scripted([[1, 2, 3]], [4], rules(n_final=2))
    train(training, rules(n_final=1), [])
    assert training.record.n_final == 1


def test_an_increment_that_was_not_completed_leaves_the_training_interrupted():
    training = scripted([[1, 2, 3]] * 2, [4], rules())
    assert not training.is_interrupted
    training.pool.n_correct = []
    with pytest.raises(IndexError):
        train(training, rules(), increments_of(4))
    assert training.is_interrupted
    assert len(training.record) == 1
    training.pool.n_correct = [np.array([1, 2, 3])] * 3
    train(training, rules(), increments_of(4))
    assert training.is_interrupted is False


def test_voters_that_were_fitted_elsewhere_are_measured_from_the_first_increment():
    pool = ScriptedPool([np.array([1, 2, 3])])
    pool.is_fitted = True
    at_once = rules("max", FixedCount(1), measure=CompetenceMeasure("prequential"))
    training = Training.start(pool, 3, at_once, np.random.default_rng(0))
    train(training, at_once, increments_of(4))
    assert training.record[0].accuracy.tolist() == [0.25, 0.5, 0.75]
    assert training.graph.representatives.tolist() == [1, 2]


def test_contributions_are_to_the_group_as_it_is_weighted_before_the_increment():
    by_contribution = rules("max", FixedCount(1), measure=CompetenceMeasure("contribution"))
    n_correct = [np.array([0, 2, 3, 4]), np.array([1, 4, 2, 3]), np.array([1, 4, 2, 3])]
    training = scripted(n_correct, [4, 4, 4], by_contribution)
    measured = {voter: [] for voter in range(4)}
    for t, record in enumerate(list(training.record)[1:]):
        votes = (np.arange(4) >= n_correct[t][record.voters][:, None]).astype(int)
        answers, weights = np.eye(2)[votes], record.before.weights[record.voters]
        group = np.average(answers, axis=0, weights=weights)
        by_row = contributions(answers, group, np.zeros(4, int), CONTRIBUTION_SHARE)
        for voter, gain, found in zip(
            record.voters, by_row.mean(axis=1), record.competence, strict=True
        ):
            measured[voter].append(gain)
            assert found == pytest.approx(np.mean(measured[voter]), abs=1e-9)
    assert record.before.weights.max() > 1
    assert training.group.n_rows == 8


def started(**options):
    return Training.start(None, 3, rules(**options), np.random.default_rng(0))


def test_training_starts_as_the_rules_say():
    training = started(sharpens=False, n_final=2)
    assert training.graph.delegation.tolist() == [0, 1, 2]
    assert np.isnan(training.competence_average.mean).tolist() == [True] * 3
    assert not training.calibration.sharpens
    assert started().calibration.sharpens
    assert training.record.n_final == 2
    # the last increments, where voters return
    remembers = CompetenceMeasure("training", memory="auto")
    assert started(mechanism=revocable("max"), measure=remembers).competence_average.window == 20
    assert isinstance(started(measure=remembers).competence_average, OverallAverage)


def test_competence_accuracy_and_answers_of_the_group_are_kept_apart():
    training, voters = started(), np.array([0, 2])
    contribution, accuracy = (
        [Measurement(np.array(values), 4, is_count=True) for values in pairs]
        for pairs in ([(0.25, 0.5), (0.75, 1.0)], [(0.5, 0.0), (0.0, 0.5)])
    )
    shares, y = np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0])
    group = GroupAnswers.of(shares, y, None, is_soft=True)
    for found in zip(contribution, accuracy, (group, group), strict=True):
        training.update(voters, Evaluation(*found))
    assert training.competence_average.mean[voters].tolist() == [0.5, 0.75]
    assert training.accuracy_average.mean[voters].tolist() == [0.25, 0.25]
    assert np.isnan(training.competence_average.mean[1])
    assert training.calibration.n_rows == training.group.n_rows == 4
    np.testing.assert_allclose(training.group.losses, 2 * group.losses)


def test_where_competence_is_accuracy_one_average_is_both():
    training, measured = started(), Measurement(np.array([0.5, 1.0, 0.0]), 2, is_count=True)
    training.update(np.arange(3), Evaluation(measured, measured))
    assert training.accuracy_average is training.competence_average
    assert training.accuracy_average.mean.tolist() == [0.5, 1.0, 0.0]
    assert training.group is None
    assert training.calibration.n_rows == 0


def test_a_copy_with_another_pool_goes_on_alike_and_leaves_the_first_alone():
    script, by_chance = [[1, 2, 3, 4]] * 3, rules("random", FixedCount(1))
    training = scripted(script, [5], by_chance)
    training.group = "answers about fewer classes"
    copied = training.with_pool(ScriptedPool(list(map(np.array, script))), cost=70)
    assert copied.pool is not training.pool
    assert (copied.graph, copied.competence_average) == (
        training.graph,
        training.competence_average,
    )
    assert copied.group is None
    assert copied.rng.random(4).tolist() == training.rng.random(4).tolist()
    assert copied.record.cost == (training.record.cost.increments + 70, 0)
    train(copied, by_chance, [Rows(np.zeros((5, 1)), np.zeros(5, int))])
    assert (len(training.record), len(copied.record)) == (1, 2)
    train(training, by_chance, [Rows(np.zeros((5, 1)), np.zeros(5, int))])
    assert training.graph.delegation.tolist() == copied.graph.delegation.tolist()


def test_the_representatives_are_refitted_in_the_end_and_that_has_its_cost():
    training = scripted([[1, 2, 3, 4]] * 2, [5, 5], rules("max", FixedCount(1)))
    rows, calls = Rows(np.zeros((9, 1)), np.zeros(9, int)), []

    def spy(voters, rows):
        calls.append((voters.tolist(), rows))
        return 36

    training.pool.finish = spy
    finish(training, rows)
    finish(training, rows)
    assert calls == [([2, 3], rows)] * 2
    assert training.record.cost == (4 * 5 + 3 * 5, 72)


# Oracle


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("mechanism", PAPER_MECHANISMS)
@pytest.mark.parametrize(
    ("data", "rate", "candidates"),
    [
        ("binary", 0.15, "representatives"),
        ("binary", 0.15, "voters"),
        ("binary", 0.5, "representatives"),
        ("binary", 0.5, "voters"),
        ("digits", 0.15, "representatives"),
    ],
)
def test_the_library_agrees_with_a_plain_transcription_of_algorithm_1(
    request, data, rate, candidates, mechanism, seed
):
    X, y = request.getfixturevalue(data)
    n_rows = 400 if data == "binary" else 160  # ten classes take ten times as long
    X_train, y_train, X_test = X[:n_rows], y[:n_rows], X[400:]
    settings = {"n": 16, "n_final": 4, "rate": rate, "u": 37}
    for rounding, fit in (("floor", True), ("at_least_one", False)):
        V, W = algorithm_1(
            X_train,
            y_train,
            SGDClassifier(),
            mechanism=mechanism,
            seed=seed,
            at_least_one=rounding == "at_least_one",
            fit=fit,
            any_voter=candidates == "voters",
            **settings,
        )
        ensemble = LiquidEnsembleClassifier(
            SGDClassifier(),
            n_estimators=settings["n"],
            n_final=settings["n_final"],
            delegation_rate=Rounded(settings["rate"], rounding),
            increment_size=settings["u"],
            mechanism=as_mechanism(mechanism, candidates=candidates),
            competence="training",
            voting="hard",
            final_fit=fit,
            random_state=seed,
        ).fit(X_train, y_train)
        assert ensemble.delegation_graph_.weights.tolist() == W
        left = [v for v, w in zip(V, W, strict=True) if w != 0]
        for ours, theirs in zip(ensemble.estimators_, left, strict=True):
            assert np.array_equal(ours.coef_, theirs.coef_)
        assert np.array_equal(ensemble.predict(X_test), weighted_vote(V, W, X_test))


# Cost


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"delegation_rate": 0.2},
        {"delegation_rate": Rounded(0.2, "floor"), "increment_size": 17},
        {"delegation_rate": FixedCount(3), "increment_size": 40},
        {"delegation_rate": 0.05, "final_fit": False},
        {"delegation_rate": 0, "increment_size": 30},
        {"n_final": 20},
    ],
)
def test_the_expected_cost_is_the_cost_of_a_plain_run(binary, settings):
    X, y = binary
    settings = {"n_estimators": 20, "n_final": 6} | settings
    ensemble = LiquidEnsembleClassifier(
        SGDClassifier(max_iter=3, tol=None),
        mechanism="random",
        competence="training",
        random_state=0,
        **settings,
    ).fit(X, y)
    assert expected_training_cost(len(y), n_passes=3, **settings) == ensemble.training_cost_


@pytest.mark.parametrize("measured", ["contribution", "prequential"])
@pytest.mark.parametrize("final_fit", [True, False])
def test_the_cost_is_what_the_voters_that_are_left_take(binary, measured, final_fit):
    X, y = binary
    ensemble = LiquidEnsembleClassifier(
        SGDClassifier(max_iter=3, tol=None),
        n_estimators=20,
        n_final=6,
        competence=measured,
        increment_size=50,
        final_fit=final_fit,
        random_state=0,
    ).fit(X, y)
    record = ensemble.record_
    expected = [step.n_representatives * step.n_rows for step in record]
    if final_fit:
        expected[-1] = 0
    assert [step.cost for step in record] == expected
    assert record[-1].n_representatives == 6 < record[-2].n_representatives
    assert ensemble.training_cost_ == (sum(expected), final_fit * 6 * 3 * len(y))
    if not final_fit:  # coefficients count their steps: all rows, or those until they delegated
        assert {voter.t_ for voter in ensemble.estimators_} == {len(y) + 1}


def test_the_cost_of_direct_is_that_of_a_rate_of_zero(binary):
    X, y = binary
    direct = LiquidEnsembleClassifier(
        SGDClassifier(max_iter=3, tol=None), n_estimators=5, n_final=2, mechanism="direct"
    ).fit(X, y)
    expected = expected_training_cost(
        len(y), n_estimators=5, n_final=2, delegation_rate=0, n_passes=3
    )
    assert direct.training_cost_ == expected
