"""Weights: what choosing representatives is worth, and what their vote weights add."""

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import false_discovery_control
from scipy.stats import t as student

from reproduction.experiment import LABELS, Experiment, label_of
from reproduction.figure_style import PAGE, draw_legend, line_style, style
from reproduction.result_tables import Table
from reproduction.trial_statistics import EMPTY, MARK, Estimate, Results, number_text, short_name
from reproduction.variations import setting_of

CHOOSING = "mean of those that choose"
_WEIGHTS = {
    "equal": "one vote each",
    "delegated": "votes carried",
    "log_odds": "log-odds",
    "fitted": "fitted",
    "hindsight": "in hindsight",
}
_SUFFIXES = {name: f"_{name}" for name in _WEIGHTS} | {"delegated": ""}
_MEASURES = {
    "accuracy": ("accuracy_one_pass", "accuracy"),
    "f1": ("f1_first_one_pass", "F1"),
    "minimum_majority": ("minimum_majority", "minimum majority"),
}
_DIRECT, _RANDOM = LABELS["direct"], LABELS["random"]
_CHOICES = {_DIRECT: "chosen - all voters", _RANDOM: "chosen - at random"}
_LEVEL = 0.05
_KEYS = ["measure", "setting", "ensemble", "difference"]


def scores_by_weights(results: Results) -> pd.DataFrame:
    """Return each measure by vote weights, one row per trial, ensemble and kind of weights."""
    rows = []
    for (trial, result), (name, suffix) in product(results, _SUFFIXES.items()):
        setting = setting_of(trial.method)
        measures = {m: result[f"{key}{suffix}"] for m, (key, _) in _MEASURES.items()}
        labels = (trial.data, setting, label_of(trial.method), trial.number, name)
        rows.append((*labels, *measures.values()))
    names = ["dataset", "setting", "ensemble", "trial", "weights"]
    return pd.DataFrame(rows, columns=[*names, *_MEASURES])


def differences(results: Results) -> pd.DataFrame:
    """Return the paired differences by dataset: of weights to equal ones, and of equal groups.

    ``p`` is that of Student's paired test over trials. ``is_clear`` says whether it is below
    0.05 when the false discovery rate of all tests of one measure and difference is controlled.
    """
    scores, rows = scores_by_weights(results), []
    index, columns = ["dataset", "setting", "trial"], ["ensemble", "weights"]
    in_order = pd.MultiIndex.from_frame(scores[index].drop_duplicates())
    for measure in _MEASURES:
        wide = scores.pivot(index=index, columns=columns, values=measure).reindex(in_order)
        for (ensemble, name), gains in _gains(wide):
            by_dataset: Any = gains.round(12).groupby(level=index[:2], sort=False)
            for (dataset, setting), gain in by_dataset:
                estimate = Estimate.of(gain)
                keys = (measure, setting, ensemble, name, dataset)
                rows.append((*keys, estimate.mean, estimate.error, _p_value(estimate)))
    names = [*_KEYS, "dataset", "mean", "standard_error", "p"]
    frame = pd.DataFrame(rows, columns=names)
    families = frame.groupby(["measure", "difference"])["p"]
    frame["is_clear"] = families.transform(_controlled) < _LEVEL
    return frame


def _gains(wide: Any) -> Iterator[tuple[tuple[str, str], pd.Series]]:
    """Yield ensemble, difference and its values by dataset, setting and trial."""
    gains, ensembles = {}, list(wide.columns.unique("ensemble"))
    for ensemble in ensembles:
        of = wide[ensemble]
        for other, name in _CHOICES.items():
            if other in ensembles and ensemble != other:
                gains[ensemble, name] = of["equal"] - wide[other, "equal"]
        for weights in _WEIGHTS:
            is_equal = weights == "equal" or (ensemble == _DIRECT and weights == "delegated")
            if not is_equal:
                gains[ensemble, weights] = of[weights] - of["equal"]
    yield from gains.items()
    for name in dict.fromkeys(name for _, name in gains):
        of_choosing = [e for e in ensembles if e not in _CHOICES and (e, name) in gains]
        if own := [gains[e, name] for e in of_choosing]:
            yield (CHOOSING, name), pd.concat(own, axis=1).mean(axis=1)


def _p_value(estimate: Estimate) -> float:
    """Return the p-value of Student's t-test that the mean is zero; NaN for a single value."""
    if estimate.error == 0:
        return float(estimate.mean == 0)
    return float(2 * student.sf(abs(estimate.mean) / estimate.error, estimate.n_values - 1))


def _controlled(p_values: pd.Series) -> pd.Series:
    known = p_values.dropna()
    if known.empty:
        return p_values
    return pd.Series(false_discovery_control(known), known.index).reindex(p_values.index)


def overall(frame: pd.DataFrame) -> pd.DataFrame:
    """Return means over datasets, with errors over trials, and how many datasets are clear."""
    rows = []
    for keys, part in frame.groupby(_KEYS, sort=False):
        error = math.sqrt((part["standard_error"] ** 2).sum(skipna=False)) / len(part)
        signs = np.sign(part["mean"][part["is_clear"]])
        rows.append((*keys, part["mean"].mean(), error, (signs > 0).sum(), (signs < 0).sum()))
    columns = [*_KEYS, "mean", "standard_error", "better", "worse"]
    return pd.DataFrame(rows, columns=columns).set_index(_KEYS)


def summary_table(experiment: Experiment, results: Results) -> Table:
    """Return what choosing is worth and what weights add, by setting and mechanism."""
    scores, found = scores_by_weights(results), overall(differences(results))
    names = [*_CHOICES.values(), *list(_WEIGHTS)[1:]]
    shown = [name for name in names if name in found.index.unique("difference")]
    titles = [f"{_WEIGHTS[n]} - one vote" if n in _WEIGHTS else n for n in shown]
    rows = []
    equal = scores[scores["weights"] == "equal"].groupby(["setting", "ensemble", "dataset"])
    means: Any = equal[[*_MEASURES]].mean().groupby(["setting", "ensemble"]).mean()
    choosing = [e for e in means.index.unique("ensemble") if e not in _CHOICES]
    ensembles = [*scores["ensemble"].unique(), CHOOSING]
    for measure, setting, ensemble in product(
        ["accuracy", "f1"], scores["setting"].unique(), ensembles
    ):
        of = choosing if ensemble == CHOOSING else [ensemble]
        mean = means.loc[setting].reindex(of)[measure].mean()
        cells = [_cell(found, (measure, setting, ensemble, name)) for name in shown]
        rows.append([_MEASURES[measure][1], setting, ensemble, number_text(mean, 4), *cells])
    header = ["measure", "setting", "mechanism", "one vote each", *titles]
    caption = (
        f"{experiment.caption} Means over {scores['dataset'].nunique()} datasets, differences ± "
        "one standard error over trials, which are paired by halves. In brackets, on how many "
        "datasets a difference is clearly positive : negative: paired t-test over trials, false "
        "discovery rate 5 %. Fitted: mixture weights for votes before training, halfway to equal "
        "ones. In hindsight: mixture weights fitted to the test half itself, which no one has."
    )
    values = found.reset_index()
    return Table(experiment.name, experiment.title, caption, header, rows, values)


def _cell(found: Any, keys: tuple[str, ...]) -> str:
    if keys not in found.index:
        return EMPTY
    row = found.loc[keys]
    error = "" if math.isnan(row["standard_error"]) else f" ± {row['standard_error']:.4f}"
    return f"{row['mean']:+.4f}{error} ({row['better']:.0f} : {row['worse']:.0f})"


def value_table(experiment: Experiment, results: Results) -> Table:
    """Return each measure by dataset, setting, mechanism and weights."""
    scores, frame = scores_by_weights(results), differences(results)
    keys = ["measure", "dataset", "setting", "ensemble", "difference"]
    is_clear = frame.set_index(keys)["is_clear"].to_dict()
    groups = scores.groupby(["dataset", "setting", "ensemble", "weights"], sort=False)
    means, rows = groups[[*_MEASURES]].mean(), []
    for labels in dict.fromkeys(key[:3] for key in means.index):
        cells = list(labels)
        for measure, name in product(_MEASURES, _WEIGHTS):
            digits = 1 if measure == "minimum_majority" else 3
            text = number_text(means.loc[(*labels, name), measure], digits)
            cells.append(f"{text}{MARK if is_clear.get((measure, *labels, name)) else ''}")
        rows.append(cells)
    titles = [
        ", ".join(pair) for pair in product([m for _, m in _MEASURES.values()], _WEIGHTS.values())
    ]
    caption = (
        f"Means over trials. {MARK} clearly different from one vote each: paired t-test, false "
        "discovery rate 5 %."
    )
    title = f"{experiment.title}: every value"
    header = ["dataset", "setting", "mechanism", *titles]
    return Table(f"{experiment.name}_values", title, caption, header, rows, frame)


def mechanism_figure(results: Results) -> Figure:
    """Return one panel per setting: mechanisms from top to bottom, one mark per kind of weights."""
    scores = scores_by_weights(results)
    means: Any = scores.groupby(["setting", "ensemble", "weights", "dataset"])["accuracy"].mean()
    means = means.groupby(["setting", "ensemble", "weights"]).mean()
    ensembles = [e for e in scores["ensemble"].unique() if e != _DIRECT]
    settings = scores["setting"].unique()
    with style():
        figure = Figure(figsize=(PAGE, 1.3 + 0.3 * len(ensembles)), layout="constrained")
        panels = figure.subplots(1, len(settings), sharey=True, squeeze=False)[0]
        for axes, setting in zip(panels, settings, strict=True):
            of: Any = means.loc[setting]
            for k, (name, title) in enumerate(_shown()):
                values = [of.get((ensemble, name), math.nan) for ensemble in ensembles]
                axes.plot(values, _places(len(ensembles), k), label=title, **_look(k))
            if _DIRECT in of.index:
                value = of[_DIRECT, "equal"]
                axes.axvline(value, color="0.4", linewidth=0.8, label="all voters, one vote each")
            axes.set(title=setting, xlabel="Mean accuracy")
        panels[0].set_yticks(range(len(ensembles)), ensembles)
        panels[0].set_ylim(len(ensembles) - 0.5, -0.5)
        draw_legend(figure, n_columns=5)
    return figure


def dataset_figure(results: Results) -> Figure:
    """Return one panel per setting: datasets from top to bottom, differences to one vote each."""
    frame = differences(results)
    frame = frame[(frame["measure"] == "accuracy") & (frame["ensemble"] == CHOOSING)]
    settings, datasets = frame["setting"].unique(), list(frame["dataset"].unique())
    with style():
        figure = Figure(figsize=(PAGE, 1.3 + 0.3 * len(datasets)), layout="constrained")
        n_panels = max(len(settings), 1)
        panels = figure.subplots(1, n_panels, sharey=True, sharex=True, squeeze=False)[0]
        for axes, setting in zip(panels, settings, strict=False):
            for k, (name, title) in enumerate(_shown()):
                is_own = (frame["setting"] == setting) & (frame["difference"] == name)
                part = frame[is_own].set_index("dataset").reindex(datasets)
                if name != "equal":
                    bars = 2 * part["standard_error"].fillna(0)
                    places = _places(len(datasets), k)
                    axes.errorbar(part["mean"], places, xerr=bars, label=title, **_look(k))
            axes.axvline(0, color="0.4", linewidth=0.8, label="one vote each")
            axes.set(title=setting, xlabel="Accuracy - that of one vote each")
        panels[0].set_yticks(range(len(datasets)), [short_name(name) for name in datasets])
        panels[0].set_ylim(len(datasets) - 0.5, -0.5)
        draw_legend(figure, n_columns=4)
    return figure


def _shown() -> list[tuple[str, str]]:
    """Return the weights in figures, in which the test half has no say."""
    return [(name, title) for name, title in _WEIGHTS.items() if name != "hindsight"]


def _places(n: int, k: int) -> Any:
    return np.arange(n) + 0.5 * ((k + 0.5) / len(_shown()) - 0.5)


def _look(k: int) -> dict[str, Any]:
    return line_style(k) | {"linestyle": "", "marker": "osD^"[k]}


def weight_findings(experiment: Experiment, results: Results) -> Iterator[str]:
    """Yield a sentence for each setting: what choosing is worth, and what weights add to it."""
    found = overall(differences(results))
    for setting in found.index.unique("setting"):
        texts = []
        for name in [*_CHOICES.values(), *list(_WEIGHTS)[1:-1]]:
            cell = _cell(found, ("accuracy", setting, CHOOSING, name))
            if cell != EMPTY:
                words = f"{_WEIGHTS[name]} - one vote" if name in _WEIGHTS else name
                texts.append(f"{words}: {cell}")
        if texts:
            start = f"{experiment.title}, {setting}, accuracy of the mechanisms that choose (in "
            yield f"{start}brackets, datasets clearly better : worse): {'; '.join(texts)}."
