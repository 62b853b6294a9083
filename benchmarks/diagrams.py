"""Figures: accuracy and log-loss against CPU time, and reliability of probabilities."""

import json
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox
from means import geometric_mean, means_by_dataset
from rivals import (
    ADABOOST_50,
    ADABOOST_350,
    CALIBRATED,
    CATBOOST,
    CONTROL,
    DIRECT,
    EARLY_STOPPED,
    EXTRA,
    FOREST,
    HISTGB,
    LIGHTGBM,
    LIGHTGBM_300,
    LINEAR,
    LOGISTIC,
    METHODS,
    OURS,
    SKRUB,
    XGBOOST,
)

from skliquid.plotting.marks import SQUARE, TRIANGLE

KINDS = {  # colours of Okabe and Ito, which differ for everybody; the marks of the displays
    "ours": ("#0072B2", "o", (OURS, CONTROL, DIRECT, LINEAR)),
    "boosting": (
        "#D55E00",
        SQUARE.marker,
        (LIGHTGBM, LIGHTGBM_300, EARLY_STOPPED, CALIBRATED, XGBOOST, CATBOOST, HISTGB, SKRUB),
    ),
    "forests": ("#009E73", TRIANGLE.marker, (FOREST, EXTRA)),
    "AdaBoost": ("#CC79A7", "v", (ADABOOST_50, ADABOOST_350)),
    "linear": ("#000000", "D", (LOGISTIC,)),
}
REPRODUCIBLE = {"svg.hashsalt": "skliquid"}


def scatters(results: pd.DataFrame, path: Path) -> None:
    """Draw mean accuracy and mean log-loss against CPU time, for methods with all tables."""
    mean = {column: means_by_dataset(results, column) for column in ("accuracy", "clipped", "fit")}
    complete = mean["accuracy"].columns[mean["accuracy"].notna().all()]
    points = pd.DataFrame(
        {
            "seconds": geometric_mean(mean["fit"]),
            "accuracy": mean["accuracy"].mean(),
            "log_loss": mean["clipped"].mean(),
            "zeros": results.groupby("method")["zeros"].sum(),
        }
    ).loc[[name for name in METHODS if name in complete]]
    with plt.rc_context(REPRODUCIBLE):
        figure, (above, below) = plt.subplots(2, 1, figsize=(9, 12), layout="constrained")
        _scatter(above, points, "accuracy", "mean accuracy (up is better)")
        _scatter(below, points, "log_loss", "mean log-loss (down is better)")
        above.legend(frameon=False, loc="lower right", ncols=len(KINDS), bbox_to_anchor=(1, 1))
        figure.draw_without_rendering()  # which settles where points are
        stars = points["zeros"].gt(0).map({True: " *", False: ""})
        label(above, points[["seconds", "accuracy"]].to_numpy(), list(points.index))
        label(below, points[["seconds", "log_loss"]].to_numpy(), list(points.index + stars))
        if points["zeros"].any():
            note = "* infinite on some splits: probabilities of at least 1e-15 here"
            below.annotate(
                note, (1, 1), (0, 4), "axes fraction", "offset points", ha="right", size=8
            )
        figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _scatter(axes: Axes, points: pd.DataFrame, column: str, label: str) -> None:
    for kind, (colour, marker, names) in KINDS.items():
        own = points[points.index.isin(names)]
        axes.scatter(own["seconds"], own[column], c=colour, marker=marker, label=kind, zorder=3)
    axes.set(xscale="log", ylabel=label)
    axes.set_xlabel("CPU seconds of fit, geometric mean over tables (left is better)")
    axes.margins(x=0.18, y=0.12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="0.93", zorder=0)


def label(axes: Axes, points: np.ndarray, texts: list[str]) -> None:
    """Put each text near its point, where it covers neither a point nor another text."""
    places = axes.transData.transform(points)
    taken = [Bbox.from_bounds(x - 6, y - 6, 12, 12) for x, y in places]
    for at, text in zip(points, texts, strict=True):
        best, least = (DISTANCES[0], ANGLES[0]), np.inf
        for place in product(DISTANCES, ANGLES):
            note = _annotate(axes, at, text, *place)
            box = _box(note)
            note.remove()
            covered = sum(_overlap(box, other) for other in taken) + _outside(box, axes.bbox)
            if covered < least:
                best, least = place, covered
            if not covered:
                break
        taken.append(_box(_annotate(axes, at, text, *best)))


DISTANCES = (7, 14, 22, 30, 40, 52, 66, 80)
"""In points. A text that is not next to its point has a line to it."""

ANGLES = (0, 180, 90, 270, 45, 315, 135, 225, 22, 338, 158, 202, 68, 292, 112, 248)
"""In degrees, the best first: to the right, to the left, above, below."""


def _annotate(axes: Axes, at: np.ndarray, text: str, distance: float, angle: float) -> Annotation:
    across, up = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    line = {"arrowstyle": "-", "color": "0.5", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 4}
    note = axes.annotate(
        text,
        at,
        (distance * across, distance * up),
        textcoords="offset points",
        ha="center" if abs(across) < 0.3 else "left" if across > 0 else "right",
        va="center" if abs(up) < 0.3 else "bottom" if up > 0 else "top",
        fontsize=8,
        arrowprops=line if distance > DISTANCES[0] else None,
        weight="bold" if text.removesuffix(" *") == OURS else "normal",
        zorder=4,
    )
    note.set_in_layout(False)
    return note


def _box(note: Annotation) -> Bbox:
    """Return the place of the text, without the line."""
    note.update_positions(note.figure.canvas.get_renderer())
    return Text.get_window_extent(note).padded(1)


def _overlap(first: Bbox, second: Bbox) -> float:
    shared = Bbox.intersection(first, second)
    return shared.width * shared.height if shared else 0.0


def _outside(box: Bbox, frame: Bbox) -> float:
    return box.width * box.height - _overlap(box, frame)


def reliability(results: pd.DataFrame, path: Path) -> None:
    """Draw how often the predicted class is right, against its probability."""
    figure, axes = plt.subplots(figsize=(5.5, 4.2), layout="constrained")
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle=":")
    styles = {OURS: "o-", LIGHTGBM: "s--", LOGISTIC: "^-.", FOREST: "x:"}
    for name, style in styles.items():
        rows = results.loc[results["method"] == name, "bins"].dropna()
        if rows.empty:
            continue
        n, confidence, right = np.sum([json.loads(bins) for bins in rows], axis=0)
        kept = n >= 20
        axes.plot(
            confidence[kept] / n[kept], right[kept] / n[kept], style, label=name, markersize=4
        )
    axes.set(xlabel="probability of the predicted class", ylabel="share of rows where it is right")
    axes.set(xlim=(0.3, 1.02), ylim=(0.3, 1.02))
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120, metadata={"Software": None})
    plt.close(figure)
