"""Eight threads that predict at once, and hundreds of fits in one process."""

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from section import Findings, Section, Table, with_progress
from soak import rss
from trainings import ENSEMBLES, rows, trained

from skliquid import LiquidEnsembleClassifier

N_THREADS, N_FITS_SHARE, MOST_GROWTH = 8, 0.1, 0.05
TEXT = (
    f"{N_THREADS} threads call `predict_proba` and `predict` of one fitted ensemble at once, each "
    "with its own slice of rows; the answers must have the bits of the same calls one after the "
    "other. Then ensembles are fitted one after the other in one process: after the first tenth, "
    f"its resident set must not grow by more than {MOST_GROWTH:.0%}."
)


def slices(n_rows: int, n: int, rng: np.random.Generator) -> Iterator[slice]:
    """Yield slices of rows, drawn at random."""
    for _ in range(n):
        start, stop = sorted(rng.integers(0, n_rows + 1, 2).tolist())
        yield slice(start, max(stop, start + 1)) if start < n_rows else slice(0, 1)


def n_different(model: Any, X: Any, cuts: list[slice], name: str) -> int:
    """Return how many answers of threads differ from those given one after the other."""

    def answers(cut: slice) -> tuple[bytes, bytes]:
        return model.predict_proba(X[cut]).tobytes(), model.predict(X[cut]).tobytes()

    with ThreadPoolExecutor(N_THREADS) as executor:
        at_once = list(with_progress(executor.map(answers, cuts), name, len(cuts)))
    return sum(ours != theirs for ours, theirs in zip(at_once, map(answers, cuts), strict=True))


def memory_of_fits(n_fits: int) -> list[float]:
    """Fit so many ensembles, each with another seed; return the memory after each, in MB."""
    (X, y, _), memory, names = rows("narrow"), [], list(ENSEMBLES)
    for seed in with_progress(range(n_fits), "Fits"):
        settings = ENSEMBLES[names[seed % len(names)]] | {"random_state": seed}
        LiquidEnsembleClassifier(**settings).fit(X[:400], y[:400])
        gc.collect()
        memory.append(rss())
    return memory


def run(times: int, rng: np.random.Generator) -> Findings:
    """Predict ``times`` times at once, and fit a tenth as often."""
    table: Table = []
    failures = []
    for name in ENSEMBLES:
        model, new = trained(name, "digits", n_jobs=2)
        cuts = list(slices(len(new), -(-times // len(ENSEMBLES)), rng))
        n_wrong = n_different(model, new, cuts, name)
        same = len(cuts) - n_wrong
        table.append({"ensemble": name, "predictions at once": len(cuts), "same bits": same})
        if n_wrong:
            failures.append(f"{name}: {n_wrong} of {len(cuts)} predictions of threads differed")
    n_fits = max(int(N_FITS_SHARE * times), 20)
    memory = memory_of_fits(n_fits)
    points = np.linspace(n_fits // 10, n_fits - 1, 6, dtype=int).tolist()
    fits = [{"fits": point + 1, "memory, MB": f"{memory[point]:.0f}"} for point in points]
    growth = memory[-1] / memory[points[0]] - 1
    if growth > MOST_GROWTH:
        failures.append(f"memory grew by {growth:.1%} in {n_fits} fits")
    n_tried = sum(row["predictions at once"] for row in table) + n_fits
    return Findings([TEXT, table, fits], failures, n_tried)


SECTION = Section("threads", "Threads and repeated fits", run, times=5000, quick_times=200)

if __name__ == "__main__":
    SECTION.main()
