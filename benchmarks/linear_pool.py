"""How much sooner is the linear pool than a loop over SGDClassifier?

Each figure is a ratio of two times in this process: one thread, best of several. Data have the
shape of spambase (57 features, many zeros, columns of very different size), made here. A second
table fits well-known ensembles on the same data, for comparison.
"""

import argparse
import cProfile
import pstats
import warnings
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np
from rich.box import MARKDOWN
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from skliquid import LiquidEnsembleClassifier
from skliquid.pools import LinearPool
from skliquid.schedules import Rounded

N_VOTERS, N_TRAIN = 350, 2300
CLASSES = np.array([0, 1])


def data(n_rows: int = 4600) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        n_rows, 57, n_informative=12, class_sep=1.5, flip_y=0.05, random_state=0
    )
    sizes = np.random.default_rng(0).lognormal(sigma=1.0, size=57)
    return np.round(np.maximum(X, 0) * sizes, 2), y  # as word frequencies are


def best(action: Callable, times: int, clock: Callable = process_time) -> float:
    taken = []
    for _ in range(times):
        start = clock()
        action()
        taken.append(clock() - start)
    return min(taken)


def voters(n: int) -> list[SGDClassifier]:
    return [SGDClassifier(random_state=seed) for seed in range(n)]


def loop_over(X: np.ndarray, y: np.ndarray, n: int) -> list[SGDClassifier]:
    return [voter.partial_fit(X, y, classes=CLASSES) for voter in voters(n)]


def ensemble(pool: str, size: int, rate: float, **options: object) -> LiquidEnsembleClassifier:
    return LiquidEnsembleClassifier(
        SGDClassifier(),
        n_estimators=N_VOTERS,
        n_final=10,
        increment_size=size,
        delegation_rate=Rounded(rate, "floor"),
        pool=pool,
        random_state=0,
        **options,
    )


def pool_figures(X: np.ndarray, y: np.ndarray) -> list[tuple[str, str, str]]:
    """Return the ratios of the parts of a trial."""
    rows, everyone, ten = [], np.arange(N_VOTERS), np.arange(10)
    pool = LinearPool(voters(N_VOTERS), CLASSES)
    pool.train(everyone, X[:25], y[:25])
    loop = loop_over(X[:25], y[:25], N_VOTERS)
    for u, goal in ((25, "400x / 1000x"), (65, "200x / 450x")):
        pool.train(everyone, X[:u], y[:u])
        ours = best(lambda: [pool.train(everyone, X[:u], y[:u]) for _ in range(20)], 9) / 20
        theirs = best(lambda: [voter.partial_fit(X[:u], y[:u]) for voter in loop], 3)
        rows.append((f"increment of {u} rows, {N_VOTERS} voters", goal, f"{theirs / ours:.0f}x"))
    ours = best(lambda: [pool.accuracy(everyone, X[:25], y[:25]) for _ in range(50)], 9) / 50
    theirs = best(lambda: [voter.score(X[:25], y[:25]) for voter in loop], 3)
    rows.append(("accuracy of all voters, 25 rows", "1000x / 3000x", f"{theirs / ours:.0f}x"))
    X_train, y_train = X[:N_TRAIN], y[:N_TRAIN]
    theirs = best(lambda: [v.fit(X_train, y_train) for v in voters(10)], 5, perf_counter)
    for n_jobs, goal in ((1, "3.5x / 6x"), (2, "6x / 11x")):
        pool.n_jobs = n_jobs
        ours = best(lambda: pool.finish(ten, X_train, y_train), 5, perf_counter)
        rows.append((f"final fit of 10 voters, {n_jobs} thread(s)", goal, f"{theirs / ours:.1f}x"))
        if n_jobs == 1:
            step = 1e9 / pool.finish(ten, X_train, y_train)
            each = f"{ours * step:.0f} / {theirs * step:.0f} ns"
            rows.append(("a step in the final fit, pool / loop", "", each))
    X_test = X[N_TRAIN:]
    for label, some, times, goal in (
        ("predict, 2300 rows", X_test, 1, "15x / 25x"),
        ("predict, one row", X_test[:1], 50, "100x / 400x"),
    ):
        ours = best(lambda: [pool.vote(everyone, some) for _ in range(times)], 9) / times
        theirs = best(lambda: [voter.predict(some) for voter in loop], 3)
        rows.append((f"{label}, {N_VOTERS} voters", goal, f"{theirs / ours:.0f}x"))
    return rows


def trial_figures(X: np.ndarray, y: np.ndarray) -> list[tuple[str, str, str]]:
    """Return the ratios of whole trials, final fit included."""
    rows, X, y = [], X[:N_TRAIN], y[:N_TRAIN]
    full = best(lambda: ensemble("linear", 25, 0.0, mechanism="direct").fit(X, y), 2)
    for size, rate, goals in (
        (25, 0.2, ("60x / 120x", "0.2 / 0.05")),
        (65, 0.05, ("50x / 100x", "0.2 / 0.17")),
    ):
        ours = best(lambda: ensemble("linear", size, rate).fit(X, y), 5)
        theirs = best(lambda: ensemble("estimator", size, rate).fit(X, y), 2)
        name = f"u = {size}, rate {rate}"
        rows.append((f"whole trial, {name}", goals[0], f"{theirs / ours:.0f}x"))
        rows.append((f"pruned trial / all trained in full, {name}", goals[1], f"{ours / full:.2f}"))
    times = {}
    for n in (350, 10_000):
        pool, everyone = LinearPool(voters(n), CLASSES), np.arange(n)
        pool.train(everyone, X[:65], y[:65])
        times[n] = best(lambda: pool.train(everyone, X[:65], y[:65]), 9)
    growth = times[10_000] / times[350] / (10_000 / 350)
    rows.append(("increment, 10,000 voters / 350, over linear growth", "1.2", f"{growth:.2f}"))
    return rows


def peers(X: np.ndarray, y: np.ndarray) -> Table:
    """Return what a reader would pick instead: time to fit, time to predict, accuracy."""
    table = Table("", "fit (s)", "predict (s)", "accuracy", box=MARKDOWN)
    ours = ensemble("linear", 25, 0.2)
    for name, model in {
        "liquid, 350 voters to 10 (u = 25, rate 0.2)": ours,
        "liquid, 350 voters to 10 (u = 65, rate 0.05)": ensemble("linear", 65, 0.05),
        "AdaBoost, 50 stumps": AdaBoostClassifier(n_estimators=50, random_state=0),
        "AdaBoost, 350 stumps": AdaBoostClassifier(n_estimators=350, random_state=0),
        "Bagging, 350 SGDClassifiers": BaggingClassifier(SGDClassifier(), 350, random_state=0),
        "random forest": RandomForestClassifier(random_state=0),
        "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
    }.items():
        fit = best(lambda: model.fit(X[:N_TRAIN], y[:N_TRAIN]), 2, perf_counter)
        predict = best(lambda: model.predict(X[N_TRAIN:]), 3, perf_counter)
        score = model.score(X[N_TRAIN:], y[N_TRAIN:])
        table.add_row(name, f"{fit:.3f}", f"{predict:.4f}", f"{score:.3f}")
    return table


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--profile", action="store_true", help="where a trial's time goes")
    options = arguments.parse_args()
    warnings.filterwarnings("ignore")
    with threadpool_limits(1):
        measure(profile=options.profile)


def measure(*, profile: bool) -> None:
    X, y = data()
    if profile:
        trial = ensemble("linear", 25, 0.2).fit(X[:N_TRAIN], y[:N_TRAIN])  # compile first
        with cProfile.Profile() as profiler:
            trial.fit(X[:N_TRAIN], y[:N_TRAIN])
        pstats.Stats(profiler).sort_stats("cumulative").print_stats(20)
        return
    console = Console(width=110)
    parts = [pool_figures, trial_figures]
    rows = [row for part in track(parts, "Measuring") for row in part(X, y)]
    table = Table("", "floor / aim", "measured", box=MARKDOWN)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    console.print(peers(X, y))


if __name__ == "__main__":
    main()
