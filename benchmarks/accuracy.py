"""Accuracy, probabilities and cost, against what one would use instead.

Half splits of the paper's datasets, or with ``--tables`` of those in ``tables.py``, as data frames
with category columns; encoding counts in the time of a method. All methods see the same halves,
have the same settings on all datasets, and one thread. Settings were chosen on other splits of the
paper's datasets, and on other tables: ``--choose`` uses these. Results are kept in a file, and only
what it lacks is run. ``evidence.py`` sums them up.
"""

import argparse
from pathlib import Path

from results import DEFAULT_PATH, Run, run_missing
from rivals import FIXED_SIZE, METHODS, SLOW
from tables import TABLES

from skliquid.datasets import DATASET_NAMES, load_dataset

SPLITS, SPLITS_OF_A_TABLE = 10, 2
SPLITS_IF_SLOW = {SPLITS: 3, SPLITS_OF_A_TABLE: 1}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", action="store_true", help="further tables, not the paper's")
    parser.add_argument(
        "--splits",
        type=int,
        help=f"{SPLITS}, or {SPLITS_OF_A_TABLE} of tables; fewer of slow methods",
    )
    parser.add_argument("--datasets", nargs="+", choices=[*DATASET_NAMES, *TABLES], metavar="NAME")
    methods = [name for name in METHODS if name != FIXED_SIZE]
    parser.add_argument("--methods", nargs="+", choices=METHODS, metavar="NAME", default=methods)
    parser.add_argument("--choose", action="store_true", help="what is for choosing settings")
    parser.add_argument("--results", type=Path, default=DEFAULT_PATH, help="file that grows")
    parser.add_argument("--again", action="store_true", help="measure what the file has, too")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    use = "choose" if options.choose else "report"
    of_use = [name for name, table in TABLES.items() if table.use == use]
    datasets = options.datasets or (of_use if options.tables else DATASET_NAMES)
    for name in set(datasets) & set(DATASET_NAMES):
        load_dataset(name)  # so that a missing dataset is known before, not after minutes
    runs = [
        Run(use, dataset, split, method)
        for split in range(options.splits or SPLITS)
        for dataset in datasets
        for method in options.methods
        if split < (options.splits or _n_splits(dataset, method))
    ]
    run_missing(runs, options.results, options.jobs, again=options.again)


def _n_splits(dataset: str, method: str) -> int:
    n_splits = SPLITS_OF_A_TABLE if dataset in TABLES else SPLITS
    return SPLITS_IF_SLOW[n_splits] if method in SLOW else n_splits


if __name__ == "__main__":
    main()
