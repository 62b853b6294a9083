"""Findings: the results summed up in sentences."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import pandas as pd

from skliquid.experiments.estimates import Estimate, Results, Shown, by_method
from skliquid.experiments.methods import Result
from skliquid.experiments.spec import Experiment
from skliquid.experiments.tables import TITLES, results_table
from skliquid.experiments.variations import nearest_variations


def findings(experiments: Shown) -> list[str]:
    """Return a sentence or two for each experiment that has results."""
    sentences: list[str] = []
    for experiment, results in experiments:
        sentences += _FINDINGS[experiment.kind](experiment, results) if results else []
    return sentences


def _results_findings(experiment: Experiment, results: Results) -> Iterator[str]:
    values = pd.DataFrame(results_table(experiment, results).values).dropna(subset="mean")
    boosted = [row.label for row in experiment.rows if row.is_boosted]
    values["is_boosted"] = values["ensemble"].isin(boosted)
    for measure in ("accuracy", "cost"):
        part = values.query("measure == @measure and protocol == 'paper' and not is_boosted")
        part = part[part["published"] != ""]
        if len(part):
            start = f"{experiment.title}, {TITLES['paper']}: the {measure} of delegating ensembles"
            yield f"{start} is {_distance(part)}"
    for protocol in experiment.protocols:
        part = values.query("measure == 'accuracy' and protocol == @protocol")
        for sentence in _accuracy_sentences(experiment, part):
            yield f"{experiment.title}, {TITLES[protocol]}: {sentence}"


def _distance(values: pd.DataFrame) -> str:
    """Return how far the means are from the published values, and how many are within errors."""
    distance = (values["mean"] - values["published"].astype(float)).abs()
    text = f"{distance.mean():.4f} from the published in the mean and {distance.max():.3f} at most."
    counted = values.dropna(subset="standard_error")
    far = counted[counted["differs"].astype(bool)]
    count = f"{len(counted) - len(far)} of {len(counted)} values are within two standard errors"
    names = ", ".join(sorted(far["dataset"].unique())) or "none"
    return f"{text} {count}; datasets with a value further off: {names}." if len(counted) else text


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
        direct = ", Direct included," if any(row.is_direct for row in experiment.rows) else ""
        gap = f"on {widest}, by {spread[widest]:.3f} in accuracy"
        yield f"mechanisms{direct} lie furthest apart {gap}."


def _curves_findings(experiment: Experiment, results: Results) -> Iterator[str]:
    direct = [row.label for row in experiment.rows if row.is_direct]
    for protocol in experiment.protocols:
        start = f"{experiment.title}, {TITLES[protocol]}:"
        groups = by_method(experiment, results, protocol)
        ends = _highest(groups, "accuracy_one_pass", "{} ({:.3f})")
        yield f"{start} most accurate when delegation ends: {ends}."
        groups = {key: trials for key, trials in groups.items() if key[1] not in direct}
        if majorities := _highest(groups, "minimum_majority", "{} ({:.1f})"):
            yield f"{start} weight is least concentrated, by minimum majority, under {majorities}."


def _highest(groups: Mapping[tuple[str, str], Sequence[Result]], name: str, template: str) -> str:
    """Return the method with the highest mean of a measure on each dataset, in words."""
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
}
