"""The summary of the results: agreement with the published numbers, claims, and findings."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from scipy.stats import t as student

from reproduction.claim_checks import check_claims, range_text
from reproduction.experiment import Experiment
from reproduction.methods import Result
from reproduction.result_figures import MEASURES
from reproduction.result_tables import TITLES, result_values
from reproduction.trial_statistics import (
    Estimate,
    Results,
    Shown,
    by_method,
    datasets_of,
    number_text,
    trials_per_method,
)
from reproduction.variations import nearest_variations
from reproduction.weight_displays import weight_findings

_PUBLISHED_TRIALS = 50  # behind each mean of the paper
_ENOUGH_TRIALS = 10
_MAX_DIFFERENCES = 5
_MAX_NAMES = 3


@dataclass(frozen=True)
class Agreement:
    """The number of published values of a measure that are within two standard errors of ours.

    ``n_expected`` is the number to expect if both runs drew their trials from one distribution,
    the published means being over 50 trials. Values without a standard error are not counted.
    """

    n_values: int
    n_within: int
    n_expected: float
    mean_distance: float
    two_errors: float  # the median of two standard errors of ours

    @classmethod
    def of(cls, measure: str, values: pd.DataFrame) -> "Agreement":
        """Return the agreement of the ``values`` of this measure."""
        part = values[values["measure"] == measure]
        known = part.dropna(subset="standard_error")
        n_expected = sum(map(_chance_of_agreement, known["trials"]))
        distance = (part["mean"] - part["published"]).abs().mean()
        two_errors = 2 * known["standard_error"].median()
        n_within = int((~known["differs"]).sum())
        return cls(len(known), n_within, n_expected, float(distance), float(two_errors))


def _chance_of_agreement(n_trials: int) -> float:
    """Return the chance that a mean over 50 trials is within two standard errors of ours."""
    reach = 2 / math.sqrt(1 + n_trials / _PUBLISHED_TRIALS)
    return float(1 - 2 * student.sf(reach, n_trials - 1))


def summarize(shown: Shown, left_out: Sequence[str]) -> dict[str, Any]:
    """Return the parts of the summary; each is empty if there are no results for it.

    ``compared`` are the published and measured values of delegating ensembles; ``findings`` are
    about experiments that no other part covers.
    """
    claims, values = check_claims(shown), published_beside_measured(shown)
    if values.empty:
        compared, differing = values, values
    else:
        compared, differing = values[~values["is_boosted"]], values[values["differs"]]
        differing = differing.sort_values("distance", ascending=False)
    protocols = {protocol for claim in claims for protocol in claim.verdicts}
    nearest = [(e, nearest_variations(e, r)[:2]) for e, r in shown if e.kind == "variations" and r]
    covered = {claim.experiment for claim in claims} | {*values.get("experiment", [])}
    return {
        "run": _run_sentence(shown, left_out),
        "low_power": _low_power_text(shown, compared),
        "claims": claims,
        "states": Counter(next(iter(claim.verdicts.values())).state for claim in claims),
        "columns": {p: f"measured, {title}" for p, title in TITLES.items() if p in protocols},
        "compared": compared,
        "overall": _agreements(compared) if len(compared) else {},
        "agreement": _agreement_rows(shown, values) if len(values) else [],
        "differences": differing.head(_MAX_DIFFERENCES).to_dict("records"),
        "n_differences": len(differing),
        "open_rules": [(experiment, readings) for experiment, readings in nearest if readings],
        "findings": [
            (experiment.name, sentence)
            for experiment, results in shown
            if experiment.name not in covered and experiment.kind != "variations"
            for sentence in findings([(experiment, results)])
        ],
    }


def counted(n: int, thing: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1, "trial"), counted(1200, "trial")
    ('1 trial', '1,200 trials')
    """
    return f"{n:,} {thing}{'s' * (n != 1)}"


def _run_sentence(shown: Shown, left_out: Sequence[str]) -> str:
    """Return the experiments, trials and datasets that were run, as a sentence."""
    results = [pair for _, pairs in shown for pair in pairs]
    trials = {trial.key: result for trial, result in results}
    parts = [_named("experiment", [experiment.name for experiment, _ in shown])]
    if trials:
        counts = range_text((trials_per_method(pairs) for _, pairs in shown if pairs), "d")
        parts.append(f"{counted(len(trials), 'trial')} ({counts} of each method)")
        parts.append(_named("dataset", datasets_of(results)))
    left = f" Left out, not available: {', '.join(left_out)}." if left_out else ""
    seconds = sum(result.get("seconds", 0) for result in trials.values())
    took = f" Training took {_duration(seconds)} of one core." if seconds else ""
    return f"{', '.join(parts)}.{took}{left}"


def _named(thing: str, names: Sequence[str]) -> str:
    """Return the number of things, with their names if they are few."""
    few = f" ({', '.join(names)})" if len(names) <= _MAX_NAMES else ""
    return f"{counted(len(names), thing)}{few}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return counted(max(round(seconds), 1), "second")
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def _low_power_text(shown: Shown, compared: pd.DataFrame) -> str:
    """Return a warning if there are few trials, or an empty text."""
    counts = [trials_per_method(results) for _, results in shown if results]
    if not counts or min(counts) >= _ENOUGH_TRIALS:
        return ""
    thing = "trial" if max(counts) == 1 else "trials"
    words = [f"Means are over {range_text(counts, 'd')} {thing}, so the power is small."]
    if len(compared) and (agreement := Agreement.of("accuracy", compared)).n_values:
        error = number_text(agreement.two_errors)
        words.append(
            f"Two standard errors of an accuracy are {error} in the median: smaller differences "
            "cannot be distinguished from chance."
        )
    if min(counts) == 1:
        words.append("A single trial has no standard error.")
    return " ".join(words)


# Agreement with the published values


def published_beside_measured(shown: Shown) -> pd.DataFrame:
    """Return every published accuracy and cost beside our mean under their rules, each once.

    Direct's cost is left out: it is 1 by definition. Tables of the paper share some of their rows;
    ``experiment`` is the first table with the row.
    """
    frames = [_compared_values(*pair) for pair in shown if pair[0].published and pair[1]]
    if not frames:
        return pd.DataFrame()
    values = pd.concat(frames, ignore_index=True)
    values["published"] = pd.to_numeric(values["published"])
    values["differs"] = values["differs"].astype(bool)
    values["distance"] = (values["mean"] - values["published"]).abs()
    same = ["dataset", "measure", "method", "published"]
    return values.drop_duplicates(same).reset_index(drop=True)


def _compared_values(experiment: Experiment, results: Results) -> pd.DataFrame:
    values = result_values(experiment, results).dropna(subset="mean")
    methods = {row.label: str(sorted(row.under("paper").items())) for row in experiment.rows}
    values["is_boosted"] = values["ensemble"].isin(experiment.boosted)
    values["method"] = values["ensemble"].map(methods)
    values["experiment"] = experiment.name
    is_trivial = (values["measure"] == "cost") & values["ensemble"].isin(experiment.direct)
    is_compared = values["measure"].isin(MEASURES) & (values["protocol"] == "paper")
    return values[is_compared & ~is_trivial & (values["published"] != "")]


def _agreements(values: pd.DataFrame) -> dict[str, Agreement]:
    return {measure: Agreement.of(measure, values) for measure in MEASURES}


def _agreement_rows(
    shown: Shown, values: pd.DataFrame
) -> list[tuple[str, str, dict[str, Agreement]]]:
    """Return title, experiment and agreement for each of the paper's tables, and for all."""
    rows = []
    for experiment, results in shown:
        own = published_beside_measured([(experiment, results)])
        if len(own):
            measures = _agreements(own[~own["is_boosted"]])
            rows.append((experiment.title, experiment.name, measures))
    delegating, boosted = (values[values["is_boosted"] == flag] for flag in (False, True))
    if len(rows) > 1:
        rows.append(("all of them, each value once", "", _agreements(delegating)))
    if len(boosted):
        rows.append(("AdaBoost", "", _agreements(boosted)))
    return rows


# Findings


def findings(shown: Shown) -> list[str]:
    """Return a sentence or two for each experiment that has results."""
    sentences: list[str] = []
    for experiment, results in shown:
        sentences += _FINDINGS[experiment.kind](experiment, results) if results else []
    return sentences


def _results_findings(experiment: Experiment, results: Results) -> Iterator[str]:
    values = result_values(experiment, results).dropna(subset="mean")
    values["is_boosted"] = values["ensemble"].isin(experiment.boosted)
    for measure in MEASURES:
        part = values.query("measure == @measure and protocol == 'paper' and not is_boosted")
        part = part[part["published"] != ""]
        if len(part):
            start = f"{experiment.title}, {TITLES['paper']}: the {measure} of delegating ensembles"
            yield f"{start} is {_distance_text(part)}"
    for protocol in experiment.protocols:
        part = values.query("measure == 'accuracy' and protocol == @protocol")
        for sentence in _accuracy_sentences(experiment, part):
            yield f"{experiment.title}, {TITLES[protocol]}: {sentence}"


def _distance_text(values: pd.DataFrame) -> str:
    """Return the distance of means to published values, and how many are within errors."""
    distance = (values["mean"] - values["published"].astype(float)).abs()
    text = f"{distance.mean():.4f} from the published in the mean and {distance.max():.3f} at most."
    known = values.dropna(subset="standard_error")
    far = known[known["differs"].astype(bool)]
    count = f"{len(known) - len(far)} of {len(known)} values are within two standard errors"
    names = ", ".join(sorted(far["dataset"].unique())) or "none"
    return f"{text} {count}; datasets with a value further off: {names}." if len(known) else text


def _accuracy_sentences(experiment: Experiment, accuracies: pd.DataFrame) -> Iterator[str]:
    """Yield on how many datasets AdaBoost is surpassed, and where the mechanisms differ most."""
    spread, is_better = {}, {}
    for name in accuracies["dataset"].unique():
        part = accuracies[accuracies["dataset"] == name]
        boosted, delegating = (part["mean"][part["is_boosted"] == flag] for flag in (True, False))
        if len(delegating) > 1:
            spread[name] = delegating.max() - delegating.min()
        if len(delegating) and len(boosted):
            is_better[name] = delegating.max() > boosted.max()
    if is_better:
        wins = [name for name in is_better if is_better[name]]
        names = f" ({', '.join(wins)})" if wins else ""
        count = f"{len(wins)} of {len(is_better)} datasets{names}"
        yield f"the best delegating ensemble is more accurate than the best AdaBoost on {count}."
    if spread:
        widest = max(spread, key=lambda name: spread[name])
        direct = ", Direct included," if experiment.direct else ""
        gap = f"on {widest}, by {spread[widest]:.3f} in accuracy"
        yield f"mechanisms{direct} lie furthest apart {gap}."


def _curves_findings(experiment: Experiment, results: Results) -> Iterator[str]:
    for protocol in experiment.protocols:
        start = f"{experiment.title}, {TITLES[protocol]}:"
        groups = by_method(experiment, results, protocol)
        ends = _highest(groups, "accuracy_one_pass", "{} ({:.3f})")
        yield f"{start} most accurate when delegation ends: {ends}."
        groups = {key: trials for key, trials in groups.items() if key[1] not in experiment.direct}
        if majorities := _highest(groups, "minimum_majority", "{} ({:.1f})"):
            yield f"{start} weight is least concentrated, by minimum majority, under {majorities}."


def _highest(groups: Mapping[tuple[str, str], Sequence[Result]], name: str, template: str) -> str:
    """Return the method with the highest mean of a measure on each dataset, as text."""
    best: dict[str, tuple[float, str]] = {}
    for (dataset, label), trials in groups.items():
        mean = Estimate.of(trial[name] for trial in trials).mean
        best[dataset] = max(best.get(dataset, (mean, label)), (mean, label))
    return ", ".join(f"{name}: {template.format(*pair[::-1])}" for name, pair in best.items())


def _variations_findings(experiment: Experiment, results: Results) -> Iterator[str]:
    texts = []
    for distance, n_within, n_known, name in nearest_variations(experiment, results)[:4]:
        count = f" ({n_within} of {n_known} within two standard errors)" if n_known else ""
        texts.append(f"{name}: {distance:.4f}{count}")
    if texts:
        distances = f"mean distance to the published {experiment.measure}, nearest first"
        yield f"{experiment.title.rstrip('?')}: {distances}: {'; '.join(texts)}."


def _search_findings(_: Experiment, results: Results) -> Iterator[str]:
    rows = [(t.data, t.method["delegation_rate"], r["accuracy_final"]) for t, r in results]
    groups = pd.DataFrame(rows, columns=["data", "rate", "accuracy"]).groupby("data", sort=False)
    best = [f"{name}: {g.groupby('rate')['accuracy'].mean().idxmax()}" for name, g in groups]
    start = "Parameter search: the delegation rate with the highest mean accuracy is, on"
    yield f"{start} {', '.join(best)}."


_FINDINGS: dict[str, Callable[[Experiment, Results], Iterator[str]]] = {
    "results": _results_findings,
    "curves": _curves_findings,
    "search": _search_findings,
    "variations": _variations_findings,
    "weights": weight_findings,
}
