"""Claims: what the paper says of its results, and whether ours say the same."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd

from skliquid.experiments.estimates import EMPTY, MARK, Estimate, Results, Shown, published
from skliquid.experiments.spec import LABELS, Experiment
from skliquid.experiments.tables import dataset_table, significance_table
from skliquid.experiments.verdicts import (
    Values,
    Verdict,
    gaps,
    measured_values,
    printed_values,
    spread,
    values_of,
)
from skliquid.theory import harmful_state_fraction

_ACCURATE, _CHEAP, _WEIGHTED = "Prop W Acc", "Prop W Cost", LABELS["proportional_weighted"]
_DATASET_OF_THE_TEXT = "spambase"

Check = Callable[[Values], tuple[str, list[Estimate]]]
"""Numbers in words, and how far they speak for a claim on each dataset."""


class Claim(NamedTuple):
    """A claim of the paper, what it publishes, and the verdict under each protocol."""

    words: str
    experiment: str
    published: str
    verdicts: Mapping[str, Verdict]


def claims(shown: Shown) -> list[Claim]:
    """Return the claims of the paper about which these results say something."""
    found: list[Claim] = []
    for subject, claims_about in _CLAIMS.items():
        for experiment, results in shown:
            if subject == (experiment.published or experiment.kind):
                found += claims_about(experiment, results)
    return [claim for claim in found if claim.verdicts]


def _claim(
    words: str, experiment: Experiment, results: Results, check: Check, said: str = EMPTY
) -> Claim:
    """Return a claim with the verdicts of a check; ``said`` is what is published if not numbers."""
    verdicts, datasets = {}, set[str]()
    for protocol in experiment.protocols:
        values = measured_values(experiment, results, protocol)
        numbers, leads = check(values)
        datasets |= {*values}
        if leads:
            verdicts[protocol] = Verdict.of(numbers, leads)
    numbers, leads = check(printed_values(experiment, datasets))
    return Claim(words, experiment.name, numbers if leads else said, verdicts)


# The comparison with AdaBoost, and the complete results


def _comparison_claims(experiment: Experiment, results: Results) -> Iterator[Claim]:
    words = "Delegation lowers the training cost of the full ensemble, Direct"
    yield _claim(words, experiment, results, _cost)
    direct = [row.label for row in experiment.rows if row.is_direct]
    words = f"{_ACCURATE} is more accurate than the full ensemble"
    check = partial(_accuracy_lead, label=_ACCURATE, others=direct)
    yield _claim(words, experiment, results, check)
    boosted = [row.label for row in experiment.rows if row.is_boosted]
    words = f"{_ACCURATE} is more accurate than some AdaBoost"
    yield _claim(words, experiment, results, partial(_boosting_lead, boosted=boosted))


def _cost(values: Values) -> tuple[str, list[Estimate]]:
    texts = []
    for label in (_ACCURATE, _CHEAP):
        costs = [cost.mean for group in values_of(values, [label], "cost") for cost in group]
        texts += [f"{label} {spread(costs)}"] if costs else []
    groups = values_of(values, [_ACCURATE, _CHEAP], "cost")
    dearest = [max(group, key=lambda cost: cost.mean) for group in groups if group]
    return ", ".join(texts), [Estimate(1.0, 0.0, cost.n_values).minus(cost) for cost in dearest]


def _accuracy_lead(values: Values, label: str, others: list[str]) -> tuple[str, list[Estimate]]:
    leads = gaps(values, label, others, "accuracy")
    return _lead_text(leads, "+.3f"), leads


def _lead_text(leads: list[Estimate], form: str) -> str:
    if len(leads) < 2:
        return "".join(format(lead.mean, form) for lead in leads)
    n_ahead = sum(lead.mean > 0 for lead in leads)
    return f"ahead on {n_ahead} of {len(leads)} ({spread((d.mean for d in leads), form)})"


def _boosting_lead(values: Values, boosted: list[str]) -> tuple[str, list[Estimate]]:
    some = gaps(values, _ACCURATE, boosted, "accuracy", to_least=True)
    all_of_them = gaps(values, _ACCURATE, boosted, "accuracy")
    n_some, n_all = (sum(gap.mean > 0 for gap in group) for group in (some, all_of_them))
    return f"ahead of one on {n_some} of {len(some)}, of all on {n_all}", some


def _mechanism_claims(experiment: Experiment, results: Results) -> Iterator[Claim]:
    others = [r.label for r in experiment.rows if not (r.is_direct or r.is_boosted)]
    check = partial(_accuracy_lead, label=_WEIGHTED, others=[n for n in others if n != _WEIGHTED])
    setting = next((r.method for r in experiment.rows if r.label == _WEIGHTED), None)
    if setting:
        at = f"u = {setting['increment_size']}, rate {setting['delegation_rate']:g}"
        words = f"{_WEIGHTED} is the most accurate mechanism ({at})"
        yield _claim(words, experiment, results, check)


# During delegation


def _curve_claims(experiment: Experiment, results: Results) -> Iterator[Claim]:
    said = f"on {_DATASET_OF_THE_TEXT}"
    others = [row.label for row in experiment.rows if row.label != _WEIGHTED]
    check = partial(_curve_lead, others=others, measure="accuracy_one_pass", form="+.3f")
    words = f"{_WEIGHTED} is the most accurate when delegation ends"
    yield _claim(words, experiment, results, check, said)
    direct = [row.label for row in experiment.rows if row.is_direct]
    delegating = [name for name in others if name not in direct]
    check = partial(_curve_lead, others=delegating, measure="minimum_majority", form="+.1f")
    words = f"Weight is least concentrated under {_WEIGHTED} (minimum majority)"
    yield _claim(words, experiment, results, check, said)
    yield from _difference_claim(experiment, results)


def _curve_lead(
    values: Values, others: list[str], measure: str, form: str
) -> tuple[str, list[Estimate]]:
    """Return the lead on the dataset of the text if it was run, with numbers of all datasets."""
    leads = gaps(values, _WEIGHTED, others, measure)
    numbers = _lead_text(leads, form)
    there = {name: values[name] for name in values if name == _DATASET_OF_THE_TEXT}
    of_the_text = gaps(there, _WEIGHTED, others, measure)
    if of_the_text and len(leads) > 1:
        numbers = f"{_lead_text(of_the_text, form)} there; {numbers}"
    return numbers, of_the_text or leads


def _difference_claim(experiment: Experiment, results: Results) -> Iterator[Claim]:
    """Yield the claim that all mechanisms differ, on the dataset of the text if it was run."""
    tests = pd.DataFrame(significance_table(experiment, results).values)
    if (tests["dataset"] == _DATASET_OF_THE_TEXT).any():
        tests = tests[tests["dataset"] == _DATASET_OF_THE_TEXT]
    if tests.empty:
        return
    differ = (tests["kolmogorov_smirnov"] < 0.01) & (tests["mann_whitney"] < 0.01)
    n, n_differ = len(tests), int(differ.sum())
    numbers = f"on {', '.join(tests['dataset'].unique())}"
    verdict = Verdict.counted(numbers, n_differ, 0, n, "pairs")
    words = "Mechanisms differ in accuracy when delegation ends (two tests, p < 0.01)"
    said = f"all pairs, on {_DATASET_OF_THE_TEXT}"
    yield Claim(words, experiment.name, said, {experiment.protocols[0]: verdict})


# The search, and what needs no trials


def _search_claims(experiment: Experiment, results: Results) -> Iterator[Claim]:
    """Yield the claim on low rates: the lower half of all levels against the upper half.

    Accuracies are compared within trials of the same number, which have the same halves.
    """
    rows = [
        (trial.data, trial.number, trial.method["delegation_rate"], result["accuracy_final"])
        for trial, result in results
    ]
    frame = pd.DataFrame(rows, columns=["data", "number", "rate", "accuracy"])
    levels = sorted(frame["rate"].unique())
    frame["is_low"] = frame["rate"].isin(levels[: len(levels) // 2])
    means = frame.pivot_table("accuracy", ["data", "number"], "is_low", sort=False).dropna()
    if means.shape[1] < 2:
        return
    leads = [Estimate.of(lead) for _, lead in (means[True] - means[False]).groupby("data")]
    verdict = Verdict.of(_lead_text(leads, "+.3f"), leads)
    words = "Low delegation rates are more accurate than high ones"
    yield Claim(words, experiment.name, "in general", {experiment.protocols[0]: verdict})


def _harmful_state_claims(experiment: Experiment, _: Results) -> Iterator[Claim]:
    """Yield how many entries of Table 1 follow, up to one unit of their last digit."""
    options = experiment.options
    entries = [
        _is_same(ratio, harmful_state_fraction(int(n), int(m)))
        for n, m, ratio in published("harmful_states").to_numpy().tolist()
        if int(n) in options["n_voters"] and int(m) in options["n_examples"]
    ]
    yield from _table_claim("Table 1: the ratio of harmful states", experiment, entries, "entries")


def _is_same(printed: str, exact: float) -> bool:
    digits, _, exponent = printed.partition("e")
    return abs(float(digits) - exact / 10.0 ** int(exponent)) <= 0.1


def _dataset_claims(experiment: Experiment, _: Results) -> Iterator[Claim]:
    counted = [row for row in dataset_table(experiment).rows if row[4] != EMPTY]
    are_same = [not any(cell.endswith(MARK) for cell in row) for row in counted]
    words = "Table 2: rows and columns of the datasets"
    yield from _table_claim(words, experiment, are_same, "datasets")


def _table_claim(
    words: str, experiment: Experiment, are_same: Sequence[bool], things: str
) -> Iterator[Claim]:
    if are_same:
        n, n_same = len(are_same), sum(are_same)
        verdict = Verdict.counted("", n_same, n - n_same, n, things)
        yield Claim(words, experiment.name, f"{n} {things}", {"paper": verdict})


_CLAIMS: dict[str, Callable[[Experiment, Results], Iterator[Claim]]] = {
    "comparison": _comparison_claims,
    "accuracy_maximizing": _mechanism_claims,
    "cost_minimizing": _mechanism_claims,
    "curves": _curve_claims,
    "search": _search_claims,
    "harmful_states": _harmful_state_claims,
    "datasets": _dataset_claims,
}
"""The claims about each table of the paper, or kind of experiment, the main ones first."""
