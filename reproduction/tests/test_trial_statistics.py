import math

import pytest

from reproduction.tests.small_results import experiment_named
from reproduction.trial_statistics import Estimate, published, published_values


def test_estimates_leave_out_missing_values():
    estimate = Estimate.of([1.0, None, math.nan, 3.0])
    assert (estimate.mean, estimate.error) == (2.0, 1.0)
    assert Estimate.of([2.0]).mean == 2
    assert math.isnan(Estimate.of([2.0]).error)
    assert math.isnan(Estimate.of([None]).mean)


def test_an_estimate_is_marked_where_the_published_value_differs():
    assert Estimate(0.59, 0.01).text(0.584) == "0.590 ± 0.010"
    assert Estimate(0.59, 0.01).text(0.5) == "0.590 ± 0.010*"
    assert Estimate(0.59).text(0.5) == "0.590"
    assert Estimate(math.nan).text(0.5) == "-"


def test_published_values_are_numbers_by_dataset_ensemble_and_measure():
    assert published_values("comparison")["heart", "Direct", "accuracy"] == 0.584


@pytest.mark.parametrize("name", ["comparison", "accuracy_maximizing", "cost_minimizing"])
def test_every_published_number_has_a_row_of_ours(name):
    rows = {row.label for row in experiment_named(name).rows}
    printed = published(name)
    assert set(printed["ensemble"]) == rows
    assert printed["dataset"].nunique() == 8
