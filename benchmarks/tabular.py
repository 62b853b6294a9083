"""Frames with dates, texts and many categories: the ensemble's own encoder, skrub's, and one-hot.

Half splits of tables with categories, and of tables with dates, texts and many categories. All
encoders see the same halves, have their default settings and one thread, and the default ensemble
behind them. Results of single runs are kept in a file: a run that was stopped goes on where it was.
"""

import argparse
import csv
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from data import load
from halves import Halves
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from skrub import DatetimeEncoder, TableVectorizer
from tables import FEWEST
from tabular_data import REAL, SYNTHETIC, real_table
from threadpoolctl import threadpool_limits

from skliquid import LiquidEnsembleClassifier

MOST_ROWS = 20_000
WITH_CATEGORIES = {
    "choose": ("bank", "churn", "credit-data", "diamonds", "income", "nursery"),
    "report": (
        *("adult", "car", "census-income", "default-of-credit", "fars", "german-credit"),
        *("hypothyroid", "lending-club", "soybean", "stackoverflow"),
        *("credit-approval", "heart", "online-shoppers"),
    ),
}
OTHERS = {"choose": sorted(REAL)[1::2], "report": sorted(REAL)[::2]}
FIRST_SEED = {"choose": 1000, "report": 0}
SCORES = ("accuracy", "log_loss")
SECONDS = ("fit", "predict")
COLUMNS = ("use", "table", "seed", "encoder", *SCORES, *SECONDS, "row, ms")
TITLE = """# Encoders of tables

Made by `make bench-tabular`. The default ensemble with its own encoder, behind skrub's
`TableVectorizer`, and behind one-hot columns of scikit-learn without dates. Means over half splits,
and then over tables: CPU seconds of `fit` and of `predict_proba` on the test half, and CPU time of
predicting one row; encoding counts."""
IMPORTS = {
    "ours": "from skliquid import LiquidEnsembleClassifier",
    "skrub": "from skliquid import LiquidEnsembleClassifier; from skrub import TableVectorizer",
}


def one_hot() -> Any:
    """Return an encoder of up to 50 categories per column; numbers stay, dates are left out."""
    encoder = OneHotEncoder(
        max_categories=50, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    texts = make_column_selector(dtype_include=["category", "str", "bool"])
    numeric = make_column_selector(dtype_include="number")
    return ColumnTransformer([("numbers", "passthrough", numeric), ("one_hot", encoder, texts)])


def behind(encoder: Any, seed: int) -> Pipeline:
    return make_pipeline(encoder, LiquidEnsembleClassifier(random_state=seed))


MODELS: dict[str, Callable[[int], Any]] = {
    "ours": lambda seed: LiquidEnsembleClassifier(random_state=seed),
    "skrub": lambda seed: behind(TableVectorizer(), seed),
    "skrub, weekdays": lambda seed: behind(
        TableVectorizer(datetime=DatetimeEncoder(add_weekday=True)), seed
    ),
    "one-hot": lambda seed: behind(one_hot(), seed),
}


class Run(NamedTuple):
    use: str
    table: str
    seed: int
    encoder: str


def halves(table: str, seed: int) -> Halves:
    """Return a split of a table as it is, of at most 20,000 rows."""
    if table in REAL:
        return _split(*real_table(table), seed)
    if table in SYNTHETIC:
        return _split(*SYNTHETIC[table](seed), seed)
    return load(table, seed, as_frame=True)


def _split(X: pd.DataFrame, labels: pd.Series, seed: int) -> Halves:
    order = np.random.default_rng(seed).permutation(len(labels))[:MOST_ROWS]
    drawn = labels.iloc[order].astype("str")
    order = order[(drawn.map(drawn.value_counts()) >= FEWEST).to_numpy()]
    classes, y = np.unique(labels.iloc[order].to_numpy().astype(str), return_inverse=True)
    n = len(order) // 2
    return Halves(X.iloc[order[:n]], y[:n], X.iloc[order[n:]], y[n:], len(classes))


def measured(run: Run) -> dict[str, Any]:
    """Return scores on the test half, and CPU times."""
    data, model = halves(run.table, run.seed), MODELS[run.encoder](run.seed)
    watch = _Watch()
    model.fit(data.X_train, data.y_train)
    fit = watch.lap()
    probabilities = model.predict_proba(data.X_test)
    seconds = (fit, watch.lap())
    places = np.searchsorted(model.classes_, data.y_test)
    of_label = probabilities[np.arange(len(places)), places]
    scores = ((probabilities.argmax(axis=1) == places).mean(), -np.log(of_label).mean())
    return (
        run._asdict()
        | dict(zip(SCORES, scores, strict=True))
        | dict(zip(SECONDS, seconds, strict=True))
        | {"row, ms": _milliseconds_of_a_row(model, data.X_test)}
    )


class _Watch:
    def __init__(self) -> None:
        self.start = time.process_time()

    def lap(self) -> float:
        start, self.start = self.start, time.process_time()
        return self.start - start


def _milliseconds_of_a_row(model: Any, X: pd.DataFrame) -> float:
    """Return the least CPU time of predicting one row."""
    watch, times = _Watch(), []
    for k in range(10):
        model.predict(X.iloc[k : k + 1])
        times.append(watch.lap())
    return 1e3 * min(times)


def runs(use: str, n_splits: int) -> Iterator[Run]:
    for seed in range(FIRST_SEED[use], FIRST_SEED[use] + n_splits):
        for table in (*WITH_CATEGORIES[use], *OTHERS[use], *SYNTHETIC):
            for encoder in MODELS:
                yield Run(use, table, seed, encoder)


def run_missing(wanted: list[Run], path: Path) -> pd.DataFrame:
    """Return the results of ``wanted``, after those that the file does not have are appended."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file():
        path.write_text(",".join(f'"{name}"' for name in COLUMNS) + "\n")
    done = set(pd.read_csv(path)[list(Run._fields)].itertuples(index=False, name=None))
    for run in wanted:
        if run in done:
            continue
        result = measured(run)
        with path.open("a", newline="") as file:
            csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(result)
        print(f"{run.table}, {run.encoder}: accuracy {result['accuracy']:.4f}", flush=True)
    results = pd.read_csv(path)
    is_wanted = [row in set(wanted) for row in results[list(Run._fields)].itertuples(index=False)]
    return results[is_wanted]


# Tables of results


def summary(results: pd.DataFrame) -> str:
    """Return means of each kind of table, and then of each table, in Markdown."""
    kinds = {table: _kind(table) for table in results["table"].unique()}
    means = results.groupby(["table", "encoder"], sort=False).mean(numeric_only=True).reset_index()
    means.insert(0, "tables", means["table"].map(kinds))
    by_kind = means.groupby(["tables", "encoder"], sort=False).mean(numeric_only=True)
    costs = [*SECONDS, "row, ms"]
    formats = dict(zip(SCORES, ("{:.4f}", "{:.3f}"), strict=True)) | dict.fromkeys(costs, "{:.2f}")
    shown = by_kind.assign(**{k: by_kind[k].map(f.format) for k, f in formats.items()})
    parts = [shown[list(formats)].reset_index().to_markdown(index=False, disable_numparse=True)]
    for score in SCORES:
        table = means.pivot(index="table", columns="encoder", values=score)[list(MODELS)]
        lines = table.loc[list(kinds)].map(formats[score].format).reset_index()
        heading = score.replace("_", "-").capitalize()
        parts.append(f"## {heading}\n\n{lines.to_markdown(index=False, disable_numparse=True)}")
    return "\n\n".join(parts)


def _kind(table: str) -> str:
    if table in SYNTHETIC:
        return "synthetic"
    return "dates, texts, many categories" if table in REAL else "categories"


def import_seconds() -> str:
    """Return the least wall time of importing, in a new process."""
    lines = []
    for name, statement in IMPORTS.items():
        watch = "from time import perf_counter as now; start = now()"
        code = f"{watch}; {statement}; print(now() - start)"
        command = [sys.executable, "-c", code]
        found = [
            float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for _ in range(5)
        ]
        lines.append(f"{name} {min(found):.2f} s")
    return f"Import: {', '.join(lines)}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--choose", action="store_true", help="tables and seeds for choosing")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--results", type=Path, default=Path("out/tabular.csv"))
    parser.add_argument("--write", type=Path, help="a Markdown file for the tables")
    options = parser.parse_args()
    wanted = list(runs("choose" if options.choose else "report", options.splits))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = run_missing(wanted, options.results)
    text = f"{summary(results)}\n\n{import_seconds()}\n"
    print(text)
    if options.write:
        options.write.write_text(f"{TITLE}\n\n{text}")


if __name__ == "__main__":
    main()
