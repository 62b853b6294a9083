"""Does each voter of the paper see 20 random features, and may a delegator choose any voter?

Checks both claims of docs/what_the_paper_did_not_say.md through the library's public classes, on
datasets of its package, and draws the three figures of that page: accuracy with and without the two
rules, the distance to the published accuracies by the number of features, and the epochs that a
full fit of a voter takes. Takes about five minutes on two cores.
"""

import argparse
import sys
import warnings
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from sklearn.preprocessing import OrdinalEncoder

from skliquid import LiquidEnsembleClassifier, as_mechanism
from skliquid.datasets import load_dataset
from skliquid.mechanisms import Rounded
from skliquid.pools import LinearPool

sys.path.append(str(Path(__file__).parents[1]))  # the reproduction is not installed

from reproduction.experiment import LABELS
from reproduction.trial_statistics import published as rows_of
from reproduction.variations import SETTINGS as PUBLISHED_SETTINGS

DATASETS = ("ionosphere", "kr-vs-kp", "spambase")
SETTINGS = {name: setting for setting, name in PUBLISHED_SETTINGS.items()}
RULES = tuple(product((1.0, 20), ("representatives", "voters")))
NUMBERS = tuple(range(10, 31, 2))
LOOKS = {
    (1.0, "representatives"): ("all features, representatives only", "#56B4E9", "s"),
    (1.0, "voters"): ("all features, any voter", "#E69F00", "^"),
    (20, "representatives"): ("20 features, representatives only", "#009E73", "D"),
    (20, "voters"): ("20 features, any voter", "#0072B2", "o"),
}


def split(name: str, trial: int) -> tuple[NDArray[Any], ...]:
    """Return two halves: features unscaled, categories as positions in sorted order."""
    data = load_dataset(name)
    X = OrdinalEncoder().fit_transform(data.X) if "categorical" in data.column_types else data.X
    order = np.random.default_rng(trial).permutation(len(data.y))
    train, test = order[: len(order) // 2], order[len(order) // 2 :]
    return X[train].astype(float), data.y[train], X[test].astype(float), data.y[test]


def accuracies(name: str, cells: Sequence[Any], trial: int) -> list[float]:
    """Return the accuracies of the paper's ensemble after one pass over half of the rows."""
    X_train, y_train, X_test, y_test = split(name, trial)
    scores = []
    for setting, mechanism, (max_features, candidates) in cells:
        increment_size, rate = SETTINGS[setting]
        ensemble = LiquidEnsembleClassifier.as_in_the_paper(
            mechanism=as_mechanism(mechanism, candidates=candidates),
            increment_size=increment_size,
            delegation_rate=Rounded(rate, "floor"),
            max_features=max_features,
            final_fit=False,
            random_state=trial,
        )
        scores.append(float(ensemble.fit(X_train, y_train).score(X_test, y_test)))
    return scores


def epochs(name: str, cells: Sequence[tuple[float, str]], trial: int) -> list[float]:
    """Return how many epochs a full fit takes, averaged over voters, by features and rule."""
    warnings.simplefilter("ignore")
    X, y, _, _ = split(name, trial)
    counts = []
    for n_features, LinearPool.stopping_rule in cells:
        ensemble = LiquidEnsembleClassifier.as_in_the_paper(
            mechanism="direct", increment_size=len(y), max_features=n_features, random_state=trial
        ).fit(X, y)
        counts.append(float(ensemble.training_cost_.final_fit / len(y) / ensemble.n_estimators))
    return counts


def published() -> dict[tuple[str, str, str], dict[str, str]]:
    """Return the rows of the paper's two tables by setting, dataset and ensemble."""
    return {
        (setting, row["dataset"], row["ensemble"]): row
        for setting in SETTINGS
        for row in rows_of(setting).to_dict("records")
    }


def published_epochs(row: dict[str, str]) -> tuple[float, float]:
    """Return bounds of the published epochs: AdaBoost's 350 stumps take one pass each."""
    cost = float(row["cost"])
    return 1 / (cost + 0.0005), 1 / (cost - 0.0005)


def means_by(function: Any, cells: Sequence[Any], n_trials: int, options: Any) -> dict[Any, float]:
    """Return the mean over trials of each cell on each dataset, one job per dataset and trial."""
    names = options.datasets
    jobs = [delayed(function)(name, cells, t) for name in names for t in range(n_trials)]
    values = Parallel(n_jobs=options.jobs, return_as="generator")(jobs)
    shown = track(values, function.__name__, total=len(jobs), console=Console(stderr=True))
    means = np.reshape(list(shown), (len(names), n_trials, len(cells))).mean(axis=1)
    return dict(zip(product(names, cells), means.ravel().tolist(), strict=True))


def draw_rules(means: Any, printed: Any, names: Sequence[str]) -> Figure:
    """Return one panel per dataset and setting: accuracies as published, and under four rules."""
    figure = Figure(figsize=(9, 5), layout="constrained")
    panels = figure.subplots(len(SETTINGS), len(names), sharex=True, squeeze=False)
    for (i, setting), (j, name) in product(enumerate(SETTINGS), enumerate(names)):
        axes, places = panels[i][j], np.arange(len(LABELS))
        theirs = [float(printed[setting, name, label]["accuracy"]) for label in LABELS.values()]
        axes.bar(places, theirs, width=0.8, color="0.88", edgecolor="0.6", label="published")
        for k, rules in enumerate(RULES):
            label, colour, mark = LOOKS[rules]
            ours = [means[name, (setting, m, rules)] for m in LABELS]
            x = places + 0.15 * (k - 1.5)
            axes.plot(x, ours, mark, color=colour, markersize=5, label=label)
        axes.set_title("{}, u = {}, rate {}".format(name, *SETTINGS[setting]), fontsize=9)
        axes.set_xticks(places, LABELS.values(), rotation=45, fontsize=8)
        axes.set_ylim(0.4, 1)
    panels[0][0].set_ylabel("Accuracy after one pass")
    panels[1][0].set_ylabel("Accuracy after one pass")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure


def draw_numbers(means: Any, printed: Any, options: Any) -> Figure:
    """Return the mean distance to the published accuracies by the number of features."""
    figure = Figure(figsize=(5, 3.2), layout="constrained")
    names, numbers = options.datasets, options.numbers
    axes, total = figure.subplots(), np.zeros(len(numbers))
    looks = [("#56B4E9", ":"), ("#009E73", "--"), ("#D55E00", "-.")]
    for name, (colour, dash) in zip(names, looks, strict=False):
        distances = [
            np.mean(
                [
                    abs(
                        means[name, (s, m, (n, "voters"))]
                        - float(printed[s, name, label]["accuracy"])
                    )
                    for s in SETTINGS
                    for m, label in LABELS.items()
                ]
            )
            for n in numbers
        ]
        total += np.array(distances) / len(names)
        axes.plot(numbers, distances, dash, color=colour, label=name)
    axes.plot(numbers, total, "o-", color="black", linewidth=2, label="mean")
    axes.set(xlabel="Features per voter", ylabel="Mean distance to the\npublished accuracy")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8, frameon=False)
    return figure


def draw_epochs(means: Any, printed: Any, options: Any) -> Figure:
    """Return the epochs by the number of features, and the range of the published costs."""
    figure = Figure(figsize=(9, 3), layout="constrained")
    names, numbers = options.datasets, options.numbers
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        ours = [means[name, (n, "loss")] for n in numbers]
        low, high = published_epochs(printed["accuracy_maximizing", name, "Ada DT Full"])
        axes.axhspan(low, high, color="0.85", label="published")
        axes.plot(numbers, ours, "o-", color="#0072B2", label="ours")
        label = "ours, all features"
        axes.axhline(means[name, (1.0, "loss")], color="#D55E00", linestyle="--", label=label)
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("Features per voter")
        axes.set_ylim(0, 1.15 * max(high, *ours))
    figure.axes[0].set_ylabel("Epochs of a full fit")
    figure.axes[0].legend(fontsize=8, frameon=False)
    return figure


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--datasets", nargs="+", default=DATASETS, choices=DATASETS)
    arguments.add_argument("--trials", type=int, default=8, help="of each cell (8)")
    arguments.add_argument("--epoch-trials", type=int, default=4, help="for epochs (4)")
    arguments.add_argument("--numbers", nargs="+", type=int, default=NUMBERS, help="of features")
    arguments.add_argument("--jobs", type=int, default=-1, help="processes; -1 for all cores")
    arguments.add_argument("--out", type=Path, default=Path("out"), help="folder for the figures")
    options = arguments.parse_args()
    printed, numbers = published(), options.numbers
    rules = dict.fromkeys([*RULES, *((number, "voters") for number in numbers)])
    cells = list(product(SETTINGS, LABELS, rules))
    means = means_by(accuracies, cells, options.trials, options)
    print("Mean distance to the published accuracy, over mechanisms, settings and datasets:")
    for rule in RULES:
        gaps = [
            abs(means[name, (s, m, rule)] - float(printed[s, name, label]["accuracy"]))
            for name, s in product(options.datasets, SETTINGS)
            for m, label in LABELS.items()
        ]
        print(f"  {LOOKS[rule][0]:<36} {np.mean(gaps):.4f}")
    cells = [(n, "loss") for n in (*numbers, 1.0)] + [(1.0, "objective")]
    n_epochs = means_by(epochs, cells, options.epoch_trials, options)
    print(
        "Epochs of a full fit: published; with all features, and by the rule since 1.8; by number"
    )
    for name in options.datasets:
        low, high = published_epochs(printed["accuracy_maximizing", name, "Ada DT Full"])
        both = ", ".join(f"{n_epochs[name, (1.0, r)]:.1f}" for r in ("loss", "objective"))
        by_number = ", ".join(f"{n}: {n_epochs[name, (n, 'loss')]:.1f}" for n in numbers)
        print(f"  {name:<12} {low:.1f} to {high:.1f}; {both}; {by_number}")
    options.out.mkdir(parents=True, exist_ok=True)
    pictures = {
        "rules": draw_rules(means, printed, options.datasets),
        "numbers": draw_numbers(means, printed, options),
        "epochs": draw_epochs(n_epochs, printed, options),
    }
    for stem, figure in pictures.items():
        path = options.out / f"unsaid_{stem}.png"
        figure.savefig(path, dpi=150, metadata={"Software": None})
        print(path)


if __name__ == "__main__":
    main()
