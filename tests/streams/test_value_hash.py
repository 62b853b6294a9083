import importlib
import sys

import pytest
from sklearn.linear_model import SGDClassifier

from skliquid.streams.value_hash import value_hash

MODULE = """
def share():
    return {share}

def rate(t):
    return share()

class Rate:
    def __call__(self, t):
        return share()
"""


@pytest.fixture
def schedule(tmp_path, monkeypatch):
    """Write a module of the user's own, and return it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def written(share):
        (tmp_path / "own_schedule.py").write_text(MODULE.format(share=share))
        sys.modules.pop("own_schedule", None)
        importlib.invalidate_caches()
        return importlib.import_module("own_schedule")

    yield written
    sys.modules.pop("own_schedule", None)


@pytest.mark.parametrize("pick", [lambda own: own.rate, lambda own: [own.Rate()]])
def test_code_that_was_edited_changes_the_hash(schedule, pick):
    first = value_hash("delegation_rate", pick(schedule(0.5)))
    assert value_hash("delegation_rate", pick(schedule(0.5))) == first
    assert value_hash("delegation_rate", pick(schedule(0.25))) != first


def test_values_change_the_hash():
    values = [1, "1", None, SGDClassifier(), SGDClassifier(alpha=0.1)]
    assert len({value_hash("estimator", value) for value in values}) == len(values)
    assert value_hash("estimator", SGDClassifier()) == value_hash("estimator", SGDClassifier())


def test_a_function_without_a_name_is_refused():
    with pytest.raises(ValueError, match="delegation_rate must be picklable to be in a checkpoint"):
        value_hash("delegation_rate", lambda t: 0.5)
