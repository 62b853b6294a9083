import math

import pytest

from skliquid.experiments.estimates import Estimate
from skliquid.experiments.verdicts import Verdict, gaps, spread

MORE, LESS, UNSURE = Estimate(0.1, 0.01, 10), Estimate(-0.1, 0.01, 10), Estimate(0.01, 0.01, 10)


@pytest.mark.parametrize(
    ("leads", "state", "where"),
    [
        ([MORE, MORE], "holds", ""),
        ([LESS], "fails", ""),
        ([UNSURE, UNSURE], "open", ""),
        ([MORE, LESS, UNSURE], "in part", "holds on 1, fails on 1, open on 1 of 3 datasets"),
        ([LESS, UNSURE], "fails", "fails on 1, open on 1 of 2 datasets"),
    ],
    ids=["all for", "all against", "all unsure", "mixed", "against or unsure"],
)
def test_each_dataset_counts(leads, state, where):
    verdict = Verdict.of("numbers", leads)
    assert (verdict.state, verdict.where, verdict.numbers) == (state, where, "numbers")


def test_few_trials_decide_less():
    error = 0.03
    assert Verdict.of("", [Estimate(0.1, error, 20)]).state == "holds"
    assert Verdict.of("", [Estimate(0.1, error, 2)]).state == "open"  # 12.7 errors are needed
    assert Verdict.of("", [Estimate(0.1, math.nan, 1)]).state == "open"


def test_a_gap_is_to_the_best_or_the_least_of_those_that_have_a_value():
    values = {
        "heart": {
            name: {"accuracy": Estimate(mean, 0.0)}
            for name, mean in zip("abc", (5, 7, 1), strict=True)
        },
        "spambase": {"a": {"accuracy": Estimate(5, 0.0)}, "b": {"accuracy": Estimate(math.nan)}},
        "ionosphere": {"b": {"accuracy": Estimate(1, 0.0)}},
    }
    assert [gap.mean for gap in gaps(values, "a", ["b", "c"], "accuracy")] == [-2]
    assert [gap.mean for gap in gaps(values, "a", ["b", "c"], "accuracy", to_least=True)] == [4]


def test_a_spread_of_equal_numbers_is_one_number():
    assert spread([0.9, 0.055]) == "0.055 to 0.900"
    assert spread([0.05, 0.05], "+.2f") == "+0.05"
