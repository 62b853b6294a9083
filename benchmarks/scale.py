"""How do time and memory grow with sparse columns and with classes?

Each row is measured in a new process with one thread: CPU seconds of fit and of predict_proba on
1,000 rows, and by how much memory grew above what the data take. All take the same rows, 100
numbers in each sparse row, or 20 dense columns.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier

from skliquid import LiquidEnsembleClassifier

N_TEST = 1_000
SGD = SGDClassifier(loss="log_loss", max_iter=2, tol=None, random_state=0)
"""Two passes: each takes a step for each row and class."""

MODELS = {
    "SGDClassifier": SGD,
    "RandomForestClassifier(10)": RandomForestClassifier(10, random_state=0),
    "liquid, default": LiquidEnsembleClassifier(random_state=0),
    "liquid, SGDClassifier": LiquidEnsembleClassifier(SGD, random_state=0),
}
WIDE = [(400, 10**4), (400, 10**5), (400, 10**6), (4_000, 10**6)]
MANY_CLASSES = [(20_000, 10**2), (20_000, 10**3), (20_000, 10**4)]
TOO_LARGE = {"RandomForestClassifier(10)": {("classes", 10**4)}}
"""A leaf holds a number for each class: 3 GB per tree."""


def wide_rows(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Return sparse rows in which some columns are frequent, and labels of two classes."""
    rng = np.random.default_rng(0)
    columns = (n_columns * rng.random((n_rows, 100)) ** 4).astype(np.int32)
    values, starts = rng.random(columns.size), np.arange(0, columns.size + 1, 100, dtype=np.int32)
    X = scipy.sparse.csr_array((values, columns.ravel(), starts), shape=(n_rows, n_columns))
    X.sum_duplicates()
    return X, (X[:, :300] @ rng.normal(size=300) > 0).astype(int)


def rows_of_classes(n_rows: int, n_classes: int) -> tuple[Any, Any]:
    """Return rows around one centre for each class."""
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_rows - n_classes)])
    y = rng.permutation(y)
    return rng.normal(size=(n_classes, 20))[y] + 0.5 * rng.normal(size=(n_rows, 20)), y


def megabytes() -> float:
    """Return the most memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(model: str, kind: str, n_rows: int, size: int) -> dict[str, float]:
    """Return what a model takes, and its accuracy on rows that it has not seen."""
    warnings.simplefilter("ignore")
    X, y = (wide_rows if kind == "columns" else rows_of_classes)(n_rows + N_TEST, size)
    before, start = megabytes(), time.process_time()
    fitted = MODELS[model].fit(X[:n_rows], y[:n_rows])
    fit, start = time.process_time() - start, time.process_time()
    found = fitted.classes_[fitted.predict_proba(X[n_rows:]).argmax(axis=1)]
    predict = time.process_time() - start
    accuracy = float(np.mean(found == y[n_rows:]))
    return {"fit": fit, "predict": predict, "memory": megabytes() - before, "accuracy": accuracy}


def in_new_process(*case: Any) -> dict[str, float]:
    """Return what is measured in a process of its own, whose memory no other case has touched."""
    one_thread = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    command = [sys.executable, __file__, "--case", *map(str, case)]
    done = subprocess.run(
        command, env=os.environ | one_thread, capture_output=True, text=True, check=True
    )
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--case", nargs=4, metavar=("MODEL", "KIND", "ROWS", "SIZE"))
    arguments.add_argument("--only", choices=["columns", "classes"], help="one of the tables")
    options = arguments.parse_args()
    if options.case:
        model, kind, n_rows, size = options.case
        sys.stdout.write(json.dumps(measured(model, kind, int(n_rows), int(size))))
        return
    tables = {"columns": WIDE, "classes": MANY_CLASSES}
    for kind in [options.only] if options.only else tables:
        heads = ("fit (s)", "/ SGD", "predict (s)", "memory (MB)", "accuracy")
        table = Table("rows", kind, "", *heads, box=MARKDOWN)
        for n_rows, size in tables[kind]:
            sgd = None
            for model in MODELS:
                if (kind, size) in TOO_LARGE.get(model, set()):
                    continue
                found = in_new_process(model, kind, n_rows, size)
                sgd = found["fit"] if sgd is None else sgd
                cells = (
                    f"{found['fit']:.2f}",
                    f"{found['fit'] / sgd:.1f}",
                    f"{found['predict']:.2f}",
                )
                last = f"{found['memory']:.0f}", f"{found['accuracy']:.3f}"
                table.add_row(f"{n_rows:,}", f"{size:,}", model, *cells, *last)
                sys.stderr.write(f"{model}, {n_rows:,} rows, {size:,} {kind}: {found}\n")
        Console(width=110).print(table)


if __name__ == "__main__":
    main()
