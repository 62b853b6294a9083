"""Model files beside pickles: bytes, and the time to save and to load, as ratios in one run."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import joblib
import numpy as np
from tabulate import tabulate

from skliquid import LiquidEnsembleClassifier, load, save
from skliquid.datasets import load_dataset

REPEATS = 5


def models() -> dict[str, Any]:
    """Return fitted models."""
    data = load_dataset("spambase")
    X, y = np.asarray(data.X, dtype=np.float64), data.y
    stream = LiquidEnsembleClassifier.for_streams(random_state=0)
    for start in range(0, 4000, 200):
        stream.partial_fit(X[start : start + 200], y[start : start + 200], classes=np.unique(y))
    paper = LiquidEnsembleClassifier.as_in_the_paper(random_state=0)
    return {
        "default": LiquidEnsembleClassifier(random_state=0).fit(X, y),
        "for_streams, in training": stream,
        "as_in_the_paper": paper.fit((X - X.mean(axis=0)) / X.std(axis=0), y),
    }


def seconds(function: Callable[[], Any]) -> float:
    """Return the least time of several calls."""
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


def row_of(name: str, model: Any, folder: Path) -> dict[str, Any]:
    """Return the figures of one model."""
    ours, pickled = folder / "a.skliquid", folder / "a.joblib"
    saving = seconds(lambda: save(model, ours)), seconds(lambda: joblib.dump(model, pickled))
    loading = seconds(lambda: load(ours)), seconds(lambda: joblib.load(pickled))
    sizes = ours.stat().st_size, pickled.stat().st_size
    return {
        "model": name,
        "kB": round(sizes[0] / 1000),
        "kB, joblib": round(sizes[1] / 1000),
        "ratio": round(sizes[0] / sizes[1], 2),
        "save, ms": round(1000 * saving[0], 1),
        "save, joblib, ms": round(1000 * saving[1], 1),
        "load, ms": round(1000 * loading[0], 1),
        "load, joblib, ms": round(1000 * loading[1], 1),
    }


def main() -> None:
    """Print a table."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [row_of(name, model, Path(folder)) for name, model in models().items()]
    print(tabulate(rows, headers="keys", tablefmt="github"))


if __name__ == "__main__":
    main()
