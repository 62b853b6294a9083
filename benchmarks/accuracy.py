"""Does delegation choose well, and what would one pick instead?

Half splits of the paper's datasets, or with ``--tables`` of those in ``tables.py``, scaled and
one-hot encoded by the training half. All methods see the same halves, have the same settings on all
datasets, and one thread. Settings were chosen on other splits of the paper's datasets, and on other
tables: ``--choose`` uses these. ``--write FILE`` writes the results as Markdown, ``--figure FILE``
draws a reliability diagram.
"""

import argparse
import pickle
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from rich.progress import track
from scipy.stats import loguniform, wilcoxon
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 (makes the search importable)
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import HalvingRandomSearchCV, train_test_split
from tables import TABLES, table_halves
from threadpoolctl import threadpool_limits

from skliquid import Diversity, LiquidEnsembleClassifier
from skliquid.datasets import DATASET_NAMES, load_dataset
from skliquid.diversity import LogUniform
from skliquid.experiments.protocols import Halves, halves
from skliquid.mechanisms import Mechanism
from skliquid.mechanisms.probability import any_candidate
from skliquid.mechanisms.selection import at_random
from skliquid.pools import n_passes

OURS, CONTROL = "skliquid", "skliquid, pruned at random"
RANDOM = Mechanism(at_random, any_candidate)
N_BINS, BINS = 15, ("n", "confidence", "right")
MOST_ROWS, SPLITS_OF_A_TABLE = 20_000, 3
ON_TABLES = (
    OURS,
    "skliquid, size by the data",
    "skliquid, own accuracy",
    CONTROL,
    "skliquid 0.1",
    "skliquid, balanced",
    "logistic regression",
    "random forest",
    "LightGBM",
)
"""Methods that are measured on tables unless others are named."""


def ours(seed: int, **params: Any) -> LiquidEnsembleClassifier:
    """Return the ensemble with its defaults, or with some of them changed."""
    return LiquidEnsembleClassifier(random_state=seed, **params)


def before(seed: int, **changes: Any) -> LiquidEnsembleClassifier:
    """Return the ensemble with the defaults of version 0.1: hard votes, own accuracy, hinge."""
    alpha = {"alpha": LogUniform(1e-6, 1e-2)}
    defaults = {
        "estimator": SGDClassifier(average=True, n_iter_no_change=1),
        "diversity": Diversity(param_distributions=alpha, feature_maps="fourier"),
        "competence": "prequential",
        "voting": "hard",
    }
    return LiquidEnsembleClassifier(random_state=seed, **defaults | changes)


class Selected:
    """The voters of a fully trained pool, chosen on rows that were held back.

    ``greedy`` adds, with replacement, the voter that helps most (Caruana); otherwise voters are
    ordered by how much each helps those before it, and the first are kept (reduce-error).
    """

    def __init__(self, seed: int, *, greedy: bool, n_voters: int = 80, n_final: int = 12):
        self.seed, self.greedy, self.n_voters, self.n_final = seed, greedy, n_voters, n_final

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Selected":
        X_fit, X_select, y_fit, y_select = train_test_split(
            X, y, test_size=0.3, stratify=y, random_state=self.seed
        )
        self.pool_ = ours(self.seed, mechanism="direct", n_estimators=self.n_voters)
        self.pool_.fit(X_fit, y_fit)
        self.classes_ = self.pool_.classes_
        self.voters_ = self.pool_.estimators_  # pipelines of a feature map and a linear voter
        votes = self._votes(X_select)
        y_select = np.searchsorted(self.classes_, y_select)
        chosen: list[int] = []
        for _ in range(self.n_final):
            free = [v for v in range(len(votes)) if self.greedy or v not in chosen]
            total = votes[chosen].sum(axis=0)
            scores = [np.mean(np.argmax(total + votes[v], axis=1) == y_select) for v in free]
            chosen.append(free[int(np.argmax(scores))])
        self.weights_ = np.bincount(chosen, minlength=len(votes))
        return self

    def _votes(self, X: np.ndarray) -> np.ndarray:
        """Return what each voter votes for; one product for all voters with the same map."""
        votes = np.empty((self.n_voters, len(X)), dtype=int)
        for feature_map in {id(voter["map"]): voter["map"] for voter in self.voters_}.values():
            places = [k for k, voter in enumerate(self.voters_) if voter["map"] is feature_map]
            coef = np.array([self.voters_[k]["voter"].coef_ for k in places])
            intercept = np.array([self.voters_[k]["voter"].intercept_ for k in places])
            scores = (
                np.tensordot(coef, feature_map.transform(X), axes=(2, 1)) + intercept[..., None]
            )
            votes[places] = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return np.eye(len(self.classes_))[votes]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        shares = np.tensordot(self.weights_, self._votes(X), axes=1)
        return shares / self.weights_.sum()

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


class CountedSGD(SGDClassifier):
    """An ``SGDClassifier`` that counts, over all of them, how often rows were visited."""

    visits: ClassVar[int] = 0

    def fit(self, X: np.ndarray, y: np.ndarray) -> "CountedSGD":
        super().fit(X, y)
        CountedSGD.visits += self.n_iter_ * len(y)
        return self


def halving_search(seed: int) -> HalvingRandomSearchCV:
    params = {
        "alpha": loguniform(1e-6, 1e-1),
        "loss": ["log_loss", "modified_huber"],
        "average": [False, True],
    }
    return HalvingRandomSearchCV(
        CountedSGD(random_state=seed),
        params,
        n_candidates=40,
        min_resources=60,
        cv=3,
        random_state=seed,
    )


def lightgbm(seed: int) -> LGBMClassifier:
    return LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)


METHODS: dict[str, Callable[[int], Any]] = {
    OURS: ours,
    CONTROL: lambda seed: ours(seed, mechanism=RANDOM),
    "skliquid, nobody delegates": lambda seed: ours(seed, mechanism="direct"),
    "skliquid, own accuracy": lambda seed: ours(seed, competence="prequential"),
    "skliquid, size by the data": lambda seed: ours(seed, n_final="auto"),
    "skliquid, balanced": lambda seed: ours(seed, class_weight="balanced"),
    "skliquid 0.1": before,
    "the paper's settings, all features": lambda seed: LiquidEnsembleClassifier.as_in_the_paper(
        max_features=1.0, mechanism="proportional_weighted", random_state=seed
    ),
    "greedy selection": lambda seed: Selected(seed, greedy=True),
    "reduce-error ordering": lambda seed: Selected(seed, greedy=False),
    "AdaBoost, 50 stumps": lambda seed: AdaBoostClassifier(n_estimators=50, random_state=seed),
    "AdaBoost, 350 stumps": lambda seed: AdaBoostClassifier(n_estimators=350, random_state=seed),
    "AdaBoost, 50 SGD": lambda seed: AdaBoostClassifier(
        SGDClassifier(), n_estimators=50, random_state=seed
    ),
    "Bagging, 50 SGD": lambda seed: BaggingClassifier(SGDClassifier(), 50, random_state=seed),
    "random forest": lambda seed: RandomForestClassifier(random_state=seed),
    "HistGradientBoosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "LightGBM": lightgbm,
    "logistic regression": lambda _: LogisticRegression(max_iter=1000),
    "one SGDClassifier": lambda seed: SGDClassifier(random_state=seed),
    "HalvingRandomSearchCV": halving_search,
}


def measured(name: str, data: Halves, seed: int) -> dict[str, Any]:
    """Return how a method does on one split, and what it takes."""
    model = METHODS[name](seed)
    CountedSGD.visits = 0
    start = time.process_time()
    try:
        model.fit(data.X_train, data.y_train)
    except ValueError as error:
        if "worse than random" not in str(error):
            raise
        return {"method": name}
    fit = time.process_time() - start
    start = time.process_time()
    predicted = model.predict(data.X_test)
    predict = time.process_time() - start
    return {
        "method": name,
        **scores(model, predicted, data),
        "visits": visits(model, len(data.y_train)),
        "fit": fit,
        "predict": predict,
        "size": len(pickle.dumps(model.pool_ if isinstance(model, Selected) else model)),
        "voters": len(getattr(model, "estimator_weights_", [])) or np.nan,
    }


def scores(model: Any, predicted: np.ndarray, data: Halves) -> dict[str, Any]:
    """Return accuracies, and how good the class probabilities are; nothing of them is clipped.

    ``clipped`` is the log-loss as scikit-learn computes it, of probabilities of at least 2e-16. The
    calibration error is that of the predicted class, in 15 bins of equal width.
    """
    y, is_right = data.y_test, predicted == data.y_test
    found = {
        "accuracy": np.mean(is_right),
        "balanced": balanced_accuracy_score(y, predicted),
    }
    if not hasattr(model, "predict_proba"):
        return found
    probabilities = model.predict_proba(data.X_test)
    places = np.searchsorted(model.classes_, y)
    of_label = probabilities[np.arange(len(y)), places]
    # one against the others, for each class of the test half; for two classes both are the same
    compared = [1] if probabilities.shape[1] == 2 else np.unique(places)
    confidence = probabilities.max(axis=1)
    sums = [
        np.bincount((confidence * N_BINS).astype(int).clip(0, N_BINS - 1), values, N_BINS)
        for values in (np.ones(len(y)), confidence, is_right)
    ]
    with np.errstate(divide="ignore"):
        log_loss_ = -np.log(of_label).mean()
    return found | {
        "auc": np.mean([roc_auc_score(places == c, probabilities[:, c]) for c in compared]),
        "log_loss": log_loss_,
        "clipped": log_loss(y, probabilities, labels=model.classes_),
        "brier": np.mean(np.sum(probabilities**2, axis=1) - 2 * of_label + 1),
        "calibration": np.abs(sums[1] - sums[2]).sum() / len(y),
        **{
            f"{name}_{k}": value
            for name, total in zip(BINS, sums, strict=True)
            for k, value in enumerate(total)
        },
    }


def visits(model: Any, n_rows: int) -> float:
    """Return how often a row was visited in training, where that is known."""
    if isinstance(model, LiquidEnsembleClassifier):
        return model.training_cost_.total / n_rows
    if isinstance(model, Selected):
        return model.pool_.training_cost_.total / n_rows
    if isinstance(model, HalvingRandomSearchCV):
        return CountedSGD.visits / n_rows
    members = getattr(model, "estimators_", [model])
    return float(sum(map(n_passes, members))) if isinstance(members, list) else np.nan


@cache
def warm_up(*names: str) -> None:
    """Load compiled code before anything is timed, once per process."""
    for name in names:
        measured(name, halves("heart", None, "ours", 0), 0)


def data_of(dataset: str, seed: int) -> Halves:
    if dataset in TABLES:
        return table_halves(dataset, seed, most_rows=MOST_ROWS)
    return halves(dataset, None, "ours", seed)


def one_split(dataset: str, number: int, kind: str, names: list[str]) -> list[dict[str, Any]]:
    seed = int(np.random.SeedSequence([number, *map(ord, dataset + kind)]).generate_state(1)[0])
    data = data_of(dataset, seed)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm_up(*names)
        return [
            {"dataset": dataset, "split": number, **measured(name, data, seed % 2**31)}
            for name in names
        ]


def run(
    datasets: list[str], n_splits: int, kind: str, names: list[str], n_jobs: int
) -> pd.DataFrame:
    tasks = [(dataset, number) for number in range(n_splits) for dataset in datasets]
    rows = []
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as processes:
        waiting = [processes.submit(one_split, *task, kind, names) for task in tasks]
        for done in track(as_completed(waiting), "Splits", total=len(waiting)):
            rows += done.result()
    return pd.DataFrame(rows).sort_values(["dataset", "split", "method"])


COLUMNS = {
    "accuracy": "accuracy",
    "balanced": "balanced accuracy",
    "auc": "ROC-AUC",
    "log_loss": "log-loss",
    "clipped": "log-loss, clipped",
    "brier": "Brier",
    "calibration": "calibration error",
    "voters": "voters",
    "visits": "visits",
    "fit": "fit, ms",
    "predict": "predict, ms",
    "size": "kB",
}


def tables(results: pd.DataFrame) -> str:
    """Return the summary as Markdown."""
    names = [name for name in METHODS if name in set(results["method"])]
    by = results.groupby(["method", "dataset"])
    mean, error = by["accuracy"].mean().unstack(), by["accuracy"].sem().unstack()
    accuracy = (100 * mean).round(1).astype(str) + " ± " + (100 * error).round(1).astype(str)
    # datasets count the same, however many splits there are
    means = by[list(COLUMNS)].mean().groupby("method").mean()
    means = means.assign(
        fit=1e3 * means["fit"], predict=1e3 * means["predict"], size=means["size"] / 1e3
    ).rename(columns=COLUMNS)
    means["rank"] = mean.rank(ascending=False).mean(axis=1)
    parts = [
        "### Means over datasets",
        means.loc[names].to_markdown(floatfmt=".4g"),
        "### Accuracy, in hundredths, with standard errors",
        accuracy.loc[names].T.to_markdown(),
    ]
    for column in ("auc", "clipped"):
        values = by[column].mean().unstack().loc[names].T
        parts += [f"### {COLUMNS[column]}", values.to_markdown(floatfmt=".3f")]
    if {OURS, CONTROL, "AdaBoost, 50 stumps", "HistGradientBoosting"} <= set(names):
        parts += ["### Goals", goals(results, mean, error).to_markdown(index=False)]
    return "\n\n".join(parts) + "\n"


def reliability(results: pd.DataFrame, path: Path) -> None:
    """Draw how often the predicted class is right, against its probability."""
    figure, axes = plt.subplots(figsize=(5.5, 4.2), layout="constrained")
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle=":")
    lines = {OURS: "o-", "skliquid 0.1": "s--", "logistic regression": "^-.", "random forest": "x:"}
    for name, style in lines.items():
        rows = results[results["method"] == name]
        n, confidence, right = (
            rows[[f"{total}_{k}" for k in range(N_BINS)]].sum().to_numpy() for total in BINS
        )
        kept = n >= 20
        axes.plot(
            confidence[kept] / n[kept], right[kept] / n[kept], style, label=name, markersize=4
        )
    axes.set(xlabel="probability of the predicted class", ylabel="share of rows where it is right")
    axes.set(xlim=(0.3, 1.02), ylim=(0.3, 1.02))
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120, metadata={"Software": None})


def goals(results: pd.DataFrame, mean: pd.DataFrame, error: pd.DataFrame) -> pd.DataFrame:
    """Return what was aimed at, and on which datasets it was reached."""
    wide = results.pivot(index=["dataset", "split"], columns="method", values="accuracy")
    fit = results.groupby(["method", "dataset"])["fit"].mean().unstack()
    boosts = [name for name in mean.index if name.startswith("AdaBoost")]

    def better_than_control(dataset: str, sign: int) -> bool:
        gain = sign * (wide.loc[dataset, OURS] - wide.loc[dataset, CONTROL])
        return bool(gain.any()) and wilcoxon(gain, alternative="greater").pvalue < 0.05

    def near(dataset: str, rival: str) -> bool:
        slack = error.loc[OURS, dataset]
        return mean.loc[OURS, dataset] >= mean.loc[rival, dataset] - slack

    rivals = {
        "ahead of AdaBoost (50 stumps) or within a standard error, in less CPU time": lambda d: (
            near(d, "AdaBoost, 50 stumps") and fit.loc[OURS, d] < fit.loc["AdaBoost, 50 stumps", d]
        ),
        "ahead of the best AdaBoost, in less CPU time": lambda d: (
            all(mean.loc[OURS, d] > mean.loc[boost, d] for boost in boosts)
            and fit.loc[OURS, d] < fit.loc[mean.loc[boosts, d].idxmax(), d]
        ),
        "ahead of the random control, significantly": lambda d: better_than_control(d, 1),
        "behind the random control, significantly": lambda d: better_than_control(d, -1),
        "within .01 of HistGradientBoosting": lambda d: (
            mean.loc[OURS, d] >= mean.loc["HistGradientBoosting", d] - 0.01
        ),
    }
    rows = []
    for goal, is_reached in rivals.items():
        reached = [dataset for dataset in mean.columns if is_reached(dataset)]
        rows.append(
            {
                "": goal,
                "datasets": f"{len(reached)} of {len(mean.columns)}",
                "which": ", ".join(reached),
            }
        )
    as_cheap = [name for name in mean.index if fit.loc[name].mean() <= fit.loc[OURS].mean()]
    ranks = mean.loc[as_cheap].rank(ascending=False).mean(axis=1).sort_values()
    place = list(ranks.index).index(OURS) + 1
    rows.append(
        {
            "": f"place by mean rank among the {len(ranks)} of equal or lower CPU time",
            "datasets": str(place),
            "which": ", ".join(f"{name} {rank:.1f}" for name, rank in ranks.items()),
        }
    )
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", action="store_true", help="further tables, not the paper's")
    parser.add_argument("--splits", type=int, help="20, or 3 of tables")
    parser.add_argument("--datasets", nargs="*", help="some datasets or tables, by name")
    parser.add_argument("--methods", nargs="*", help="some methods, by name")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--choose", action="store_true", help="use what is for choosing settings instead"
    )
    parser.add_argument("--write", type=Path, help="where to write the results as Markdown")
    parser.add_argument("--figure", type=Path, help="where to draw the reliability diagram")
    parser.add_argument("--results", type=Path, help="where to keep every single result, as CSV")
    options = parser.parse_args()
    kind = "choose" if options.choose else "report"
    of_kind = [name for name, table in TABLES.items() if table.use == kind]
    datasets = options.datasets or (of_kind if options.tables else list(DATASET_NAMES))
    methods = options.methods or list(ON_TABLES if options.tables else METHODS)
    n_splits = options.splits or (SPLITS_OF_A_TABLE if options.tables else 20)
    for name in set(datasets) & set(DATASET_NAMES):
        load_dataset(name)  # so that a missing dataset is known before, not after minutes
    results = run(datasets, n_splits, kind, methods, options.jobs)
    if options.results:
        results.to_csv(options.results, index=False)
    text = tables(results)
    print(text)
    if options.write:
        options.write.write_text(text)
    if options.figure:
        reliability(results, options.figure)


if __name__ == "__main__":
    main()
