"""Findings: what the results say, in sentences made from their numbers."""

import math
from collections.abc import Callable, Iterator, Sequence

from skliquid.experiments.spec import Experiment
from skliquid.experiments.tables import WHOSE, Estimate, Results, Table, grouped, results_table
from skliquid.experiments.variations import comparisons, in_words, summary, variations_of

Shown = Sequence[tuple[Experiment, Results]]


def findings(shown: Shown) -> list[str]:
    """Return a sentence or two for each experiment that has results."""
    words: list[str] = []
    for experiment, results in shown:
        if not results:
            continue
        words += _FINDINGS[experiment.kind](experiment, results)
    return words


def _of_results(experiment: Experiment, results: Results) -> Iterator[str]:
    table = results_table(experiment, results)
    boosted = {row.label for row in experiment.rows if row.is_boosted}
    for measure in ("accuracy", "cost") if experiment.published else ():
        values = [
            each
            for each in table.values
            if each["measure"] == measure
            and each["protocol"] == "paper"
            and each["published"] != ""
            and each["ensemble"] not in boosted
            and not math.isnan(each["mean"])
        ]
        if not values:
            continue
        told = [each for each in values if not math.isnan(each["standard_error"])]
        far = [each for each in told if each["differs"]]
        gaps = [abs(each["mean"] - each["published"]) for each in values]
        where = ", ".join(sorted({each["dataset"] for each in far})) or "none"
        count = (
            f" {len(told) - len(far)} of {len(told)} values are within two standard errors; "
            f"datasets with a value further off: {where}."
        )
        yield (
            f"{experiment.title}, {WHOSE['paper']}: the {measure} of delegating ensembles is "
            f"{sum(gaps) / len(gaps):.4f} from the published in the mean and {max(gaps):.3f} at "
            f"most.{count if told else ''}"
        )
    for protocol in experiment.protocols:
        yield from _against_boosting(experiment, table, protocol)


def _against_boosting(experiment: Experiment, table: Table, protocol: str) -> Iterator[str]:
    boosted = {row.label for row in experiment.rows if row.is_boosted}
    best: dict[str, dict[bool, tuple[float, str]]] = {}
    spread: dict[str, list[float]] = {}
    for each in table.values:
        is_wanted = each["measure"] == "accuracy" and each["protocol"] == protocol
        if not is_wanted or math.isnan(each["mean"]):
            continue
        is_boosted = each["ensemble"] in boosted
        of_dataset = best.setdefault(each["dataset"], {})
        value = (each["mean"], each["ensemble"])
        of_dataset[is_boosted] = max(of_dataset.get(is_boosted, (-1.0, "")), value)
        if not is_boosted:
            spread.setdefault(each["dataset"], []).append(each["mean"])
    both = {name: pair for name, pair in best.items() if len(pair) == 2}
    wins = [name for name, pair in both.items() if pair[False][0] > pair[True][0]]
    if both:
        yield (
            f"{experiment.title}, {WHOSE[protocol]}: the best delegating ensemble is more accurate "
            f"than the best AdaBoost on {len(wins)} of {len(both)} datasets"
            f"{' (' + ', '.join(wins) + ')' if wins else ''}."
        )
    gaps = {name: max(found) - min(found) for name, found in spread.items() if len(found) > 1}
    widest = max(gaps, key=lambda name: gaps[name], default="")
    with_direct = ", Direct included," if any(row.is_direct for row in experiment.rows) else ""
    if widest:
        yield (
            f"{experiment.title}, {WHOSE[protocol]}: mechanisms{with_direct} lie furthest "
            f"apart on {widest}, by {gaps[widest]:.3f} in accuracy."
        )


def _of_curves(experiment: Experiment, results: Results) -> Iterator[str]:
    direct = {row.label for row in experiment.rows if row.is_direct}
    for protocol in experiment.protocols:
        ends: dict[str, list[tuple[float, float, str]]] = {}
        majority: dict[str, list[tuple[float, str]]] = {}
        for (dataset, label), of_method in grouped(experiment, results, protocol).items():
            accuracy = Estimate.of(each["accuracy_one_pass"] for each in of_method)
            ends.setdefault(dataset, []).append((accuracy.mean, accuracy.error, label))
            if label not in direct:
                size = Estimate.of(each["minimum_majority"] for each in of_method)
                majority.setdefault(dataset, []).append((size.mean, label))
        order = ", ".join(
            f"{name}: {max(found)[2]} ({max(found)[0]:.3f})" for name, found in ends.items()
        )
        yield f"{experiment.title}, {WHOSE[protocol]}: most accurate when delegation ends: {order}."
        spread_out = ", ".join(
            f"{name}: {max(found)[1]} ({max(found)[0]:.1f})" for name, found in majority.items()
        )
        if not majority:
            continue
        yield (
            f"{experiment.title}, {WHOSE[protocol]}: weight is least concentrated, by minimum "
            f"majority, under {spread_out}."
        )


def _of_variations(experiment: Experiment, results: Results) -> Iterator[str]:
    found = comparisons(experiment, results)
    by_variation = {
        in_words(experiment, variation): summary(e for e in found if e.variation == variation)
        for variation in variations_of(found)
    }
    known = {words: each for words, each in by_variation.items() if not math.isnan(each[0])}
    if known:
        texts = []
        for words in sorted(known, key=lambda words: known[words][0])[:4]:
            distance, n_within, n = known[words]
            count = f" ({n_within} of {n} within two standard errors)" if n else ""
            texts.append(f"{words}: {distance:.4f}{count}")
        yield (
            f"{experiment.title.rstrip('?')}: mean distance to the published "
            f"{experiment.measure}, nearest first: {'; '.join(texts)}."
        )


def _of_search(_: Experiment, results: Results) -> Iterator[str]:
    by_rate: dict[str, dict[float, list[float]]] = {}
    for trial, result in results:
        rates = by_rate.setdefault(trial.data, {})
        rates.setdefault(trial.method["delegation_rate"], []).append(result["accuracy_final"])
    best = {
        name: max(rates, key=lambda rate: Estimate.of(rates[rate]).mean)
        for name, rates in by_rate.items()
    }
    order = ", ".join(f"{name}: {rate}" for name, rate in best.items())
    yield f"Parameter search: the delegation rate with the highest mean accuracy is, on {order}."


_FINDINGS: dict[str, Callable[[Experiment, Results], Iterator[str]]] = {
    "results": _of_results,
    "curves": _of_curves,
    "search": _of_search,
    "variations": _of_variations,
}
