import numpy as np

from skliquid.competence import after_training, before_training


def test_competence_is_measured_after_or_before_training():
    events = []

    def train():
        events.append("train")
        return 7

    def measure():
        events.append("measure")
        return np.array([0.5])

    assert after_training(train, measure, False) == (np.array([0.5]), 7)
    assert before_training(train, measure, True) == (np.array([0.5]), 7)
    assert before_training(train, measure, False) == (None, 7)
    assert events == ["train", "measure", "measure", "train", "train"]
