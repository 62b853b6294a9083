"""Means and standard errors over trials, and the values that the paper prints."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reproduction.experiment import Experiment
from reproduction.methods import Result
from reproduction.protocols import PROTOCOLS
from reproduction.trial import Trial

Results = Sequence[tuple[Trial, Result]]
Shown = Sequence[tuple[Experiment, Results]]
"""The experiments in a report, with their results."""
Key = tuple[Any, ...]
MARK, EMPTY = "*", "-"  # after a value that differs, and for a missing value
_VOTE_SCORES = ("accuracy", "f1_first", "f1_second", "f1_macro", "balanced_accuracy")
_RECORDED = (
    *(f"{score}_{when}" for when in ("one_pass", "final") for score in _VOTE_SCORES),
    *("cost_increments", "cost_final_fit", "n_representatives"),
    *("minimum_majority", "largest_share", "gini", "refused"),
)


@dataclass(frozen=True)
class Estimate:
    """A mean, its standard error and the number of values; NaN if there are too few values."""

    mean: float
    error: float = math.nan
    n_values: int = 0

    @classmethod
    def of(cls, values: Iterable[float | None]) -> "Estimate":
        """Return the mean of all values that are neither None nor NaN, with its error."""
        numbers = np.array(list(values), dtype=np.float64)  # None becomes NaN
        numbers = numbers[~np.isnan(numbers)]
        mean = float(numbers.mean()) if len(numbers) else math.nan
        if len(numbers) < 2:
            return cls(mean, n_values=len(numbers))
        error = float(numbers.std(ddof=1) / math.sqrt(len(numbers)))
        return cls(mean, error, len(numbers))

    def minus(self, other: "Estimate") -> "Estimate":
        """Return the difference to another estimate, with the error of independent estimates."""
        n_values = min(self.n_values, other.n_values)
        return Estimate(self.mean - other.mean, math.hypot(self.error, other.error), n_values)

    def differs_from(self, value: float | None) -> bool:
        """Return whether ``value``, printed with three digits, is over two errors away."""
        return value is not None and abs(self.mean - value) > 2 * self.error + 0.0005

    def text(self, published: float | None = None) -> str:
        """Return the mean and its error, marked if ``published`` differs from it."""
        error = "" if math.isnan(self.error) else f" ± {self.error:.3f}"
        return f"{number_text(self.mean)}{error}{MARK if self.differs_from(published) else ''}"


def number_text(number: float | None, digits: int = 3) -> str:
    """Return a number with ``digits`` after the point, or a dash for None and NaN."""
    return EMPTY if number is None or math.isnan(number) else f"{number:.{digits}f}"


def published(name: str) -> pd.DataFrame:
    """Return a table of the paper, its cells as printed."""
    return pd.read_csv(Path(__file__).parent / "published" / f"{name}.csv", dtype=str)


@cache
def published_values(name: str) -> Mapping[tuple[str, str, str], float]:
    """Return the numbers of a table of results by dataset, ensemble and measure."""
    cells = published(name).melt(["dataset", "ensemble"]).to_numpy().tolist()
    return {(dataset, label, measure): float(text) for dataset, label, measure, text in cells}


def estimates(
    results: Results, key: Callable[[Trial], Key], direct: str | None
) -> dict[Key, dict[str, Estimate]]:
    """Return the measures of each group of trials, costs relative to those of Direct.

    ``key(trial)`` is the group of a trial, a tuple that ends in the label of its method, and
    ``direct`` the label of Direct; without trials of Direct, costs are NaN.
    """
    groups: dict[Key, list[Mapping[str, float | None]]] = defaultdict(list)
    for trial, result in results:
        groups[key(trial)].append(_measures(trial, result))
    measured = {
        group: {name: Estimate.of(trial[name] for trial in trials) for name in trials[0]}
        for group, trials in groups.items()
    }
    costs = {group[:-1]: m["cost"].mean for group, m in measured.items() if group[-1] == direct}
    for group, measures in measured.items():
        cost, unit = measures["cost"], costs.get(group[:-1]) or math.nan
        measures["cost"] = Estimate(cost.mean / unit, cost.error / unit, cost.n_values)
    return measured


def _measures(trial: Trial, result: Result) -> dict[str, float | None]:
    """Return accuracy, F1 and cost by the rules of the protocol, and all other measures."""
    is_boosted, is_paper = trial.method["method"] == "adaboost", trial.protocol == "paper"
    when = "final" if is_boosted else PROTOCOLS[trial.protocol].reported
    f1 = "f1_second" if is_boosted and trial.data != "heart" else "f1_first"
    increments = result.get("cost_increments", 0)
    if is_paper:
        increments = result.get("cost_increments_nominal", increments)
    if trial.method.get("mechanism") == "direct":
        increments = 0
    return {
        "accuracy": result.get(f"accuracy_{when}"),
        "f1": result.get(f"{f1 if is_paper else 'f1_macro'}_{when}"),
        "cost": result.get("cost_final_fit", math.nan) + increments,
    } | {name: result.get(name) for name in _RECORDED}


def by_method(
    experiment: Experiment, results: Results, protocol: str
) -> dict[tuple[str, str], list[Result]]:
    """Return the results under ``protocol`` by dataset and label of the method."""
    groups: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for trial, result in results:
        if trial.protocol == protocol:
            groups[trial.data, experiment.label(trial)].append(result)
    return groups


def trials_per_method(results: Results) -> int:
    """Return the mean number of trials per method and dataset."""
    methods = {(t.data, t.protocol, str(sorted(t.method.items()))) for t, _ in results}
    return round(len(results) / len(methods)) if methods else 0


def datasets_of(results: Results) -> list[str]:
    """Return the datasets of the results, ``file::target`` for each target of a file."""
    return list(dict.fromkeys(trial.data for trial, _ in results))


def short_name(dataset: str) -> str:
    """Return the name of a dataset, or of its file without folders, for figures."""
    file, separator, target = dataset.partition("::")
    return f"{Path(file).name}{separator}{target}"
