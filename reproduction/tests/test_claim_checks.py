import math
from dataclasses import replace

import pytest

from reproduction.claim_checks import Verdict, check_claims, leads_of, range_text
from reproduction.tests.small_results import (
    as_published,
    curve_ends,
    experiment_named,
    search_results,
)
from reproduction.trial_statistics import Estimate

MORE, LESS, UNSURE = Estimate(0.1, 0.01, 10), Estimate(-0.1, 0.01, 10), Estimate(0.01, 0.01, 10)
COST, FULL, BOOSTED = (
    "Delegation lowers the training cost of the full ensemble, Direct",
    "Prop W Acc is more accurate than the full ensemble",
    "Prop W Acc is more accurate than some AdaBoost",
)


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


def test_a_lead_is_over_the_best_or_the_least_of_those_that_have_a_value():
    values = {
        "heart": {
            name: {"accuracy": Estimate(mean, 0.0)}
            for name, mean in zip("abc", (5, 7, 1), strict=True)
        },
        "spambase": {"a": {"accuracy": Estimate(5, 0.0)}, "b": {}},
        "ionosphere": {"b": {"accuracy": Estimate(1, 0.0)}},
    }
    assert [lead.mean for lead in leads_of("a", values, ["b", "c"], "accuracy")] == [-2]
    assert [
        lead.mean for lead in leads_of("a", values, ["b", "c"], "accuracy", over_least=True)
    ] == [4]


def test_a_range_of_equal_numbers_is_one_number():
    assert range_text([0.9, 0.055]) == "0.055 to 0.900"
    assert range_text([0.05, 0.05], "+.2f") == "+0.05"


def found(*shown):
    return {claim.words: claim for claim in check_claims(shown)}


def test_results_as_published_give_the_published_numbers():
    claim = found(as_published("comparison", ["heart", "spambase"]))[FULL]
    assert claim.published == "ahead on 1 of 2 (-0.011 to +0.049)"
    for verdict in claim.verdicts.values():
        assert verdict.numbers == claim.published
        assert verdict.where == "holds on 1, fails on 1 of 2 datasets"


def test_a_claim_may_hold_and_may_fail():
    better = found(as_published("comparison", offset=lambda label: 0.4 * (label == "Prop W Acc")))
    assert better[FULL].verdicts["paper"].state == "holds"
    assert better[BOOSTED].verdicts["paper"].numbers == "ahead of one on 1 of 1, of all on 1"
    worse = found(as_published("comparison", offset=lambda label: -0.4 * (label == "Prop W Acc")))
    assert worse[FULL].verdicts["paper"].state == "fails"
    assert worse[BOOSTED].verdicts["paper"].state == "fails"
    assert worse[COST].verdicts["paper"].state == "holds"
    assert worse[COST].published == "Prop W Acc 0.900, Prop W Cost 0.035"


def test_an_unpublished_dataset_has_verdicts_without_published_numbers():
    experiment, results = as_published("comparison")
    own = [(replace(trial, dataset="own.csv"), result) for trial, result in results]
    claim = found((experiment, own))[FULL]
    assert claim.published == "-"
    assert claim.verdicts["paper"].state == "fails"


def test_the_best_mechanism_is_looked_for_among_those_that_delegate():
    words = "Prop W is the most accurate mechanism (u = 25, rate 0.85)"
    ahead = as_published("cost_minimizing", offset=lambda label: 0.4 * (label == "Prop W"))
    behind = as_published("cost_minimizing", offset=lambda label: 0.4 * (label == "Random"))
    assert found(ahead)[words].verdicts["ours"].state == "holds"
    assert found(behind)[words].verdicts["ours"].state == "fails"
    direct = as_published("cost_minimizing", offset=lambda label: 0.4 * (label == "Direct"))
    assert found(direct)[words].verdicts["ours"].numbers == found(direct)[words].published


def test_curves_say_who_ends_best_and_whose_weight_is_least_concentrated():
    accurate, spread, differ = check_claims([curve_ends("Prop W")])
    assert [claim.published for claim in (accurate, spread)] == ["on spambase"] * 2
    assert [claim.verdicts["paper"].state for claim in (accurate, spread)] == ["holds"] * 2
    assert spread.verdicts["paper"].numbers == "+3.0"
    verdict = differ.verdicts["paper"]
    assert verdict.numbers == "on spambase"
    assert verdict.where == "holds on 5, open on 10 of 15 pairs"  # the best one and each other
    accurate, spread, _ = check_claims([curve_ends("Max")])
    assert [claim.verdicts["paper"].state for claim in (accurate, spread)] == ["fails"] * 2


def test_a_claim_about_one_dataset_is_decided_there():
    experiment, there = curve_ends("Prop W")
    _, elsewhere = curve_ends("Max", dataset="heart")
    accurate, *_ = check_claims([(experiment, [*elsewhere, *there])])
    verdict = accurate.verdicts["paper"]
    assert (verdict.state, verdict.where) == ("holds", "")
    assert verdict.numbers == "+0.200 there; ahead on 1 of 2 (-0.200 to +0.200)"


def test_other_datasets_than_that_of_the_text_are_named():
    *_, differ = check_claims([curve_ends("Prop W", dataset="heart")])
    assert differ.verdicts["paper"].numbers == "on heart"


@pytest.mark.parametrize(("sign", "state"), [(-1, "holds"), (1, "fails")], ids=["low", "high"])
def test_a_search_compares_low_rates_with_high_ones(sign, state):
    experiment = experiment_named("parameter_search")
    results = [
        (trial, {"accuracy_final": 0.7 + sign * 0.2 * trial.method["delegation_rate"]})
        for trial, _ in search_results(experiment, n_trials=3)
    ]
    (claim,) = check_claims([(experiment, results)])
    assert claim.verdicts["paper"].state == state
    assert check_claims([(experiment, [])]) == []


def test_tables_without_trials_are_compared_entry_by_entry():
    ratio, sizes = check_claims(
        [(experiment_named("harmful_states"), []), (experiment_named("datasets"), [])]
    )
    assert ratio.published == "25 entries"
    assert ratio.verdicts["paper"].state == "holds"
    assert sizes.verdicts["paper"].state == "in part"


def test_nothing_is_claimed_of_what_was_not_run():
    assert (
        check_claims(
            [(experiment_named("comparison"), []), (experiment_named("delegation_cost"), [])]
        )
        == []
    )
    experiment, results = as_published("comparison")
    adaboost = [pair for pair in results if pair[0].method["method"] == "adaboost"]
    assert check_claims([(experiment, adaboost)]) == []
