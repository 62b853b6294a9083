"""Do optional parts pay? Each against the defaults of 0.1, on the same rows with the same seeds.

Half splits of the paper's datasets, prepared as in ``benchmarks/accuracy.py`` but drawn with other
seeds, and the streams with concept drift of ``benchmarks/drift.py``. An option differs from the
defaults only in what its name says, and differences are paired by split and seed. Parts that became
recipes (``docs/recipes.md``) are defined here. ``--write FILE`` writes the tables.
"""

import argparse
import math
import warnings
from collections.abc import Callable
from itertools import chain, product
from pathlib import Path
from time import process_time
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from drift import BATCH, STREAMS
from halves import halves
from joblib import Parallel, delayed
from numpy.random import Generator
from scipy.special import ndtri
from scipy.stats import wilcoxon
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from skliquid import Diversity, LiquidEnsembleClassifier
from skliquid.datasets import DATASET_NAMES, load_dataset
from skliquid.diversity import LogUniform
from skliquid.mechanisms import BetterThanGuru, Knowledge, Situation, as_mechanism, revocable

N_VOTERS, N_FINAL = 80, 12
LEVEL = 0.1
DEFAULTS = "defaults"


# Recipes


def capped(situation: Situation) -> np.ndarray:
    """Allow no guru more than a fifth of all votes."""
    return situation.weight + situation.own_weight <= 0.2 * situation.n_voters + 1e-9


def wilson(accuracy: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    z2 = float(ndtri(1 - LEVEL / 2)) ** 2
    middle = (accuracy * n + z2 / 2) / (n + z2)
    reach = np.sqrt(z2 * (accuracy * (1 - accuracy) * n + z2 / 4)) / (n + z2)
    return middle - reach, middle + reach


def hoeffding(
    accuracy: np.ndarray, n: np.ndarray, level: float = LEVEL
) -> tuple[np.ndarray, np.ndarray]:
    reach = np.sqrt(np.log(2 / level) / (2 * np.maximum(n, 1)))
    return accuracy - reach, accuracy + reach


def confident(situation: Situation, bound: Callable[..., Any] = wilson) -> np.ndarray:
    """Allow only candidates that are significantly more accurate."""
    low, high = bound(situation.competence, situation.knowledge.n_answers)
    return low[situation.choices] > high[situation.delegator]


def confident_by_hoeffding(situation: Situation) -> np.ndarray:
    return confident(situation, hoeffding)


def better_by_hoeffding(level: float) -> Callable[..., Any]:
    """Return delegators to the representatives as ``BetterThanGuru`` does, by Hoeffding's bound."""

    def returns(
        graph: Any, accuracy: np.ndarray, _n: int, _rng: Generator, knowledge: Knowledge
    ) -> tuple[np.ndarray, np.ndarray]:
        low, high = hoeffding(accuracy, knowledge.n_answers, level)
        delegators = np.flatnonzero(graph.weights == 0)
        return delegators[low[delegators] > high[graph.gurus[delegators]]], accuracy

    return returns


def viscous(graph: Any, _accuracy: Any, _n_classes: int) -> np.ndarray:
    """Let votes lose a tenth of their strength with each delegation."""
    return np.bincount(graph.gurus, 0.9**graph.distances)[graph.representatives]


def halving(increment: int) -> float:
    """Let half delegate at increments 1, 2, 4, 8, ..., and nobody in between."""
    return 0.5 if increment.bit_count() == 1 else 0.0


def annealed(first: float, n_increments: int) -> Callable[[int], float]:
    """Let the rate fall to zero along half a cosine wave."""
    return lambda t: first * (1 + math.cos(math.pi * min((t - 1) / n_increments, 1))) / 2


def linear(first: float, n_increments: int) -> Callable[[int], float]:
    """Let the rate fall to zero along a straight line."""
    return lambda t: first * (1 - min((t - 1) / max(n_increments - 1, 1), 1))


def slowest(
    family: Callable[[float, int], Callable[[int], float]], n_increments: int
) -> Callable[[int], float]:
    """Return the slowest rate of a family that leaves ``N_FINAL`` after ``n_increments``."""
    for first in np.arange(0.01, 1, 0.01):
        rate, n_left = family(first, n_increments), N_VOTERS
        for increment in range(2, n_increments + 1):  # nobody delegates at the first
            n_left -= max(math.floor(rate(increment) * n_left + 1e-9), rate(increment) > 0)
        if n_left <= N_FINAL:
            return rate
    return family(1.0, n_increments)


# Options


def before(seed: int, **changes: Any) -> LiquidEnsembleClassifier:
    """Return the ensemble with the defaults of version 0.1: hard votes, own accuracy, hinge."""
    alpha = {"alpha": LogUniform(1e-6, 1e-2)}
    defaults = {
        "estimator": SGDClassifier(average=True, n_iter_no_change=1),
        "n_estimators": N_VOTERS,
        "n_final": N_FINAL,
        "diversity": Diversity(param_distributions=alpha, feature_maps="fourier"),
        "competence": "prequential",
        "voting": "hard",
    }
    return LiquidEnsembleClassifier(random_state=seed, **defaults | changes)


def proportional(*refinements: Callable[[Situation], Any], **changes: Any) -> Any:
    return as_mechanism("proportional_weighted", refinements=refinements, **changes)


def options(n_increments: int) -> dict[str, dict[str, Any]]:
    """Return the parameters that each option sets, for a fit of ``n_increments``."""
    return {
        DEFAULTS: {},
        "capped": {"mechanism": proportional(capped)},
        "confident": {"mechanism": proportional(confident)},
        "confident, rate 1.0": {"mechanism": proportional(confident), "delegation_rate": 1.0},
        "confident by Hoeffding": {"mechanism": proportional(confident_by_hoeffding)},
        "same, rate 1.0": {
            "mechanism": proportional(confident_by_hoeffding),
            "delegation_rate": 1.0,
        },
        "viscous": {"mechanism": proportional(vote_weights=viscous)},
        "log_odds": {"mechanism": proportional(vote_weights="log_odds")},
        "delegated_log_odds": {"mechanism": proportional(vote_weights="delegated_log_odds")},
        "annealed": {"delegation_rate": slowest(annealed, n_increments)},
        "linear": {"delegation_rate": slowest(linear, n_increments)},
        "successive halving": {"delegation_rate": halving},
        "rate 0.2": {"delegation_rate": 0.2},
        "rate 0.5": {"delegation_rate": 0.5},
        "rate 1.0": {"delegation_rate": 1.0},
        "final_fit=False": {"final_fit": False},
        "nobody delegates": {"mechanism": "direct"},
        "n_final=20": {"n_final": 20},
        "n_final=40": {"n_final": 40},
    }


def for_stream(
    *refinements: Callable[[Situation], Any],
    returns: Callable[..., Any] = BetterThanGuru(),  # noqa: B008 (a frozen value)
    vote_weights: Any = "delegated_log_odds",
) -> dict[str, Any]:
    """Return the mechanism of ``for_streams()``, changed."""
    return {"mechanism": revocable(proportional(*refinements, vote_weights=vote_weights), returns)}


STREAM_OPTIONS: dict[str, dict[str, Any]] = {
    DEFAULTS: {},
    "returns by Hoeffding": for_stream(returns=better_by_hoeffding(LEVEL)),
    "same, level 0.5": for_stream(returns=better_by_hoeffding(0.5)),
    "returns at level 0.01": for_stream(returns=BetterThanGuru(0.01)),
    "not revocable": {"mechanism": proportional(vote_weights="delegated_log_odds")},
    "capped": for_stream(capped),
    "confident": for_stream(confident),
    "confident, rate 1.0": {**for_stream(confident), "delegation_rate": 1.0},
    "same, by Hoeffding": {**for_stream(confident_by_hoeffding), "delegation_rate": 1.0},
    "viscous": for_stream(vote_weights=viscous),
    "delegated": for_stream(vote_weights="delegated"),
    "log_odds": for_stream(vote_weights="log_odds"),
    "annealed": {"delegation_rate": slowest(annealed, 50)},
    "successive halving": {"delegation_rate": halving},
    "rate 0.2": {"delegation_rate": 0.2},
    "rate 1.0": {"delegation_rate": 1.0},
}


# Measurements

Run: TypeAlias = tuple[LiquidEnsembleClassifier, float, float]
"""A fitted ensemble, its accuracy, and the CPU seconds it took."""


def on_halves(dataset: str, split: int) -> list[dict[str, Any]]:
    """Return accuracy and cost of every option on one split."""
    entropy = [split, *map(ord, dataset + "choices")]
    seed = int(np.random.SeedSequence(entropy).generate_state(1)[0])
    data = halves(dataset, None, "ours", seed)

    def fit(changes: dict[str, Any]) -> Run:
        model, start = before(seed % 2**31, **changes), process_time()
        model.fit(data.X_train, data.y_train)
        seconds = process_time() - start
        return model, model.score(data.X_test, data.y_test), seconds

    n_increments = min(max(len(data.y_train) // 25, 1), 50)
    return measured(dataset, split, options(n_increments), fit)


def on_stream(stream: str, seed: int, n_rows: int) -> list[dict[str, Any]]:
    """Return prequential accuracy and cost of every option on one stream."""
    seed += 1000  # other seeds than those of docs/drift.md
    X, y, _ = STREAMS[stream](n_rows, np.random.default_rng(seed))

    def learn(changes: dict[str, Any]) -> Run:
        model = LiquidEnsembleClassifier.for_streams(random_state=seed, **changes)
        scaler, n_correct, begin = StandardScaler(), 0, process_time()
        for start in range(0, n_rows, BATCH):
            batch, labels = X[start : start + BATCH], y[start : start + BATCH]
            batch = scaler.partial_fit(batch).transform(batch)
            n_correct += int((model.predict(batch) == labels).sum()) if start else 0
            model.partial_fit(batch, labels, classes=[0, 1])
        return model, n_correct / (n_rows - BATCH), process_time() - begin

    return measured(stream, seed, STREAM_OPTIONS, learn)


def measured(
    task: str,
    repeat: int,
    changes_by_option: dict[str, dict[str, Any]],
    run: Callable[[dict[str, Any]], Run],
) -> list[dict[str, Any]]:
    """Return one result per option."""
    results = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run({})  # loads code, so that no measurement does
        for option, changes in changes_by_option.items():
            model, accuracy, seconds = run(changes)
            results.append(
                {
                    "option": option,
                    "task": task,
                    "repeat": repeat,
                    "accuracy": accuracy,
                    "visits": model.training_cost_.total,
                    "seconds": seconds,
                    "left": len(model.estimators_),
                }
            )
    return results


# Tables


def compared(results: pd.DataFrame) -> str:
    """Return, as Markdown, how each option differs from the defaults."""
    wide = results.pivot(index=["task", "repeat"], columns="option")
    rows = {}
    for option in results["option"].unique():
        gain = 100 * (wide["accuracy", option] - wide["accuracy", DEFAULTS])
        by_task = gain.groupby("task")
        error = math.sqrt((by_task.sem() ** 2).mean() / by_task.ngroups)
        signs = [np.sign(task.mean()) for _, task in by_task if p_value(task) < 0.05]
        rows[option] = {
            "accuracy": f"{by_task.mean().mean():+.2f} ± {error:.2f}",
            "p": f"{p_value(gain):.2g}",
            "won": signs.count(1),
            "lost": signs.count(-1),
            "visits": f"{ratio(wide['visits'], option):.2f}",
            "CPU": f"{ratio(wide['seconds'], option):.2f}",
            "left": f"{wide['left', option].groupby('task').mean().mean():.0f}",
        }
    table = pd.DataFrame.from_dict(rows, orient="index").drop(index=DEFAULTS)
    return table.to_markdown(disable_numparse=True)


def p_value(gain: pd.Series) -> float:
    """Return the p-value of Wilcoxon's signed-rank test, 1 where nothing differs."""
    gain = gain.round(9)
    return float(wilcoxon(gain).pvalue) if gain.any() else 1.0


def ratio(values: pd.DataFrame, option: str) -> float:
    """Return the geometric mean over tasks of the ratio to the defaults."""
    means = values.groupby("task").mean()
    return float(np.exp(np.log(means[option] / means[DEFAULTS]).mean()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--datasets", nargs="*", default=list(DATASET_NAMES))
    parser.add_argument("--streams", nargs="*", default=list(STREAMS))
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--rows", type=int, default=12_000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", type=Path, help="where to write the tables")
    parser.add_argument("--results", type=Path, help="where to keep every single result, as CSV")
    arguments = parser.parse_args()
    for name in arguments.datasets:
        load_dataset(name)  # raises now, not after minutes, where a file is missing
    splits = product(arguments.datasets, range(arguments.splits))
    streams = product(arguments.streams, range(arguments.seeds), [arguments.rows])
    parallel, parts, kept = Parallel(n_jobs=arguments.jobs, verbose=1), [], []
    for title, measure, tasks in [
        ("Half splits", on_halves, splits),
        ("Streams", on_stream, streams),
    ]:
        calls = [delayed(measure)(*task) for task in tasks]
        if calls:
            kept.append(pd.DataFrame(chain.from_iterable(parallel(calls))))
            parts += [f"## {title}", compared(kept[-1])]
    text = "\n\n".join(parts) + "\n"
    print(text)
    if arguments.results:
        pd.concat(kept).to_csv(arguments.results, index=False)
    if arguments.write:
        arguments.write.write_text(text)


if __name__ == "__main__":
    main()
