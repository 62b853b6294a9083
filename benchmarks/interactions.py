"""Strong interactions, from 1,000 to 1,000,000 rows: accuracy, probabilities and cost.

``make_interactions`` in ``data.py`` makes the data. Tested on 20,000 other rows. Results go to the
same file as those of ``accuracy.py``.
"""

import argparse
from pathlib import Path

from data import INTERACTIONS
from results import DEFAULT_PATH, Run, run_missing
from rivals import (
    ADABOOST_350,
    EARLY_STOPPED,
    HISTGB,
    LIGHTGBM,
    LIGHTGBM_300,
    METHODS,
    OURS,
    SKRUB,
    XGBOOST,
)

COMPARED = [name for name in METHODS if name not in (ADABOOST_350, SKRUB)]
MANY_ROWS = 100_000
WITH_MANY_ROWS = (OURS, LIGHTGBM, LIGHTGBM_300, EARLY_STOPPED, XGBOOST, HISTGB)
"""Methods on more rows than that; the others take long."""

SPLITS = {1_000: 5, 10_000: 3, 100_000: 1, 400_000: 1, 1_000_000: 1}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=list(SPLITS))
    parser.add_argument("--splits", type=int, help="5, 3 and 1 by default, by the number of rows")
    parser.add_argument("--methods", nargs="+", choices=METHODS, metavar="NAME", default=COMPARED)
    parser.add_argument("--choose", action="store_true", help="other seeds, for choosing settings")
    parser.add_argument("--results", type=Path, default=DEFAULT_PATH, help="file that grows")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    runs = [
        Run("choose" if options.choose else "report", f"{INTERACTIONS}{n_rows}", split, method)
        for n_rows in options.rows
        for split in range(options.splits or SPLITS.get(n_rows, 1))
        for method in options.methods
        if n_rows <= MANY_ROWS or method in WITH_MANY_ROWS
    ]
    run_missing(runs, options.results, options.jobs)


if __name__ == "__main__":
    main()
