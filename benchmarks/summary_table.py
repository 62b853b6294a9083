"""Write the table of "When to use it" into pages, from the results of ``evidence.py``.

    python benchmarks/summary_table.py docs/results/accuracy.md docs/when_to_use.md README.md

A page has two comments, ``<!-- summary table -->`` and ``<!-- end -->``; the lines between them are
replaced. All figures are averages over the further tables, on which no setting was chosen.
"""

import argparse
import re
from pathlib import Path

import numpy as np
import pandas as pd
from result_tables import MEANS, read_table

OURS, REFERENCE = "skliquid", "LightGBM, 100 trees"
METHODS = (
    OURS,
    REFERENCE,
    "LightGBM, 300 trees",
    "LightGBM, early stopping",
    "LightGBM, calibrated",
    "XGBoost",
    "CatBoost",
    "HistGradientBoosting",
    "random forest",
    "logistic regression",
)
HEAD = (
    "| averages over {n} tables | accuracy | skliquid ahead : behind | log-loss | ROC-AUC "
    "| fit time | predict time |\n|---|---:|---:|---:|---:|---:|---:|"
)
MARKED = re.compile(r"(?s)(<!-- summary table -->\n).*?(<!-- end -->)")


def summary_table(results: Path) -> str:
    """Return the table as Markdown; times are divided by those of LightGBM with 100 trees."""
    means = read_table(results, MEANS)
    lines = [HEAD.format(n=int(means["tables"].max()))]
    complete = means[means["tables"] == means["tables"].max()]
    for method in (method for method in METHODS if method in complete.index):
        of = means.loc[method]
        times = [_time(of[name] / means.loc[REFERENCE, name]) for name in _TIMES]
        scores = [f"{of['accuracy']:.4f}", _wins_and_losses(of)]
        scores += [_score(of["log-loss"]), _score(of["ROC-AUC"])]
        lines.append(f"| {' | '.join([method, *scores, *times])} |")
    return "\n".join(lines)


_TIMES = ("fit, CPU ms", "predict, ms")


def _wins_and_losses(of: pd.Series) -> str:
    return "" if of.name == OURS else f"{of['ahead']:.0f} : {of['behind']:.0f}"


def _score(value: float) -> str:
    return "∞" if np.isinf(value) else f"{value:.3f}"


def _time(ratio: float) -> str:
    return "1" if ratio == 1 else f"{ratio:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="the page that evidence.py wrote")
    parser.add_argument("pages", type=Path, nargs="+", help="pages whose table is replaced")
    options = parser.parse_args()
    table = summary_table(options.results)
    for page in options.pages:
        text, n_replaced = MARKED.subn(rf"\1\n{table}\n\n\2", page.read_text(encoding="utf-8"))
        if n_replaced != 1:
            raise SystemExit(f"{page} must have the comments of the summary table once.")
        page.write_text(text, encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
