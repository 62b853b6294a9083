"""Tables and figures of what ``accuracy.py`` and ``interactions.py`` have measured.

    python benchmarks/evidence.py --write docs/results/accuracy.md --figure docs/images/accuracy.svg

Datasets count the same, however many splits there are. "All tables" are the paper's eight and the
further ones. Two methods are compared on splits that both have.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from data import INTERACTIONS
from diagrams import reliability, scatters
from goals import TIE, goals
from means import geometric_mean, means_by_dataset, paired_means
from results import COSTS, DEFAULT_PATH, TIMED_SPLIT, read
from rival_frames import MOST_SECONDS
from rivals import CATBOOST, METHODS, OURS
from tables import TABLES

from skliquid.datasets import DATASET_NAMES

HEAD = """# Accuracy, probabilities and cost: results

Made by `make bench-accuracy`. All methods get the same data frames with category columns. Log-loss
is unclipped: it is infinite if the true class of a row got the probability zero; *infinite* counts
the splits on which it is. *Clipped* log-loss uses probabilities of at least 1e-15. Times are CPU
seconds of one thread on the first split, where methods take turns, and the encoding of categories
counts: `fit`, and `predict_proba` on the test half, the least of up to three. Sizes are those of
pickles. CatBoost is left out where it did not end within three CPU minutes. *Ahead* and *behind*
count the tables on which skliquid is more or less accurate, on the splits that both have."""

PER_DATASET = {
    "accuracy": "Accuracy",
    "log_loss": "Log-loss",
    "clipped": "Log-loss, clipped at 1e-15",
    "auc": "ROC-AUC, one class against the others",
    "fit": "CPU seconds of `fit`",
}


def without_capped(results: pd.DataFrame) -> pd.DataFrame:
    """Leave out runs of CatBoost that ended after three CPU minutes, before its 1,000 trees."""
    is_capped = (results["method"] == CATBOOST) & (results["fit"] >= MOST_SECONDS)
    return results[~is_capped]


def evidence(results: pd.DataFrame) -> str:
    """Return everything as Markdown."""
    is_synthetic = results["dataset"].str.startswith(INTERACTIONS)
    real, synthetic = results[~is_synthetic], results[is_synthetic]
    parts = [HEAD, "## Against the goals", _markdown(goals(results), index=False)]
    groups = {
        "All tables": [*DATASET_NAMES, *TABLES],
        "The paper's eight": DATASET_NAMES,
        "Further tables": list(TABLES),
    }
    for title, names in groups.items():
        own = real[real["dataset"].isin(names)]
        if len(own):
            parts += [f"## {title}: means", _markdown(means(own))]
    for column, title in PER_DATASET.items():
        if _is_shown(column, real):
            parts += [f"## {title}", _markdown(by_dataset(real, column, [*DATASET_NAMES, *TABLES]))]
    if len(synthetic):
        parts += ["## Interactions", *interactions(synthetic)]
    if failed := _failures(results):
        parts += ["## Runs that failed", failed]
    return "\n\n".join(parts) + "\n"


def means(results: pd.DataFrame) -> pd.DataFrame:
    """Return the means over datasets by method; of seconds and bytes, geometric means."""
    mean = {column: means_by_dataset(results, column) for column in _NAMES}
    table = pd.DataFrame({_NAMES[column]: values.mean() for column, values in mean.items()})
    for column, unit in (("fit", 1e3), ("predict", 1e3), ("bytes", 1e-3)):
        table[_NAMES[column]] = unit * geometric_mean(mean[column])
    is_infinite = np.isinf(results["log_loss"]).groupby(results["method"]).sum()
    if is_infinite.any():
        table.insert(2, "infinite", is_infinite)
    else:
        table = table.drop(columns=_NAMES["clipped"])
    table["rank"] = mean["accuracy"].rank(axis=1, ascending=False).mean()
    table["tables"] = mean["accuracy"].count()
    gains = {method: _gain(results, method) for method in table.index}
    table["ahead"] = [(gains[method] > TIE).sum() for method in table.index]
    table["behind"] = [(gains[method] < -TIE).sum() for method in table.index]
    return table.loc[_methods(results)]


def _gain(results: pd.DataFrame, method: str) -> pd.Series:
    """Return by dataset how much more accurate ours is, on the splits that both have."""
    if method == OURS:
        return pd.Series(dtype=float)
    both = paired_means(results, "accuracy", OURS, method)
    return both[OURS] - both[method]


_NAMES = {
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "clipped": "clipped",
    "auc": "ROC-AUC",
    "balanced": "balanced accuracy",
    "brier": "Brier",
    "calibration": "calibration error",
    "fit": "fit, CPU ms",
    "predict": "predict, ms",
    "bytes": "kB",
}


def by_dataset(results: pd.DataFrame, column: str, names: Sequence[str]) -> pd.DataFrame:
    """Return the mean of a column for every dataset, and every method."""
    values = means_by_dataset(results, column)
    return values.loc[[name for name in names if name in values.index], _methods(results)]


def interactions(results: pd.DataFrame) -> list[str]:
    """Return tables of the synthetic data by the number of training rows."""
    parts = []
    n_rows = results["dataset"].str.removeprefix(INTERACTIONS).astype(int)
    results = results.assign(dataset=n_rows)
    for column, title in PER_DATASET.items():
        if not _is_shown(column, results):
            continue
        values = by_dataset(results, column, sorted(n_rows.unique())).T
        values.columns = [f"{n:,} rows" for n in values.columns]
        parts += [f"### {title}", _markdown(values)]
    return parts


def _is_shown(column: str, results: pd.DataFrame) -> bool:
    return column != "clipped" or bool(np.isinf(results["log_loss"]).any())


def _methods(results: pd.DataFrame) -> list[str]:
    return [name for name in METHODS if name in set(results["method"])]


def _failures(results: pd.DataFrame) -> str:
    failed = results[results["error"].notna()]
    return "\n".join(
        f"- {row.dataset}, split {row.split}, {row.method}: {row.error}"
        for row in failed.itertuples()
    )


def _markdown(table: pd.DataFrame, index: bool = True) -> str:
    """Return a table with four digits at most."""
    rounded = table.map(lambda v: _rounded(v) if isinstance(v, float | np.floating) else v)
    align = ["left"] * index + ["right"] * rounded.shape[1] if index else None
    return rounded.to_markdown(index=index, disable_numparse=True, colalign=align)


def _rounded(value: float) -> str:
    if np.isnan(value):
        return ""
    if np.isinf(value):
        return "∞"
    if value == int(value) and abs(value) < 1e6:
        return f"{value:.0f}" if value else "0"
    return (
        f"{value:.4f}"
        if abs(value) < 1
        else f"{value:.4g}"
        if abs(value) < 1e4
        else f"{value:,.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=DEFAULT_PATH, help="what was measured")
    parser.add_argument("--choose", action="store_true", help="what was for choosing settings")
    parser.add_argument("--write", type=Path, help="where to write the tables as Markdown")
    parser.add_argument("--figure", type=Path, help="where to draw accuracy and log-loss by CPU")
    parser.add_argument("--reliability", type=Path, help="where to draw the reliability diagram")
    options = parser.parse_args()
    results = without_capped(read(options.results))
    results = results[results["use"] == ("choose" if options.choose else "report")].copy()
    results.loc[results["split"] != TIMED_SPLIT, list(COSTS)] = np.nan
    text = evidence(results)
    print(text)
    if options.write:
        options.write.write_text(text)
    if options.figure:
        real = results[~results["dataset"].str.startswith(INTERACTIONS)]
        scatters(real, options.figure)
    if options.reliability:
        reliability(results[results["dataset"].isin(DATASET_NAMES)], options.reliability)


if __name__ == "__main__":
    main()
