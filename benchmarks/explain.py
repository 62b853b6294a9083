"""Explanations: CPU seconds for 1,000 rows, beside shap on LightGBM and a random forest."""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import shap
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from tabulate import tabulate
from threadpoolctl import threadpool_limits

from skliquid import Diversity, LiquidEnsembleClassifier, explain
from skliquid.diversity import FourierFeatures
from skliquid.voters import RandomizedForestClassifier

N_ROWS, N_COLUMNS, REPEATS = 1_000, 30, 3

_PAGE = """# Explanations: time

`make bench-explain` makes this page: CPU seconds of one thread to explain {n_rows:,} rows with
{n_columns} columns, the least of {repeats} runs. The background are the training rows, of which
`explain` uses 1,000. shap's `TreeExplainer` is path-dependent, and needs no background; of the
random forest it explains 100 rows, and the time is multiplied by 10. *nodes* are those of all trees
of the representatives. The largest error is that of the sum of the contributions, against
`predict_proba`.

{table}
"""


def rows_of(n_rows: int, n_classes: int) -> Any:
    """Return a table of numbers, in which 12 columns are informative."""
    return make_classification(
        n_rows, N_COLUMNS, n_informative=12, n_classes=n_classes, flip_y=0.05, random_state=0
    )


def seconds(task: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the least CPU time of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)


def ours(name: str, ensemble: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return the figures of an ensemble."""
    ensemble.fit(X, y)
    some, found = X[:N_ROWS], explain(ensemble, X[:N_ROWS], X)
    sums = found.base_values + found.values.sum(axis=1)
    last = [voter[-1] if hasattr(voter, "steps") else voter for voter in ensemble.estimators_]
    trees = [tree for voter in last if hasattr(voter, "trees_") for tree in voter.trees_.trees]
    return {
        "model": name,
        "training rows": f"{len(X):,}",
        "classes": len(ensemble.classes_),
        "representatives": ", ".join(one.estimator for one in found.representatives),
        "nodes": f"{sum(len(nodes) // 16 for nodes, _ in trees):,}",
        "seconds": f"{seconds(lambda: explain(ensemble, some, X)):.2f}",
        "largest error": f"{np.abs(sums - ensemble.predict_proba(some)).max():.0e}",
    }


def theirs(name: str, model: Any, X: Any, y: Any, n_rows: int) -> dict[str, Any]:
    """Return the figures of shap on another model."""
    model.fit(X, y)
    explainer = shap.TreeExplainer(model)
    repeats = REPEATS if n_rows == N_ROWS else 1
    taken = seconds(lambda: explainer.shap_values(X[:n_rows]), repeats) * N_ROWS / n_rows
    size = {"model": name, "training rows": f"{len(X):,}", "classes": len(model.classes_)}
    return size | {"seconds": f"{taken:.2f}"}


def main() -> None:
    """Print the table, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="the page to write")
    arguments = parser.parse_args()
    table = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n_rows, n_classes in [(2_000, 2), (9_000, 2), (9_000, 5), (50_000, 2)]:
            X, y = rows_of(n_rows, n_classes)
            table.append(ours("default", LiquidEnsembleClassifier(random_state=0), X, y))
            rival = lightgbm.LGBMClassifier(n_jobs=1, verbose=-1)
            table.append(theirs("LightGBM, shap", rival, X, y, N_ROWS))
        X, y = rows_of(9_000, 2)
        forests = LiquidEnsembleClassifier(RandomizedForestClassifier(), random_state=0)
        table.append(ours("forests alone", forests, X, y))
        waves = LiquidEnsembleClassifier(
            SGDClassifier(loss="log_loss"),
            diversity=Diversity(feature_maps=[FourierFeatures(gamma=1 / N_COLUMNS)]),
            random_state=0,
        )
        table.append(ours("Fourier features alone", waves, X, y))
        forest = RandomForestClassifier(random_state=0)
        table.append(theirs("random forest, shap", forest, X, y, 100))
    text = tabulate(table, headers="keys", tablefmt="github", disable_numparse=True)
    print(text)
    if arguments.write:
        settings = {"n_rows": N_ROWS, "n_columns": N_COLUMNS, "repeats": REPEATS}
        arguments.write.write_text(_PAGE.format(table=text, **settings), encoding="utf-8")


if __name__ == "__main__":
    main()
