import numpy as np
import pytest
from small_ensembles import small

from plotting.records import random_record, record_of
from skliquid import LiquidEnsembleClassifier
from skliquid.plotting.training_history import TrainingHistory


@pytest.fixture(scope="module")
def history(alike):
    return TrainingHistory.from_record(alike.record_)


def test_numbers_are_those_of_the_record(alike, history):
    record = alike.record_
    assert history.increments.tolist() == list(range(1, len(record) + 1))
    assert history.representatives.tolist() == [one.n_representatives for one in record]
    assert history.minimum_majority.tolist() == [one.minimum_majority for one in record]
    assert history.accuracy.tolist() == [one.accuracy.mean() for one in record]
    scores = [*(one.eval_accuracy for one in record), record.final_eval_accuracy]
    assert history.eval_accuracy.tolist() == scores
    assert history.n_voters == 12


def test_competence_is_that_of_the_representatives_that_are_left():
    history = TrainingHistory.from_record(
        record_of([3, 1, 2, 3], competence=np.array([9.0, 1.0, 2.0, 6.0]))
    )
    assert history.competence.tolist() == [[1.0, 3.0, 6.0]]


def test_competence_that_was_not_measured_stays_unknown():
    history = TrainingHistory.from_record(record_of([0, 0], competence=np.full(2, np.nan)))
    assert np.isnan(history.competence).all()


def test_costs_are_summed_and_end_with_the_final_fit(alike, history):
    record = alike.record_
    assert np.diff(history.cost[:-1]).tolist() == [one.cost for one in record][1:]
    assert history.cost[-2] == record.cost.increments
    assert history.cost[-1] == record.cost.total


def test_without_delegation_all_voters_would_have_cost_as_much_as_those_that_trained(
    alike, history
):
    rows = np.array([one.n_rows for one in alike.record_])
    assert history.cost_of_all[:-1] == pytest.approx(12 * np.cumsum(rows))
    n_left = history.representatives[-1]
    final = history.cost_of_all[-1] - history.cost_of_all[-2]
    assert final == pytest.approx(alike.record_.cost.final_fit * 12 / n_left)


def test_direct_voting_costs_what_it_costs(binary):
    record = small(mechanism="direct", final_fit=False, increment_size=100).fit(*binary).record_
    history = TrainingHistory.from_record(record)
    assert history.cost == pytest.approx(history.cost_of_all)
    assert history.cost[-1] == history.cost[-2]


def test_costs_of_increments_that_were_not_kept_are_counted():
    record = random_record(10, 6)
    del record.increments[:4]
    history = TrainingHistory.from_record(record)
    assert history.cost.tolist() == [50, 60, 60]


def test_it_is_known_whether_voters_were_asked_before_training(alike, binary):
    X, y = binary
    before = LiquidEnsembleClassifier(alike.estimator, competence="prequential", random_state=0)
    assert TrainingHistory.from_record(before.fit(X, y).record_).is_prequential
    assert not TrainingHistory.from_record(alike.record_).is_prequential
