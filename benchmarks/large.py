"""Large data, against LightGBM with early stopping, and against voters that do not grow.

Synthetic data with as many training rows as their names say, and 20,000 test rows; halves of whole
tables, as data frames with native categories. One thread, CPU seconds. ``--threads`` also measures
seconds with one and two threads. Results are kept in a file, and only what it lacks is run.

    python benchmarks/large.py --threads --write docs/results/large.md
"""

import argparse
import time
from pathlib import Path

import pandas as pd
from data import WHOLE, load
from results import Run, read, run_missing, split_seed
from rivals import EARLY_STOPPED, FIXED_SIZE, LIGHTGBM, METHODS, OURS

SYNTHETIC = (
    "trees-100000",
    "trees-of-7-classes-100000",
    "interactions-100000",
    "network-100000",
    "trees-1000000",
)
TABLES = ("census-income", "letor", "sensorless", "diamonds", "flights")
MANY_CLASSES = ("letter", "kr-vs-k", "fars")
NOTHING_TO_GAIN = ("adult", "bank")
DATASETS = [*(WHOLE + name for name in (*TABLES, *MANY_CLASSES, *NOTHING_TO_GAIN)), *SYNTHETIC]
COMPARED = (OURS, FIXED_SIZE, EARLY_STOPPED, LIGHTGBM)
WITH_THREADS = "trees-1000000"

HEAD = """# Large data: results

Made by `make bench-large`. Synthetic data have as many training rows as their names say, and
20,000 test rows; of tables one half trains and one tests, as data frames with native categories. No
setting was chosen on these seeds; letor, diamonds and bank were for choosing settings. *Fit* and
*predict* are CPU seconds of one thread, also divided by those of LightGBM with early stopping in
the same run. *Without growth*: voters keep the size of a final fit, as on small tables."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS, metavar="NAME")
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("out/large.csv"))
    parser.add_argument("--threads", action="store_true", help="seconds with one and two threads")
    parser.add_argument("--write", type=Path, help="file for the tables")
    options = parser.parse_args()
    runs = [
        Run("report", dataset, split, method)
        for dataset in options.datasets
        for split in range(options.splits)
        for method in COMPARED
    ]
    run_missing(runs, options.results, 1)
    results = read(options.results)
    parts = [HEAD, _table(results[results["error"].isna()])]
    if options.threads:
        parts.append(_threads())
    if options.write:
        options.write.write_text("\n\n".join(parts) + "\n")
    print("\n\n".join(parts))


def _table(results: pd.DataFrame) -> str:
    """Return scores by dataset and method, and times relative to LightGBM."""
    columns = ["accuracy", "log_loss", "auc", "fit", "predict"]
    means = results.groupby(["dataset", "method"], sort=False)[columns].mean()
    for time_column in ("fit", "predict"):
        rival = means[time_column].xs(EARLY_STOPPED, level="method")
        means[f"{time_column} / LightGBM's"] = means[time_column] / rival
    names = {"log_loss": "log-loss", "auc": "ROC-AUC", "fit": "fit, s", "predict": "predict, s"}
    table = means.rename(columns=names).reset_index()
    table["dataset"] = table["dataset"].str.removeprefix(WHOLE)
    return table.to_markdown(index=False, floatfmt=".4g")


def _threads() -> str:
    """Return the seconds of a fit with one and with two threads."""
    seed = split_seed(Run("report", WITH_THREADS, 0, OURS))
    data, seconds = load(WITH_THREADS, seed), []
    for n_jobs in (1, 2):
        start = time.perf_counter()
        METHODS[OURS](seed % 2**31).set_params(n_jobs=n_jobs).fit(data.X_train, data.y_train)
        seconds.append(time.perf_counter() - start)
    ratio = seconds[0] / seconds[1]
    return (
        f"{WITH_THREADS}: fit takes {seconds[0]:.0f} s with one thread and {seconds[1]:.0f} s with "
        f"two, {ratio:.2f} times as fast."
    )


if __name__ == "__main__":
    main()
