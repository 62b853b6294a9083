"""Variations: how far from the published values each choice of rules comes out."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from skliquid.experiments.estimates import (
    EMPTY,
    Results,
    datasets_of,
    estimates,
    published_values,
)
from skliquid.experiments.spec import LABELS, Experiment, label_of
from skliquid.experiments.tables import Table
from skliquid.experiments.trial import Trial

SETTINGS = {(65, 0.05): "accuracy_maximizing", (25, 0.85): "cost_minimizing"}
"""Increment size and delegation rate, and the table of the paper that has them."""

_WORDS: dict[tuple[str, Any], str] = {
    ("features_per_voter", "all"): "all features",
    ("candidates", "voters"): "any voter",
    ("candidates", "representatives"): "representatives only",
    ("weight_of", "candidate"): "the candidate's own weight",
    ("weight_of", "guru"): "its guru's weight",
    ("stopping_rule", "loss"): "loss (until 1.7)",
    ("stopping_rule", "objective"): "loss and penalty (since 1.8)",
}
_NUMBERS = ("published", "mean", "standard_error", "distance", "is_within")
_UNPUBLISHED = ("published", "distance")  # empty where nothing is published


def comparisons(experiment: Experiment, results: Results) -> pd.DataFrame:
    """Return what was measured of each method beside what is published, one row for each.

    Methods without a value are left out, and so is Direct's cost, which is 1 by definition. There
    is one column per varied parameter; ``variation`` has all of them in words. ``is_within``,
    whether the published value is within two standard errors, is 1, 0, or NaN if unknown.
    """

    def key(trial: Trial) -> tuple[Any, ...]:
        levels = tuple(trial.method[name] for name in experiment.vary)
        return trial.data, _setting(trial.method), levels, label_of(trial.method)

    rows, direct, measure = [], LABELS["direct"], experiment.measure
    for (dataset, setting, levels, label), measures in estimates(results, key, direct).items():
        estimate = measures[measure]
        if math.isnan(estimate.mean) or (label == direct and measure == "cost"):
            continue
        value = _published(dataset, setting, label, measure)
        words, text = ", ".join(map(_word, experiment.vary, levels)), estimate.text(value)
        distance = None if value is None else abs(estimate.mean - value)
        is_known = value is not None and math.isfinite(estimate.error)
        is_within = not estimate.differs_from(value) if is_known else None
        numbers = (value, estimate.mean, estimate.error, distance, is_within)
        rows.append((dataset, setting, *levels, label, measure, *numbers, words, text))
    columns = ["dataset", "setting", *experiment.vary, "ensemble", "measure", *_NUMBERS]
    frame = pd.DataFrame(rows, columns=[*columns, "variation", "text"], dtype=object)
    return frame.astype(dict.fromkeys(_NUMBERS, float))


def mean_distance(frame: pd.DataFrame) -> tuple[float, int, int]:
    """Return the mean distance to the published values, how many are within, and of how many."""
    within = frame["is_within"].dropna()
    return float(frame["distance"].mean()), int(within.sum()), len(within)


def variation_table(experiment: Experiment, results: Results) -> Table:
    """Return each method's value by dataset, setting and variation, and its distance."""
    frame = comparisons(experiment, results)
    labels, variations = list(frame["ensemble"].unique()), list(frame["variation"].unique())
    header = ["dataset", "setting", "variation", *labels, "mean distance", "within two s.e."]
    rows: list[list[str]] = []
    for dataset in datasets_of(results):
        for setting in frame["setting"].unique():
            printed = [_published(dataset, setting, label, experiment.measure) for label in labels]
            texts = [EMPTY if value is None else f"{value:.3f}" for value in printed]
            rows.append([dataset, setting, "published", *texts, EMPTY, EMPTY])
            here = frame[(frame["dataset"] == dataset) & (frame["setting"] == setting)]
            for variation in variations:
                part = here[here["variation"] == variation].set_index("ensemble")
                cells = part["text"].reindex(labels, fill_value=EMPTY)
                rows.append([dataset, setting, variation, *cells, *_summary_cells(part)])
    for variation in variations:
        part = frame[frame["variation"] == variation]
        means = part.groupby("ensemble")["distance"].mean().reindex(labels)
        rows.append(
            ["mean distance", "all", variation, *map(_distance_text, means), *_summary_cells(part)]
        )
    caption = (
        f"{experiment.caption} Means ± one standard error; * the published value is more than two "
        "of them away. Mean distance: of the means from the published values."
    )
    values = [
        {str(k): "" if k in _UNPUBLISHED and math.isnan(v) else v for k, v in record.items()}
        for record in frame.drop(columns=["is_within", "variation", "text"]).to_dict("records")
    ]
    return Table(experiment.name, experiment.title, caption, header, rows, values)


def _summary_cells(part: pd.DataFrame) -> list[str]:
    distance, n_within, n_known = mean_distance(part)
    return [_distance_text(distance), f"{n_within} of {n_known}" if n_known else EMPTY]


def _distance_text(distance: float) -> str:
    return EMPTY if math.isnan(distance) else f"{distance:.4f}"


def _setting(method: Mapping[str, Any]) -> str:
    """Return increment size and delegation rate in words; nothing for AdaBoost."""
    if method["method"] != "liquid":
        return ""
    return f"u = {method['increment_size']}, rate {method['delegation_rate']:g}"


def _word(name: str, value: Any) -> str:
    if name == "features_per_voter" and value != "all":
        return f"{value} features" if isinstance(value, int) else f"{value:g} of the features"
    return _WORDS.get((name, value), str(value))


def _published(dataset: str, setting: str, label: str, measure: str) -> float | None:
    tables = {f"u = {u}, rate {rate:g}": name for (u, rate), name in SETTINGS.items()}
    table = (tables | {"": "accuracy_maximizing"}).get(setting)
    return published_values(table).get((dataset, label, measure)) if table else None
