"""Results of single runs, in a file that grows: a run that was stopped goes on where it was.

A result is that of a method on a split of a dataset, for choosing settings or for reporting. To
measure a method again, take it out first: ``python benchmarks/results.py FILE --forget METHOD``.
"""

import argparse
import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from data import load
from joblib import Parallel, delayed
from measure import measured
from rivals import METHODS

DEFAULT_PATH = Path("out/accuracy.csv")
SCORES = ("accuracy", "balanced", "auc", "log_loss", "clipped", "zeros", "brier", "calibration")
COSTS = ("fit", "predict", "bytes")
"""CPU seconds of ``fit`` and of ``predict_proba`` on the test half, bytes of the pickle."""


class Run(NamedTuple):
    use: str
    dataset: str
    split: int
    method: str


TIMED_SPLIT = 0
"""The split whose times are reported: methods run in turns there, under the same conditions."""

COLUMNS = (*Run._fields, *SCORES, *COSTS, "error", "bins")


def run_missing(runs: Iterable[Run], path: Path, n_jobs: int, *, again: bool = False) -> None:
    """Append the results of those runs that the file does not have yet; failed ones are retried.

    With ``again`` all runs are measured, and replace their earlier results.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    results = read(path)
    done = set(results.loc[results["error"].isna(), list(Run._fields)].itertuples(index=False))
    missing = [run for run in runs if again or run not in done]
    parallel = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
    found = parallel(delayed(_result)(run) for run in missing)
    for number, result in enumerate(found, 1):
        append(path, result)
        print(f"[{number}/{len(missing)}] {_line(result)}", flush=True)


def _result(run: Run) -> dict[str, Any]:
    seed = split_seed(run)
    try:
        data = load(run.dataset, seed, as_frame=True)
        return run._asdict() | measured(run.method, data, seed % 2**31)
    except Exception as error:  # the other runs can still be of use
        return run._asdict() | {"error": f"{type(error).__name__}: {error}".splitlines()[0]}


def split_seed(run: Run) -> int:
    entropy = [run.split, *map(ord, run.dataset + run.use)]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])


def _line(result: dict[str, Any]) -> str:
    name = f"{result['dataset']} {result['split']}, {result['method']}"
    if "error" in result:
        return f"{name}: {result['error']}"
    return (
        f"{name}: accuracy {result['accuracy']:.4f}, log-loss {result['log_loss']:.4f}, "
        f"AUC {result['auc']:.4f}, fit {result['fit']:.2f} s, predict {result['predict']:.3f} s"
    )


def append(path: Path, result: dict[str, Any]) -> None:
    is_new = not path.is_file()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(result)


def read(path: Path) -> pd.DataFrame:
    """Return all results, the last of each run, after a line that was cut off has been removed."""
    if not path.is_file():
        return pd.DataFrame(columns=COLUMNS)
    text = path.read_text()
    if not text.endswith("\n"):
        path.write_text(text[: text.rfind("\n") + 1])
    return pd.read_csv(path).drop_duplicates(list(Run._fields), keep="last")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, nargs="?", default=DEFAULT_PATH)
    parser.add_argument("--forget", nargs="+", choices=METHODS, metavar="METHOD", default=[])
    options = parser.parse_args()
    results = read(options.results)
    results = results[~results["method"].isin(options.forget)]
    if options.forget:
        results.to_csv(options.results, index=False)
    counts = results.groupby(["use", "method"])[["split", "error"]].count()
    print(counts.rename(columns={"split": "runs", "error": "failed"}).to_string())


if __name__ == "__main__":
    main()
