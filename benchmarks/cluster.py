"""When does a cluster pay, and what would a large one do?

Every figure is the time of an increment in a steady stream, with a scheduler and workers of one
thread as processes on this machine. A model of that time is fitted to some runs, checked on others,
and then asked about sizes that nobody measured here.
"""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")  # before numpy loads

import argparse
import logging
from collections.abc import Iterator
from itertools import product
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, LocalCluster
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table
from scipy.optimize import nnls
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from skliquid import DaskPool, LiquidEnsembleClassifier

MANY = 10**6
NETWORK = 1e9 / 8  # bytes a second of an ordinary network, assumed
CONSOLE = Console(width=160)


class Size(NamedTuple):
    voters: int
    rows: int
    features: int

    @property
    def n_bytes(self) -> int:
        return 8 * self.rows * (self.features + 1)


FITTED = [Size(*each) for each in product((50, 400), (100, 1000, 5000), (10, 100))]
CHECKED = [Size(150, 500, 30), Size(800, 2000, 50), Size(200, 10_000, 20), Size(100, 3000, 200)]


def increments(size: Size) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    direction = rng.normal(size=size.features)
    while True:
        X = rng.normal(size=(size.rows, size.features))
        yield X, (X @ direction + rng.normal(size=size.rows) > 0).astype(int)


def seconds(size: Size, pool: Any, estimator: Any, least: float, **options: Any) -> float:
    """Return the time of one increment, after two to warm up."""
    ensemble = LiquidEnsembleClassifier(
        estimator,
        n_estimators=size.voters,
        n_final=1,
        mechanism="direct",
        pool=pool,
        random_state=0,
        **options,
    )
    stream = increments(size)
    for _ in range(2):
        ensemble.partial_fit(*next(stream), classes=[0, 1])
    times: list[float] = []
    while len(times) < 5 or sum(times) < least:
        X, y = next(stream)
        start = perf_counter()
        ensemble.partial_fit(X, y)
        times.append(perf_counter() - start)
    return float(np.median(times))


def terms(size: Size, n_workers: int) -> list[float]:
    """Return what the time of an increment is taken to be made of."""
    visits = -(-size.voters // n_workers) * size.rows
    return [1.0, n_workers, size.n_bytes, visits, visits * size.features]


def fitted(rows: list[list[float]], times: list[float]) -> np.ndarray:
    """Return constants that are not negative and have small relative errors."""
    A, t = np.array(rows), np.array(times)
    scale = A.max(axis=0)
    constants, _ = nnls(A / scale / t[:, None], np.ones(len(t)))
    return constants / scale


def told(headers: list[str], rows: list[list[Any]]) -> None:
    table = Table(*headers, box=MARKDOWN)
    for row in rows:
        table.add_row(*map(str, row))
    CONSOLE.print(table)
    CONSOLE.print()


def milliseconds(value: float) -> str:
    return f"{1000 * value:.1f}" if value < 1 else f"{1000 * value:.0f}"


def slow_and_fast(clients: dict[int, Client], least: float) -> None:
    cases: list[tuple[str, Any, Size]] = [
        ("350 linear voters", SGDClassifier(), Size(350, 1000, 50)),
        ("24 perceptrons of 100 hidden units", MLPClassifier(), Size(24, 1000, 50)),
    ]
    rows = []
    for name, estimator, size in cases:
        alone = seconds(size, "auto", estimator, least)
        threads = seconds(size, "auto", estimator, least, n_jobs=2)
        by = {n: seconds(size, plan(client), estimator, least) for n, client in clients.items()}
        ratios = [f"{milliseconds(t)} ({t / alone:.2f})" for t in (threads, by[1], by[2])]
        rows.append([name, milliseconds(alone), *ratios])
    rows.append(["24 trees, whole fit of 10,000 rows", *whole_fit(clients)])
    headers = ["1000 rows, 50 features, ms (ratio)", "one machine", "n_jobs=2"]
    told([*headers, "1 worker", "2 workers"], rows)


def whole_fit(clients: dict[int, Client]) -> list[str]:
    X, y = next(increments(Size(1, 10_000, 50)))
    settings = {"n_estimators": 24, "n_final": 6, "increment_size": 1000, "random_state": 0}

    def time_of(**options: Any) -> float:
        trees = DecisionTreeClassifier(max_features=10)
        ensemble = LiquidEnsembleClassifier(trees, **settings, **options)
        start = perf_counter()
        ensemble.fit(X, y)
        return perf_counter() - start

    alone = time_of()
    others = [time_of(n_jobs=2), *(time_of(pool=plan(client)) for client in clients.values())]
    return [milliseconds(alone), *(f"{milliseconds(t)} ({t / alone:.2f})" for t in others)]


def plan(client: Client) -> DaskPool:
    return DaskPool(client, checkpoint_every=MANY)


def shards_and_checkpoints(client: Client, least: float) -> None:
    small = Size(64, 10, 10)
    rows = []
    for n_shards in (1, 2, 4, 8, 16, 32):
        pool = DaskPool(client, n_shards=n_shards, checkpoint_every=MANY)
        rows.append([n_shards, milliseconds(seconds(small, pool, SGDClassifier(), least))])
    told(["shards of 64 voters, 10 rows", "ms an increment"], rows)


def the_model(clients: dict[int, Client], least: float) -> dict[str, np.ndarray]:
    """Measure, fit, check, and return the constants with and without a cluster."""
    pools: dict[int, Any] = {0: "auto"} | {n: plan(client) for n, client in clients.items()}
    times = {
        (size, n): seconds(size, pool, SGDClassifier(), least)
        for size in FITTED + CHECKED
        for n, pool in pools.items()
    }
    of_cluster = [(size, n) for size, n in times if n and size in FITTED]
    constants = {
        "cluster": fitted([terms(*each) for each in of_cluster], [times[e] for e in of_cluster]),
        "alone": fitted([alone_terms(size) for size in FITTED], [times[s, 0] for s in FITTED]),
    }
    names = ["a step (ms)", "a shard (ms)", "a megabyte (ms)", "a visit (ns)", "a feature (ns)"]
    units = np.array([1e3, 1e3, 1e9, 1e9, 1e9])
    in_units = [f"{value:.3g}" for value in constants["cluster"] * units]
    alone = ["", "", *(f"{value:.3g}" for value in constants["alone"] * units[[0, 3, 4]])]
    alone = [alone[2], "", "", *alone[3:]]
    told(["", *names], [["cluster", *in_units], ["one machine", *alone]])
    headers = ["voters", "rows", "features", "workers", "measured (ms)", "model (ms)", "error"]
    for sizes in (FITTED, CHECKED):
        CONSOLE.print("Used for fitting" if sizes is FITTED else "Not used for fitting")
        rows = []
        for size, n in product(sizes, pools):
            told_by = predicted(constants, size, n)
            error = f"{told_by / times[size, n] - 1:+.0%}"
            rows.append(
                [*size, n or "none", milliseconds(times[size, n]), milliseconds(told_by), error]
            )
        told(headers, rows)
    return constants


def alone_terms(size: Size) -> list[float]:
    one = terms(size, 1)
    return [one[0], *one[3:]]


def predicted(constants: dict[str, np.ndarray], size: Size, n_workers: int) -> float:
    if n_workers:
        return float(constants["cluster"] @ terms(size, n_workers))
    return float(constants["alone"] @ alone_terms(size))


def the_models_word(constants: dict[str, np.ndarray]) -> None:
    """Print hours for a billion rows, by what a visit costs, with and without a hundred workers."""
    n_rows, size = 10**9, Size(400, 10_000, 20)
    per_visit = float(constants["alone"][1:] @ [1, size.features])
    rows = []
    for name, visit in (
        ("linear", per_visit),
        *((f"{c:g} us a visit", c * 1e-6) for c in (1, 10, 100)),
    ):
        for voters in (400, 12):
            alone = hours(n_rows, size, constants["alone"][0] + voters * size.rows * visit)
            on = []
            for n_workers in (2, 10, 100):
                busy = min(n_workers, voters)
                network = size.n_bytes * np.log2(1 + busy) / NETWORK  # copies make copies
                start, shard, byte = constants["cluster"][:3]
                step = start + shard * busy + byte * size.n_bytes + network
                on.append(hours(n_rows, size, step + -(-voters // busy) * size.rows * visit))
            rows.append([name, voters, *(f"{each:.3g}" for each in (alone, *on))])
    told(["voters of", "how many", "one core (h)", "2 workers", "10 workers", "100 workers"], rows)


def hours(n_rows: int, size: Size, seconds_of_one: float) -> float:
    return n_rows / size.rows * seconds_of_one / 3600


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--least", type=float, default=0.5, help="seconds to measure each figure")
    least = parser.parse_args().least
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
    with (
        LocalCluster(n_workers=1, **options) as one,
        LocalCluster(n_workers=2, **options) as two,
        Client(one) as client_of_one,
        Client(two) as client_of_two,
    ):
        clients = {1: client_of_one, 2: client_of_two}
        shards_and_checkpoints(client_of_two, least)
        slow_and_fast(clients, least)
        constants = the_model(clients, least)
    the_models_word(constants)


if __name__ == "__main__":
    main()
