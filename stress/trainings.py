"""Trainings whose bits are compared, and their digests: one process, one training.

``python stress/trainings.py default digits --n-jobs 2`` prints the SHA-256 of the labels,
probabilities, delegations, record and voters of the training, as JSON.
"""

import argparse
import json
import pickle
import tempfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from inspect import signature
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_info

import skliquid.dask.cluster
from skliquid import DaskLiquidEnsembleClassifier, LiquidEnsembleClassifier, train_on
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

N_PARTS = 12
ENSEMBLES: dict[str, dict[str, Any]] = {
    "linear, hard votes": {
        "estimator": SGDClassifier(),
        "n_estimators": 40,
        "voting": "hard",
        "competence": "training",
        "max_features": 0.7,
    },
    "linear, soft votes": {"estimator": SGDClassifier(loss="log_loss"), "n_estimators": 40},
    "linear, averaged": {"estimator": SGDClassifier(loss="log_loss", average=True)},
    "trees": {
        "estimator": [
            ("forest", RandomizedForestClassifier()),
            ("boosted", BoostedTreesClassifier()),
        ],
        "bootstrap": True,
    },
    "naive Bayes": {"estimator": GaussianNB(), "max_features": 0.5},
    "default": {},
    "for streams": LiquidEnsembleClassifier.for_streams().get_params(deep=False),
}
TABLES = ("narrow", "digits", "wide")
WAYS = ("fit", "partial_fit", "pickled", "streamed", "resumed")
"""How an ensemble is trained: at once; in parts, also with a pickle after each; by ``train_on``,
also stopped twice and resumed."""


class StoppedError(Exception):
    """A training is stopped midway."""


def rows(table: str) -> tuple[Any, Any, Any]:
    """Return rows, their labels, and new rows."""
    if table == "digits":
        X, y = load_digits(return_X_y=True)
        return X[:1200] / 7, y[:1200], X[1200:] / 7
    rng = np.random.default_rng(0)
    n_rows, n_features = (3000, 17) if table == "narrow" else (600, 1500)
    X = rng.normal(size=(n_rows + n_rows // 3, n_features))
    signal = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + rng.normal(size=len(X))
    y = np.digitize(signal, [0.3] if table == "narrow" else [-0.5, 1.0])
    return X[:n_rows], y[:n_rows], X[n_rows:]


def trained(
    name: str, table: str, way: str = "fit", **options: Any
) -> tuple[LiquidEnsembleClassifier, Any]:
    """Return a trained ensemble, and new rows."""
    X, y, new = rows(table)
    model = LiquidEnsembleClassifier(**ENSEMBLES[name] | {"random_state": 0} | options)
    if way == "fit":
        return model.fit(X, y), new
    if way in ("streamed", "resumed"):
        return _streamed(model, X, y, stops=(3, 7) if way == "resumed" else ()), new
    for part in np.array_split(np.arange(len(y)), N_PARTS):
        model.partial_fit(X[part], y[part], classes=np.unique(y))
        if way == "pickled":
            model = pickle.loads(pickle.dumps(model))
    return model, new


def trained_on_cluster(
    client: Any, table: str, n_partitions: int, **params: Any
) -> LiquidEnsembleClassifier:
    """Return an ensemble trained on a Dask cluster, on whose workers all trees grow."""
    skliquid.dask.cluster.MIN_CELLS = 0
    X, y, _ = rows(table)
    size = -(-len(y) // n_partitions)
    data = da.from_array(X, chunks=(size, X.shape[1])), da.from_array(y, chunks=size)
    return DaskLiquidEnsembleClassifier(client, random_state=0, **params).fit(*data).to_local()


def _streamed(model: Any, X: Any, y: Any, stops: tuple[int, ...]) -> LiquidEnsembleClassifier:
    """Return an ensemble trained on a file, stopped after some increments and resumed."""
    size = -(-len(y) // N_PARTS)
    with tempfile.TemporaryDirectory() as folder:
        path, checkpoint = Path(folder) / "rows.csv", Path(folder) / "rows.checkpoint"
        pd.DataFrame(X).add_prefix("x").assign(y=y).to_csv(path, index=False)

        def run(stop: int | None) -> Any:
            def report(progress: Any) -> None:
                if stop and progress.n_rows == stop * size:
                    raise StoppedError

            return train_on(
                path,
                target="y",
                ensemble=model,
                increment_size=size,
                online=True,
                checkpoint=checkpoint,
                report=report,
                **resuming(checkpoint),
            )

        for stop in stops:
            try:
                run(stop)
            except StoppedError:
                continue
        return run(None).ensemble


def resuming(checkpoint: Path) -> dict[str, Any]:
    """Return the option of ``train_on`` that resumes from a checkpoint, if there is one."""
    has_option = "resume" in signature(train_on).parameters
    return {"resume": True} if has_option and checkpoint.exists() else {}


# Digests


def digests(model: LiquidEnsembleClassifier, new: Any) -> dict[str, str]:
    """Return the SHA-256 of everything that training promises the bits of."""
    numbers: dict[str, Callable[[], Iterator[Any]]] = {
        "labels": lambda: iter([model.predict(new)]),
        "probabilities": lambda: iter([model.predict_proba(new)]),
        "delegations": lambda: (increment.graph.delegation for increment in model.record_),
        "record": lambda: _numbers_of_record(model),
        "voters": lambda: (n for voter in model.estimators_ for n in _numbers_of(voter)),
    }
    return {part: _sha256(arrays()) for part, arrays in numbers.items()}


def _sha256(arrays: Iterator[Any]) -> str:
    sha = sha256()
    for array in arrays:
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()


def _numbers_of_record(model: LiquidEnsembleClassifier) -> Iterator[Any]:
    for increment in model.record_:
        yield from (increment.rows, increment.voters, increment.accuracy, increment.competence)
        yield from (increment.n_trained, increment.cost)
    yield from (model.training_cost_, model.temperature_, model.n_samples_seen_)


def _numbers_of(voter: Any) -> Iterator[Any]:
    """Yield the arrays that a fitted voter consists of."""
    for _, step in getattr(voter, "steps", []):
        yield from _numbers_of(step)
    for _, value in sorted(vars(voter).items()):
        if isinstance(value, np.ndarray):
            yield value
    for tree in getattr(getattr(voter, "trees_", None), "trees", ()):
        yield from (np.frombuffer(bytes(part), dtype=np.uint8) for part in tree)


def sees_each_row_once(model: LiquidEnsembleClassifier, n_rows: int) -> bool:
    """Return whether the record has each row of a stream once, in order."""
    trained_on = np.concatenate([np.asarray(increment.rows) for increment in model.record_])
    return np.array_equal(trained_on, np.arange(n_rows)) and model.n_samples_seen_ == n_rows


def blas_kernels() -> str:
    """Return which kernels of BLAS are loaded."""
    libraries = (library for library in threadpool_info() if library["user_api"] == "blas")
    return ", ".join(sorted({str(library.get("architecture")) for library in libraries}))


def main() -> None:
    """Train as the command line says, and print the digests."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=ENSEMBLES)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--way", choices=WAYS, default="fit")
    parser.add_argument("--n-jobs", type=int)
    parser.add_argument("--pool", default="auto")
    parser.add_argument("--scheduler", help="the address of a Dask scheduler to train on")
    parser.add_argument("--partitions", type=int, default=1, help="of the rows on a cluster")
    parser.add_argument("--save", type=Path, help="a file for probabilities and delegations")
    options = parser.parse_args()
    if options.scheduler:
        params, new = ENSEMBLES[options.name], rows(options.table)[2]
        model = trained_on_cluster(options.scheduler, options.table, options.partitions, **params)
    else:
        more = {"n_jobs": options.n_jobs, "pool": options.pool}
        model, new = trained(options.name, options.table, options.way, **more)
    if options.save:
        graph = model.delegation_graph_.delegation
        np.savez(options.save, probabilities=model.predict_proba(new), delegation=graph)
    print(json.dumps({"kernels": blas_kernels(), **digests(model, new)}))


if __name__ == "__main__":
    main()
