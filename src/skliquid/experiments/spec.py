"""Specs: what an experiment is, read from a TOML file and checked."""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

from skliquid.datasets import DATASET_NAMES
from skliquid.experiments.rules import (
    PARAMETERS,
    check_content,
    check_entry,
    check_method,
    check_together,
)
from skliquid.experiments.trial import Trial

LABELS = {
    "direct": "Direct",
    "random": "Random",
    "max": "Max",
    "random_better": "Rand B",
    "proportional_better": "Prop B",
    "proportional_weighted": "Prop W",
}
"""What the paper's tables call its mechanisms."""

_SIZES = {350: "Full", 10: "Small"}


@dataclass(frozen=True)
class Row:
    """A method of an experiment, and what it is called in its table.

    ``rules`` overrides the rules of a protocol, for every method that has that parameter.
    """

    label: str
    method: Mapping[str, Any]
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def under(self, protocol: str) -> Mapping[str, Any]:
        """Return the method as trials under ``protocol`` have it."""
        known = PARAMETERS[self.method["method"]]
        of_file = self.rules.get(protocol, {})
        return {k: v for k, v in of_file.items() if k in known} | dict(self.method)

    @property
    def is_boosted(self) -> bool:
        """Whether it is AdaBoost."""
        return bool(self.method["method"] == "adaboost")

    @property
    def is_direct(self) -> bool:
        """Whether nobody delegates in it, so that cost can be measured by it."""
        return self.method.get("mechanism") == "direct"


@dataclass(frozen=True)
class Experiment:
    """One table or figure: which trials it needs, and how it is shown.

    Parameters
    ----------
    name : str
        The name of its file.
    kind : str
        How it is shown, one of ``rules.KINDS``.
    datasets : sequence of str
        Names of the paper's, and files, with ``::target`` unless the last column is the target; as
        seen from the working folder.
    rows : sequence of Row
        The methods, lists in the file being spread out.
    n_trials, n_quick_trials : int
        Trials of each method on each dataset under each protocol, in full and in brief.
    vary : sequence of str
        In an experiment of kind "variations", the parameters whose values are compared.
    measure : str
        In such an experiment, what is compared with the published values.
    """

    name: str
    title: str
    kind: str
    caption: str = ""
    protocols: Sequence[str] = ()
    datasets: Sequence[str] = ()
    rows: Sequence[Row] = ()
    n_trials: int = 0
    n_quick_trials: int = 0
    published: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    vary: Sequence[str] = ()
    measure: str = "accuracy"

    def trials(self, datasets: Sequence[str], n_trials: int) -> Iterator[Trial]:
        """Yield the trials on those of ``datasets`` that belong to this experiment."""
        for dataset, number, protocol in product(
            self.on(datasets), range(n_trials), self.protocols
        ):
            name, _, target = dataset.partition("::")
            for row in self.rows:
                yield Trial(name, protocol, row.under(protocol), number, target or None)

    def on(self, datasets: Sequence[str]) -> list[str]:
        """Return those of ``datasets``, each once, that this experiment is run on."""
        return [each for each in dict.fromkeys(datasets) if self.rows and each in self.datasets]


def experiment_files(folder: Path | None = None) -> dict[str, Path]:
    """Return the files of all experiments by name: those of a folder, or those that come along."""
    if folder is None:
        packaged = Path(str(files("skliquid.experiments"))) / "specs"
        folder = packaged if packaged.is_dir() else Path(__file__).parents[3] / "experiments"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def load_experiment(path: Path) -> Experiment:
    """Return the experiment that a TOML file describes."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} must be a TOML file in UTF-8: {error}. Correct it.") from error
    check_content(path, content)
    rows = list(_rows(path, content))
    for protocol in content.get("protocols", [""]):
        methods = [row.under(protocol) for row in rows]
        for method in methods:
            check_method(path, method)
        check_together(path, content, methods)
    datasets = content.get("datasets", "all" if content["kind"] == "datasets" else [])
    trials = content.get("trials", {})
    return Experiment(
        name=path.stem,
        title=content.get("title", path.stem),
        kind=content["kind"],
        caption=content.get("caption", ""),
        protocols=list(dict.fromkeys(content.get("protocols", []))),
        datasets=list(DATASET_NAMES if datasets == "all" else dict.fromkeys(datasets)),
        rows=_told_apart(rows),
        n_trials=trials.get("full", trials.get("quick", 0)),
        n_quick_trials=trials.get("quick", trials.get("full", 0)),
        published=content.get("published"),
        options=content.get("options", {}),
        vary=content.get("vary", []),
        measure=content.get("measure", "accuracy"),
    )


def _rows(path: Path, content: Mapping[str, Any]) -> Iterator[Row]:
    """Yield a row for each method, lists being spread out."""
    for entry in content.get("methods", []):
        check_entry(path, entry)
        axes = {name: value for name, value in entry.items() if isinstance(value, list)}
        for places in product(*(range(len(levels)) for levels in axes.values())):
            if "slice" in content and sum(places[-3:]) != content["slice"]:
                continue
            chosen = {name: axes[name][k] for name, k in zip(axes, places, strict=True)}
            method = entry | chosen
            check_method(path, method)
            yield Row(method.pop("label", label_of(method)), method, content.get("rules", {}))


def _told_apart(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with labels that differ, by the parameters in which the methods do."""
    shared = Counter(row.label for row in rows)
    told = []
    for row in rows:
        twins = [each.method for each in rows if each.label == row.label]
        differing = [
            f"{name} {value}"
            for name, value in row.method.items()
            if any(twin.get(name) != value for twin in twins)
        ]
        told.append(
            replace(row, label=", ".join([row.label, *differing])) if shared[row.label] > 1 else row
        )
    return told


def label_of(method: Mapping[str, Any]) -> str:
    """Return what a method is called in the paper's tables."""
    if method["method"] == "liquid":
        mechanism: str = method["mechanism"]
        return LABELS.get(mechanism, mechanism.rpartition(":")[2])
    estimator = {"tree": "DT", "sgd": "SGD"}[method["estimator"]]
    size = method["n_estimators"]
    return f"Ada {estimator} {_SIZES.get(size, size)}"
