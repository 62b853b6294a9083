"""The figure of "When to use it": accuracy and log-loss against time.

    python benchmarks/trade_offs.py docs/results/accuracy.md docs/images/accuracy_for_cost.svg

It shows the means over further tables that ``evidence.py`` wrote: no setting was chosen on these
tables. Times are divided by those of LightGBM with 100 trees.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from diagrams import KINDS, REPRODUCIBLE, label
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter
from result_tables import MEANS, read_table
from rivals import ADABOOST_50, ADABOOST_350, CONTROL, DIRECT, LIGHTGBM, LINEAR

LEFT_OUT = (CONTROL, DIRECT, LINEAR, ADABOOST_50, ADABOOST_350)
"""Our own variants, and methods so far below that the others would be one point."""

LARGEST_LOG_LOSS = 1.0


def trade_offs(means: pd.DataFrame, path: Path) -> None:
    """Draw accuracy against fit time, and log-loss against prediction time."""
    shown = means.drop(index=[name for name in LEFT_OUT if name in means.index])
    times = (
        shown[["fit, CPU ms", "predict, ms"]] / shown.loc[LIGHTGBM, ["fit, CPU ms", "predict, ms"]]
    )
    stars = np.where(np.isinf(shown["log-loss"]), "*", "")
    with plt.rc_context(REPRODUCIBLE | {"font.size": 9.5, "svg.fonttype": "path"}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 5.4), layout="constrained")
        _draw(left, times["fit, CPU ms"], shown["accuracy"])
        left.set(xlabel="CPU time of fit, LightGBM (100 trees) = 1", ylabel="mean accuracy")
        is_near = shown["clipped"] < LARGEST_LOG_LOSS
        _draw(right, times["predict, ms"][is_near], shown["clipped"][is_near])
        right.set(xlabel="prediction time, LightGBM (100 trees) = 1", ylabel="mean log-loss")
        right.invert_yaxis()
        figure.legend(
            *left.get_legend_handles_labels(), loc="outside upper center", ncols=5, frameon=False
        )
        figure.get_layout_engine().set(wspace=0.05)
        figure.draw_without_rendering()
        label(left, _points(times["fit, CPU ms"], shown["accuracy"]), list(shown.index))
        names = [f"{name} {star}".strip() for name, star in zip(shown.index, stars, strict=True)]
        near = [name for name, is_shown in zip(names, is_near, strict=True) if is_shown]
        label(right, _points(times["predict, ms"][is_near], shown["clipped"][is_near]), near)
        figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _draw(axes: Axes, times: pd.Series, values: pd.Series) -> None:
    for kind, (colour, marker, names) in KINDS.items():
        own = [name for name in times.index if name in names]
        if own:
            size = 110 if kind == "ours" else 45
            axes.scatter(times[own], values[own], size, colour, marker=marker, label=kind, zorder=3)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.22, y=0.14)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="0.92", zorder=0)
    axes.annotate(
        "better", (0.02, 0.98), (0.09, 0.86), "axes fraction", "axes fraction",
        arrowprops={"arrowstyle": "->", "color": "0.45"}, color="0.4", ha="left", va="top",
    )  # fmt: skip


def _points(times: pd.Series, values: pd.Series) -> np.ndarray:
    return np.column_stack([times, values])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="what evidence.py wrote")
    parser.add_argument("figure", type=Path, help="where to draw")
    options = parser.parse_args()
    means = read_table(options.results, MEANS)
    trade_offs(means[means["tables"] == means["tables"].max()], options.figure)


if __name__ == "__main__":
    main()
