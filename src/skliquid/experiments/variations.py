"""Variations: how far from the published values each choice of rules comes out."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from skliquid.experiments.methods import Result
from skliquid.experiments.spec import Experiment, label_of
from skliquid.experiments.tables import (
    NOTHING,
    Estimate,
    Results,
    Table,
    datasets_of,
    estimates,
    published,
)

SETTINGS = {(65, 0.05): "accuracy_maximizing", (25, 0.85): "cost_minimizing"}
"""Increment size and delegation rate, and the table of the paper that has them."""

Variation = tuple[Any, ...]

_WORDS: dict[tuple[str, Any], str] = {
    ("features_per_voter", "all"): "all features",
    ("candidates", "voters"): "any voter",
    ("candidates", "representatives"): "representatives only",
    ("weight_of", "candidate"): "the candidate's own weight",
    ("weight_of", "guru"): "its guru's weight",
    ("stopping_rule", "loss"): "loss (until 1.7)",
    ("stopping_rule", "objective"): "loss and penalty (since 1.8)",
}


@dataclass(frozen=True)
class Comparison:
    """One method under one variation on one dataset: what is published, and what we measure."""

    dataset: str
    setting: str
    variation: Variation
    label: str
    published: float | None
    measured: Estimate

    @property
    def distance(self) -> float:
        """How far the mean is from the published value."""
        return math.nan if self.published is None else abs(self.measured.mean - self.published)

    @property
    def is_within(self) -> bool:
        """Whether the published value is within two standard errors."""
        return self.is_told_apart and not self.measured.differs_from(self.published)

    @property
    def is_told_apart(self) -> bool:
        """Whether there is a published value and a standard error, which takes two trials."""
        return self.published is not None and math.isfinite(self.measured.error)


def comparisons(experiment: Experiment, results: Results) -> list[Comparison]:
    """Return what was measured of each method, by dataset, setting and variation.

    Methods without a value are left out, and so is Direct's cost, which is 1 by definition.
    """
    protocol = experiment.protocols[0]
    groups: dict[tuple[str, str, Variation, str], list[Result]] = defaultdict(list)
    for trial, result in results:
        method = trial.method
        key = trial.data, setting_of(method), _values(experiment, method), label_of(method)
        groups[key].append(result)
    rows = {label_of(row.method): row for row in experiment.rows}
    made = []
    for (dataset, setting, variation, label), found in groups.items():
        direct = groups.get((dataset, setting, variation, "Direct"), [])
        whole = Estimate.of(each.get("cost_final_fit") for each in direct).mean
        measured = estimates(dataset, rows[label], found, protocol, whole)[experiment.measure]
        is_one_by_definition = experiment.measure == "cost" and rows[label].is_direct
        if is_one_by_definition or math.isnan(measured.mean):
            continue
        value = _published(dataset, setting, label, experiment.measure)
        made.append(Comparison(dataset, setting, variation, label, value, measured))
    return made


def setting_of(method: Mapping[str, Any]) -> str:
    """Return increment size and delegation rate in words; nothing for AdaBoost."""
    if method["method"] != "liquid":
        return ""
    return f"u = {method['increment_size']}, rate {method['delegation_rate']:g}"


def in_words(experiment: Experiment, variation: Variation) -> str:
    """Return a variation as one reads it."""
    return ", ".join(
        _word(name, value) for name, value in zip(experiment.vary, variation, strict=True)
    )


def summary(found: Iterable[Comparison]) -> tuple[float, int, int]:
    """Return the mean distance to what is published, how many are within, and of how many.

    Only values with a standard error are counted.
    """
    known = [each for each in found if each.published is not None]
    distance = float(np.mean([each.distance for each in known])) if known else math.nan
    counted = [each for each in known if each.is_told_apart]
    return distance, sum(each.is_within for each in counted), len(counted)


def variation_table(experiment: Experiment, results: Results) -> Table:
    """Return each method's value by dataset, setting and variation, and its distance."""
    found = comparisons(experiment, results)
    labels = list(dict.fromkeys(each.label for each in found))
    variations = variations_of(found)
    cells = {(each.dataset, each.setting, each.variation, each.label): each for each in found}
    rows: list[list[str]] = []
    for dataset in datasets_of(results):
        for setting in dict.fromkeys(each.setting for each in found):
            printed = [_published(dataset, setting, label, experiment.measure) for label in labels]
            texts = [NOTHING if value is None else f"{value:.3f}" for value in printed]
            rows.append([dataset, setting, "published", *texts, NOTHING, NOTHING])
            for variation in variations:
                keys = [(dataset, setting, variation, label) for label in labels]
                here = [cells[key] for key in keys if key in cells]
                texts = [
                    cells[key].measured.text(cells[key].published) if key in cells else NOTHING
                    for key in keys
                ]
                words = in_words(experiment, variation)
                rows.append([dataset, setting, words, *texts, *_summary_cells(here)])
    for variation in variations:
        everywhere = [each for each in found if each.variation == variation]
        by_label = [_mean_distance(everywhere, label) for label in labels]
        words = in_words(experiment, variation)
        rows.append(["mean distance", "all", words, *by_label, *_summary_cells(everywhere)])
    header = ["dataset", "setting", "variation", *labels, "mean distance", "within two s.e."]
    caption = (
        f"{experiment.caption} Means ± one standard error; * the published value is more than two "
        "of them away. Mean distance: of the means from the published values."
    )
    values = [_as_row(experiment, each) for each in found]
    return Table(experiment.name, experiment.title, caption, header, rows, values)


def variations_of(found: Sequence[Comparison]) -> list[Variation]:
    """Return the variations in the order in which they come."""
    return list(dict.fromkeys(each.variation for each in found))


def _summary_cells(found: Sequence[Comparison]) -> list[str]:
    distance, n_within, n = summary(found)
    return [_or_nothing(distance), f"{n_within} of {n}" if n else NOTHING]


def _mean_distance(found: Sequence[Comparison], label: str) -> str:
    return _or_nothing(summary(each for each in found if each.label == label)[0])


def _or_nothing(distance: float) -> str:
    return NOTHING if math.isnan(distance) else f"{distance:.4f}"


def _as_row(experiment: Experiment, each: Comparison) -> dict[str, Any]:
    varied = dict(zip(experiment.vary, each.variation, strict=True))
    return {
        "dataset": each.dataset,
        "setting": each.setting,
        **varied,
        "ensemble": each.label,
        "measure": experiment.measure,
        "published": "" if each.published is None else each.published,
        "mean": each.measured.mean,
        "standard_error": each.measured.error,
        "distance": "" if each.published is None else each.distance,
    }


def _values(experiment: Experiment, method: Mapping[str, Any]) -> Variation:
    return tuple(method[name] for name in experiment.vary)


def _word(name: str, value: Any) -> str:
    if name == "features_per_voter" and value != "all":
        return f"{value} features" if isinstance(value, int) else f"{value:g} of the features"
    return _WORDS.get((name, value), str(value))


def _published(dataset: str, setting: str, label: str, measure: str) -> float | None:
    names = {f"u = {u}, rate {rate:g}": name for (u, rate), name in SETTINGS.items()}
    table = names.get(setting, "accuracy_maximizing" if not setting else None)
    return _printed(table).get((dataset, label, measure)) if table else None


@cache
def _printed(table: str) -> dict[tuple[str, str, str], float]:
    return {
        (row["dataset"], row["ensemble"], measure): float(row[measure])
        for row in published(table)
        for measure in ("accuracy", "cost")
    }
