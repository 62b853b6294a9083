"""When does a cluster pay, and what would a large one do?

Every figure is the time of an increment in a steady stream, best of several, with a scheduler and
workers of one thread as processes on this machine. A model of that time is fitted to some runs,
checked on others, and then asked about sizes that were not measured.
"""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")  # before numpy loads

import argparse
import logging
from collections.abc import Iterator
from itertools import groupby, product
from time import perf_counter
from typing import Any, NamedTuple

import dask
import numpy as np
from distributed import Client, Future, LocalCluster, wait
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table
from scipy.optimize import nnls
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

from skliquid import DaskPool, LiquidEnsembleClassifier

MANY = 10**6
NETWORK = 1e9 / 8  # bytes per second of an ordinary network, assumed
CONSOLE = Console(width=160)


class Size(NamedTuple):
    voters: int
    rows: int
    features: int

    @property
    def n_bytes(self) -> int:
        return 8 * self.rows * (self.features + 1)


class Run(NamedTuple):
    """An increment of some size, on no cluster, or in shards on some workers."""

    size: Size
    n_workers: int
    n_shards: int

    @property
    def terms(self) -> list[float]:
        """Return what the time of an increment is taken to be made of."""
        in_one = -(-self.size.voters // max(min(self.n_workers, self.n_shards), 1))
        visits = in_one * self.size.rows
        compute = [visits, visits * self.size.features]
        return (
            [1.0, self.n_shards, self.size.n_bytes, *compute] if self.n_workers else [1, *compute]
        )


def runs(sizes: list[Size], shards: tuple[int, ...]) -> list[Run]:
    places = [(0, 0), (1, 1), (2, 2)]
    grid = [Run(size, *place) for size in sizes for place in places]
    return grid + [Run(Size(64, 200, 20), 2, n_shards) for n_shards in shards]


FITTED = runs(
    [Size(*numbers) for numbers in product((50, 400), (100, 1000, 5000), (10, 100))], (4, 16)
)
CHECKED = runs(
    [Size(150, 500, 30), Size(800, 2000, 50), Size(200, 10_000, 20), Size(100, 3000, 200)], (8, 32)
)


def increments(size: Size) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    direction = rng.normal(size=size.features)
    while True:
        X = rng.normal(size=(size.rows, size.features))
        yield X, (X @ direction + rng.normal(size=size.rows) > 0).astype(int)


def best_times(
    size: Size, pools: list[tuple[Any, int | None]], estimator: Any, least: float
) -> list[float]:
    """Return the time of an increment by pool and n_jobs, best of at least ten, taken in turns."""
    ensembles = [
        LiquidEnsembleClassifier(
            estimator,
            n_estimators=size.voters,
            n_final=1,
            mechanism="direct",
            pool=pool,
            n_jobs=n_jobs,
            random_state=0,
        )
        for pool, n_jobs in pools
    ]
    stream, times = increments(size), [[] for _ in pools]
    for ensemble in ensembles * 2:  # to warm up
        ensemble.partial_fit(*next(stream), classes=[0, 1])
    while len(times[0]) < 10 or np.sum(times) < least * len(pools):
        X, y = next(stream)
        for ensemble, taken in zip(ensembles, times, strict=True):
            start = perf_counter()
            ensemble.partial_fit(X, y)
            wait_for_steps(ensemble.pool)
            taken.append(perf_counter() - start)
    return list(map(min, times))


def wait_for_steps(pool: Any) -> None:
    """Wait for what ``partial_fit`` need not wait for."""
    if isinstance(pool, DaskPool):
        wait([Future(key, pool.client) for key in list(pool.client.futures)])


def fitted(rows: list[list[float]], times: list[float]) -> np.ndarray:
    """Return constants that are not negative and have small relative errors."""
    A, t = np.array(rows), np.array(times)
    scale = A.max(axis=0)
    constants, _ = nnls(A / scale / t[:, None], np.ones(len(t)))
    return constants / scale


def print_table(headers: list[str], rows: list[list[Any]]) -> None:
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
        ("24 perceptrons of 1000 hidden units", MLPClassifier(1000), Size(24, 1000, 50)),
    ]
    pools = [("auto", None), ("auto", 2), *((plan(client), None) for client in clients.values())]
    rows = []
    for name, estimator, size in cases:
        alone, *others = best_times(size, pools, estimator, least)
        ratios = [f"{milliseconds(t)} ({t / alone:.2f})" for t in others]
        rows.append([name, milliseconds(alone), *ratios])
    headers = ["1000 rows, 50 features, ms (ratio)", "one machine", "n_jobs=2"]
    print_table([*headers, "1 worker", "2 workers"], rows)


def plan(client: Client) -> DaskPool:
    return DaskPool(client, checkpoint_every=MANY)


def the_model(clients: dict[int, Client], least: float) -> dict[bool, np.ndarray]:
    """Measure, fit, check, and return the constants without a cluster and with one."""
    times: dict[Run, float] = {}
    for size, group in groupby(FITTED + CHECKED, key=lambda run: run.size):
        measured = list(group)
        pools = [(pool_of(run, clients), None) for run in measured]
        times |= zip(measured, best_times(size, pools, SGDClassifier(), least), strict=True)
    constants = {}
    for on_cluster in (False, True):
        chosen = [run for run in FITTED if bool(run.n_workers) == on_cluster]
        terms, measured = [run.terms for run in chosen], [times[run] for run in chosen]
        constants[on_cluster] = fitted(terms, measured)
    names = ["per step (ms)", "per shard (ms)", "per MB (ms)", "per visit (ns)", "per feature (ns)"]
    units = np.array([1e3, 1e3, 1e9, 1e9, 1e9])
    cluster = [f"{value:.3g}" for value in constants[True] * units]
    first, *others = [f"{value:.3g}" for value in constants[False] * units[[0, 3, 4]]]
    print_table(["", *names], [["cluster", *cluster], ["one machine", first, "", "", *others]])
    compare(FITTED, times, constants, "Used for fitting")
    compare(CHECKED, times, constants, "Not used for fitting")
    return constants


def pool_of(run: Run, clients: dict[int, Client]) -> Any:
    if not run.n_workers:
        return "auto"
    return DaskPool(clients[run.n_workers], n_shards=run.n_shards, checkpoint_every=MANY)


def compare(
    runs: list[Run], times: dict[Run, float], constants: dict[bool, np.ndarray], title: str
) -> None:
    rows, errors = [], []
    for run in runs:
        predicted = float(constants[bool(run.n_workers)] @ run.terms)
        errors.append(predicted / times[run] - 1)
        where = run[1:] if run.n_workers else ("none", "")
        both = milliseconds(times[run]), milliseconds(predicted)
        rows.append([*run.size, *where, *both, f"{errors[-1]:+.0%}"])
    CONSOLE.print(f"{title}; the median error is {np.median(np.abs(errors)):.0%}:")
    headers = ["voters", "rows", "features", "workers", "shards"]
    print_table([*headers, "measured (ms)", "model (ms)", "error"], rows)


def print_predictions(constants: dict[bool, np.ndarray]) -> None:
    """Print hours for a billion rows, by what a visit costs, on one core and on many workers."""
    size = Size(400, 100_000, 20)
    linear = float(constants[False][1:] @ [1, size.features])
    voter_types = [("linear", linear), *((f"{c} us per visit", c * 1e-6) for c in (1, 10, 100))]
    rows = []
    for (name, visit), voters in product(voter_types, (400, 12)):
        times = [constants[False][0] + voters * size.rows * visit]
        for n_workers in (2, 10, 100):
            busy = min(n_workers, voters)
            # as measured here, and then copies of the rows from worker to worker
            overhead = constants[True][:3] @ [1, busy, size.n_bytes]
            network = size.n_bytes * np.log2(1 + busy) / NETWORK
            times.append(overhead + network + -(-voters // busy) * size.rows * visit)
        hours = [1e9 / size.rows * seconds / 3600 for seconds in times]
        rows.append([name, voters, *(f"{value:.3g}" for value in hours)])
    print_table(
        ["voters", "how many", "one core (h)", "2 workers", "10 workers", "100 workers"], rows
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--least", type=float, default=1.0, help="seconds to measure each figure")
    least = parser.parse_args().least
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    # what Dask sets besides, MALLOC_TRIM_THRESHOLD_, makes large arrays slow
    environment = {"distributed.nanny.pre-spawn-environ": {"OMP_NUM_THREADS": 1}}
    with (
        dask.config.set(environment),
        LocalCluster(n_workers=1, **options) as one,
        LocalCluster(n_workers=2, **options) as two,
        Client(one) as client_of_one,
        Client(two) as client_of_two,
    ):
        clients = {1: client_of_one, 2: client_of_two}
        slow_and_fast(clients, least)
        constants = the_model(clients, least)
    print_predictions(constants)


if __name__ == "__main__":
    main()
