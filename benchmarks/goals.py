"""What was aimed at, and what was reached."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from data import INTERACTIONS
from means import geometric_mean, paired, paired_means, ratios
from rivals import (
    ADABOOST_50,
    ADABOOST_350,
    CALIBRATED,
    CATBOOST,
    CONTROL,
    DIRECT,
    EARLY_STOPPED,
    FOREST,
    HISTGB,
    LIGHTGBM,
    LIGHTGBM_300,
    LINEAR,
    OURS,
)
from scipy.stats import ttest_1samp, wilcoxon

from skliquid.datasets import DATASET_NAMES

RIVALS = (LIGHTGBM, LIGHTGBM_300, EARLY_STOPPED, CALIBRATED, CATBOOST, FOREST, LINEAR, DIRECT)
TIE = 1e-9


def goals(results: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each figure that has been aimed at, if its methods were measured."""
    is_synthetic = results["dataset"].str.startswith(INTERACTIONS)
    real, synthetic = results[~is_synthetic], results[is_synthetic]
    eight, measured = real[real["dataset"].isin(DATASET_NAMES)], set(results["method"])
    rows: list[dict[str, str]] = []
    if {OURS, ADABOOST_50, ADABOOST_350} <= measured:
        rows.append(against_adaboost(eight))
    if {OURS, HISTGB} <= measured:
        rows.append(near_histgb(eight))
    for rival in RIVALS:
        if {OURS, rival} <= measured:
            rows += against(real, rival)
    if {OURS, CONTROL} <= measured:
        rows += against_random(real)
    if {OURS, LIGHTGBM} <= measured:
        rows += on_interactions(synthetic)
    return pd.DataFrame(rows, columns=["goal", "reached", "details"])


def against_adaboost(eight: pd.DataFrame) -> dict[str, str]:
    """Return where ours is ahead of the better AdaBoost in less CPU time."""
    reached, missed = [], []
    by = eight.groupby(["dataset", "method"])[["accuracy", "fit"]].mean()
    for dataset in eight["dataset"].unique():
        of = by.loc[dataset]
        if not {OURS, ADABOOST_50, ADABOOST_350} <= set(of.index):
            continue
        best = of.loc[[ADABOOST_50, ADABOOST_350], "accuracy"].idxmax()
        is_ahead = of.loc[OURS, "accuracy"] > of.loc[best, "accuracy"]
        is_cheaper = of.loc[OURS, "fit"] < of.loc[best, "fit"]
        (reached if is_ahead and is_cheaper else missed).append(dataset)
    return _count("ahead of the best AdaBoost, in less CPU; the paper's eight", reached, missed)


def near_histgb(eight: pd.DataFrame) -> dict[str, str]:
    both = paired_means(eight, "accuracy", OURS, HISTGB)
    is_near = both[OURS] >= both[HISTGB] - 0.01
    names = both.index[is_near], both.index[~is_near]
    return _count("within .01 of HistGradientBoosting; the paper's eight", *names)


def _count(goal: str, reached: Sequence[str], missed: Sequence[str]) -> dict[str, str]:
    n = len(reached) + len(missed)
    details = f"not {', '.join(missed)}" if len(missed) else ""
    return _row(goal, f"{len(reached)} of {n}", details)


def against(real: pd.DataFrame, rival: str) -> list[dict[str, str]]:
    """Return means and ratios over all tables."""
    rows = []
    for column, label in (("accuracy", "accuracy"), ("log_loss", "log-loss"), ("auc", "ROC-AUC")):
        both, sign = paired_means(real, column, OURS, rival), -1 if column == "log_loss" else 1
        gain = sign * (both[OURS] - both[rival])
        figures = f"{both[OURS].mean():.4f} : {both[rival].mean():.4f}".replace("inf", "∞")
        rows.append(_row(f"mean {label}, ours : {rival}", figures, _ahead_behind(gain)))
    for column, label in (("fit", "fit CPU"), ("predict", "predict time"), ("bytes", "bytes")):
        ratio = ratios(real, column, OURS, rival)
        if len(ratio):
            worst = f"worst {ratio.max():.2f}, {ratio.idxmax()}"
            rows.append(_row(f"{label}, ours / {rival}", f"{geometric_mean(ratio):.2f}", worst))
    return rows


def against_random(real: pd.DataFrame) -> list[dict[str, str]]:
    """Return how often ours is ahead of random pruning, and whether that may be chance."""
    rows = []
    for column, label in (("accuracy", "accuracy"), ("clipped", "log-loss, clipped")):
        by_split, sign = paired(real, column, OURS, CONTROL), -1 if column == "clipped" else 1
        gain = sign * (by_split[OURS] - by_split[CONTROL])
        by_table = gain.groupby("dataset").mean()
        figures = f"gain {by_table.mean():+.4f}; {_p_values(by_table, gain)}"
        goal = f"tables ahead : behind on {label}, against {CONTROL}"
        rows.append(_row(goal, f"{_n_ahead(by_table)} : {_n_ahead(-by_table)}", figures))
    return rows


def _p_values(by_table: pd.Series, by_split: pd.Series) -> str:
    """Return two-sided p-values: by signed ranks of tables, and by Student's t of all splits."""
    if len(by_split) < 2 or by_split.std() == 0:
        return "too few to test"
    ranks, pooled = wilcoxon(by_table).pvalue, ttest_1samp(by_split, 0).pvalue
    return f"p = {ranks:.2g} over tables (Wilcoxon), {pooled:.2g} over splits (paired t)"


def on_interactions(synthetic: pd.DataFrame) -> list[dict[str, str]]:
    """Return accuracy and CPU time against LightGBM by the number of rows."""
    accuracy = paired_means(synthetic, "accuracy", OURS, LIGHTGBM)
    ratio = ratios(synthetic, "fit", OURS, LIGHTGBM)
    n_rows = {int(name.removeprefix(INTERACTIONS)): name for name in accuracy.index}
    rows = []
    for n, name in sorted(n_rows.items()):
        ours, theirs = accuracy.loc[name, [OURS, LIGHTGBM]]
        figures = f"{ours - theirs:+.4f}; {ratio[name]:.2f}"
        goal = f"interactions, {n:,} rows: accuracy, ours - {LIGHTGBM}; fit CPU, ours / its"
        rows.append(_row(goal, figures, f"{ours:.4f} : {theirs:.4f}"))
    if rows:
        rows.append(
            _row(
                "interactions: fit CPU, ours / its, geometric mean", f"{geometric_mean(ratio):.2f}"
            )
        )
    return rows


def _ahead_behind(gain: pd.Series) -> str:
    worst = f", most on {gain.idxmin()}" if _n_ahead(-gain) else ""
    return f"ahead on {_n_ahead(gain)}, behind on {_n_ahead(-gain)}{worst}"


def _n_ahead(gain: pd.Series) -> int:
    return int((gain > TIE).sum())


def _row(goal: str, reached: str, details: str = "") -> dict[str, Any]:
    return {"goal": goal, "reached": reached, "details": details}
