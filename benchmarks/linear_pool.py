"""How much faster is the linear pool than a loop over SGDClassifier, or than another version?

Each figure is a ratio of two times in the same run, on spambase (57 raw features, 2300 training
rows), one thread unless said otherwise. A second table fits well-known ensembles on the same data.
``--against PYTHON`` compares with the version that another interpreter has: both take every
measurement in turns.
"""

import argparse
import cProfile
import json
import pstats
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter, process_time

import numpy as np
import scipy.sparse
from rich.box import MARKDOWN
from rich.console import Console
from rich.progress import track
from rich.table import Table
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
from skliquid.mechanisms import Rounded
from skliquid.pools import LinearPool

try:
    from skliquid.delegation.rows import Rows
except ImportError:  # of versions to compare with, whose pools take X and y
    Rows = None

N_VOTERS, N_TRAIN = 350, 2300
CLASSES = np.array([0, 1])


@dataclass
class Row:
    """A measurement: what the pool does, and what a loop over scikit-learn's objects does."""

    name: str
    aim: str
    ours: Callable
    theirs: Callable
    times: int = 1  # that ours is repeated in one measurement
    clock: Callable = process_time

    def seconds(self, repeats: int = 9) -> float:
        return best(lambda: [self.ours() for _ in range(self.times)], repeats, self.clock) / (
            self.times
        )

    def ratio(self) -> str:
        theirs = best(self.theirs, 3, self.clock)
        ratio = theirs / self.seconds()
        return f"{ratio:.0f}x" if ratio > 20 else f"{ratio:.1f}x"


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


def voters(n: int, **options: object) -> list[SGDClassifier]:
    return [SGDClassifier(random_state=seed, **options) for seed in range(n)]


def loop_of(action: str, voters: list[SGDClassifier], *data: np.ndarray) -> Callable:
    """Return a loop that asks every classifier for the same."""
    return lambda: [getattr(voter, action)(*data) for voter in voters]


def rows_of(X: np.ndarray, y: np.ndarray) -> tuple:
    """Return the rows as arguments of a pool's methods."""
    return (X, y) if Rows is None else (Rows(X, y),)


def ensemble(pool: str, size: int, rate: float, **options: object) -> LiquidEnsembleClassifier:
    return LiquidEnsembleClassifier(
        SGDClassifier(),
        n_estimators=N_VOTERS,
        n_final=10,
        increment_size=size,
        delegation_rate=Rounded(rate, "floor"),
        competence="training",
        voting="hard",
        pool=pool,
        random_state=0,
        **options,
    )


def pool_rows(X: np.ndarray, y: np.ndarray) -> Iterator[Row]:
    """Yield the parts of a trial."""
    everyone, ten = np.arange(N_VOTERS), np.arange(10)
    pool = LinearPool(voters(N_VOTERS), CLASSES)
    pool.train(everyone, *rows_of(X[:25], y[:25]))
    loop = voters(N_VOTERS)
    for voter in loop:
        voter.partial_fit(X[:25], y[:25], classes=CLASSES)
    for u, aim in ((25, "1000x"), (65, "450x")):
        cut = X[:u], y[:u]
        ours = partial(pool.train, everyone, *rows_of(*cut))
        theirs = loop_of("partial_fit", loop, *cut)
        yield Row(f"increment of {u} rows, {N_VOTERS} voters", aim, ours, theirs, 20)
    cut = X[:25], y[:25]
    ours, theirs = partial(pool.vote, everyone, cut[0]), loop_of("predict", loop, cut[0])
    yield Row("votes of all voters, 25 rows", "", ours, theirs, 50)
    for label, rows, times, aim in (
        ("2300 rows", X[N_TRAIN:], 1, "40x"),
        ("one row", X[:1], 50, "400x"),
    ):
        ours, theirs = partial(pool.vote, everyone, rows), loop_of("predict", loop, rows)
        yield Row(f"predict, {label}, {N_VOTERS} voters", aim, ours, theirs, times)
    train = X[:N_TRAIN], y[:N_TRAIN]
    for n_jobs, aim in ((1, "6x"), (2, "11x")):
        final = LinearPool(voters(10), CLASSES, n_jobs)
        ours = partial(final.finish, ten, *rows_of(*train))
        theirs = loop_of("fit", voters(10), *train)
        name = f"final fit of 10 voters, {n_jobs} thread(s)"
        yield Row(name, aim, ours, theirs, 5, perf_counter)


def trial_rows(X: np.ndarray, y: np.ndarray) -> Iterator[Row]:
    """Yield whole trials, final fit included."""
    train = X[:N_TRAIN], y[:N_TRAIN]
    for size, rate, aim in ((25, 0.2, "160x"), (65, 0.05, "120x")):
        ours, theirs = (
            partial(ensemble(p, size, rate).fit, *train) for p in ("linear", "estimator")
        )
        yield Row(f"whole trial, u = {size}, rate {rate}", aim, ours, theirs)


def soft_rows(X: np.ndarray, y: np.ndarray) -> Iterator[Row]:
    """Yield soft votes of twelve voters against hard ones: the ratio is above 1/2."""
    ensembles = {
        voting: LiquidEnsembleClassifier(voting=voting, random_state=0).fit(
            X[:N_TRAIN], y[:N_TRAIN]
        )
        for voting in ("soft", "hard")
    }
    for label, rows, times in (("2300 rows", X[N_TRAIN:], 5), ("one row", X[:1], 50)):
        ours, theirs = (partial(ensembles[v].predict, rows) for v in ("soft", "hard"))
        yield Row(f"predict, {label}, soft against hard votes", "0.5x", ours, theirs, times)


def other_rows(X: np.ndarray, y: np.ndarray) -> Iterator[Row]:
    """Yield other losses, and other types of data, for twelve voters."""
    rng = np.random.default_rng(0)
    cases = [
        (loss, {"loss": loss}, X[:N_TRAIN], y[:N_TRAIN])
        for loss in ("log_loss", "modified_huber", "squared_hinge")
    ]
    cases += [
        (f"{loss}, averaged", {"loss": loss, "average": True}, X[:N_TRAIN], y[:N_TRAIN])
        for loss in ("hinge", "log_loss")
    ]
    for name, rows in (
        ("single precision, 10,000 x 100", rng.normal(size=(10_000, 100)).astype(np.float32)),
        (
            "sparse, 5,000 x 10,000, 1 %",
            scipy.sparse.random(5_000, 10_000, 0.01, "csr", random_state=0),
        ),
    ):
        n_rows, n_features = rows.shape
        labels = (rows @ rng.normal(size=n_features) + rng.normal(size=n_rows) > 0).astype(int)
        cases.append((name, {}, rows, labels))
    for case in cases:
        yield from rows_of_twelve(*case)


def rows_of_twelve(name: str, options: dict, X: np.ndarray, y: np.ndarray) -> Iterator[Row]:
    twelve, loop = np.arange(12), voters(12, **options)
    pool = LinearPool(voters(12, **options), CLASSES)
    whole, cut = rows_of(X, y), rows_of(X[:65], y[:65])
    pool.finish(twelve, *whole)
    for voter in loop:
        voter.partial_fit(X[:65], y[:65], classes=CLASSES)
    for label, ours, theirs, times in (
        ("final fit", partial(pool.finish, twelve, *whole), ("fit", X, y), 1),
        (
            "increment of 65 rows",
            partial(pool.train, twelve, *cut),
            ("partial_fit", X[:65], y[:65]),
            20,
        ),
        ("predict", partial(pool.vote, twelve, X), ("predict", X), 5),
    ):
        action, *data = theirs
        yield Row(f"{label}, 12 voters, {name}", "", ours, loop_of(action, loop, *data), times)


def all_rows(X: np.ndarray, y: np.ndarray) -> list[Row]:
    return [row for part in (pool_rows, trial_rows, soft_rows, other_rows) for row in part(X, y)]


def figures(X: np.ndarray, y: np.ndarray) -> list[tuple[str, str, str]]:
    """Return figures that are not ratios to a loop."""
    rows = [step_figures(n_features) for n_features in (5, 17, 57)]
    for n in (8, 12, 40):
        taken = in_turns(LinearPool(voters(n), CLASSES), n, X[:N_TRAIN], y[:N_TRAIN])
        gain = f"{np.median(taken[1]) / np.median(taken[2]):.2f}x"
        rows.append((f"two threads against one, final fit of {n} voters", "1x", gain))
    name = "increment, 10,000 voters / 350, over linear growth"
    rows.append((name, "1.2", f"{growth(X, y):.2f}"))
    parts = (side_by_side, by_instructions, pruned_against_full)
    return [*rows, *(row for part in parts for row in part(X, y))]


def in_turns(pool: LinearPool, n_voters: int, X: np.ndarray, y: np.ndarray) -> dict:
    """Return seconds of final fits with one thread and with two, in turns."""
    taken, rows = {1: [], 2: []}, rows_of(X, y)
    for n_jobs in (1, 2) * 30:  # so that a slow moment of the machine meets both
        pool.n_jobs = n_jobs
        taken[n_jobs].append(
            best(partial(pool.finish, np.arange(n_voters), *rows), 1, perf_counter)
        )
    return taken


def step_figures(n_features: int) -> tuple[str, str, str]:
    """Return what a step takes when all voters take as many, on as many features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_TRAIN, n_features))
    y = (X @ rng.normal(size=n_features) + rng.normal(size=N_TRAIN) > 0).astype(int)
    options = {"max_iter": 20, "n_iter_no_change": 1000}
    twelve = [SGDClassifier(random_state=seed, **options) for seed in range(12)]
    finish = partial(LinearPool(twelve, CLASSES).finish, np.arange(12), *rows_of(X, y))
    n_steps = finish()
    ours = 1e9 * best(finish, 30) / n_steps
    theirs = 1e9 * best(lambda: [voter.fit(X, y) for voter in twelve], 3) / n_steps
    name = f"a step with all lanes busy, {n_features} features, pool / loop"
    return name, "", f"{ours:.0f} / {theirs:.0f} ns"


def growth(X: np.ndarray, y: np.ndarray) -> float:
    """Return how much more time a voter takes among 10,000 than among 350."""
    pools = {n: LinearPool(voters(n), CLASSES) for n in (350, 10_000)}
    per_voter, rows = {n: [] for n in pools}, rows_of(X[:65], y[:65])
    for _ in range(15):  # in turns, as above, and as many steps of either
        for n, pool in pools.items():
            times = 10_000 // n
            train = partial(pool.train, np.arange(n), *rows)
            per_voter[n].append(best(lambda: [train() for _ in range(times)], 1) / times / n)
    return min(per_voter[10_000]) / min(per_voter[350])


def side_by_side(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, str, str]]:
    """Yield what four voters side by side take, against one after the other."""
    twelve = np.arange(12)
    for dtype in (np.float64, np.float32):
        rows = rows_of(X[:N_TRAIN].astype(dtype), y[:N_TRAIN])
        for loss in ("hinge", "modified_huber", "log_loss"):
            for average in (False, True):
                options = {"loss": loss, "average": average, "max_iter": 20}
                pool = LinearPool(voters(12, n_iter_no_change=1000, **options), CLASSES)
                n_steps = pool.finish(twelve, *rows)
                taken = {"four": [], "one": []}
                for _ in range(7):  # in turns
                    for key, groups in (("four", [twelve]), ("one", twelve[:, None])):
                        seconds = best(lambda: [pool.finish(g, *rows) for g in groups], 1)
                        taken[key].append(seconds)
                four, one = (1e9 * np.median(taken[key]) / n_steps for key in ("four", "one"))
                name = f"{loss}{', averaged' if average else ''}, {np.dtype(dtype)}"
                figure = f"{four:.0f} / {one:.0f} ns, {one / four:.2f}x"
                yield f"a step of four side by side / one at a time, {name}", "", figure


def by_instructions(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, str, str]]:
    """Yield what a step and a cosine take with each instruction set that this processor has."""
    from skliquid import native  # which versions to compare with may not have

    widest, twelve = native.instructions(), np.arange(12)
    names = native.instruction_sets()
    for dtype in (np.float64, np.float32):
        rows = rows_of(X[:N_TRAIN].astype(dtype), y[:N_TRAIN])
        for loss in ("hinge", "log_loss"):
            taken = []
            finish = partial(LinearPool(voters(12, loss=loss), CLASSES).finish, twelve, *rows)
            for name in names:
                native.use_instructions(name)
                n_steps = finish()
                taken.append(1e9 * best(finish, 7) / n_steps)
            figure = " / ".join(f"{nanoseconds:.0f}" for nanoseconds in taken) + " ns"
            yield f"a step, {loss}, {np.dtype(dtype)}, {' / '.join(names)}", "", figure
    numbers, taken = np.random.default_rng(0).normal(size=100_000), []
    for name in names:
        native.use_instructions(name)
        taken.append(1e4 * best(lambda: native.cosines(numbers, 1.0), 20))
    native.use_instructions(widest)
    figure = " / ".join(f"{nanoseconds:.1f}" for nanoseconds in taken) + " ns"
    yield f"a cosine, {' / '.join(names)}", "", figure


def pruned_against_full(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, str, str]]:
    """Yield what a pruned trial takes, of what training all voters in full takes."""
    X, y = X[:N_TRAIN], y[:N_TRAIN]
    settings = {"u = 25, rate 0.2": (25, 0.2), "u = 65, rate 0.05": (65, 0.05)}
    models = [ensemble("linear", 25, 0.0, mechanism="direct")]
    models += [ensemble("linear", *setting) for setting in settings.values()]
    taken = [[], [], []]
    for _ in range(10):  # in turns, so that a slow moment of the machine meets all
        for seconds, model in zip(taken, models, strict=True):
            seconds.append(best(lambda: model.fit(X, y), 2))
    everyone, full = models[0].training_cost_.total, min(taken[0])
    for name, seconds, model in zip(settings, taken[1:], models[1:], strict=True):
        visits = model.training_cost_.total / everyone
        figure = f"{min(seconds) / full:.2f} ({visits:.2f})"
        yield f"pruned trial / all trained in full (in visits), {name}", "", figure


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


def against(python: str, rounds: int) -> Table:
    """Return what this version takes against that of another interpreter, both in turns."""
    here, there = (
        subprocess.Popen(
            [interpreter, __file__, "--worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for interpreter in (sys.executable, python)
    )
    names, _ = (json.loads(worker.stdout.readline()) for worker in (here, there))
    table = Table("", "times as fast: median", "range", box=MARKDOWN)
    for name in track(names, "Measuring"):
        ratios = []
        for _ in range(rounds):
            taken = []
            for worker in (here, there):
                worker.stdin.write(name + "\n")
                worker.stdin.flush()
                taken.append(float(worker.stdout.readline()))
            ratios.append(taken[1] / taken[0])
        span = f"{min(ratios):.2f} to {max(ratios):.2f}"
        table.add_row(name, f"{np.median(ratios):.2f}x", span)
    for worker in (here, there):
        worker.stdin.close()
        worker.wait()
    return table


def work() -> None:
    """Take the measurements that are asked for by name, and print how many seconds each took."""
    rows = {row.name: row for row in all_rows(*data())}
    print(json.dumps(list(rows)), flush=True)
    for line in sys.stdin:
        print(rows[line.strip()].seconds(5), flush=True)


def profile(X: np.ndarray, y: np.ndarray) -> None:
    trial = ensemble("linear", 25, 0.2).fit(X[:N_TRAIN], y[:N_TRAIN])
    with cProfile.Profile() as profiler:
        trial.fit(X[:N_TRAIN], y[:N_TRAIN])
    pstats.Stats(profiler).sort_stats("cumulative").print_stats(20)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--profile", action="store_true", help="where a trial's time goes")
    arguments.add_argument("--against", metavar="PYTHON", help="with another version of skliquid")
    arguments.add_argument("--rounds", type=int, default=7, help="of --against")
    arguments.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    warnings.filterwarnings("ignore")
    console = Console(width=110)
    with threadpool_limits(1):
        if options.worker:
            work()
        elif options.profile:
            profile(*data())
        elif options.against:
            console.print(against(options.against, options.rounds))
        else:
            for table in measure(*data()):
                console.print(table)


def measure(X: np.ndarray, y: np.ndarray) -> Iterator[Table]:
    table = Table("", "aim", "measured", box=MARKDOWN)
    for row in track(all_rows(X, y), "Measuring"):
        table.add_row(row.name, row.aim, row.ratio())
    for row in figures(X, y):
        table.add_row(*row)
    yield table
    yield peers(X, y)


if __name__ == "__main__":
    main()
