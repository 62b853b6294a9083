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
from skliquid.experiments.methods import mechanism_named
from skliquid.experiments.protocols import PROTOCOLS
from skliquid.experiments.trial import Trial

KINDS = ("datasets", "harmful_states", "delegation_cost", "search", "curves", "results")
_KNOWN = (
    "title",
    "kind",
    "caption",
    "protocols",
    "datasets",
    "trials",
    "methods",
    "published",
    "slice",
    "options",
)
_PARAMETERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "liquid": (
        ("method", "mechanism", "increment_size", "delegation_rate", "n_estimators", "n_final"),
        ("estimator", "competence", "goes_on", "final_fit", "curves", "label"),
    ),
    "adaboost": (("method", "estimator", "n_estimators"), ("label",)),
}
_NAMES = {
    "direct": "Direct",
    "random": "Random",
    "max": "Max",
    "random_better": "Rand B",
    "proportional_better": "Prop B",
    "proportional_weighted": "Prop W",
}
_SIZES = {350: "Full", 10: "Small"}


@dataclass(frozen=True)
class Row:
    """A method of an experiment, and what it is called in its table."""

    label: str
    method: Mapping[str, Any]


@dataclass(frozen=True)
class Experiment:
    """One table or figure: which trials it needs, and how it is shown.

    Parameters
    ----------
    name : str
        The name of its file.
    kind : str
        How it is shown, one of ``KINDS``; the first three need no trials.
    rows : sequence of Row
        The methods, lists in the file being spread out.
    n_trials, n_quick_trials : int
        Trials of each method on each dataset under each protocol, in full and in brief.
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

    def trials(self, datasets: Sequence[str], n_trials: int) -> Iterator[Trial]:
        """Yield the trials on those of ``datasets`` that belong to this experiment."""
        for dataset, number, protocol in product(
            self.on(datasets), range(n_trials), self.protocols
        ):
            name, _, target = dataset.partition("::")
            for row in self.rows:
                yield Trial(name, protocol, row.method, number, target or None)

    def on(self, datasets: Sequence[str]) -> list[str]:
        """Return those of ``datasets`` that this experiment is run on; others join all."""
        return (
            [each for each in datasets if each in self.datasets or each not in DATASET_NAMES]
            if self.rows
            else []
        )


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
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} must be a TOML file: {error}. Correct it.") from error
    unknown = set(content) - set(_KNOWN)
    if unknown:
        raise _wrong(path, f"hold only {', '.join(_KNOWN)}", sorted(unknown)[0], "Leave it out")
    kind = content.get("kind")
    if kind not in KINDS:
        raise _wrong(path, f"have a kind, one of {', '.join(KINDS)}", kind, "Choose one of these")
    protocols = content.get("protocols", [])
    for protocol in protocols:
        if protocol not in PROTOCOLS:
            raise _wrong(path, f"use protocols of {', '.join(PROTOCOLS)}", protocol, "Choose those")
    datasets = content.get("datasets", [])
    datasets = list(DATASET_NAMES) if datasets == "all" else datasets
    trials = content.get("trials", {})
    for name, count in trials.items():
        if name not in ("full", "quick") or not isinstance(count, int) or count < 1:
            rule = "have trials like {full = 50, quick = 2}"
            raise _wrong(path, rule, {name: count}, "Give whole numbers above zero")
    return Experiment(
        name=path.stem,
        title=content.get("title", path.stem),
        kind=kind,
        caption=content.get("caption", ""),
        protocols=protocols,
        datasets=datasets,
        rows=_told_apart(list(_rows(path, content))),
        n_trials=trials.get("full", 0),
        n_quick_trials=trials.get("quick", trials.get("full", 0)),
        published=content.get("published"),
        options=content.get("options", {}),
    )


def _rows(path: Path, content: Mapping[str, Any]) -> Iterator[Row]:
    """Yield a row for each method, lists being spread out."""
    for entry in content.get("methods", []):
        _check_method(path, entry)
        axes = {name: value for name, value in entry.items() if isinstance(value, list)}
        for places in product(*(range(len(levels)) for levels in axes.values())):
            if "slice" in content and sum(places[-3:]) != content["slice"]:
                continue
            chosen = {name: axes[name][k] for name, k in zip(axes, places, strict=True)}
            method = entry | chosen
            if "mechanism" in method:
                mechanism_named(method["mechanism"])  # raises when it is not known
            yield Row(method.pop("label", _label(method)), method)


def _check_method(path: Path, entry: Mapping[str, Any]) -> None:
    kind = entry.get("method")
    if kind not in _PARAMETERS:
        raise _wrong(path, f"use methods of {', '.join(_PARAMETERS)}", kind, "Choose one")
    needed, known = _PARAMETERS[kind]
    for name in needed:
        if name not in entry:
            raise _wrong(path, f"give every {kind} method {name}", dict(entry), "Add it")
    for name in entry:
        if name not in (*needed, *known):
            names = ", ".join((*needed, *known))
            raise _wrong(path, f"give {kind} methods only {names}", name, "Leave it out")


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


def _label(method: Mapping[str, Any]) -> str:
    if method["method"] == "liquid":
        mechanism: str = method["mechanism"]
        return _NAMES.get(mechanism, mechanism.rpartition(":")[2])
    estimator = {"tree": "DT", "sgd": "SGD"}[method["estimator"]]
    size = method["n_estimators"]
    return f"Ada {estimator} {_SIZES.get(size, size)}"


def _wrong(path: Path, rule: str, value: object, way_out: str) -> ValueError:
    return ValueError(f"{path} must {rule}: got {value!r}. {way_out}.")
