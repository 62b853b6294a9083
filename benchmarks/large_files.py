"""What does training on files of 5 million rows take, and how good is it?

Makes a Parquet and a CSV file of 5 million rows with 18 numbers, two texts and a target, and trains
on them: by the plan of ``fit``, online, in memory, and with LightGBM. Each is measured in a process
of its own with one thread, and scored on rows that are not in the files.

    python benchmarks/large_files.py --write docs/results/files.md
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from sklearn.metrics import log_loss, roc_auc_score

N_ROWS, N_NUMBERS, ROWS_IN_A_GROUP = 5_000_000, 18, 100_000
TOWNS = [f"town {k}" for k in range(30)]
TRAVEL = ["walk", "ride", "drive", "fly"]
TARGET = "bought"

HEAD = """# Training on files: results

Made by `make bench-files`. {n_rows:,} rows of 18 numbers, two of them with missing values, and two
columns of text, as a Parquet file of {parquet:.2f} GB and a CSV file of {csv:.2f} GB. One thread.
Seconds are without the imports, except for the command line; peak memory is of the whole process.
Scores are on 100,000 other rows. The same *bits* mean the same probabilities, to the last bit."""


def row_group(rng: np.random.Generator) -> pa.Table:
    X = rng.normal(size=(N_NUMBERS, ROWS_IN_A_GROUP))
    town = rng.integers(len(TOWNS), size=ROWS_IN_A_GROUP)
    margin = X[:5].sum(axis=0) + 2 * X[5] * X[6] + 0.1 * town + rng.normal(size=ROWS_IN_A_GROUP)
    columns: dict[str, Any] = {f"x{k}": pa.array(values) for k, values in enumerate(X)}
    for k in (0, 7):
        columns[f"x{k}"] = pa.array(X[k], mask=rng.random(ROWS_IN_A_GROUP) < 0.05)
    columns["town"] = pa.array(np.array(TOWNS)[town])
    columns["travel"] = pa.array(np.array(TRAVEL)[rng.integers(4, size=ROWS_IN_A_GROUP)])
    columns[TARGET] = pa.array((margin > 1.5).astype(int))
    return pa.table(columns)


def make_files(folder: Path, n_rows: int) -> None:
    """Write the same rows to a Parquet and a CSV file, a row group at a time."""
    rng = np.random.default_rng(0)
    first = row_group(rng)
    with (
        pq.ParquetWriter(folder / "rows.parquet", first.schema) as parquet,
        pc.CSVWriter(folder / "rows.csv", first.schema) as csv,
    ):
        for k in range(n_rows // ROWS_IN_A_GROUP):
            rows = row_group(rng) if k else first
            parquet.write_table(rows)
            csv.write_table(rows)


# What is measured: each trains on a file, and returns a fitted classifier


def by_plan(path: Path, **options: Any) -> Any:
    from skliquid import LiquidEnsembleClassifier, train_on

    ensemble = None if options else LiquidEnsembleClassifier(random_state=0)
    return train_on(path, target=TARGET, ensemble=ensemble, **options).ensemble


def command_line(path: Path) -> Any:
    from skliquid import load

    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        words = ["train", path, "--target", TARGET, "--model", model, "--seed", "0"]
        command = [sys.executable, "-m", "skliquid.cli", *words, "--jobs", "1", "--test-size", "0"]
        subprocess.run(command, check=True, capture_output=True)
        return load(model).ensemble


def in_memory(path: Path) -> Any:
    from skliquid import LiquidEnsembleClassifier

    rows = pd.read_parquet(path)
    return LiquidEnsembleClassifier(random_state=0).fit(rows.drop(columns=TARGET), rows[TARGET])


def lightgbm(path: Path) -> Any:
    from lightgbm import LGBMClassifier

    rows = with_categories(pd.read_parquet(path))
    model = LGBMClassifier(n_estimators=100, n_jobs=1, verbose=-1, random_state=0)
    return model.fit(rows.drop(columns=TARGET), rows[TARGET])


def one_linear(path: Path) -> Any:
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    from skliquid import TableEncoder, increments_from

    increments = increments_from(path, target=TARGET)
    encoder = TableEncoder().fit(next(iter(increments))[0])
    model = SGDClassifier(loss="log_loss", random_state=0)
    for X, y in increments:
        model.partial_fit(encoder.transform(X), y, classes=[0, 1])
    return make_pipeline(encoder, model)


def imports_alone(path: Path) -> Any:
    import skliquid.streams  # noqa: F401 (what it takes is measured)


MEASURED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "imports alone": (imports_alone, "parquet"),
    "`train_on`, Parquet": (by_plan, "parquet"),
    "`train_on`, CSV": (by_plan, "csv"),
    "`skliquid train`, Parquet": (command_line, "parquet"),
    "`fit`, in memory": (in_memory, "parquet"),
    "`train_on(online=True)`, Parquet": (partial(by_plan, online=True), "parquet"),
    "one `SGDClassifier.partial_fit`": (one_linear, "parquet"),
    "LightGBM, 100 trees, in memory": (lightgbm, "parquet"),
}


def with_categories(rows: pd.DataFrame) -> pd.DataFrame:
    kinds = {"town": pd.CategoricalDtype(TOWNS), "travel": pd.CategoricalDtype(TRAVEL)}
    return rows.astype(kinds)


def measure(name: str, folder: Path) -> dict[str, Any]:
    """Return what a method takes in this process, and its scores."""
    imports_alone(folder)
    task, suffix = MEASURED[name]
    before = os.times()
    start = time.perf_counter()
    model = task(folder / f"rows.{suffix}")
    seconds, after = time.perf_counter() - start, os.times()
    found: dict[str, Any] = {"seconds": seconds, "cpu": sum(after[:4]) - sum(before[:4])}
    found["peak"] = peak_memory() if name != "`skliquid train`, Parquet" else None
    if model is None:
        return found
    test = row_group(np.random.default_rng(1)).to_pandas()
    X = with_categories(test) if name.startswith("LightGBM") else test
    probabilities = model.predict_proba(X.drop(columns=TARGET))
    bits = hashlib.sha256(np.ascontiguousarray(probabilities).tobytes()).hexdigest()[:8]
    return found | {
        "accuracy": float(np.mean((probabilities[:, 1] > 0.5) == test[TARGET])),
        "log-loss": log_loss(test[TARGET], probabilities),
        "ROC-AUC": roc_auc_score(test[TARGET], probabilities[:, 1]),
        "bits": bits,
    }


def peak_memory() -> float:
    """Return the most megabytes of main memory that this process has taken."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1000


def measured(name: str, folder: Path) -> dict[str, Any]:
    """Return what a method takes, in a process of its own whose children are watched."""
    threads = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")
    command = [sys.executable, __file__, "--data", folder, "--measure", name]
    process = subprocess.Popen(command, env=os.environ | threads, stdout=subprocess.PIPE, text=True)
    of_child = 0
    while process.poll() is None:  # the command line runs in a child
        for child in psutil.Process(process.pid).children():
            try:
                of_child = max(of_child, child.memory_info().rss)
            except psutil.NoSuchProcess:
                continue
        time.sleep(0.05)
    assert process.stdout is not None
    if process.returncode:
        raise SystemExit(f"{name} failed.")
    found: dict[str, Any] = json.loads(process.stdout.read().splitlines()[-1])
    return found | {"peak": found["peak"] or of_child / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=N_ROWS, help="of each file")
    parser.add_argument("--data", type=Path, help="a folder for the files, which are then kept")
    parser.add_argument("--write", type=Path, help="file for the table")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.data)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.data or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "rows.csv").exists():
            make_files(folder, options.rows)
        rows = []
        for name in MEASURED:
            rows.append({"": name, **measured(name, folder)})
            print(json.dumps(rows[-1]), flush=True)
        sizes = {k: (folder / f"rows.{k}").stat().st_size / 1e9 for k in ("parquet", "csv")}
    names = {"seconds": "s", "cpu": "CPU s", "peak": "peak MB"}
    table = pd.DataFrame(rows).rename(columns=names).to_markdown(index=False, floatfmt=".4g")
    page = f"{HEAD.format(n_rows=options.rows, **sizes)}\n\n{table}\n"
    if options.write:
        options.write.write_text(page)
    print(page)


if __name__ == "__main__":
    main()
