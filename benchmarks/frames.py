"""Data frames with categories: speed against LightGBM, and scores against one-hot encoding.

    python benchmarks/frames.py --write docs/results/frames.md

Both libraries get the same frames in the same run, in turns, with one thread: once with category
columns, and once with strings, which the user of LightGBM converts to categories, and at prediction
to the categories of the training rows. That counts in its time. ``one_hot.csv`` has the scores of
the ensemble behind one-hot columns, from the last commit that encoded frames so, and
``one_hot_speed.csv`` its times, divided by LightGBM's.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from frame_data import NUMBERS, ONE_ROW, REAL, SYNTHETIC, as_strings, frames
from halves import Halves
from lightgbm import LGBMClassifier
from means import geometric_mean
from measure import scores
from results import Run, split_seed
from threadpoolctl import threadpool_limits

from skliquid import LiquidEnsembleClassifier

OURS, THEIRS = "skliquid", "LightGBM"
N_PREDICTED, N_CALLS, N_SPLITS = 10_000, 300, 3
ONE_HOT = Path(__file__).with_name("one_hot.csv")
ONE_HOT_SPEED = ONE_HOT.with_name("one_hot_speed.csv")
SCORES = {"accuracy": "accuracy", "log_loss": "log-loss", "auc": "ROC-AUC"}

HEAD = f"""# Frames with categories

Made by `make bench-frames`. Both libraries get the same pandas frames in the same run and in turns,
with one thread and default settings (LightGBM: 100 trees, native categories). *Strings* are the
same frames with strings instead of categories: LightGBM's user converts them with
`astype("category")`, and at prediction to the categories of the training rows; this counts in its
time. Fit and prediction of {N_PREDICTED:,} rows: least CPU time of up to five repetitions.
Prediction of one row: median CPU time of {N_CALLS} calls. Half of at most 20,000 rows are for
training; the synthetic tables have 16,000 training rows. *Before* is `tabular_pipeline`, which
encoded categories as one-hot columns, at the commit "Rewrite sentences that a first reader stumbled
over"."""

SCORES_HEAD = """## Native categories against one-hot columns

The ensemble on the same splits, three per table: *native* today, *one-hot* at the last commit with
`tabular_pipeline` ("Rewrite sentences that a first reader stumbled over"). Differences are native
minus one-hot; means over tables, with standard errors."""


class Ours:
    """The default ensemble on frames."""

    def __init__(self, seed: int = 0):
        self.model = LiquidEnsembleClassifier(random_state=seed)

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Self:
        self.model.fit(X, y)
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.model.predict(X)


class Theirs:
    """LightGBM; strings are converted to the categories of the training rows."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Self:
        texts = [name for name in X if pd.api.types.is_string_dtype(X[name])]
        X = X.astype(dict.fromkeys(texts, "category"))
        self.dtypes = {name: X[name].dtype for name in texts}
        self.model = LGBMClassifier(n_jobs=1, random_state=0, verbose=-1).fit(X, y)
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.model.predict(X.astype(self.dtypes) if self.dtypes else X)


# Speed


def speed(name: str) -> dict[str, Any]:
    """Return milliseconds of both libraries on a table: fit, 10,000 rows, one row."""
    data, row = frames(name, 0), {"table": name}
    row["rows x columns"] = f"{len(data.y_train):,} x {data.X_train.shape[1]}"
    row["category columns"] = data.X_train.select_dtypes("category").shape[1]
    for version, convert in (("categories", lambda X: X), ("strings", as_strings)):
        X_train, X_test = convert(data.X_train), convert(data.X_test)
        models = {OURS: Ours(), THEIRS: Theirs()}
        fits = {of: partial(models[of].fit, X_train, data.y_train) for of in models}
        _record(row, "fit", version, least(fits))
        some = np.random.default_rng(0).integers(len(X_test), size=N_PREDICTED)
        rows = X_test.iloc[some].reset_index(drop=True)
        _record(row, "predict", version, least(_predictions(models, rows)))
        if version == "categories" and name in ONE_ROW:
            _record(row, "one row", version, medians(_predictions(models, X_test.iloc[[0]])))
    return row


def _predictions(models: Mapping[str, Any], X: Any) -> dict[str, Callable[[], Any]]:
    return {of: partial(model.predict, X) for of, model in models.items()}


def one_row_of_numbers(name: str) -> dict[str, Any]:
    """Return milliseconds of predicting one row of numbers: an array, and a frame."""
    data, row = frames(name, 0), {"table": name}
    for version, convert in (("array", np.asarray), ("numeric frame", lambda X: X)):
        ours = LiquidEnsembleClassifier(random_state=0)
        models = {OURS: ours, THEIRS: LGBMClassifier(n_jobs=1, random_state=0, verbose=-1)}
        for model in models.values():
            model.fit(convert(data.X_train), data.y_train)
        found = medians(_predictions(models, convert(data.X_test.iloc[[0]])))
        _record(row, "one row", version, found)
    return row


def _record(row: dict[str, Any], task: str, version: str, seconds: Mapping[str, float]) -> None:
    for of, found in seconds.items():
        row[f"{task}, {version}, {of}"] = 1e3 * found


def least(tasks: Mapping[str, Callable[[], Any]], n_times: int = 5, budget: float = 6) -> Any:
    """Return the least CPU seconds of each task, done in turns: twice, or more if it is cheap."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    end = time.process_time() + budget
    for k in range(n_times):
        if k < 2 or time.process_time() < end:
            for name, task in tasks.items():
                times[name].append(_seconds(task))
    return {name: min(found) for name, found in times.items()}


def medians(tasks: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the median CPU seconds of each task, done in turns."""
    times = [[_seconds(task) for task in tasks.values()] for _ in range(N_CALLS)]
    return dict(zip(tasks, np.median(times, axis=0), strict=True))


def _seconds(task: Callable[[], Any]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


def ratios(results: pd.DataFrame) -> pd.DataFrame:
    """Return our time divided by LightGBM's, for every measurement, by table."""
    ours = results.filter(regex=f", {OURS}$")
    theirs = results.filter(regex=f", {THEIRS}$")
    values = ours.to_numpy() / theirs.to_numpy()
    return pd.DataFrame(values, results["table"], [name.removesuffix(f", {OURS}") for name in ours])


def summary(found: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """Return one row per measurement: geometric mean and worst ratio, and those before."""
    before = before.reindex(columns=found.columns)
    return pd.DataFrame(
        {
            "geometric mean": geometric_mean(found),
            "before": geometric_mean(before),
            "worst": found.max(),
            "worst before": before.max(),
            "worst table": found.idxmax(),
            "tables": found.count(),
        }
    )


# Scores


def native_scores(name: str, use: str, split: int) -> dict[str, Any]:
    """Return the scores of our ensemble on one split."""
    seed = split_seed(Run(use, name, split, ""))
    data: Halves = frames(name, seed)
    model = Ours(seed % 2**31).fit(data.X_train, data.y_train).model
    found = scores(model, data)
    return {"use": use, "table": name, "split": split} | {score: found[score] for score in SCORES}


def all_scores() -> pd.DataFrame:
    tables = [(name, use) for use, names in REAL.items() for name in names]
    tables += [(name, "speed") for name in SYNTHETIC]
    rows = []
    for name, use in tables:
        rows += [native_scores(name, use, split) for split in range(N_SPLITS)]
        print(f"{name}: accuracy {rows[-1]['accuracy']:.4f}", flush=True)
    return pd.DataFrame(rows)


def differences(native: pd.DataFrame, one_hot: pd.DataFrame) -> pd.DataFrame:
    """Return native minus one-hot, the mean over the splits of each table."""
    index = ["use", "table", "split"]
    difference = native.set_index(index)[[*SCORES]] - one_hot.set_index(index)[[*SCORES]]
    return difference.dropna().groupby(["use", "table"], sort=False).mean()


def mean_differences(by_table: pd.DataFrame) -> pd.DataFrame:
    """Return means over the tables of each use and over all, with standard errors."""
    groups = {"tables for reporting": "report", "tables for choosing settings": "choose"}
    rows = {title: by_table.loc[[use]] for title, use in groups.items()} | {"all": by_table}
    return pd.DataFrame(
        {
            f"{title} ({len(own)})": {
                SCORES[score]: f"{own[score].mean():+.4f} ± {own[score].sem():.4f}"
                for score in SCORES
            }
            for title, own in rows.items()
        }
    ).T


def score_tables(native: pd.DataFrame, one_hot: pd.DataFrame) -> str:
    """Return means of differences, and the scores of both on each table, in Markdown."""
    by_table = differences(native, one_hot)
    means = {
        version: found.groupby("table")[[*SCORES]].mean().add_suffix(f", {version}")
        for version, found in (("native", native), ("one-hot", one_hot))
    }
    both = pd.concat(means.values(), axis=1).loc[by_table.index.get_level_values("table")]
    columns = [f"{score}, {version}" for score in SCORES for version in means]
    both = both[columns].rename(columns=lambda name: name.replace("_", "-").replace("auc", "AUC"))
    parts = [SCORES_HEAD, mean_differences(by_table).to_markdown(), _markdown(both, "{:.4f}")]
    return "\n\n".join(parts)


def _markdown(table: pd.DataFrame, form: str) -> str:
    shown = table.map(lambda value: form.format(value) if isinstance(value, float) else value)
    shown = shown.replace("nan", "")
    align = ["left", *(["right"] * shown.shape[1])]
    return shown.to_markdown(disable_numparse=True, colalign=align)


def report(speeds: pd.DataFrame, of_numbers: pd.DataFrame) -> str:
    """Return the tables of speed in Markdown."""
    by_table, numbers = ratios(speeds), ratios(of_numbers)
    before = pd.read_csv(ONE_HOT_SPEED).pivot(index="table", columns="measurement", values="ratio")
    parts = [
        *(HEAD, "## Our time divided by LightGBM's"),
        _markdown(pd.concat([summary(by_table, before), summary(numbers, before)]), "{:.2f}"),
        *("## By table", _markdown(_with_sizes(by_table, speeds), "{:.2f}")),
        *("## One row of numbers", _markdown(numbers, "{:.2f}")),
        *("## Milliseconds", _markdown(speeds.set_index("table").drop(columns=_SIZES), "{:.4g}")),
    ]
    return "\n\n".join(parts)


_SIZES = ["rows x columns", "category columns"]


def _with_sizes(by_table: pd.DataFrame, speeds: pd.DataFrame) -> pd.DataFrame:
    return speeds.set_index("table")[_SIZES].join(by_table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="a Markdown file for the tables")
    parser.add_argument("--tables", nargs="+", help="tables for speed; all by default")
    parser.add_argument("--no-scores", action="store_true", help="measure speed only")
    options = parser.parse_args()
    names = options.tables or [*SYNTHETIC, *(name for of in REAL.values() for name in of)]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        speeds = []
        for name in names:
            speeds.append(speed(name))
            print(_markdown(ratios(pd.DataFrame(speeds[-1:])), "{:.2f}"), flush=True)
        of_numbers = [one_row_of_numbers(name) for name in NUMBERS]
        text = report(pd.DataFrame(speeds), pd.DataFrame(of_numbers))
        if not options.no_scores:
            text += f"\n\n{score_tables(all_scores(), pd.read_csv(ONE_HOT))}"
    print(text)
    if options.write:
        options.write.write_text(text + "\n")


if __name__ == "__main__":
    main()
