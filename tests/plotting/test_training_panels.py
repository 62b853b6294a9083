import pytest

from plotting.records import random_record, record_of
from skliquid.plotting.training_history import TrainingHistory
from skliquid.plotting.training_panels import NAMES, panels_for

PLAIN = TrainingHistory.from_record(random_record(12, 4))


def with_eval_set():
    return TrainingHistory.from_record(record_of([0, 0, 0], [0, 0, 0], eval_accuracy=0.9))


def test_there_are_five_panels():
    assert tuple(panels_for([PLAIN])) == NAMES


@pytest.mark.parametrize(
    ("histories", "title"),
    [
        ([with_eval_set()], "Accuracy on evaluation set"),
        ([with_eval_set(), PLAIN], "Voters' accuracy on increments"),
        (
            [TrainingHistory.from_record(record_of([0, 0], n_trained=1))],
            "Voters' accuracy on new rows",
        ),
        (
            [TrainingHistory.from_record(record_of([0, 0], n_trained=1)), PLAIN],
            "Voters' accuracy on increments",
        ),
    ],
    ids=["all have it", "one has it", "asked before", "one asked before"],
)
def test_accuracy_is_what_all_ensembles_have(histories, title):
    assert panels_for(histories)["accuracy"].title == title


def test_the_final_fit_is_named_if_there_is_one():
    record = record_of([0, 0])
    assert panels_for([TrainingHistory.from_record(record)])["cost"].title == "Sample visits"
    record.final_fit_cost = 5
    assert (
        panels_for([TrainingHistory.from_record(record)])["cost"].title
        == "Sample visits and final fit"
    )
