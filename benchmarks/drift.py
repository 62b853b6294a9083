"""Concept drift: prequential accuracy and rows per CPU second, against what one would pick.

Four streams with known drift, each from several seeds. Every batch is
predicted first and learned from afterwards; river's models do so row by row. Settings of ours were
chosen on seed 101; the seeds reported are others.

    python benchmarks/drift.py --write docs/drift.md --figure docs/images/drift.png
"""

import argparse
import re
import resource
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from numpy.random import Generator
from river.ensemble import LeveragingBaggingClassifier
from river.forest import ARFClassifier
from river.tree import HoeffdingTreeClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from skliquid import LiquidEnsembleClassifier
from skliquid.mechanisms import as_mechanism

BATCH = 100
SMOOTH = 10
PAGE = resource.getpagesize()


# Streams: rows, labels, and where the concept changes


def abrupt(n_rows: int, rng: Generator) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Two of three features decide by a sum, whose bar jumps three times; a tenth is noise."""
    X = rng.uniform(0, 10, (n_rows, 3))
    turns = [n_rows * k // 4 for k in (1, 2, 3)]
    bar = np.array([8.0, 9.0, 7.0, 9.5])[np.searchsorted(turns, np.arange(n_rows), side="right")]
    return X, _noisy(X[:, 0] + X[:, 1] <= bar, 0.1, rng), turns


def gradual(n_rows: int, rng: Generator) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Thirty clouds in ten dimensions, half of either class, move all the time."""
    centres, sizes = rng.random((30, 10)), 0.02 + 0.15 * rng.random(30)
    ways = rng.normal(size=(30, 10))
    ways *= 3e-4 / np.linalg.norm(ways, axis=1, keepdims=True)
    clouds, steps = rng.integers(30, size=n_rows), rng.normal(size=(n_rows, 10))
    X = np.empty((n_rows, 10))
    for row, cloud in enumerate(clouds):
        X[row] = centres[cloud] + sizes[cloud] * steps[row]
        centres += ways
        ways[(centres < 0) | (centres > 1)] *= -1
    return X, clouds % 2, []


def recurring(n_rows: int, rng: Generator) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Two concepts, neither of them linear, take turns; one label in twenty is noise."""
    X, a, b = rng.normal(size=(n_rows, 8)), rng.normal(size=(2, 8)), rng.normal(size=(2, 8))
    first = np.abs(X @ a[0]) > np.abs(X @ a[1])
    second = (X @ b[0] > 0) ^ (X @ b[1] > 0)
    turns = [n_rows * k // 8 for k in range(1, 8)]
    is_first = np.searchsorted(turns, np.arange(n_rows), side="right") % 2 == 0
    return X, _noisy(np.where(is_first, first, second), 0.05, rng), turns


def harder(n_rows: int, rng: Generator) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Draw a straight line at first, a ball from the middle on; one label in twenty is noise."""
    X, weights = rng.normal(size=(n_rows, 6)), rng.normal(size=6)
    is_late = np.arange(n_rows) >= n_rows // 2
    y = np.where(is_late, (X[:, :3] ** 2).sum(axis=1) > 2.37, X @ weights > 0)
    return X, _noisy(y, 0.05, rng), [n_rows // 2]


def _noisy(y: np.ndarray, share: float, rng: Generator) -> np.ndarray:
    return (y ^ (rng.random(len(y)) < share)).astype(int)


STREAMS = {"abrupt": abrupt, "gradual": gradual, "recurring": recurring, "harder": harder}


# Learners: batches in, whether each prediction was correct out


def by_batches(make: Callable[[int], Any]) -> Callable[..., Iterator[np.ndarray]]:
    def learn(X: np.ndarray, y: np.ndarray, seed: int) -> Iterator[np.ndarray]:
        model, scaler = make(seed), StandardScaler()
        for start in range(0, len(y), BATCH):
            labels = y[start : start + BATCH]
            rows = scaler.partial_fit(X[start : start + BATCH]).transform(X[start : start + BATCH])
            yield model.predict(rows) == labels if start else np.zeros(len(labels), dtype=bool)
            model.partial_fit(rows, labels, classes=[0, 1])

    return learn


def row_by_row(make: Callable[[int], Any]) -> Callable[..., Iterator[np.ndarray]]:
    def learn(X: np.ndarray, y: np.ndarray, seed: int) -> Iterator[np.ndarray]:
        model, is_right = make(seed), []
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            features = dict(enumerate(row))
            is_right.append(model.predict_one(features) == label)
            model.learn_one(features, label)
            if len(is_right) == BATCH:
                yield np.array(is_right)
                is_right = []

    return learn


def _ours(mechanism: str | None = None) -> Callable[..., Iterator[np.ndarray]]:
    """Return the preset, or the preset with another mechanism and the same vote weights."""
    weighted = mechanism and as_mechanism(mechanism, vote_weights="delegated_log_odds")
    changes: dict[str, Any] = {"mechanism": weighted} if weighted else {}
    return by_batches(
        lambda seed: LiquidEnsembleClassifier.for_streams(random_state=seed, **changes)
    )


def _constant(seed: int) -> SGDClassifier:
    return SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.1, random_state=seed)


def _forest(seed: int) -> Any:
    return ARFClassifier(seed=seed)


def _bagging(seed: int) -> Any:
    return LeveragingBaggingClassifier(HoeffdingTreeClassifier(), seed=seed)


OURS = "LiquidEnsembleClassifier.for_streams()"
LEARNERS = {
    OURS: _ours(),
    "the same, not revocable": _ours("proportional_weighted"),
    "the same, learning_slopes": _ours("learning_slopes"),
    "the same, pruned at random": _ours("random"),
    "the same, nobody delegates": _ours("direct"),
    "SGDClassifier(), as it is": by_batches(lambda seed: SGDClassifier(random_state=seed)),
    "SGDClassifier, constant rate": by_batches(_constant),
    "river's adaptive random forest": row_by_row(_forest),
    "river's leveraging bagging": row_by_row(_bagging),
}


@dataclass
class Run:
    learner: str
    stream: str
    seed: int
    is_right: np.ndarray
    seconds: float
    turns: list[int]


def run(learner: str, stream: str, seed: int, n_rows: int) -> Run:
    warnings.simplefilter("ignore")
    X, y, turns = STREAMS[stream](n_rows, np.random.default_rng(seed))
    start = process_time()
    is_right = np.concatenate(list(LEARNERS[learner](X, y, seed)))
    seconds = process_time() - start
    return Run(learner, stream, seed, is_right, seconds, turns)


def table(runs: list[Run]) -> str:
    lines = [f"| | {' | '.join(STREAMS)} | rows per CPU second |", "| --- |" + " --- |" * 5]
    for learner in LEARNERS:
        cells, own = [], [run for run in runs if run.learner == learner]
        for stream in STREAMS:
            shares = [100 * run.is_right[BATCH:].mean() for run in own if run.stream == stream]
            error = np.std(shares, ddof=1) / np.sqrt(len(shares)) if len(shares) > 1 else 0
            cells.append(f"{np.mean(shares):.1f} ± {error:.1f}")
        speed = sum(len(run.is_right) for run in own) / sum(run.seconds for run in own)
        lines.append(f"| {learner} | {' | '.join(cells)} | {speed:,.0f} |")
    return "\n".join(lines)


SHOWN = {
    OURS: "C0",
    "the same, not revocable": "C1",
    "SGDClassifier, constant rate": "C7",
    "river's adaptive random forest": "C2",
    "river's leveraging bagging": "C4",
}


def draw(runs: list[Run], path: Path) -> None:
    figure, axes = plt.subplots(4, 1, figsize=(9, 12), layout="constrained")
    for axis, stream in zip(axes, STREAMS, strict=True):
        for learner, colour in SHOWN.items():
            own = [run for run in runs if (run.learner, run.stream) == (learner, stream)]
            share = np.mean([run.is_right for run in own], axis=0)
            share = share.reshape(-1, BATCH).mean(axis=1)
            smooth = np.convolve(share, np.ones(SMOOTH) / SMOOTH, mode="valid")
            at = (np.arange(len(smooth)) + SMOOTH) * BATCH
            axis.plot(at, smooth, color=colour, label=learner, lw=2 if learner == OURS else 1.2)
        for turn in own[0].turns:
            axis.axvline(turn, color="0.8", lw=1, zorder=0)
        axis.set(title=stream, ylabel=f"accuracy, last {SMOOTH * BATCH:,} rows")
        axis.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xlabel("rows seen; grey lines: the concept changes")
    axes[0].legend(frameon=False, fontsize=8, ncols=2, loc="lower right")
    figure.savefig(path, dpi=110, metadata={"Software": None})


def without_end(n_rows: int) -> str:
    """Return time and memory of every tenth of a long stream."""
    lines = ["| rows so far | microseconds per row | resident memory |", "| --- | --- | --- |"]
    X, y, _ = recurring(80_000, np.random.default_rng(0))
    ensemble, start = LiquidEnsembleClassifier.for_streams(random_state=0), process_time()
    for seen in range(0, n_rows, BATCH):
        at = seen % len(y)
        ensemble.partial_fit(X[at : at + BATCH], y[at : at + BATCH], classes=[0, 1])
        if (seen + BATCH) % (n_rows // 10) == 0:
            cost = (process_time() - start) / (n_rows // 10) * 1e6
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            lines.append(f"| {seen + BATCH:,} | {cost:.0f} | {pages * PAGE / 2**20:.0f} MB |")
            start = process_time()
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", type=Path, help="page whose table is replaced")
    parser.add_argument("--figure", type=Path)
    parser.add_argument(
        "--for-ever", type=int, metavar="ROWS", help="one long stream, and no rivals"
    )
    options = parser.parse_args()
    if options.for_ever:
        print(without_end(options.for_ever))
        return
    rows = options.rows - options.rows % (8 * BATCH)
    todo = [(m, s, seed) for m in LEARNERS for s in STREAMS for seed in options.seeds]
    runs = []
    results = Parallel(n_jobs=options.jobs, return_as="generator_unordered")(
        delayed(run)(*task, rows) for task in todo
    )
    for done, result in enumerate(results, 1):
        runs.append(result)
        share, speed = result.is_right[BATCH:].mean(), rows / result.seconds
        name = f"{result.learner}, {result.stream}"
        print(f"{done}/{len(todo)} {name}: {share:.3f}, {speed:,.0f} rows/s")
    print(table(runs))
    if options.write:
        page = options.write.read_text()
        pattern = r"(?s)(<!-- table -->\n).*?(<!-- end -->)"
        options.write.write_text(re.sub(pattern, rf"\1\n{table(runs)}\n\n\2", page))
    if options.figure:
        draw(runs, options.figure)


if __name__ == "__main__":
    main()
