import pickle

import numpy as np
import pytest

from skliquid.accuracy_estimate import AccuracyEstimate, DecayedAccuracy, RecentAccuracy
from skliquid.competence import Competence, as_competence


def test_competence_is_measured_after_or_before_training():
    events = []

    def train():
        events.append("train")
        return 7

    def measure():
        events.append("measure")
        return np.array([0.5])

    training, prequential = Competence("training"), Competence("prequential")
    assert training(train, measure, False) == (np.array([0.5]), 7)
    assert prequential(train, measure, True) == (np.array([0.5]), 7)
    assert prequential(train, measure, False) == (None, 7)
    assert events == ["train", "measure", "measure", "train", "train"]


def test_memory_chooses_the_estimate():
    estimates = [
        Competence(memory=memory).estimate(3, is_revocable=True) for memory in (None, 5, 0.9)
    ]
    assert list(map(type, estimates)) == [AccuracyEstimate, RecentAccuracy, DecayedAccuracy]


def test_automatic_memory_is_limited_where_delegations_are_revocable():
    assert Competence().estimate(3, is_revocable=True).window == 20
    assert isinstance(Competence().estimate(3, is_revocable=False), AccuracyEstimate)


def test_a_name_stands_for_a_competence():
    assert as_competence("training") == Competence("training", memory="auto")
    forgetful = Competence(memory=0.5)
    assert as_competence(forgetful) is forgetful
    assert pickle.loads(pickle.dumps(forgetful)) == forgetful


@pytest.mark.parametrize("wrong", ["accuracy", None, 3, ["training"]])
def test_unknown_measures_are_refused(wrong):
    with pytest.raises(ValueError, match="competence must be measured as one of prequential, tra"):
        as_competence(wrong)


@pytest.mark.parametrize("memory", [0, -3, 0.0, 1.0, 2.5, float("nan"), "always", [5]])
def test_wrong_memories_are_refused(memory):
    with pytest.raises(ValueError, match=r"memory must be an integer of 1 or more, .*: got "):
        Competence(memory=memory)
