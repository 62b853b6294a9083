import math
import pickle
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliquid.mechanisms.schedules import (
    FixedCount,
    JustFastEnough,
    Rounded,
    Schedule,
    as_schedule,
    asks_again,
    n_asked,
)


def sizes(schedule, n, n_final, n_increments):
    """Number of representatives after each increment, when every voter that is asked delegates."""
    left = [n]
    for t in range(1, n_increments + 1):
        left.append(left[-1] - n_asked(schedule, t, left[-1], n_final))
    return left[1:]


@dataclass
class OwnSchedule:
    answer: float

    def n_delegators(self, increment, n_representatives):
        return self.answer


def test_floor_ends_where_the_paper_does():
    left = sizes(Rounded(0.05, "floor"), 350, 10, 500)
    assert left[-1] == 19
    assert sizes(Rounded(0.85, "floor"), 350, 10, 3) == [53, 10, 10]


def test_at_least_one_reaches_n_final():
    assert sizes(Rounded(0.05), 350, 10, 500)[-1] == 10


@given(st.floats(0, 1), st.integers(1, 1000))
def test_rounding_never_asks_for_more_than_the_share_or_one(rate, n):
    cut = Rounded(rate, "floor").n_delegators(1, n)
    assert abs(cut - math.floor(rate * n)) <= 1
    assert cut <= n
    assert Rounded(rate).n_delegators(1, n) == (max(cut, 1) if rate > 0 else 0)


def test_none_or_all_may_delegate():
    assert [Rounded(rate).n_delegators(1, 7) for rate in (0, 1)] == [0, 7]


def test_decimal_rates_mean_what_they_say():
    assert 0.29 * 100 < 29
    assert Rounded(0.29, "floor").n_delegators(1, 100) == 29


@given(st.integers(1, 400), st.data())
def test_auto_is_just_fast_enough(n, data):
    n_final = data.draw(st.integers(1, n))
    n_increments = data.draw(st.integers(1, 300))
    left = sizes(JustFastEnough(n, n_final, n_increments), n, n_final, n_increments)
    assert left[-1] == n_final
    for t, size in enumerate(left, start=1):
        curve = n * (n_final / n) ** (t / n_increments)
        assert curve - 1e-6 <= size < curve + 1 + 1e-6


def test_auto_makes_up_for_voters_that_stayed():
    schedule = JustFastEnough(100, 10, 4)
    assert schedule.n_delegators(2, 100) == 68
    assert schedule.n_delegators(9, 100) == 90


def test_a_fixed_count_is_capped_by_the_representatives():
    assert [FixedCount(3).n_delegators(t, n) for t, n in [(1, 9), (5, 3), (6, 2)]] == [3, 3, 2]


def test_everything_a_user_may_give_becomes_a_schedule():
    settings = {"n_voters": 20, "n_final": 5, "n_increments": 3}
    assert as_schedule(0.25, **settings) == Rounded(0.25)
    assert as_schedule(lambda t: 1 / t, **settings).n_delegators(2, 20) == 10
    assert as_schedule(FixedCount(2), **settings) == FixedCount(2)
    assert as_schedule("auto", **settings) == JustFastEnough(20, 5, 3)
    assert as_schedule("auto", **settings | {"n_increments": None}) == Rounded(0.05)


def test_schedules_pickle_compare_and_print():
    for schedule in (Rounded(0.3, "floor"), FixedCount(2), JustFastEnough(9, 3, 2)):
        assert isinstance(schedule, Schedule)
        assert pickle.loads(pickle.dumps(schedule)) == schedule
    assert repr(Rounded(0.1)) == "Rounded(rate=0.1, rounding='at_least_one')"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Rounded(1.2), "rate must be a share between 0 and 1: got 1.2.* like 0.05"),
        (lambda: Rounded("fast"), "rate must be a share"),
        (lambda: FixedCount(-1), "count must be a whole number of 0 or more: got -1"),
        (lambda: FixedCount(1.5), "count must be a whole number"),
        (lambda: FixedCount(2.0), "count must be a whole number"),
        (lambda: FixedCount(None), "count must be a whole number"),
        (lambda: n_asked(OwnSchedule(1.5), 3, 9, 1), "at increment 3 must be a whole number"),
        (lambda: n_asked(OwnSchedule(-1), 3, 9, 1), "must be a whole number of 0 or more: got -1"),
        (lambda: Rounded(2), "rate must be a share"),
        (lambda: Rounded(0.1, "up"), "rounding must be 'at_least_one' or 'floor': got 'up'"),
        (lambda: Rounded(lambda t: 3).n_delegators(4, 9), "delegation_rate at increment 4 must be"),
        (lambda: Rounded(lambda t: None).n_delegators(1, 9), "delegation_rate at increment 1"),
    ],
)
def test_wrong_schedules_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_schedule_is_asked_ahead_and_never_for_more_than_may_go():
    late = Rounded(lambda t: 0.5 if t == 7 else 0)
    assert asks_again(late, range(2, 8), 10, 3)
    assert not asks_again(late, range(2, 7), 10, 3)
    assert not asks_again(FixedCount(2), range(1, 9), 3, 3)
    assert not asks_again(OwnSchedule("wrong"), range(1, 9), 3, 3)  # it is not even asked
    assert n_asked(FixedCount(9), 1, 10, 3) == 7
    assert n_asked(FixedCount(9), 1, 3, 5) == 0
