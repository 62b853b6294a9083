"""Verdicts: whether results speak for a claim on each dataset, beyond what chance explains."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from scipy.stats import t as student

from skliquid.experiments.estimates import Estimate, Results, estimates, published_values
from skliquid.experiments.spec import Experiment

STATES = ("holds", "in part", "fails", "open")
"""What a claim may turn out to be."""

Values = Mapping[str, Mapping[str, Mapping[str, Estimate]]]
"""Estimates by dataset, label and measure."""


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds, one of ``STATES``; where, unless everywhere; and numbers."""

    state: str
    where: str
    numbers: str

    @classmethod
    def of(cls, numbers: str, gaps: Sequence[Estimate]) -> "Verdict":
        """Return the verdict on a claim that each gap, the lead on one dataset, is above zero.

        A gap decides if its confidence interval of 95 %, by Student's t, is on one side of zero.
        A single trial has no interval.
        """
        n_for = sum(gap.mean > _reach(gap) for gap in gaps)
        n_against = sum(gap.mean < -_reach(gap) for gap in gaps)
        return cls.counted(numbers, n_for, n_against, len(gaps), "datasets")

    @classmethod
    def counted(cls, numbers: str, n_for: int, n_against: int, n: int, things: str) -> "Verdict":
        """Return the verdict on a claim about ``n`` things, for some of which it holds."""
        counts = {"holds": n_for, "fails": n_against, "open": n - n_for - n_against}
        states = [state for state, count in counts.items() if count]
        if len(states) == 1:
            return cls(states[0], "", numbers)
        where = ", ".join(f"{state} on {counts[state]}" for state in states)
        return cls("in part" if n_for else "fails", f"{where} of {n} {things}", numbers)


def _reach(gap: Estimate) -> float:
    """Return half the width of the confidence interval; NaN without a standard error."""
    return gap.error * float(student.ppf(0.975, gap.n_values - 1))


def measured_values(experiment: Experiment, results: Results, protocol: str) -> Values:
    """Return the estimates under a protocol."""
    direct = next((row.label for row in experiment.rows if row.is_direct), None)
    part = [pair for pair in results if pair[0].protocol == protocol]
    groups = estimates(part, lambda trial: (trial.data, experiment.label(trial)), direct)
    values: dict[str, dict[str, dict[str, Estimate]]] = defaultdict(dict)
    for (dataset, label), measures in groups.items():
        values[dataset][label] = measures
    return values


def printed_values(experiment: Experiment, datasets: Collection[str]) -> Values:
    """Return the published values for ``datasets``, as estimates without error."""
    values: dict[str, dict[str, dict[str, Estimate]]] = {}
    printed = published_values(experiment.published) if experiment.published else {}
    for (dataset, label, measure), value in printed.items():
        if dataset in datasets:
            by_label = values.setdefault(dataset, {})
            by_label.setdefault(label, {})[measure] = Estimate(value, 0.0)
    return values


def values_of(values: Values, labels: Iterable[str], measure: str) -> list[list[Estimate]]:
    """Return for each dataset the estimates of those of ``labels`` that have one."""
    names = list(labels)
    found = [[d[name][measure] for name in names if name in d] for d in values.values()]
    return [[each for each in group if not math.isnan(each.mean)] for group in found]


def gaps(
    values: Values, label: str, others: Sequence[str], measure: str, *, to_least: bool = False
) -> list[Estimate]:
    """Return on each dataset the lead of ``label`` over the best of others, or over the least."""
    choose = min if to_least else max
    own, rivals = values_of(values, [label], measure), values_of(values, others, measure)
    return [
        mine[0].minus(choose(group, key=lambda estimate: estimate.mean))
        for mine, group in zip(own, rivals, strict=True)
        if mine and group
    ]


def spread(numbers: Iterable[float], form: str = ".3f") -> str:
    """Return the lowest and the highest number, "0.055 to 0.900", or the only one."""
    ends = sorted(numbers)
    return " to ".join(dict.fromkeys(format(end, form) for end in (ends[0], ends[-1])))
