"""Streams against river's adaptive random forest: prequential accuracy, rows per CPU second.

Two streams by river, with abrupt and with gradual drift, and two tables in the order of time:
office rooms, and phone calls of a bank. Ours gets increments of 100 rows, each of which is
predicted first; numbers are scaled by what came so far, and categories, which are known before, are
one-hot encoded. The forest learns row by row, and gets categories as they are. Settings may be
chosen with ``--seeds 101``; the seeds reported are others.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from river.datasets import synth
from river.forest import ARFClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler
from tables import load_table
from threadpoolctl import threadpool_limits

from skliquid import Diversity, LiquidEnsembleClassifier
from skliquid.datasets import load_dataset
from skliquid.diversity import FourierFeatures, LogUniform
from skliquid.mechanisms import as_mechanism, revocable

INCREMENT = 100
HEAD = """# Streams against the adaptive random forest

By `make bench-streams`. Prequential accuracy in percent after the first increment, with standard
errors over seeds; real streams have one order, and seeds are those of the models. Rows per CPU
second, one thread."""

Stream = tuple[pd.DataFrame, np.ndarray]
"""Rows in their order, with categories in categorical columns, and their labels."""


# Streams


def agrawal(seed: int, n_rows: int) -> Stream:
    """Loan applications: the rule changes three times at once, and a twentieth is perturbed."""
    cuts = np.linspace(0, n_rows, 5).astype(int)
    parts = [
        islice(
            synth.Agrawal(rule, seed=4 * seed + k, perturbation=0.05), int(cuts[k + 1] - cuts[k])
        )
        for k, rule in enumerate((0, 2, 4, 6))
    ]
    return _of_pairs([pair for part in parts for pair in part])


def moving_clouds(seed: int, n_rows: int) -> Stream:
    """Fifty clouds of five classes in ten dimensions, which move all the time."""
    clouds = synth.RandomRBFDrift(
        seed_model=seed,
        seed_sample=seed,
        n_classes=5,
        n_features=10,
        n_centroids=50,
        n_drift_centroids=50,
        change_speed=1e-4,
    )
    return _of_pairs(list(clouds.take(n_rows)))


def _of_pairs(pairs: list[tuple[dict[Any, float], int]]) -> Stream:
    rows, labels = zip(*pairs, strict=True)
    return pd.DataFrame(list(rows)).rename(columns=str).astype(float), np.array(labels)


def occupancy(_seed: int, n_rows: int) -> Stream:
    """Whether a room is in use, minute by minute."""
    dataset = load_dataset("occupancy-det", as_frame=True)
    (time,) = (
        name
        for name, kind in zip(dataset.feature_names, dataset.column_types, strict=True)
        if kind == "time"
    )
    order = np.argsort(pd.to_datetime(dataset.X[time]).to_numpy(), kind="stable")[:n_rows]
    X = dataset.X.drop(columns=time).iloc[order].reset_index(drop=True)
    return X, np.asarray(dataset.y)[order]


def bank(_seed: int, n_rows: int) -> Stream:
    """Whether a client of a bank accepts an offer, call by call from 2008 to 2010."""
    X, y = load_table("bank")
    return X[:n_rows], y.to_numpy(str)[:n_rows]


STREAMS: dict[str, Callable[[int, int], Stream]] = {
    "agrawal": agrawal,
    "moving clouds": moving_clouds,
    "occupancy-det": occupancy,
    "bank": bank,
}


# Learners: rows as they take them, and whether each prediction is right


def as_arrays(X: pd.DataFrame) -> list[np.ndarray]:
    """Return the numbers, and the categories one-hot encoded."""
    categories = list(X.select_dtypes("category"))
    encoded = pd.get_dummies(X, columns=categories).to_numpy(float)  # categories come last
    return np.hsplit(encoded, [X.shape[1] - len(categories)])


def by_increments(model: Any, X: list[np.ndarray], y: np.ndarray) -> Iterator[np.ndarray]:
    (numbers, indicators), classes, scaler = X, np.unique(y), StandardScaler()
    for start in range(0, len(y), INCREMENT):
        increment = slice(start, start + INCREMENT)
        scaled = scaler.partial_fit(numbers[increment]).transform(numbers[increment])
        rows, labels = np.hstack([scaled, indicators[increment]]), y[increment]
        yield model.predict(rows) == labels if start else np.zeros(len(labels), dtype=bool)
        model.partial_fit(rows, labels, classes=classes)


def as_dicts(X: pd.DataFrame) -> list[dict[str, Any]]:
    return X.to_dict("records")


def row_by_row(model: Any, X: list[dict[str, Any]], y: np.ndarray) -> Iterator[np.ndarray]:
    for row, label in zip(X, y.tolist(), strict=True):
        yield np.array([model.predict_one(row) == label])
        model.learn_one(row, label)


def linear_for_streams(seed: int) -> LiquidEnsembleClassifier:
    """Return what ``for_streams()`` was before trees."""
    waves = FourierFeatures(gamma="scale", n_components=200)
    return LiquidEnsembleClassifier(
        SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.1),
        n_estimators=60,
        n_final=12,
        mechanism=as_mechanism(
            revocable("proportional_weighted"), vote_weights="delegated_log_odds"
        ),
        increment_size="auto",
        competence="contribution",
        voting="soft",
        diversity=Diversity(
            param_distributions={"eta0": LogUniform(1e-2, 2), "alpha": LogUniform(1e-6, 1e-3)},
            feature_maps=["passthrough", waves, waves, waves],
        ),
        random_state=seed,
    )


OURS, LINEAR, FOREST = "for_streams()", "linear voters only", "adaptive random forest"
LEARNERS: dict[str, tuple[Callable[..., Any], ...]] = {
    OURS: (
        lambda seed: LiquidEnsembleClassifier.for_streams(random_state=seed),
        as_arrays,
        by_increments,
    ),
    LINEAR: (linear_for_streams, as_arrays, by_increments),
    FOREST: (lambda seed: ARFClassifier(n_models=10, seed=seed), as_dicts, row_by_row),
}
"""How to make a model, prepare rows, which is not timed, and learn."""


@dataclass(frozen=True)
class Run:
    learner: str
    stream: str
    seed: int
    accuracy: float
    rows_per_second: float


def run(learner: str, stream: str, seed: int, n_rows: int) -> Run:
    """Return how often a learner is right after its first increment, and how fast it is."""
    X, y = STREAMS[stream](seed, n_rows)
    make, prepare, learn = LEARNERS[learner]
    model, rows = make(seed), prepare(X)
    start = process_time()
    is_right = np.concatenate(list(learn(model, rows, y)))
    seconds = process_time() - start
    return Run(learner, stream, seed, float(is_right[INCREMENT:].mean()), len(y) / seconds)


def summary(runs: list[Run]) -> str:
    """Return accuracies with standard errors over seeds, speed, and who is ahead, as Markdown."""
    results = pd.DataFrame(runs)
    by = results.groupby(["stream", "learner"], sort=False)
    mean, error = 100 * by["accuracy"].mean().unstack(), 100 * by["accuracy"].sem().unstack()
    table = mean.map("{:.1f}".format) + " ± " + error.fillna(0).map("{:.1f}".format)
    speed = by["rows_per_second"].mean().unstack()
    for name in speed.columns:
        table[f"rows/s, {name}"] = speed[name].map("{:,.0f}".format)
    lines = [HEAD, table.to_markdown(disable_numparse=True)]
    for name in (OURS, LINEAR):
        if {name, FOREST} <= set(mean.columns):
            n_ahead, ratio = (mean[name] > mean[FOREST]).sum(), speed[name] / speed[FOREST]
            faster = f"{np.exp(np.log(ratio).mean()):.0f} times as fast, at least {ratio.min():.0f}"
            lines.append(f"{name}: ahead of the forest on {n_ahead} of {len(mean)}, {faster}.")
    return "\n\n".join(lines) + "\n"


def _line(run: Run) -> str:
    return (
        f"{run.stream}, seed {run.seed}, {run.learner}: accuracy {run.accuracy:.4f}, "
        f"{run.rows_per_second:,.0f} rows per CPU second"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000, help="of each stream, at most")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=STREAMS)
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=LEARNERS)
    parser.add_argument("--write", type=Path, help="where to write the table as Markdown")
    options = parser.parse_args()
    runs = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for stream in options.streams:
            for seed in options.seeds:
                for learner in options.learners:
                    runs.append(run(learner, stream, seed, options.rows))
                    print(_line(runs[-1]), flush=True)
    text = summary(runs)
    print(text)
    if options.write:
        options.write.write_text(text)


if __name__ == "__main__":
    main()
