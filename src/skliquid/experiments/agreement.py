"""Agreement: how many published values our means are near to, and how many chance would allow."""

import math
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import t as student

from skliquid.experiments.estimates import Results, Shown, short_name
from skliquid.experiments.figures import PAGE
from skliquid.experiments.spec import Experiment
from skliquid.experiments.tables import results_table
from skliquid.plotting.style import line_style, show_plainly, style

MEASURES = ("accuracy", "cost")
_PUBLISHED_TRIALS = 50  # the paper's means are over so many
_MARKERS = "osD^vP*X"


@dataclass(frozen=True)
class Agreement:
    """How many of the published values of a measure are within two standard errors of ours.

    ``n_expected`` is the number to expect if both runs drew their trials from one distribution,
    the published means being over 50 trials. Values without a standard error are not counted.
    """

    measure: str
    n_values: int
    n_within: int
    n_expected: float
    mean_distance: float
    two_errors: float  # two standard errors of ours, in the median

    @classmethod
    def of(cls, measure: str, values: pd.DataFrame) -> "Agreement":
        """Return the agreement of those of ``values`` that are of this measure."""
        part = values[values["measure"] == measure]
        known = part.dropna(subset="standard_error")
        n_expected = sum(map(_chance_of_agreement, known["trials"]))
        distance = (part["mean"] - part["published"]).abs().mean()
        two_errors = 2 * known["standard_error"].median()
        n_within = int((~known["differs"]).sum())
        return cls(measure, len(known), n_within, n_expected, float(distance), float(two_errors))


def _chance_of_agreement(n_trials: int) -> float:
    """Return the chance that a mean over 50 trials is within two standard errors of ours."""
    reach = 2 / math.sqrt(1 + n_trials / _PUBLISHED_TRIALS)
    return float(1 - 2 * student.sf(reach, n_trials - 1))


def published_beside_measured(shown: Shown) -> pd.DataFrame:
    """Return every published accuracy and cost beside our mean under their rules, each once.

    Direct's cost is left out: it is 1 by definition. Tables of the paper share some of their rows;
    ``experiment`` is the first that has a row.
    """
    frames = [_of_one(*pair) for pair in shown if pair[0].published and pair[1]]
    if not frames:
        return pd.DataFrame()
    values = pd.concat(frames, ignore_index=True)
    values["published"] = pd.to_numeric(values["published"])
    values["differs"] = values["differs"].astype(bool)
    values["distance"] = (values["mean"] - values["published"]).abs()
    same = ["dataset", "measure", "method", "published"]
    return values.drop_duplicates(same).reset_index(drop=True)


def _of_one(experiment: Experiment, results: Results) -> pd.DataFrame:
    values = pd.DataFrame(results_table(experiment, results).values).dropna(subset="mean")
    direct = [row.label for row in experiment.rows if row.is_direct]
    boosted = [row.label for row in experiment.rows if row.is_boosted]
    methods = {row.label: str(sorted(row.under("paper").items())) for row in experiment.rows}
    values["is_boosted"] = values["ensemble"].isin(boosted)
    values["method"] = values["ensemble"].map(methods)
    values["experiment"] = experiment.name
    is_trivial = (values["measure"] == "cost") & values["ensemble"].isin(direct)
    is_compared = values["measure"].isin(MEASURES) & (values["protocol"] == "paper")
    return values[is_compared & ~is_trivial & (values["published"] != "")]


def differences(values: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return those that differ by more than two standard errors, the ``n`` furthest ones first."""
    return values[values["differs"]].sort_values("distance", ascending=False).head(n)


def agreement_figure(values: pd.DataFrame) -> Figure:
    """Return our means against the published values of delegating ensembles, by measure."""
    values = values[~values["is_boosted"]]
    measures = [measure for measure in MEASURES if (values["measure"] == measure).any()]
    datasets = list(values["dataset"].unique())
    with style():
        figure = Figure(figsize=(PAGE, 3.5), layout="constrained")
        panels = figure.subplots(1, len(measures), squeeze=False)[0]
        for axes, measure in zip(panels, measures, strict=True):
            part = values[values["measure"] == measure]
            for k, dataset in enumerate(datasets):
                _draw_dataset(axes, part[part["dataset"] == dataset], dataset, k)
            _draw_diagonal(axes, part, is_logarithmic=measure == "cost")
            words = "accuracy" if measure == "accuracy" else "cost relative to Direct"
            axes.set(xlabel=f"Published {words}", ylabel=f"Our {words}", aspect="equal")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=4)
    return figure


def _draw_dataset(axes: Axes, part: pd.DataFrame, dataset: str, k: int) -> None:
    """Draw means with bars of two standard errors; filled marks are further off than that."""
    colour, marker = line_style(k)["color"], _MARKERS[k % len(_MARKERS)]
    look = {"color": colour, "marker": marker, "linestyle": ""}
    axes.plot([], [], label=short_name(dataset), markerfacecolor="white", **look)
    for differs, marks in part.groupby("differs"):
        bars = 2 * marks["standard_error"].fillna(0)
        axes.errorbar(
            *(marks["published"], marks["mean"], bars),
            markerfacecolor=colour if differs else "white",
            elinewidth=0.6,
            **look,
        )


def _draw_diagonal(axes: Axes, part: pd.DataFrame, *, is_logarithmic: bool) -> None:
    """Draw the line on which both values are the same, over the range of both."""
    low, high = part[["published", "mean"]].min().min(), part[["published", "mean"]].max().max()
    if is_logarithmic:
        axes.set(xscale="log", yscale="log")
        limits = (max(low, 1e-4) / 1.4, high * 1.4)
        show_plainly(axes.xaxis, axes.yaxis)
    else:
        limits = (low - 0.02, high + 0.02)
    axes.axline((limits[0], limits[0]), (limits[1], limits[1]), color="0.6", linewidth=0.8)
    axes.set(xlim=limits, ylim=limits)
