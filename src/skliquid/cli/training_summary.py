"""What ``skliquid train`` prints at the end: figures and a confusion table."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from skliquid.cli.listing import listed
from skliquid.streams import StreamedModel

_MOST_CLASSES = 10


def summary(model: StreamedModel, seconds: float) -> str:
    """Return what was trained, and how accurate it is."""
    ensemble, n_left = model.ensemble, len(model.ensemble.estimator_weights_)
    lines = [f"{model.n_rows:,} rows in {seconds:.1f} s."]
    lines.append(f"{n_left} of {ensemble.n_estimators} voters are left as representatives.")
    if not ensemble.record_.reached_n_final:
        lines.append("For fewer, give more rows, or a smaller --increment-size.")
    lines.append(f"Cost: {ensemble.training_cost_.total:,} sample visits.")
    if model.n_scored:
        lines.append(f"Accuracy on rows not yet trained on: {model.accuracy:.3f}.")
    if model.left_out:
        lines.append(f"Left out: {listed(model.left_out)}.")
    return " ".join(lines)


def held_out_summary(model: StreamedModel) -> str | None:
    """Return the accuracy on held-out rows, beside that of the most frequent class."""
    if model.confusion is None or not model.confusion.any():
        return None
    counts = model.confusion.sum(axis=1)
    share, n_rows = counts.max() / counts.sum(), int(counts.sum())
    always = str(model.classes[counts.argmax()])
    return (
        f"Accuracy on {n_rows:,} held-out rows, never trained on: {model.test_accuracy:.3f} "
        f"(always {always!r}: {share:.3f})."
    )


def confusion_table(confusion: NDArray[np.int64], classes: NDArray[Any]) -> Table:
    """Return how often each class was predicted as which; of many classes, the rare are summed."""
    names, groups = _groups(confusion.sum(axis=1), classes)
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(counts, np.ix_(groups, groups), confusion)
    n_correct = np.bincount(groups, np.diag(confusion))
    table = Table()
    table.add_column("class \\ predicted", overflow="fold")
    for name in names:
        table.add_column(Text(name), justify="right", overflow="fold")
    table.add_column("correct", justify="right")
    for name, row, correct in zip(names, counts, n_correct, strict=True):
        share = f"{correct / row.sum():.0%}" if row.any() else ""
        table.add_row(Text(name), *(f"{count:,}" for count in row), share)
    return table


def _groups(counts: NDArray[np.int64], classes: NDArray[Any]) -> tuple[list[str], NDArray[np.intp]]:
    """Return names of the rows of the table, and in which of them each class is."""
    most = np.sort(np.argsort(-counts, kind="stable")[:_MOST_CLASSES])
    names = [str(classes[k]) for k in most]
    if len(most) < len(classes):
        names.append(f"{len(classes) - len(most)} others")
    groups = np.full(len(classes), len(most))
    groups[most] = np.arange(len(most))
    return names, groups
