"""Tables: the published values beside ours under two protocols, as Markdown, LaTeX and CSV."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, product
from string import Template
from textwrap import fill
from typing import Any

import pandas as pd
from scipy.stats import ks_2samp, mannwhitneyu

from reproduction.experiment import Experiment
from reproduction.experiment_rules import AXES
from reproduction.trial_statistics import (
    EMPTY,
    MARK,
    Estimate,
    Results,
    by_method,
    datasets_of,
    estimates,
    number_text,
    published,
    published_values,
)
from skliquid.datasets import DATASET_NAMES, available_datasets, load_dataset
from skliquid.theory import harmful_state_fraction

TITLES = {"paper": "their rules", "ours": "our rules"}
_CAPTIONS = {
    "paper": "Their rules: accuracy after one pass and before the final fit, on raw features; "
    "F1 of the first class, for AdaBoost of the second, heart aside.",
    "ours": "Our rules: after the final fit, scaled and one-hot; macro F1.",
}
_NAMES = ("dataset", "ensemble", "measure", "protocol")
_NUMBERS = ("published", "mean", "standard_error", "trials", "differs")
_MEASURES = {"accuracy": "acc", "f1": "F1", "cost": "cost"}
_LATEX = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"±": r"$\pm$", "<": "$<$"})
_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|"} | {"\n": " "})
_LATEX_TABLE = Template(r"""\begin{table}[t]
\centering\scriptsize
\begin{tabular}{@{}$columns@{}}
\toprule
$header
\midrule
$rows
\bottomrule
\end{tabular}
\caption{$caption}
\end{table}
""")


@dataclass(frozen=True)
class Table:
    """Text in rows and columns, with its title and caption.

    ``values``, if given, has one row per number behind the text, for the CSV file.
    """

    name: str
    title: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    values: pd.DataFrame | None = None

    def to_markdown(self) -> str:
        """Return the table for a page in Markdown, with special characters escaped."""
        rows = [[cell.translate(_MARKDOWN) for cell in row] for row in (self.header, *self.rows)]
        rows.insert(1, ["---"] * len(self.header))
        table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        title = self.title.translate(_MARKDOWN)
        caption = fill(self.caption.translate(_MARKDOWN), 120, break_on_hyphens=False)
        return f"### {title}\n\n{caption}\n\n{table}\n"

    def to_latex(self) -> str:
        """Return the table for a paper; it needs the package booktabs."""
        cells = [[cell.translate(_LATEX) for cell in row] for row in (self.header, *self.rows)]
        header, *rows = (" & ".join(row) + r" \\" for row in cells)
        names = {"columns": "l" * len(self.header), "caption": self.caption.translate(_LATEX)}
        return _LATEX_TABLE.substitute(names, header=header, rows="\n".join(rows))

    def to_csv(self) -> str:
        """Return the numbers behind the table, one per row, or the table itself."""
        frame = self.values
        if frame is None or frame.empty:
            frame = pd.DataFrame(self.rows, columns=list(self.header))
        return frame.to_csv(index=False, na_rep="nan", lineterminator="\n")


def result_values(experiment: Experiment, results: Results) -> pd.DataFrame:
    """Return each measure of each method by dataset and protocol, one row per number.

    ``published`` is empty if the paper prints no value, and ``differs`` if it has no such measure.
    """
    protocols, rows = experiment.protocols, []
    printed = published_values(experiment.published) if experiment.published else {}
    direct = next(iter(experiment.direct), None)
    groups = estimates(results, lambda t: (t.data, t.protocol, experiment.label(t)), direct)
    for dataset, row in product(datasets_of(results), experiment.rows):
        measured = {p: groups.get((dataset, p, row.label), {}) for p in protocols}
        others = [(name, p) for p in protocols for name in measured[p] if name not in _MEASURES]
        for measure, protocol in [*product(_MEASURES, protocols), *others]:
            value = printed.get((dataset, row.label, measure))
            estimate = measured[protocol].get(measure, Estimate(math.nan))
            differs = estimate.differs_from(value) if measure in _MEASURES else ""
            names = (dataset, row.label, measure, protocol, "" if value is None else value)
            rows.append((*names, estimate.mean, estimate.error, estimate.n_values, differs))
    return pd.DataFrame(rows, columns=[*_NAMES, *_NUMBERS])


def results_table(experiment: Experiment, results: Results) -> Table:
    """Return accuracy, F1 and cost of each method on each dataset: published, and by protocol."""
    protocols, values, rows = experiment.protocols, result_values(experiment, results), []
    shown = values[values["measure"].isin(_MEASURES)]
    for names, part in shown.groupby(["dataset", "ensemble"], sort=False):
        cells = [str(name) for name in names]
        for _, v in part.iterrows():
            value = None if v["published"] == "" else v["published"]
            if experiment.published and v["protocol"] == protocols[0]:
                cells.append(number_text(value))
            cells.append(Estimate(v["mean"], v["standard_error"], v["trials"]).text(value))
        rows.append(cells)
    columns = [*["published"] * bool(experiment.published), *(TITLES[p] for p in protocols)]
    header = ["dataset", "ensemble", *map(", ".join, product(_MEASURES.values(), columns))]
    away = f"; {MARK} the published value is more than two of them away"
    errors = f"± one standard error{away if experiment.published else ''}."
    caption = " ".join(filter(None, [experiment.caption, *map(_CAPTIONS.get, protocols), errors]))
    return Table(experiment.name, experiment.title, caption, header, rows, values)


def headline_table(experiment: Experiment, results: Results) -> Table:
    """Return accuracy and cost of the ensembles that the paper compares, one row per dataset."""
    best_boosted = "best AdaBoost"
    values: Any = result_values(experiment, results)
    values = values.replace({"ensemble": dict.fromkeys(experiment.boosted, best_boosted)})
    values["published"] = pd.to_numeric(values["published"])
    best = values.groupby([*_NAMES])[["published", "mean"]].max().unstack()
    columns = [("published", experiment.protocols[0]), *product(["mean"], experiment.protocols)]
    cells = best[columns].map(number_text).apply(" / ".join, axis="columns")
    nothing = " / ".join([EMPTY] * len(columns))
    plain = [row.label for row in experiment.rows if not row.is_boosted]
    shown = [*product([*plain, best_boosted], ["accuracy"])]
    shown += product(experiment.delegating, ["cost"])
    datasets = datasets_of(results)
    rows = [[name, *(cells.get((name, *cell), nothing) for cell in shown)] for name in datasets]
    costs = [f"cost of {label}" for label in experiment.delegating]
    under = {"paper": "under their rules", "ours": "under ours"}
    order = " / ".join(["published", *(under[protocol] for protocol in experiment.protocols)])
    caption = f"Accuracy, and cost relative to Direct: {order}."
    header = ["dataset", *plain, best_boosted, *costs]
    return Table("headline", "In short", caption, header, rows)


def dataset_table(experiment: Experiment) -> Table:
    """Return rows, columns and classes of the datasets, as published and as counted."""
    header = ["dataset", "rows, published", "categorical", "numerical"]
    header += ["rows, counted", "categorical", "numerical", "missing cells", "classes"]
    printed = {name: texts for name, *texts in published("datasets").to_numpy().tolist()}
    rows = [[name, *printed[name], *_counts(name, printed[name])] for name in DATASET_NAMES]
    return Table(experiment.name, experiment.title, experiment.caption, header, rows)


def _counts(name: str, printed: Sequence[str]) -> list[str]:
    """Return counts in a dataset, marked if they differ from the ``printed`` ones."""
    data = None
    if name in available_datasets():
        with suppress(ValueError):  # it is damaged
            data = load_dataset(name)
    if data is None:
        return [EMPTY] * 5
    types = list(data.column_types)
    counts = map(str, (len(data.y), types.count("categorical"), types.count("numerical")))
    marked = [f"{c}{MARK if c != p else ''}" for c, p in zip(counts, printed, strict=True)]
    classes = ", ".join(f"{label}: {n}" for label, n in data.class_counts.items())
    return [*marked, str(data.n_missing), classes]


def harmful_states_table(experiment: Experiment) -> Table:
    """Return the paper's table of the harmful-state ratio beside the exact value."""
    printed = {(n, m): ratio for n, m, ratio in published("harmful_states").to_numpy().tolist()}
    n_examples, rows = experiment.options["n_examples"], []
    for n in experiment.options["n_voters"]:
        theirs = [printed.get((str(n), str(m)), EMPTY) for m in n_examples]
        exact = [f"{harmful_state_fraction(n, m):.4g}" for m in n_examples]
        rows.append([str(n), *map(" / ".join, zip(theirs, exact, strict=True))])
    header = ["voters", *(f"{m} examples" for m in n_examples)]
    caption = f"{experiment.caption} Published / exact."
    return Table(experiment.name, experiment.title, caption, header, rows)


def curve_ends_table(experiment: Experiment, results: Results) -> Table:
    """Return accuracy and minimum majority when delegation has ended."""
    header = ["dataset", "mechanism", "trials", "accuracy at the end", "best on the way"]
    header += ["representatives", "minimum majority", "largest share"]
    rows = []
    for protocol in experiment.protocols:
        for (dataset, label), trials in by_method(experiment, results, protocol).items():
            accuracy = Estimate.of(t["accuracy_one_pass"] for t in trials).text()
            curves = [[v for v in t["curve_accuracy"] if not math.isnan(v)] for t in trials]
            best = Estimate.of(max(curve, default=None) for curve in curves).text()
            digits = {"n_representatives": 1, "minimum_majority": 2, "largest_share": 3}
            sizes = [f"{Estimate.of(t[k] for t in trials).mean:.{n}f}" for k, n in digits.items()]
            rows.append([dataset, label, str(len(trials)), accuracy, best, *sizes])
    caption = "Means over trials when delegation has ended; accuracy on the test half."
    title = f"{experiment.title}: the end"
    return Table(f"{experiment.name}_ends", title, caption, header, rows)


def significance_table(experiment: Experiment, results: Results) -> Table:
    """Return p-values of two tests between the final accuracies of each pair of mechanisms."""
    groups = by_method(experiment, results, experiment.protocols[0])
    datasets, rows, values = datasets_of(results), [], []
    for first, second in combinations([row.label for row in experiment.rows], 2):
        cells = [f"{first} / {second}"]
        for dataset in datasets:
            pair = groups[dataset, first], groups[dataset, second]
            a, b = ([trial["accuracy_one_pass"] for trial in trials] for trials in pair)
            if min(len(a), len(b)) < 2:
                cells.append(EMPTY)
                continue
            ks, u = float(ks_2samp(a, b).pvalue), float(mannwhitneyu(a, b).pvalue)
            cells.append(f"{_p_value(ks)} / {_p_value(u)}")
            values.append((dataset, first, second, ks, u))
        rows.append(cells)
    columns = ["dataset", "first", "second", "kolmogorov_smirnov", "mann_whitney"]
    frame = pd.DataFrame(values, columns=columns)
    caption = (
        "p-values of the Kolmogorov-Smirnov and the Mann-Whitney test between the accuracies of "
        f"two mechanisms when delegation has ended; {MARK} below 0.01. They are not corrected for "
        "their number."
    )
    title = f"{experiment.title}: differences between mechanisms"
    return Table(f"{experiment.name}_tests", title, caption, ["pair", *datasets], rows, frame)


def search_table(experiment: Experiment, results: Results) -> Table:
    """Return the best cell of each mechanism on each dataset."""
    header = ["dataset", "mechanism", "increment size", "delegation rate", "ensemble size"]
    header += ["best accuracy", "worst cell"]
    frame, rows = pd.DataFrame([{"data": t.data, **t.method, **r} for t, r in results]), []
    for names, trials in frame.groupby(["data", "mechanism"], sort=False):
        accuracies = trials.groupby([*AXES], sort=False)["accuracy_final"].agg(list)
        cells: dict[Any, Estimate] = accuracies.map(Estimate.of).to_dict()
        best, worst = (choose(cells, key=lambda cell: cells[cell].mean) for choose in (max, min))
        rows.append([*map(str, (*names, *best)), cells[best].text(), cells[worst].text()])
    caption = f"{experiment.caption} The best of {frame.groupby([*AXES]).ngroups} cells."
    return Table(f"{experiment.name}_best", experiment.title, caption, header, rows)


def _p_value(value: float) -> str:
    return f"{'<0.001' if value < 0.001 else f'{value:.3f}'}{MARK if value < 0.01 else ''}"
