"""How much sooner is the linear pool than a loop over SGDClassifier?

Each figure is a ratio of two times in this process: one thread, best of several, on spambase (57
raw features, 2300 training rows). A second table fits well-known ensembles on the same data.
"""

import argparse
import cProfile
import pstats
import warnings
from collections.abc import Callable
from functools import partial
from time import perf_counter, process_time

import numpy as np
import scipy.sparse
from numba import njit
from rich.box import MARKDOWN
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from skliquid import LiquidEnsembleClassifier
from skliquid.datasets import load_dataset
from skliquid.pools import LinearPool
from skliquid.pools.linear_kernel.vectors import WIDTH, add_and_look_ahead, dots
from skliquid.pools.linear_pool import _aligned_zeros
from skliquid.schedules import Rounded

N_VOTERS, N_TRAIN = 350, 2300
CLASSES = np.array([0, 1])


def data() -> tuple[np.ndarray, np.ndarray]:
    spambase = load_dataset("spambase")
    order = np.random.default_rng(0).permutation(spambase.n_rows)
    return spambase.X[order], (spambase.y[order] == "1").astype(int)


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
        competence="training",
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
    taken = in_turns(pool, ten, X_train, y_train)
    for n_jobs, goal in ((1, "3.5x / 6x"), (2, "6x / 11x")):
        ours = min(taken[n_jobs])
        rows.append((f"final fit of 10 voters, {n_jobs} thread(s)", goal, f"{theirs / ours:.1f}x"))
        if n_jobs == 1:
            step = 1e9 / pool.finish(ten, X_train, y_train)
            each = f"{ours * step:.0f} / {theirs * step:.0f} ns"
            rows.append(("a step in the final fit, pool / loop", "", each))
            rows += [step_figures(n_features) for n_features in (5, 17, 57)]
            bare = bare_steps(X_train)
            rows.append(("a bare product and addition, 57 features", "", f"{bare:.0f} ns"))
    for n in (8, 12, 40):
        medians = {
            k: np.median(v) for k, v in in_turns(pool, everyone[:n], X_train, y_train).items()
        }
        gain = f"{medians[1] / medians[2]:.2f}x"
        rows.append((f"two threads against one, final fit of {n} voters", "1x", gain))
    X_test = X[N_TRAIN:]
    for label, some, times, goal in (
        ("predict, 2300 rows", X_test, 1, "15x / 25x"),
        ("predict, one row", X_test[:1], 50, "100x / 400x"),
    ):
        ours = best(lambda: [pool.vote(everyone, some) for _ in range(times)], 9) / times
        theirs = best(lambda: [voter.predict(some) for voter in loop], 3)
        rows.append((f"{label}, {N_VOTERS} voters", goal, f"{theirs / ours:.0f}x"))
    return rows


def in_turns(pool: LinearPool, some: np.ndarray, X: np.ndarray, y: np.ndarray) -> dict:
    """Return seconds of final fits with one thread and with two, in turns."""
    taken = {1: [], 2: []}
    for n_jobs in (1, 2) * 30:  # so that a slow moment of the machine meets both
        pool.n_jobs = n_jobs
        taken[n_jobs].append(best(lambda: pool.finish(some, X, y), 1, perf_counter))
    return taken


def other_figures(X: np.ndarray, y: np.ndarray) -> list[tuple[str, str, str]]:
    """Return ratios for other losses, and for data of other kinds."""
    rng = np.random.default_rng(0)
    cases = [
        (loss, loss, X[:N_TRAIN], y[:N_TRAIN])
        for loss in ("log_loss", "modified_huber", "squared_hinge")
    ]
    for name, some in (
        ("single precision, 10,000 x 100", rng.normal(size=(10_000, 100)).astype(np.float32)),
        (
            "sparse, 5,000 x 10,000, 1 %",
            scipy.sparse.random(5_000, 10_000, 0.01, "csr", random_state=0),
        ),
    ):
        n_rows, n_features = some.shape
        labels = (some @ rng.normal(size=n_features) + rng.normal(size=n_rows) > 0).astype(int)
        cases.append((name, "hinge", some, labels))
    return [row for case in cases for row in figures_of_twelve(*case)]


def figures_of_twelve(
    name: str, loss: str, some: np.ndarray, y: np.ndarray
) -> list[tuple[str, str, str]]:
    """Return the ratios of what twelve voters do on some rows."""
    rows, twelve = [], np.arange(12)
    loop = [voter.set_params(loss=loss) for voter in voters(12)]
    pool = LinearPool([clone(voter) for voter in loop], CLASSES)
    pool.finish(twelve, some, y)
    for action, ours, theirs in (
        (
            "final fit",
            partial(pool.finish, twelve, some, y),
            lambda: [voter.fit(some, y) for voter in loop],
        ),
        (
            "increment of 65 rows",
            partial(pool.train, twelve, some[:65], y[:65]),
            lambda: [voter.partial_fit(some[:65], y[:65]) for voter in loop],
        ),
        (
            "predict",
            partial(pool.vote, twelve, some),
            lambda: [voter.predict(some) for voter in loop],
        ),
    ):
        ratio = best(theirs, 2) / best(ours, 9)
        rows.append((f"{action}, 12 voters, {name}", "", f"{ratio:.1f}x"))
    return rows


def step_figures(n_features: int) -> tuple[str, str, str]:
    """Return what a step takes when all voters take as many, on as many features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_TRAIN, n_features))
    y = (X @ rng.normal(size=n_features) + rng.normal(size=N_TRAIN) > 0).astype(int)
    options = {"max_iter": 20, "n_iter_no_change": 1000}
    twelve = [SGDClassifier(random_state=seed, **options) for seed in range(12)]
    pool = LinearPool(twelve, CLASSES)
    n_steps = pool.finish(np.arange(12), X, y)
    ours = 1e9 * best(lambda: pool.finish(np.arange(12), X, y), 30) / n_steps
    theirs = 1e9 * best(lambda: [voter.fit(X, y) for voter in twelve], 3) / n_steps
    name = f"a step with all lanes busy, {n_features} features, pool / loop"
    return name, "", f"{ours:.0f} / {theirs:.0f} ns"


def bare_steps(X: np.ndarray) -> float:
    """Return nanoseconds of a row's product and addition, and nothing else, for four voters."""
    wide = _aligned_zeros(len(X), -(-X.shape[1] // WIDTH) * WIDTH, float)
    wide[:, : X.shape[1]] = X
    orders = np.array([np.random.default_rng(k).permutation(len(X)) for k in range(4)])
    W = _aligned_zeros(4, wide.shape[1], float)
    bare(W, wide, orders)
    return 1e9 * best(lambda: bare(W, wide, orders), 20) / orders.size


@njit
def bare(W, X, orders):
    machines = (0, 1, 2, 3)
    rows = (orders[0, 0], orders[1, 0], orders[2, 0], orders[3, 0])
    dot = dots(W, machines, X, rows)
    for i in range(orders.shape[1]):
        added, n = rows, min(i + 1, orders.shape[1] - 1)
        rows = (orders[0, n], orders[1, n], orders[2, n], orders[3, n])
        dot, _ = add_and_look_ahead(W, machines, X, added, dot * 1e-12, rows)


def trial_figures(X: np.ndarray, y: np.ndarray) -> list[tuple[str, str, str]]:
    """Return the ratios of whole trials, final fit included."""
    rows, X, y = [], X[:N_TRAIN], y[:N_TRAIN]
    everyone_fits = ensemble("linear", 25, 0.0, mechanism="direct")
    settings = ((25, 0.2, ("60x / 120x", "0.2 / 0.05")), (65, 0.05, ("50x / 100x", "0.2 / 0.17")))
    pruned = [ensemble("linear", size, rate) for size, rate, _ in settings]
    taken = [[], [], []]
    for _ in range(10):  # in turns, so that a slow moment of the machine meets all
        for each, model in zip(taken, [everyone_fits, *pruned], strict=True):
            each.append(best(lambda: model.fit(X, y), 2))
    full, *ours = map(min, taken)
    for (size, rate, goals), mine, model in zip(settings, ours, pruned, strict=True):
        theirs = best(lambda: ensemble("estimator", size, rate).fit(X, y), 3)
        name = f"u = {size}, rate {rate}"
        rows.append((f"whole trial, {name}", goals[0], f"{theirs / mine:.0f}x"))
        rows.append((f"pruned trial / all trained in full, {name}", goals[1], f"{mine / full:.2f}"))
        cost, of_all = model.training_cost_, everyone_fits.training_cost_.total
        visits = f"{cost.final_fit / of_all:.3f} + {cost.increments / of_all:.3f}"
        rows.append((f"the same in sample visits, final fits + increments, {name}", "", visits))
        left = model.delegation_graph_.representatives
        alone = f"its final fits alone / those of all, {name}"
        rows.append((alone, "", f"{final_fits(X, y, left, everyone_fits.estimators_):.3f}"))
    rows.append(
        ("increment, 10,000 voters / 350, over linear growth", "1.2", f"{growth(X, y):.2f}")
    )
    return rows


def growth(X: np.ndarray, y: np.ndarray) -> float:
    """Return how much dearer a voter is among 10,000 than among 350."""
    pools = {n: LinearPool(voters(n), CLASSES) for n in (350, 10_000)}
    each = {n: [] for n in pools}
    for _ in range(15):  # in turns, as above, and as many steps of either
        for n, pool in pools.items():
            times = 10_000 // n
            train = partial(pool.train, np.arange(n), X[:65], y[:65])
            each[n].append(best(lambda: [train() for _ in range(times)], 1) / times / n)
    return min(each[10_000]) / min(each[350])


def final_fits(X: np.ndarray, y: np.ndarray, left: np.ndarray, fitted: list) -> float:
    """Return what fitting those who are left takes, of what fitting all takes."""
    pool = LinearPool([clone(voter) for voter in fitted], CLASSES)
    everyone = np.arange(N_VOTERS)
    taken = [[], []]
    for _ in range(5):  # in turns, as above
        for each, some in zip(taken, (left, everyone), strict=True):
            each.append(best(lambda: pool.finish(some, X, y), 2))
    return min(taken[0]) / min(taken[1])


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
    parts = [pool_figures, trial_figures, other_figures]
    rows = [row for part in track(parts, "Measuring") for row in part(X, y)]
    table = Table("", "floor / aim", "measured", box=MARKDOWN)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    console.print(peers(X, y))


if __name__ == "__main__":
    main()
