"""Variations: the distance to the published values under each choice of rules."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reproduction.experiment import LABELS, Experiment, label_of
from reproduction.figure_style import PAGE, draw_legend, line_style, show_plain_numbers, style
from reproduction.result_tables import Table
from reproduction.trial import Trial
from reproduction.trial_statistics import (
    EMPTY,
    Results,
    datasets_of,
    estimates,
    number_text,
    published_values,
    short_name,
)

SETTINGS = {(65, 0.05): "accuracy_maximizing", (25, 0.85): "cost_minimizing"}
"""Increment size and delegation rate of two tables of the paper."""

_TABLES = {f"u = {u}, rate {rate:g}": name for (u, rate), name in SETTINGS.items()}
_TABLES[""] = "accuracy_maximizing"  # of AdaBoost, which has no setting
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


def comparisons(experiment: Experiment, results: Results) -> pd.DataFrame:
    """Return the measured beside the published value of each method, one row per method.

    Methods without a value are left out, and so is Direct's cost, which is 1 by definition. There
    is one column per varied parameter; ``variation`` has all of them in words. ``is_within``,
    whether the published value is within two standard errors, is 1, 0, or NaN if unknown.
    """

    def key(trial: Trial) -> tuple[Any, ...]:
        levels = tuple(trial.method[name] for name in experiment.vary)
        return trial.data, setting_of(trial.method), levels, label_of(trial.method)

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
    """Return the mean distance to the published values, the number within errors, and of all."""
    within = frame["is_within"].dropna()
    return float(frame["distance"].mean()), int(within.sum()), len(within)


def nearest_variations(
    experiment: Experiment, results: Results
) -> list[tuple[float, int, int, str]]:
    """Return the ``mean_distance`` of each variation with its name, the nearest first."""
    frame = comparisons(experiment, results).dropna(subset="published")
    groups = frame.groupby("variation", sort=False)
    distances = [(*mean_distance(part), str(name)) for name, part in groups]
    return sorted(distances, key=lambda variation: variation[0])


def variation_table(experiment: Experiment, results: Results) -> Table:
    """Return each method's value by dataset, setting and variation, and its distance."""
    frame = comparisons(experiment, results)
    labels, variations = list(frame["ensemble"].unique()), list(frame["variation"].unique())
    header = ["dataset", "setting", "variation", *labels, "mean distance", "within two s.e."]
    rows: list[list[str]] = []
    for dataset in datasets_of(results):
        for setting in frame["setting"].unique():
            printed = [_published(dataset, setting, label, experiment.measure) for label in labels]
            rows.append([dataset, setting, "published", *map(number_text, printed), EMPTY, EMPTY])
            here = frame[(frame["dataset"] == dataset) & (frame["setting"] == setting)]
            for variation in variations:
                part = here[here["variation"] == variation].set_index("ensemble")
                cells = part["text"].reindex(labels, fill_value=EMPTY)
                rows.append([dataset, setting, variation, *cells, *_summary_cells(part)])
    for variation in variations:
        part = frame[frame["variation"] == variation]
        means = part.groupby("ensemble")["distance"].mean().reindex(labels)
        texts = [number_text(mean, digits=4) for mean in means]
        rows.append(["mean distance", "all", variation, *texts, *_summary_cells(part)])
    caption = (
        f"{experiment.caption} Means ± one standard error; * the published value is more than two "
        "of them away. Mean distance: of the means from the published values."
    )
    values = frame.drop(columns=["is_within", "variation", "text"]).astype(object)
    values.loc[frame["published"].isna(), ["published", "distance"]] = ""
    return Table(experiment.name, experiment.title, caption, header, rows, values)


def _summary_cells(part: pd.DataFrame) -> list[str]:
    distance, n_within, n_known = mean_distance(part)
    return [number_text(distance, digits=4), f"{n_within} of {n_known}" if n_known else EMPTY]


def setting_of(method: Mapping[str, Any]) -> str:
    """Return increment size and delegation rate in words, or an empty text for AdaBoost."""
    if method["method"] != "liquid":
        return ""
    return f"u = {method['increment_size']}, rate {method['delegation_rate']:g}"


def _word(name: str, value: Any) -> str:
    if name == "features_per_voter" and value != "all":
        return f"{value} features" if isinstance(value, int) else f"{value:g} of the features"
    return _WORDS.get((name, value), str(value))


def _published(dataset: str, setting: str, label: str, measure: str) -> float | None:
    table = _TABLES.get(setting)
    return published_values(table).get((dataset, label, measure)) if table else None


def variation_figure(experiment: Experiment, results: Results) -> Figure | None:
    """Return the distance to the published values by variation, or None if there are none."""
    frame = comparisons(experiment, results).dropna(subset="published")
    label = f"Mean distance to the published {experiment.measure}"
    return _figure(experiment, frame.assign(shown=frame["distance"]), label, is_distance=True)


def unpublished_figure(experiment: Experiment, results: Results) -> Figure | None:
    """Return the measure by variation on unpublished datasets, or None if there are none."""
    frame = comparisons(experiment, results)
    frame = frame[~frame["dataset"].isin(frame.dropna(subset="published")["dataset"])]
    label = f"Mean {experiment.measure} of all ensembles"
    return _figure(experiment, frame.assign(shown=frame["mean"]), label, is_distance=False)


def _figure(
    experiment: Experiment, frame: pd.DataFrame, label: str, *, is_distance: bool
) -> Figure | None:
    if frame.empty:
        return None
    levels = frame[experiment.vary[0]]
    is_scan = len(experiment.vary) == 1 and any(isinstance(v, int | float) for v in levels)
    if is_scan:
        return _scan_figure(frame, levels, label, is_distance=is_distance)
    return _dot_figure(frame, label, is_distance=is_distance)


def _dot_figure(frame: pd.DataFrame, label: str, *, is_distance: bool) -> Figure:
    """Return one panel per setting: datasets from top to bottom, one mark per variation."""
    settings, variations = frame["setting"].unique(), frame["variation"].unique()
    datasets = list(frame["dataset"].unique())
    names = [*datasets, "mean"] if len(datasets) > 1 else datasets
    with style():
        figure = Figure(figsize=(PAGE, 1.0 + 0.28 * len(names)), layout="constrained")
        panels = figure.subplots(1, len(settings), sharey=True, sharex=True, squeeze=False)[0]
        for axes, setting in zip(panels, settings, strict=True):
            for k, variation in enumerate(variations):
                part = frame[(frame["setting"] == setting) & (frame["variation"] == variation)]
                means = part.groupby("dataset")["shown"].mean().reindex(datasets)
                look = line_style(k) | {"linestyle": "", "marker": "osD^v"[k % 5]}
                rows = np.arange(len(names)) + 0.5 * ((k + 0.5) / len(variations) - 0.5)
                values = [*means, part["shown"].mean()][: len(names)]
                axes.plot(values, rows, label=variation, **look)
            axes.set(title=setting, xlabel=label)
            if len(datasets) > 1:
                axes.axhline(len(datasets) - 0.5, color="0.6", linewidth=0.6)
            if is_distance:
                axes.set_xscale("log")
                show_plain_numbers(axes.xaxis)
        panels[0].set_yticks(range(len(names)), [short_name(name) for name in names])
        panels[0].set_ylim(len(names) - 0.5, -0.5)
        draw_legend(figure, n_columns=2)
    return figure


def _scan_figure(
    frame: pd.DataFrame, levels: pd.Series, label: str, *, is_distance: bool
) -> Figure:
    """Return panels of numbers and shares, with one line per dataset and one for their mean."""
    frame = frame.assign(level=levels.map(lambda v: 1.0 if v == "all" else float(v)))
    is_count = levels.map(lambda v: isinstance(v, int))
    names = is_count.map({True: "Features per voter", False: "Share of the features per voter"})
    parts = list(frame.groupby(names))
    with style():
        figure = Figure(figsize=(PAGE, 2.9), layout="constrained")
        panels = figure.subplots(1, len(parts), sharey=True, squeeze=False)[0]
        for axes, (name, part) in zip(panels, parts, strict=True):
            for k, dataset in enumerate(frame["dataset"].unique()):
                means = part[part["dataset"] == dataset].groupby("level")["shown"].mean()
                look = line_style(1 + k % 6)  # 0 is the look of the mean
                axes.plot(means, label=short_name(dataset), **look)
            mean = part.groupby("level")["shown"].mean()
            axes.plot(mean, label="mean", **line_style(0) | {"linewidth": 2.2})
            axes.set(xlabel=name)
            axes.set_xticks(mean.index, [f"{level:g}" for level in mean.index])
            if is_distance:
                axes.plot(mean.idxmin(), mean.min(), "ko", markersize=5)
                axes.set_yscale("log")
                show_plain_numbers(axes.yaxis)
        panels[0].set_ylabel(label.replace("the ", "the\n"))
        draw_legend(figure, n_columns=frame["dataset"].nunique() + 1)
    return figure
