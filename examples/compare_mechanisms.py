"""Which mechanism keeps most of the accuracy, and what does each cost?

Trains Direct, the other five mechanisms of the paper, and AdaBoost on datasets that scikit-learn
carries, and prints what a reader of the paper's tables would look for. Each trial splits the data
in half, anew, and scales features by the training half.
"""

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from skliquid import LiquidEnsembleClassifier
from skliquid.mechanisms import MECHANISMS
from skliquid.voting import minimum_majority

N_ESTIMATORS, N_FINAL = 100, 10
DATASETS: dict[str, Callable] = {
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
    "wine": load_wine,
}


class Result(NamedTuple):
    accuracy: float
    f1: float
    cost: float
    size: int
    minimum_majority: float


class Half(NamedTuple):
    X: np.ndarray
    y: np.ndarray


def liquid(mechanism: str) -> Callable[[Half, Half, int], Result]:
    def trial(train: Half, test: Half, seed: int) -> Result:
        ensemble = LiquidEnsembleClassifier(
            n_estimators=N_ESTIMATORS, n_final=N_FINAL, mechanism=mechanism, random_state=seed
        ).fit(*train)
        return Result(
            *scores(ensemble, test),
            cost=ensemble.training_cost_.total,
            size=len(ensemble.estimators_),
            minimum_majority=ensemble.record_[-1].minimum_majority,
        )

    return trial


def adaboost(n_estimators: int) -> Callable[[Half, Half, int], Result]:
    def trial(train: Half, test: Half, seed: int) -> Result:
        ensemble = AdaBoostClassifier(n_estimators=n_estimators, random_state=seed).fit(*train)
        size = len(ensemble.estimators_)
        cost = size * len(train.y)  # a stump goes over the data once
        majority = minimum_majority(ensemble.estimator_weights_[:size])
        return Result(*scores(ensemble, test), cost=cost, size=size, minimum_majority=majority)

    return trial


METHODS = {
    **{name: liquid(name) for name in MECHANISMS},
    f"AdaBoost, {N_ESTIMATORS} stumps": adaboost(N_ESTIMATORS),
    f"AdaBoost, {N_FINAL} stumps": adaboost(N_FINAL),
}


def scores(ensemble: object, test: Half) -> tuple[float, float]:
    predicted = ensemble.predict(test.X)
    return np.mean(predicted == test.y), f1_score(test.y, predicted, average="macro")


def run(dataset: str, method: str, seed: int) -> tuple[str, str, Result]:
    X, y = DATASETS[dataset](return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=seed
    )
    scaler = StandardScaler().fit(X_train)
    train, test = Half(scaler.transform(X_train), y_train), Half(scaler.transform(X_test), y_test)
    return dataset, method, METHODS[method](train, test, seed)


def table(dataset: str, results: dict[str, list[Result]]) -> Table:
    n_trials = len(results["direct"])
    title = f"{dataset}: means of {n_trials} half splits, {N_ESTIMATORS} voters, n_final {N_FINAL}"
    shown = Table(box=SIMPLE, title=title, title_justify="left")
    shown.add_column()
    for column in ("accuracy", "macro F1", "cost /\nDirect", "final\nsize", "minimum\nmajority"):
        shown.add_column(column, justify="right", no_wrap=True)
    direct_cost = np.mean([result.cost for result in results["direct"]])
    for method, trials in results.items():
        mean = Result(*np.mean(trials, axis=0))
        error = np.std([trial.accuracy for trial in trials], ddof=1) / np.sqrt(n_trials)
        shown.add_row(
            method,
            f"{mean.accuracy:.3f} ± {error:.3f}",
            f"{mean.f1:.3f}",
            f"{mean.cost / direct_cost:.3f}",
            f"{mean.size:.1f}",
            f"{mean.minimum_majority:.1f}",
        )
    return shown


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--trials", type=int, default=10, help="half splits (10)")
    arguments.add_argument("--jobs", type=int, default=-1, help="processes (all cores)")
    arguments.add_argument("--datasets", nargs="+", choices=DATASETS, default=list(DATASETS))
    options = arguments.parse_args()
    if options.trials < 2:
        arguments.error("--trials must be 2 or more: one has no standard error.")

    chosen = options.datasets
    jobs = [(d, m, seed) for seed in range(options.trials) for d in chosen for m in METHODS]
    results = {d: {m: [] for m in METHODS} for d in chosen}
    console = Console()
    with Progress(console=console) as progress:
        bar = progress.add_task("Trials", total=len(jobs))
        workers = Parallel(n_jobs=options.jobs, return_as="generator")
        for dataset, method, result in workers(delayed(run)(*job) for job in jobs):
            results[dataset][method].append(result)
            progress.advance(bar)
    for dataset, of_dataset in results.items():
        console.print(table(dataset, of_dataset))


if __name__ == "__main__":
    main()
