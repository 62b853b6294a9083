"""Specs: what an experiment is, read from a TOML file and checked."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from pathlib import Path
from typing import Any

from skliquid.datasets import DATASET_NAMES
from skliquid.experiments import rules
from skliquid.experiments.trial import Trial

LABELS = {
    "direct": "Direct",
    "random": "Random",
    "max": "Max",
    "random_better": "Rand B",
    "proportional_better": "Prop B",
    "proportional_weighted": "Prop W",
}
"""The names of the mechanisms in the paper's tables."""


@dataclass(frozen=True)
class Row:
    """A method of an experiment, and its label in the table.

    ``rules`` overrides the rules of a protocol, for every method that has that parameter.
    """

    label: str
    method: Mapping[str, Any]
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def under(self, protocol: str) -> Mapping[str, Any]:
        """Return the method with the rules of the file for ``protocol``."""
        parameters = rules.PARAMETERS[self.method["method"]]
        overridden = self.rules.get(protocol, {})
        return {k: v for k, v in overridden.items() if k in parameters} | dict(self.method)

    @property
    def is_boosted(self) -> bool:
        """Whether it is AdaBoost."""
        return bool(self.method["method"] == "adaboost")

    @property
    def is_direct(self) -> bool:
        """Whether no voter delegates, so that costs are relative to it."""
        return self.method.get("mechanism") == "direct"


@dataclass(frozen=True)
class Experiment:
    """One table or figure: which trials it needs, and how it is shown.

    ``kind`` is how it is shown: "results", "curves", "search", "variations", or one of
    ``rules.WITHOUT_TRIALS``. Datasets are names of the paper's, and paths of files relative to the
    working folder, with ``::target`` unless the last column is the target. There is one row for
    each combination of values that are lists in the file. ``vary`` and ``measure`` are for
    variations: the parameters whose values are compared, and by which published measure.
    """

    name: str
    title: str
    kind: str
    caption: str = ""
    protocols: Sequence[str] = ()
    datasets: Sequence[str] = ()
    rows: Sequence[Row] = ()
    n_trials: int = 0  # of each method on each dataset under each protocol, with --full
    n_quick_trials: int = 0  # without --full
    published: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    vary: Sequence[str] = ()
    measure: str = "accuracy"

    def trials(self, datasets: Sequence[str], n_trials: int) -> Iterator[Trial]:
        """Yield the trials on those of ``datasets`` that belong to this experiment."""
        names = [name for name in dict.fromkeys(datasets) if name in self.datasets]
        for data, number, protocol in product(names, range(n_trials), self.protocols):
            dataset, _, target = data.partition("::")
            for row in self.rows:
                yield Trial(dataset, protocol, row.under(protocol), number, target or None)

    def label(self, trial: Trial) -> str:
        """Return the label of the method of a trial."""
        return self._labels[trial.protocol, frozenset(trial.method.items())]

    @cached_property
    def _labels(self) -> dict[tuple[str, frozenset[tuple[str, Any]]], str]:
        pairs = product(self.protocols, self.rows)
        return {(p, frozenset(row.under(p).items())): row.label for p, row in pairs}


def experiment_files() -> dict[str, Path]:
    """Return the files of the paper's experiments by name."""
    packaged = Path(__file__).with_name("specs")
    folder = packaged if packaged.is_dir() else Path(__file__).parents[3] / "experiments"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def own_modules(path: Path) -> list[str]:
    """Return the modules that a TOML file names, skliquid's aside; loading it imports them."""
    entries = _content(path).get("methods")
    tables = [entry for entry in entries if type(entry) is dict] if type(entries) is list else []
    values = [entry.get("mechanism") for entry in tables]
    names = chain.from_iterable(v if type(v) is list else [v] for v in values)
    modules = [name.partition(":")[0] for name in names if type(name) is str and ":" in name]
    return [m for m in dict.fromkeys(modules) if m.partition(".")[0] != "skliquid"]


def load_experiment(path: Path) -> Experiment:
    """Return the experiment that a TOML file describes; modules that it names are imported."""
    content = _content(path)
    rules.check(path, rules.file_conditions(content))
    rows = list(_rows(path, content))
    for protocol in content.get("protocols", [""]):
        methods = [row.under(protocol) for row in rows]
        for method in methods:
            rules.check(path, rules.method_conditions(method))
        rules.check(path, rules.joint_conditions(content, methods))
    names = ("title", "kind", "caption", "published", "options", "vary", "measure")
    datasets = content.get("datasets", "all" if content["kind"] == "datasets" else [])
    trials = content.get("trials", {})
    return Experiment(
        path.stem,
        protocols=list(dict.fromkeys(content.get("protocols", []))),
        datasets=list(DATASET_NAMES if datasets == "all" else dict.fromkeys(datasets)),
        rows=_with_distinct_labels(rows),
        n_trials=trials.get("full", trials.get("quick", 0)),
        n_quick_trials=trials.get("quick", trials.get("full", 0)),
        **{"title": path.stem} | {name: content[name] for name in names if name in content},
    )


def _content(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} must be a TOML file in UTF-8: {error}. Correct it.") from error


def _rows(path: Path, content: Mapping[str, Any]) -> Iterator[Row]:
    """Yield a row for each combination of the values of a method that are lists."""
    for entry in content.get("methods", []):
        rules.check(path, rules.entry_conditions(entry))
        axes = {name: value for name, value in entry.items() if isinstance(value, list)}
        for places in product(*(range(len(levels)) for levels in axes.values())):
            if "slice" in content and sum(places[-3:]) != content["slice"]:
                continue
            method = entry | {name: axes[name][k] for name, k in zip(axes, places, strict=True)}
            rules.check(path, rules.method_conditions(method))
            yield Row(method.pop("label", label_of(method)), method, content.get("rules", {}))


def _with_distinct_labels(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, with equal labels extended by the parameters in which the methods differ."""
    relabelled = []
    for row in rows:
        twins = [other.method for other in rows if other.label == row.label]
        differing = [
            f"{name} {value}"
            for name, value in row.method.items()
            if any(twin.get(name) != value for twin in twins)
        ]
        relabelled.append(replace(row, label=", ".join([row.label, *differing])))
    return relabelled


def label_of(method: Mapping[str, Any]) -> str:
    """Return the name of a method in the paper's tables."""
    if method["method"] == "liquid":
        mechanism: str = method["mechanism"]
        return LABELS.get(mechanism, mechanism.rpartition(":")[2])
    estimator, size = method["estimator"], method["n_estimators"]
    names = {"tree": "DT", "sgd": "SGD", 350: "Full", 10: "Small"}
    return f"Ada {names[estimator]} {names.get(size, size)}"
