"""How much memory does a file larger than memory take, and how many rows per second?

Makes a Parquet file of random numbers, categories and missing values, and trains on it: skliquid in
one pass over all of it, the alternatives on as many of its first rows as they get through in some
time. Each is measured in a process of its own. ``--gigabytes 0.05`` is done in a minute or so.
"""

import argparse
import importlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

N_NUMBERS = 40
N_VOTERS, N_FINAL = 24, 5
ROWS_IN_A_GROUP = 100_000
TOWNS = [f"town {k}" for k in range(30)]
TRAVEL = ["walk", "ride", "drive", "fly"]


def make_file(path: Path, gigabytes: float) -> None:
    """Write about that much, one row group at a time, of numbers that cannot be compressed."""
    rng, writer = np.random.default_rng(0), None
    while writer is None or path.stat().st_size < gigabytes * 1e9:
        table = row_group(rng)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def row_group(rng: np.random.Generator) -> pa.Table:
    X = rng.normal(size=(N_NUMBERS, ROWS_IN_A_GROUP))
    town = rng.integers(len(TOWNS), size=ROWS_IN_A_GROUP)
    margin = X[:5].sum(axis=0) + 2 * X[5] * X[6] + 0.1 * town + rng.normal(size=ROWS_IN_A_GROUP)
    columns: dict[str, Any] = {f"x{k}": pa.array(values) for k, values in enumerate(X)}
    for k in (0, 7):
        columns[f"x{k}"] = pa.array(X[k], mask=rng.random(ROWS_IN_A_GROUP) < 0.05)
    columns["town"] = pa.array(np.array(TOWNS)[town])
    columns["travel"] = pa.array(np.array(TRAVEL)[rng.integers(4, size=ROWS_IN_A_GROUP)])
    columns["bought"] = pa.array((margin > 1.5).astype(int))
    return pa.table(columns)


# What is measured. Each trains on the first rows of the file, for as long as it may, and returns
# how many they were.


def command_line(path: Path, seconds: float) -> int:
    with tempfile.TemporaryDirectory() as folder:
        words = ["train", str(path), "--target", "bought", "--online", "--model", f"{folder}/model"]
        subprocess.run(
            [sys.executable, "-m", "skliquid.cli", *words], check=True, capture_output=True
        )
    return int(pq.ParquetFile(path).metadata.num_rows)


def imports_alone(path: Path, seconds: float) -> int:
    importlib.import_module("skliquid.streams")
    return 0


def ours(path: Path, seconds: float, **params: Any) -> int:
    from skliquid import LiquidEnsembleClassifier
    from skliquid.streams import train_on

    ensemble = LiquidEnsembleClassifier(
        n_estimators=N_VOTERS, n_final=N_FINAL, random_state=0, **params
    )
    model = train_on(path, target="bought", ensemble=ensemble, online=True)
    assert len(model.ensemble.estimators_) == N_FINAL
    return int(model.ensemble.n_samples_seen_)


def ours_with_plain_voters(path: Path, seconds: float) -> int:
    from sklearn.linear_model import SGDClassifier

    return ours(path, seconds, estimator=SGDClassifier())


def plain_loop(path: Path, seconds: float, n_voters: int = N_VOTERS) -> int:
    from sklearn.linear_model import SGDClassifier

    from skliquid import TableEncoder
    from skliquid.streams import increments_from

    voters = [SGDClassifier(random_state=seed) for seed in range(n_voters)]
    increments = increments_from(path, target="bought")
    encoder = TableEncoder().fit(next(iter(increments))[0])

    def learn(X: Any, y: np.ndarray) -> None:
        rows = encoder.transform(X)
        for voter in voters:
            voter.partial_fit(rows, y, classes=[0, 1])

    return for_some_time(increments, learn, seconds)


def one_classifier(path: Path, seconds: float) -> int:
    return plain_loop(path, seconds, n_voters=1)


def river_models(path: Path, seconds: float, n_models: int = N_VOTERS) -> int:
    from river.compose import Select
    from river.ensemble import BaggingClassifier
    from river.linear_model import LogisticRegression
    from river.preprocessing import OneHotEncoder, StandardScaler, StatImputer
    from river.stats import Mean

    numbers = [f"x{k}" for k in range(N_NUMBERS)]
    imputer = StatImputer(*((name, Mean()) for name in numbers))
    encoding = (Select(*numbers) | imputer | StandardScaler()) + (
        Select("town", "travel") | OneHotEncoder()
    )
    one = LogisticRegression()
    model = encoding | (one if n_models == 1 else BaggingClassifier(one, n_models=n_models, seed=0))

    def learn(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            label = row.pop("bought")
            model.learn_one(row, label)

    file = pq.ParquetFile(path, pre_buffer=False)
    return for_some_time(((batch.to_pylist(),) for batch in file.iter_batches(100)), learn, seconds)


def one_river_model(path: Path, seconds: float) -> int:
    return river_models(path, seconds, n_models=1)


def dask_incremental(path: Path, seconds: float) -> int:
    import dask
    import dask.array as da
    import dask.dataframe as dd
    from dask_ml.wrappers import Incremental
    from sklearn.linear_model import SGDClassifier

    from skliquid import TableEncoder
    from skliquid.streams import increments_from

    encoder = TableEncoder().fit(next(iter(increments_from(path, target="bought")))[0])
    frame = dd.read_parquet(path, split_row_groups=1)
    n_parts = min(frame.npartitions, max(int(seconds * 50_000 / ROWS_IN_A_GROUP), 1))
    parts = frame.partitions[:n_parts].to_delayed()
    width = encoder.transform(frame.head(5)).shape[1]
    X = [
        da.from_delayed(dask.delayed(encoder.transform)(part), (ROWS_IN_A_GROUP, width), float)
        for part in parts
    ]
    y = [da.from_delayed(part["bought"], (ROWS_IN_A_GROUP,), int) for part in parts]
    with dask.config.set(scheduler="threads"):
        Incremental(SGDClassifier(random_state=0)).fit(
            da.concatenate(X), da.concatenate(y), classes=[0, 1]
        )
    return n_parts * ROWS_IN_A_GROUP


def for_some_time(parts: Any, learn: Callable[..., None], seconds: float) -> int:
    n_rows, end = 0, time.perf_counter() + seconds
    for part in parts:
        learn(*part)
        n_rows += len(part[0])
        if time.perf_counter() > end:
            break
    return n_rows


MEASURED: dict[str, Callable[[Path, float], int]] = {
    "skliquid's imports alone": imports_alone,
    f"skliquid, {N_VOTERS} default voters, {N_FINAL} left": ours,
    f"skliquid, {N_VOTERS} `SGDClassifier`, {N_FINAL} left": ours_with_plain_voters,
    "`skliquid train`": command_line,
    f"a loop over {N_VOTERS} `SGDClassifier.partial_fit`": plain_loop,
    "one `SGDClassifier.partial_fit`": one_classifier,
    "dask-ml, `Incremental(SGDClassifier())`": dask_incremental,
    f"river, `BaggingClassifier` of {N_VOTERS} `LogisticRegression`": river_models,
    "river, one `LogisticRegression`": one_river_model,
}


def measure(name: str, path: Path, seconds: float) -> dict[str, Any]:
    """Return rows, seconds and megabytes of one method, in this process."""
    MEASURED[name](path.with_name("small.parquet"), 1.0)  # imports
    whose = resource.RUSAGE_CHILDREN if name == "`skliquid train`" else resource.RUSAGE_SELF
    start, before = time.perf_counter(), resource.getrusage(whose)
    n_rows = MEASURED[name](path, seconds)
    taken, after = time.perf_counter() - start, resource.getrusage(whose)
    return {
        "rows": n_rows,
        "seconds": taken,
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "megabytes": after.ru_maxrss / 1024,
    }


def measured(path: Path, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table, each from a process of its own."""
    for name in MEASURED:
        command = [sys.executable, __file__, "--measure", name, "--data", str(path.parent)]
        done = subprocess.run(
            [*command, "--seconds", str(seconds)], stdout=subprocess.PIPE, check=True, text=True
        )
        figures = json.loads(done.stdout.splitlines()[-1])
        yield {
            "": name,
            "rows": f"{figures['rows']:,}",
            "rows per second": f"{figures['rows'] / figures['seconds']:,.0f}"
            if figures["rows"]
            else "",
            "rows per CPU second": f"{figures['rows'] / figures['cpu']:,.0f}"
            if figures["rows"]
            else "",
            "peak memory, MB": f"{figures['megabytes']:.0f}",
        }
        print(json.dumps({name: figures}), file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2.0, help="size of the file")
    parser.add_argument("--seconds", type=float, default=30.0, help="time of each alternative")
    parser.add_argument("--data", type=Path, help="a folder for the file, which is then kept")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        found = measure(options.measure, options.data / "large.parquet", options.seconds)
        print(json.dumps(found))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.data or Path(temporary)
        path = folder / "large.parquet"
        if not path.exists():
            make_file(path.with_name("small.parquet"), 0.01)
            make_file(path, options.gigabytes)
        metadata = pq.ParquetFile(path).metadata
        print(f"{path.stat().st_size / 1e9:.2f} GB, {metadata.num_rows:,} rows, ", end="")
        print(f"{metadata.num_columns} columns\n")
        print(pd.DataFrame(measured(path, options.seconds)).to_markdown(index=False))


if __name__ == "__main__":
    main()
