"""Checks of the paper's claims: whether each holds in our results, beyond chance."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import pandas as pd
from scipy.stats import t as student

from reproduction.experiment import LABELS, Experiment
from reproduction.result_tables import dataset_table, result_values, significance_table
from reproduction.trial_statistics import EMPTY, MARK, Estimate, Results, Shown, published
from skliquid.theory import harmful_state_fraction

_ACCURATE, _CHEAP, _WEIGHTED = "Prop W Acc", "Prop W Cost", LABELS["proportional_weighted"]
_DATASET_OF_THE_TEXT = "spambase"

Values = Mapping[str, Mapping[str, Mapping[str, Estimate]]]
"""Estimates by dataset, label and measure."""
Check = Callable[[Values], tuple[str, list[Estimate]]]
"""A check of a claim: numbers as text, and on each dataset a lead above zero if it holds."""


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds, on which datasets if not on all, and numbers."""

    state: str  # "holds", "in part", "fails" or "open"
    where: str
    numbers: str

    @classmethod
    def of(cls, numbers: str, leads: Sequence[Estimate]) -> "Verdict":
        """Return the verdict on a claim that the lead on each dataset is above zero.

        A lead decides if its 95 % confidence interval, by Student's t, is on one side of zero. A
        single trial has no interval.
        """
        n_for = sum(lead.mean > _half_width(lead) for lead in leads)
        n_against = sum(lead.mean < -_half_width(lead) for lead in leads)
        return cls.of_counts(numbers, n_for, n_against, len(leads), "datasets")

    @classmethod
    def of_counts(cls, numbers: str, n_for: int, n_against: int, n: int, things: str) -> "Verdict":
        """Return the verdict on a claim that holds for ``n_for`` of ``n`` things."""
        counts = {"holds": n_for, "fails": n_against, "open": n - n_for - n_against}
        states = [state for state, count in counts.items() if count]
        if len(states) == 1:
            return cls(states[0], "", numbers)
        where = ", ".join(f"{state} on {counts[state]}" for state in states)
        return cls("in part" if n_for else "fails", f"{where} of {n} {things}", numbers)


def _half_width(lead: Estimate) -> float:
    """Return half the width of the confidence interval, or NaN without a standard error."""
    return lead.error * float(student.ppf(0.975, lead.n_values - 1))


class Claim(NamedTuple):
    """A claim of the paper, the published numbers, and the verdict under each protocol."""

    words: str
    experiment: str
    published: str
    verdicts: Mapping[str, Verdict]

    @property
    def has_numbers(self) -> bool:
        """Whether there are numbers behind a verdict, and not only counts."""
        return any(verdict.numbers for verdict in self.verdicts.values())


def check_claims(shown: Shown) -> list[Claim]:
    """Return the claims of the paper that these results can decide."""
    found: list[Claim] = []
    for subject, claims_about in _CLAIMS.items():
        for experiment, results in shown:
            if subject == (experiment.published or experiment.kind):
                found += claims_about(experiment, results)
    return [claim for claim in found if claim.verdicts]


def _check(
    words: str, experiment: Experiment, results: Results, check: Check, said: str = EMPTY
) -> Claim:
    """Check a claim under each protocol; ``said`` replaces published numbers if there are none."""
    values, verdicts = result_values(experiment, results), {}
    for protocol in experiment.protocols:
        numbers, leads = check(_by_method(values[values["protocol"] == protocol], "mean"))
        if leads:
            verdicts[protocol] = Verdict.of(numbers, leads)
    numbers, leads = check(_by_method(values[values["published"] != ""], "published"))
    return Claim(words, experiment.name, numbers if leads else said, verdicts)


def _by_method(values: pd.DataFrame, column: str) -> Values:
    """Return the known values of a column, published ones without an error."""
    found: dict[str, dict[str, dict[str, Estimate]]] = defaultdict(lambda: defaultdict(dict))
    for row in values.dropna(subset=column).to_dict("records"):
        error = row["standard_error"] if column == "mean" else 0.0
        estimate = Estimate(row[column], error, row["trials"])
        found[row["dataset"]][row["ensemble"]][row["measure"]] = estimate
    return found


def _values_of(values: Values, labels: Sequence[str], measure: str) -> list[list[Estimate]]:
    """Return the known estimates of ``labels`` on each dataset."""
    return [
        [methods[label][measure] for label in labels if measure in methods.get(label, {})]
        for methods in values.values()
    ]


def leads_of(
    label: str, values: Values, others: Sequence[str], measure: str, *, over_least: bool = False
) -> list[Estimate]:
    """Return the lead of ``label`` over the best, or the least, of the others on each dataset."""
    choose = min if over_least else max
    own, rivals = _values_of(values, [label], measure), _values_of(values, others, measure)
    return [
        mine[0].minus(choose(group, key=lambda estimate: estimate.mean))
        for mine, group in zip(own, rivals, strict=True)
        if mine and group
    ]


def range_text(numbers: Iterable[float], form: str = ".3f") -> str:
    """Return the lowest and the highest number, "0.055 to 0.900", or the only one."""
    ends = sorted(numbers)
    return " to ".join(dict.fromkeys(format(end, form) for end in (ends[0], ends[-1])))


def _lead_text(leads: list[Estimate], form: str = "+.3f") -> str:
    if len(leads) < 2:
        return "".join(format(lead.mean, form) for lead in leads)
    n_ahead = sum(lead.mean > 0 for lead in leads)
    return f"ahead on {n_ahead} of {len(leads)} ({range_text((d.mean for d in leads), form)})"


# The comparison with AdaBoost, and the complete results


def _comparison_claims(experiment: Experiment, results: Results) -> Iterator[Claim]:
    words = "Delegation lowers the training cost of the full ensemble, Direct"
    yield _check(words, experiment, results, _cost_lead)
    words = f"{_ACCURATE} is more accurate than the full ensemble"
    check = partial(_accuracy_lead, label=_ACCURATE, others=experiment.direct)
    yield _check(words, experiment, results, check)
    words = f"{_ACCURATE} is more accurate than some AdaBoost"
    yield _check(words, experiment, results, partial(_boosting_lead, boosted=experiment.boosted))


def _cost_lead(values: Values) -> tuple[str, list[Estimate]]:
    texts = []
    for label in (_ACCURATE, _CHEAP):
        costs = [cost.mean for group in _values_of(values, [label], "cost") for cost in group]
        texts += [f"{label} {range_text(costs)}"] if costs else []
    groups = _values_of(values, [_ACCURATE, _CHEAP], "cost")
    dearest = [max(group, key=lambda cost: cost.mean) for group in groups if group]
    return ", ".join(texts), [Estimate(1.0, 0.0, cost.n_values).minus(cost) for cost in dearest]


def _accuracy_lead(values: Values, label: str, others: list[str]) -> tuple[str, list[Estimate]]:
    leads = leads_of(label, values, others, "accuracy")
    return _lead_text(leads), leads


def _boosting_lead(values: Values, boosted: list[str]) -> tuple[str, list[Estimate]]:
    some = leads_of(_ACCURATE, values, boosted, "accuracy", over_least=True)
    all_of_them = leads_of(_ACCURATE, values, boosted, "accuracy")
    n_some, n_all = (sum(lead.mean > 0 for lead in leads) for leads in (some, all_of_them))
    return f"ahead of one on {n_some} of {len(some)}, of all on {n_all}", some


def _mechanism_claims(experiment: Experiment, results: Results) -> Iterator[Claim]:
    others = [label for label in experiment.delegating if label != _WEIGHTED]
    check = partial(_accuracy_lead, label=_WEIGHTED, others=others)
    setting = next((r.method for r in experiment.rows if r.label == _WEIGHTED), None)
    if setting:
        at = f"u = {setting['increment_size']}, rate {setting['delegation_rate']:g}"
        words = f"{_WEIGHTED} is the most accurate mechanism ({at})"
        yield _check(words, experiment, results, check)


# During delegation


def _curve_claims(experiment: Experiment, results: Results) -> Iterator[Claim]:
    said = f"on {_DATASET_OF_THE_TEXT}"
    others = [row.label for row in experiment.rows if row.label != _WEIGHTED]
    check = partial(_curve_lead, others=others, measure="accuracy_one_pass", form="+.3f")
    words = f"{_WEIGHTED} is the most accurate when delegation ends"
    yield _check(words, experiment, results, check, said)
    delegating = [label for label in others if label not in experiment.direct]
    check = partial(_curve_lead, others=delegating, measure="minimum_majority", form="+.1f")
    words = f"Weight is least concentrated under {_WEIGHTED} (minimum majority)"
    yield _check(words, experiment, results, check, said)
    yield from _difference_claim(experiment, results)


def _curve_lead(
    values: Values, others: list[str], measure: str, form: str
) -> tuple[str, list[Estimate]]:
    """Return the lead on the dataset of the text if it was run, with numbers of all datasets."""
    leads = leads_of(_WEIGHTED, values, others, measure)
    numbers = _lead_text(leads, form)
    there = {name: values[name] for name in values if name == _DATASET_OF_THE_TEXT}
    of_the_text = leads_of(_WEIGHTED, there, others, measure)
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
    numbers = f"on {', '.join(tests['dataset'].unique())}"
    verdict = Verdict.of_counts(numbers, int(differ.sum()), 0, len(tests), "pairs")
    words = "Mechanisms differ in accuracy when delegation ends (two tests, p < 0.01)"
    said = f"all pairs, on {_DATASET_OF_THE_TEXT}"
    yield Claim(words, experiment.name, said, {experiment.protocols[0]: verdict})


# The parameter search, and tables without trials


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
    verdict = Verdict.of(_lead_text(leads), leads)
    words = "Low delegation rates are more accurate than high ones"
    yield Claim(words, experiment.name, "in general", {experiment.protocols[0]: verdict})


def _harmful_state_claims(experiment: Experiment, _: Results) -> Iterator[Claim]:
    """Yield the claim that Table 1 follows, up to one unit of the last digit of its entries."""
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
        verdict = Verdict.of_counts("", n_same, n - n_same, n, things)
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
