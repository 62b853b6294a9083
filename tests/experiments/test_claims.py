from dataclasses import replace

import pytest

from experiments.test_agreement import as_published
from experiments.test_figures import search_results
from skliquid.experiments.claims import claims
from skliquid.experiments.spec import experiment_files, load_experiment

COST, FULL, BOOSTED = (
    "Delegation lowers the training cost of the full ensemble, Direct",
    "Prop W Acc is more accurate than the full ensemble",
    "Prop W Acc is more accurate than some AdaBoost",
)


def load(name):
    return load_experiment(experiment_files()[name])


def found(*shown):
    return {claim.words: claim for claim in claims(shown)}


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


def curves(best, dataset="spambase", n_trials=8):
    experiment = load("during_delegation")
    results = [
        (
            trial,
            {
                "accuracy_one_pass": 0.7 + 0.001 * trial.number + 0.2 * (label == best),
                "minimum_majority": 5 + 0.1 * trial.number + 3 * (label == best),
            },
        )
        for trial in experiment.trials([dataset], n_trials)
        for label in [experiment.label(trial)]
    ]
    return experiment, results


def test_curves_say_who_ends_best_and_whose_weight_is_least_concentrated():
    accurate, spread, differ = claims([curves("Prop W")])
    assert [claim.published for claim in (accurate, spread)] == ["on spambase"] * 2
    assert [claim.verdicts["paper"].state for claim in (accurate, spread)] == ["holds"] * 2
    assert spread.verdicts["paper"].numbers == "+3.0"
    verdict = differ.verdicts["paper"]
    assert verdict.numbers == "on spambase"
    assert verdict.where == "holds on 5, open on 10 of 15 pairs"  # the best one and each other
    accurate, spread, _ = claims([curves("Max")])
    assert [claim.verdicts["paper"].state for claim in (accurate, spread)] == ["fails"] * 2


def test_a_claim_about_one_dataset_is_decided_there():
    experiment, there = curves("Prop W")
    _, elsewhere = curves("Max", dataset="heart")
    accurate, *_ = claims([(experiment, [*elsewhere, *there])])
    verdict = accurate.verdicts["paper"]
    assert (verdict.state, verdict.where) == ("holds", "")
    assert verdict.numbers == "+0.200 there; ahead on 1 of 2 (-0.200 to +0.200)"


def test_other_datasets_than_that_of_the_text_are_named():
    *_, differ = claims([curves("Prop W", dataset="heart")])
    assert differ.verdicts["paper"].numbers == "on heart"


@pytest.mark.parametrize(("sign", "state"), [(-1, "holds"), (1, "fails")], ids=["low", "high"])
def test_a_search_compares_low_rates_with_high_ones(sign, state):
    experiment = load("parameter_search")
    results = [
        (trial, {"accuracy_final": 0.7 + sign * 0.2 * trial.method["delegation_rate"]})
        for trial, _ in search_results(experiment, n_trials=3)
    ]
    (claim,) = claims([(experiment, results)])
    assert claim.verdicts["paper"].state == state
    assert claims([(experiment, [])]) == []


def test_tables_without_trials_are_compared_entry_by_entry():
    ratio, sizes = claims([(load("harmful_states"), []), (load("datasets"), [])])
    assert ratio.published == "25 entries"
    assert ratio.verdicts["paper"].state == "holds"
    assert sizes.verdicts["paper"].state == "in part"


def test_nothing_is_claimed_of_what_was_not_run():
    assert claims([(load("comparison"), []), (load("delegation_cost"), [])]) == []
    experiment, results = as_published("comparison")
    adaboost = [pair for pair in results if pair[0].method["method"] == "adaboost"]
    assert claims([(experiment, adaboost)]) == []
