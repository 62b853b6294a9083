"""A soak: ten million rows through ``partial_fit``, and the memory of the process meanwhile."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from section import Findings, Section, Table, with_progress
from sklearn.linear_model import SGDClassifier

from skliquid import LiquidEnsembleClassifier

N_FEATURES, N_POINTS, ROWS_AT_ONCE = 20, 10, 1000
MOST_GROWTH = 0.05


class Soak(NamedTuple):
    """An ensemble, the share of the rows that it is given, and after how many memory is flat."""

    new: Callable[..., Any]
    share: float
    flat_after: int


SOAKS = {
    "24 linear voters": Soak(partial(LiquidEnsembleClassifier, SGDClassifier()), 1.0, 1_000_000),
    "the default": Soak(LiquidEnsembleClassifier, 0.1, 200_000),
    "`for_streams()`": Soak(LiquidEnsembleClassifier.for_streams, 0.02, 20_000),
}
"""The slower, the fewer rows. Linear voters have a record of the last 1,000 increments, trees keep
the last 100,000 rows, those for streams the last 4,000."""
TEXT = (
    f"Rows with {N_FEATURES} features and a concept that drifts go through `partial_fit` in "
    f"increments of {ROWS_AT_ONCE}; before every tenth increment they are predicted. Memory is the "
    "resident set of the process in MB, after each tenth of the rows. Once the record and the rows "
    f"that trees keep are full, it must not grow by more than {MOST_GROWTH:.0%}."
)


def rss() -> float:
    """Return the memory of this process, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def soaked(model: Any, n_rows: int, rng: np.random.Generator, name: str) -> list[float]:
    """Give so many rows to an ensemble; return the memory after each tenth of them."""
    n_increments = max(n_rows // ROWS_AT_ONCE, N_POINTS)
    points, memory = set(np.linspace(0, n_increments, N_POINTS + 1, dtype=int)[1:].tolist()), []
    for increment in with_progress(range(1, n_increments + 1), name):
        X = rng.normal(size=(ROWS_AT_ONCE, N_FEATURES))
        angle = 6.0 * increment / n_increments
        signal = np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1] + 2 * X[:, 2] * X[:, 3]
        y = signal + rng.normal(size=ROWS_AT_ONCE) > 0
        if increment > 1 and increment % 10 == 0:
            model.predict_proba(X)
        model.partial_fit(X, y, classes=[False, True])
        if increment in points:
            memory.append(rss())
    return memory


def run(times: int, rng: np.random.Generator) -> Findings:
    """Give ``times`` rows to an ensemble of linear voters, and fewer to others."""
    table: Table = []
    failures = []
    n_given = 0
    for name, soak in SOAKS.items():
        n_rows, start = max(int(times * soak.share), 10_000), perf_counter()
        n_given += n_rows
        memory = soaked(soak.new(random_state=0), n_rows, rng, name)
        points = {f"{10 * (k + 1)} %": f"{mb:.0f}" for k, mb in enumerate(memory)}
        seconds = f"{perf_counter() - start:.0f}"
        table.append({"ensemble": name, "rows": f"{n_rows:,}", "seconds": seconds} | points)
        flat = [mb for k, mb in enumerate(memory, start=1) if k * n_rows / 10 >= soak.flat_after]
        if flat and flat[-1] > flat[0] * (1 + MOST_GROWTH):
            failures.append(f"{name}: memory grew from {flat[0]:.0f} to {flat[-1]:.0f} MB")
    return Findings([TEXT, table], failures, n_given)


SECTION = Section("soak", "Soak", run, times=10_000_000, quick_times=100_000)

if __name__ == "__main__":
    SECTION.main()
