"""Whatever is given for rows, labels, weights and maps: a result, or an error that says why not."""

import odd_input
import pytest
from odd_input import Case

N_PARTS = 2
CRASH_AT = 1  # where the process is ended on purpose


@pytest.mark.parametrize("part", range(N_PARTS))
def test_odd_input_ends_in_a_result_or_in_a_clear_error(part):
    table = odd_input.cases(everything=False)
    endings = odd_input.run(range(part, len(table), N_PARTS), everything=False, crash_at=CRASH_AT)
    assert list(endings) == table[part::N_PARTS]
    if part == CRASH_AT % N_PARTS:  # a crash is noticed, and the table goes on behind it
        assert endings.pop(table[CRASH_AT]).startswith("crash: the process ended with")
    assert not {str(case): end for case, end in endings.items() if end not in ("result", "refused")}
    assert set(endings.values()) == {"result", "refused"}


def test_each_odd_value_and_each_method_is_in_the_part_that_is_always_tried():
    table = odd_input.cases(everything=False)
    tried = {(case.argument, case.odd) for case in table}
    assert tried == {(name, odd) for name, values in odd_input.ODD.items() for odd in values}
    methods = {(case.model, case.method) for case in table}
    assert methods == {(name, one) for name, own in odd_input.METHODS.items() for one in own}


def test_an_error_that_is_not_from_a_check_is_noticed(monkeypatch):
    case = Case("forest", "predict_proba", "X", "plain")
    assert odd_input.outcome(case) == "result"
    monkeypatch.setattr("skliquid.voters.growing.compact", lambda _: [].pop())
    assert odd_input.outcome(case).startswith("wrong error: IndexError")
    monkeypatch.setattr("skliquid.voters.growing.compact", lambda _: int("x"))
    assert odd_input.outcome(case).startswith("not at the door: ValueError")
    monkeypatch.setattr("skliquid.voters.growing.compact", lambda X: X[:, :1].copy())
    assert odd_input.outcome(case).startswith("not at the door: ValueError: X must have as many")


def test_a_wrong_result_is_noticed(monkeypatch):
    case = Case("forest", "predict_proba", "X", "plain")
    monkeypatch.setattr("skliquid.voters.growing.native.add_up_trees", lambda *_: None)
    assert odd_input.outcome(case).startswith("wrong result")
