"""Experiments: their methods, datasets and trials, read from a TOML file and checked."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from pathlib import Path
from typing import Any

from reproduction import experiment_rules as file_rules
from reproduction.trial import Trial
from skliquid.datasets import DATASET_NAMES

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

    ``rules`` overrides the rules of a protocol if the method has that parameter.
    """

    label: str
    method: Mapping[str, Any]
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def under(self, protocol: str) -> Mapping[str, Any]:
        """Return the method with the rules that the file gives for ``protocol``."""
        parameters = file_rules.PARAMETERS[self.method["method"]]
        overridden = self.rules.get(protocol, {})
        return {k: v for k, v in overridden.items() if k in parameters} | dict(self.method)

    @property
    def is_boosted(self) -> bool:
        """Whether it is AdaBoost."""
        return bool(self.method["method"] == "adaboost")

    @property
    def is_direct(self) -> bool:
        """Whether no voter delegates; costs are relative to it."""
        return self.method.get("mechanism") == "direct"


@dataclass(frozen=True)
class Experiment:
    """One table or figure: its trials, and how they are shown.

    ``kind`` is how they are shown: "results", "curves", "search", "variations", or one of
    ``experiment_rules.WITHOUT_TRIALS``. Datasets are names in the paper, or paths of files relative
    to the working folder, with ``::target`` unless the last column is the target. There is one row
    per combination of values that are lists in the file. ``vary`` and ``measure`` are for
    variations: the parameters whose values are compared, and the published measure to compare.
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
        """Yield the trials on the ``datasets`` that belong to this experiment."""
        names = [name for name in dict.fromkeys(datasets) if name in self.datasets]
        for data, number, protocol in product(names, range(n_trials), self.protocols):
            dataset, _, target = data.partition("::")
            for row in self.rows:
                yield Trial(dataset, protocol, row.under(protocol), number, target or None)

    @property
    def direct(self) -> list[str]:
        """The labels of Direct; costs are relative to the first."""
        return [row.label for row in self.rows if row.is_direct]

    @property
    def delegating(self) -> list[str]:
        """The labels of ensembles whose voters delegate."""
        return [row.label for row in self.rows if not (row.is_boosted or row.is_direct)]

    @property
    def boosted(self) -> list[str]:
        """The labels of AdaBoost."""
        return [row.label for row in self.rows if row.is_boosted]

    def label(self, trial: Trial) -> str:
        """Return the label of the method of a trial."""
        return self._labels[trial.protocol, frozenset(trial.method.items())]

    @cached_property
    def _labels(self) -> dict[tuple[str, frozenset[tuple[str, Any]]], str]:
        pairs = product(self.protocols, self.rows)
        return {(p, frozenset(row.under(p).items())): row.label for p, row in pairs}


def experiment_files() -> dict[str, Path]:
    """Return the files of the paper's experiments by name."""
    folder = Path(__file__).with_name("experiments")
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def own_modules(path: Path) -> list[str]:
    """Return the modules outside skliquid that a TOML file names; loading it imports them."""
    entries = _content(path).get("methods")
    tables = [entry for entry in entries if type(entry) is dict] if type(entries) is list else []
    values = [entry.get("mechanism") for entry in tables]
    names = chain.from_iterable(v if type(v) is list else [v] for v in values)
    modules = [name.partition(":")[0] for name in names if type(name) is str and ":" in name]
    return [m for m in dict.fromkeys(modules) if m.partition(".")[0] != "skliquid"]


def load_experiment(path: Path) -> Experiment:
    """Return the experiment in a TOML file, and import the modules that it names."""
    content = _content(path)
    file_rules.check(path, file_rules.file_conditions(content))
    rows = list(_rows(path, content))
    for protocol in content.get("protocols", [""]):
        methods = [row.under(protocol) for row in rows]
        for method in methods:
            file_rules.check(path, file_rules.method_conditions(method))
        file_rules.check(path, file_rules.joint_conditions(content, methods))
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
    """Yield one row per combination of values that are lists in a method."""
    for entry in content.get("methods", []):
        file_rules.check(path, file_rules.entry_conditions(entry))
        axes = {name: value for name, value in entry.items() if isinstance(value, list)}
        for places in product(*(range(len(levels)) for levels in axes.values())):
            if "slice" in content and sum(places[-3:]) != content["slice"]:
                continue
            method = entry | {name: axes[name][k] for name, k in zip(axes, places, strict=True)}
            file_rules.check(path, file_rules.method_conditions(method))
            yield Row(method.pop("label", label_of(method)), method, content.get("rules", {}))


def _with_distinct_labels(rows: Sequence[Row]) -> list[Row]:
    """Extend equal labels by the parameters in which the methods differ."""
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
