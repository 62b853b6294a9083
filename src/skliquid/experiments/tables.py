"""Tables: what the paper printed, what we measure under its rules, and under ours."""

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import ks_2samp, mannwhitneyu

from skliquid.datasets import DATASET_NAMES, Dataset, available_datasets, load_dataset
from skliquid.experiments.methods import Result
from skliquid.experiments.protocols import PROTOCOLS
from skliquid.experiments.spec import Experiment, Row
from skliquid.experiments.trial import Trial
from skliquid.theory import harmful_state_fraction

Results = Sequence[tuple[Trial, Result]]
MARK, NOTHING = "*", "-"
WHOSE = {"paper": "their rules", "ours": "our rules"}
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"})
_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|"} | {"\n": " "})


@dataclass(frozen=True)
class Table:
    """Text in rows and columns, with what it shows.

    ``values``, if given, has a row for each number behind the text, for the CSV file.
    """

    name: str
    title: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    values: Sequence[Mapping[str, Any]] = ()

    def to_markdown(self) -> str:
        """Return the table for a page in Markdown, its cells shown as they are."""
        rows = [self.header, *self.rows]
        lines = [" | ".join(cell.translate(_MARKDOWN) for cell in row) for row in rows]
        lines.insert(1, " | ".join("---" for _ in self.header))
        table = "\n".join(f"| {line} |" for line in lines)
        title, caption = self.title.translate(_MARKDOWN), self.caption.translate(_MARKDOWN)
        return f"### {title}\n\n{caption}\n\n{table}\n"

    def to_latex(self) -> str:
        """Return the table for a paper; it needs the package booktabs."""
        body = [" & ".join(_latex(cell) for cell in row) + r" \\" for row in self.rows]
        return "\n".join(
            [
                r"\begin{table}[t]",
                r"\centering\scriptsize",
                rf"\begin{{tabular}}{{@{{}}{'l' * len(self.header)}@{{}}}}",
                r"\toprule",
                " & ".join(_latex(cell) for cell in self.header) + r" \\",
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                rf"\caption{{{_latex(self.caption)}}}",
                r"\end{table}",
                "",
            ]
        )

    def to_csv(self) -> str:
        """Return the numbers behind the table, one a row, or the table as it is."""
        text = io.StringIO()
        if self.values:
            writer = csv.DictWriter(text, list(self.values[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.values)
        else:
            csv.writer(text, lineterminator="\n").writerows([self.header, *self.rows])
        return text.getvalue()


@dataclass(frozen=True)
class Estimate:
    """A mean and its standard error."""

    mean: float
    error: float = math.nan

    @classmethod
    def of(cls, values: Iterable[float | None]) -> "Estimate":
        """Return the estimate from values, of which missing ones are left out."""
        known = np.array([each for each in values if each is not None and not math.isnan(each)])
        if len(known) == 0:
            return cls(math.nan)
        error = float(known.std(ddof=1) / math.sqrt(len(known))) if len(known) > 1 else math.nan
        return cls(float(known.mean()), error)

    def over(self, whole: float) -> "Estimate":
        """Return the estimate as a share of ``whole``; not a number where that is zero."""
        whole = whole or math.nan
        return Estimate(self.mean / whole, self.error / whole)

    def differs_from(self, value: float | None) -> bool:
        """Return whether ``value``, printed with three digits, is two standard errors away."""
        return value is not None and abs(self.mean - value) > 2 * self.error + 0.0005

    def text(self, published: float | None) -> str:
        """Return the mean, its error, and a mark where the published value is far from it."""
        if math.isnan(self.mean):
            return NOTHING
        error = "" if math.isnan(self.error) else f" ± {self.error:.3f}"
        return f"{self.mean:.3f}{error}{MARK if self.differs_from(published) else ''}"


def published(name: str) -> list[dict[str, str]]:
    """Return a table of the paper, a mapping for each row."""
    text = (files("skliquid.experiments") / "published" / f"{name}.csv").read_text("utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def results_table(experiment: Experiment, results: Results) -> Table:
    """Return accuracy, F1 and cost of each method on each dataset: published, and by protocol."""
    printed = {(row["dataset"], row["ensemble"]): row for row in _printed(experiment)}
    measured = {
        protocol: _measured(experiment, results, protocol) for protocol in experiment.protocols
    }
    rows, values = [], []
    for dataset in datasets_of(results):
        for row in experiment.rows:
            theirs = printed.get((dataset, row.label), {})
            cells = [dataset, row.label]
            for measure in ("accuracy", "f1", "cost"):
                value = float(theirs[measure]) if theirs else None
                if printed:
                    cells.append(NOTHING if value is None else f"{value:.3f}")
                for protocol, of_protocol in measured.items():
                    estimate = of_protocol[dataset, row.label][measure]
                    cells.append(estimate.text(value))
                    values.append(
                        {
                            "dataset": dataset,
                            "ensemble": row.label,
                            "measure": measure,
                            "protocol": protocol,
                            "published": "" if value is None else value,
                            "mean": estimate.mean,
                            "standard_error": estimate.error,
                            "differs": estimate.differs_from(value),
                        }
                    )
            rows.append(cells)
            values += _further_values(dataset, row.label, measured)
    columns = [WHOSE[protocol] for protocol in experiment.protocols]
    columns = ["published", *columns] if printed else columns
    header = ["dataset", "ensemble"]
    header += [f"{measure}, {column}" for measure in ("acc", "F1", "cost") for column in columns]
    return Table(experiment.name, experiment.title, _caption(experiment), header, rows, values)


def headline_table(experiment: Experiment, results: Results) -> Table:
    """Return, on a line a dataset, accuracy and cost of what the paper compares."""
    values = {
        (v["dataset"], v["ensemble"], v["measure"], v["protocol"]): v
        for v in results_table(experiment, results).values
    }
    boosted = [row.label for row in experiment.rows if row.is_boosted]
    plain = [row.label for row in experiment.rows if not row.is_boosted]
    pruned = [row.label for row in experiment.rows if not (row.is_boosted or row.is_direct)]

    def cell(dataset: str, measure: str, of: Sequence[str]) -> str:
        """Return the best of some methods: published, under their rules, under ours."""
        best = []
        for column in ("published", *experiment.protocols):
            name = "published" if column == "published" else "mean"
            protocol = experiment.protocols[0] if column == "published" else column
            found = [values[dataset, label, measure, protocol][name] for label in of]
            known = [value for value in found if value != "" and not math.isnan(value)]
            best.append(f"{max(known):.3f}" if known else NOTHING)
        return " / ".join(best)

    rows = []
    for dataset in datasets_of(results):
        accuracies = [cell(dataset, "accuracy", [label]) for label in plain]
        costs = [cell(dataset, "cost", [label]) for label in pruned]
        rows.append([dataset, *accuracies, cell(dataset, "accuracy", boosted), *costs])
    header = ["dataset", *plain, "best AdaBoost", *(f"cost of {label}" for label in pruned)]
    under = {"paper": "under their rules", "ours": "under ours"}
    columns = " / ".join(["published", *(under[protocol] for protocol in experiment.protocols)])
    caption = f"Accuracy, and cost relative to Direct: {columns}."
    return Table("headline", "In short", caption, header, rows)


def _caption(experiment: Experiment) -> str:
    rules = {
        "paper": "Their rules: accuracy after one pass and before the final fit, on raw features; "
        "F1 of the first class, for AdaBoost of the second, heart aside.",
        "ours": "Our rules: after the final fit, scaled and one-hot; macro F1.",
    }
    mark = f"; {MARK} the published value is more than two of them away"
    errors = f"± one standard error{mark if experiment.published else ''}."
    said = [experiment.caption, *(rules[protocol] for protocol in experiment.protocols), errors]
    return " ".join(filter(None, said))


def _further_values(
    dataset: str, label: str, measured: Mapping[str, Mapping[tuple[str, str], Mapping[str, Any]]]
) -> Iterator[dict[str, Any]]:
    for protocol, of_protocol in measured.items():
        for measure, estimate in of_protocol[dataset, label].items():
            if measure not in ("accuracy", "f1", "cost"):
                yield {
                    "dataset": dataset,
                    "ensemble": label,
                    "measure": measure,
                    "protocol": protocol,
                    "published": "",
                    "mean": estimate.mean,
                    "standard_error": estimate.error,
                    "differs": "",
                }


def _measured(
    experiment: Experiment, results: Results, protocol: str
) -> dict[tuple[str, str], dict[str, Estimate]]:
    """Return what was measured of each method on each dataset, under one protocol."""
    groups = grouped(experiment, results, protocol)
    rows = {row.label: row for row in experiment.rows}
    whole_is = next((row.label for row in experiment.rows if row.is_direct), None)
    measured = {}
    for (dataset, label), of_method in groups.items():
        direct = groups.get((dataset, whole_is), []) if whole_is else []
        whole = Estimate.of(each["cost_final_fit"] for each in direct).mean
        measured[dataset, label] = estimates(dataset, rows[label], of_method, protocol, whole)
    missing: dict[str, Estimate] = defaultdict(lambda: Estimate(math.nan))
    return defaultdict(lambda: missing, measured)


def estimates(
    dataset: str, row: Row, results: Sequence[Result], protocol: str, whole: float
) -> dict[str, Estimate]:
    """Return the measures of one method from its trials, cost as a share of ``whole``."""
    when = "final" if row.is_boosted else PROTOCOLS[protocol].judged
    of_class = "second" if row.is_boosted and dataset != "heart" else "first"
    f1 = f"f1_{of_class}" if protocol == "paper" else "f1_macro"
    nominal = "cost_increments_nominal" if protocol == "paper" else "cost_increments"
    costs = [
        each.get("cost_final_fit", math.nan)
        + (0 if row.is_direct else each.get(nominal, each.get("cost_increments", 0)))
        for each in results
    ]
    names = (
        *(f"{name}_{time}" for time in ("one_pass", "final") for name in _OF_A_VOTE),
        "cost_increments",
        "cost_final_fit",
        "n_representatives",
        "minimum_majority",
        "largest_share",
        "gini",
        "refused",
    )
    return {
        "accuracy": Estimate.of(each.get(f"accuracy_{when}") for each in results),
        "f1": Estimate.of(each.get(f"{f1}_{when}") for each in results),
        "cost": Estimate.of(costs).over(whole),
    } | {name: Estimate.of(each.get(name) for each in results) for name in names}


_OF_A_VOTE = ("accuracy", "f1_first", "f1_second", "f1_macro", "balanced_accuracy")


def grouped(
    experiment: Experiment, results: Results, protocol: str
) -> dict[tuple[str, str], list[Result]]:
    """Return the results under ``protocol`` by dataset and label of the method."""
    labels = {_frozen(row.under(protocol)): row.label for row in experiment.rows}
    groups: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for trial, result in results:
        if trial.protocol == protocol:
            groups[trial.data, labels[_frozen(trial.method)]].append(result)
    return groups


def dataset_table(experiment: Experiment) -> Table:
    """Return what the paper says of its datasets, and what they hold."""
    printed = {row["dataset"]: row for row in published("datasets")}
    rows = []
    for name in DATASET_NAMES:
        row = printed[name]
        theirs = [row["rows"], row["categorical"], row["numerical"]]
        data = _loaded(name)
        if data is None:
            rows.append([name, *theirs, *[NOTHING] * 5])
            continue
        kinds = list(data.column_types)
        counts = [str(len(data.y)), str(kinds.count("categorical")), str(kinds.count("numerical"))]
        marked = [f"{c}{MARK if c != t else ''}" for c, t in zip(counts, theirs, strict=True)]
        classes = ", ".join(f"{label}: {n}" for label, n in data.class_counts.items())
        rows.append([name, *theirs, *marked, str(data.n_missing), classes])
    header = ["dataset", "rows, published", "categorical", "numerical"]
    header += ["rows, counted", "categorical", "numerical", "missing cells", "classes"]
    return Table(experiment.name, experiment.title, experiment.caption, header, rows)


def _loaded(name: str) -> Dataset | None:
    """Return a dataset if it is here, and whole."""
    try:
        return load_dataset(name) if name in available_datasets() else None
    except ValueError:
        return None


def harmful_states_table(experiment: Experiment) -> Table:
    """Return the paper's table of the harmful-state ratio beside the exact value."""
    printed = {(r["n_voters"], r["n_examples"]): r["ratio"] for r in published("harmful_states")}
    n_examples = experiment.options["n_examples"]
    rows = []
    for n in experiment.options["n_voters"]:
        pairs = [
            (printed.get((str(n), str(m)), NOTHING), harmful_state_fraction(n, m))
            for m in n_examples
        ]
        rows.append([str(n), *(f"{theirs} / {exact:.4g}" for theirs, exact in pairs)])
    header = ["voters", *(f"{m} examples" for m in n_examples)]
    caption = f"{experiment.caption} Published / exact."
    return Table(experiment.name, experiment.title, caption, header, rows)


def curve_ends_table(experiment: Experiment, results: Results) -> Table:
    """Return accuracy and minimum majority when delegation has ended."""
    rows = []
    for protocol in experiment.protocols:
        groups = grouped(experiment, results, protocol)
        for (dataset, label), of_method in groups.items():
            accuracy = Estimate.of(each["accuracy_one_pass"] for each in of_method)
            best = Estimate.of(_highest(each["curve_accuracy"]) for each in of_method)
            majority = Estimate.of(each["minimum_majority"] for each in of_method)
            share = Estimate.of(each["largest_share"] for each in of_method)
            size = Estimate.of(each["n_representatives"] for each in of_method)
            rows.append(
                [
                    dataset,
                    label,
                    str(len(of_method)),
                    accuracy.text(None),
                    best.text(None),
                    f"{size.mean:.1f}",
                    f"{majority.mean:.2f}",
                    f"{share.mean:.3f}",
                ]
            )
    header = ["dataset", "mechanism", "trials", "accuracy at the end", "best on the way"]
    header += ["representatives", "minimum majority", "largest share"]
    name, title = f"{experiment.name}_ends", f"{experiment.title}: the end"
    caption = "Means over trials when delegation has ended; accuracy on the test half."
    return Table(name, title, caption, header, rows)


def significance_table(experiment: Experiment, results: Results) -> Table:
    """Return p-values of two tests between the final accuracies of each pair of mechanisms."""
    groups = grouped(experiment, results, experiment.protocols[0])
    datasets = datasets_of(results)
    labels = [row.label for row in experiment.rows]
    rows, values = [], []
    for first, second in combinations(labels, 2):
        cells = [f"{first} / {second}"]
        for dataset in datasets:
            a = [each["accuracy_one_pass"] for each in groups[dataset, first]]
            b = [each["accuracy_one_pass"] for each in groups[dataset, second]]
            if min(len(a), len(b)) < 2:
                cells.append(NOTHING)
                continue
            ks, u = float(ks_2samp(a, b).pvalue), float(mannwhitneyu(a, b).pvalue)
            cells.append(f"{_p(ks)} / {_p(u)}")
            of_pair = {"dataset": dataset, "first": first, "second": second}
            values.append(of_pair | {"kolmogorov_smirnov": ks, "mann_whitney": u})
        rows.append(cells)
    caption = (
        "p-values of the Kolmogorov-Smirnov and the Mann-Whitney test between the accuracies of "
        "two mechanisms when delegation has ended; "
        f"{MARK} below 0.01. They are not corrected for their number."
    )
    title = f"{experiment.title}: differences between mechanisms"
    name = f"{experiment.name}_tests"
    return Table(name, title, caption, ["pair", *datasets], rows, values)


def search_table(experiment: Experiment, results: Results) -> Table:
    """Return the best cell of each mechanism on each dataset."""
    axes = ("increment_size", "delegation_rate", "n_estimators")
    cells: dict[tuple[str, str], dict[tuple[Any, ...], list[float]]] = defaultdict(dict)
    for trial, result in results:
        cell = tuple(trial.method[axis] for axis in axes)
        of_one = cells[trial.data, trial.method["mechanism"]]
        of_one.setdefault(cell, []).append(result["accuracy_final"])
    rows = []
    for (dataset, mechanism), of_one in cells.items():
        estimates = {cell: Estimate.of(values) for cell, values in of_one.items()}
        best = max(estimates, key=lambda cell: estimates[cell].mean)
        worst = min(estimates, key=lambda cell: estimates[cell].mean)
        shown = [str(level) for level in best]
        rows.append(
            [dataset, mechanism, *shown, estimates[best].text(None), estimates[worst].text(None)]
        )
    header = ["dataset", "mechanism", "increment size", "delegation rate", "ensemble size"]
    header += ["best accuracy", "worst cell"]
    caption = f"{experiment.caption} The best of {len(next(iter(cells.values()), {}))} cells."
    return Table(f"{experiment.name}_best", experiment.title, caption, header, rows)


def _highest(curve: Sequence[float]) -> float:
    """Return the highest number, if there is one: Direct, when it ends in a fit, has none."""
    return max((value for value in curve if not math.isnan(value)), default=math.nan)


def _p(value: float) -> str:
    text = "<0.001" if value < 0.001 else f"{value:.3f}"
    return text + (MARK if value < 0.01 else "")


def _printed(experiment: Experiment) -> list[dict[str, str]]:
    return published(experiment.published) if experiment.published else []


def datasets_of(results: Results) -> list[str]:
    """Return what the results are of, ``file::target`` for each target of a file."""
    return list(dict.fromkeys(trial.data for trial, _ in results))


def _frozen(method: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(method.items()))


def _latex(text: str) -> str:
    return text.translate(_SPECIAL).replace("±", r"$\pm$").replace("<", "$<$")
