"""Tree voters against scikit-learn: what growing costs, and how accurate they are.

The core is measured by 100 extra trees. Times are CPU seconds of one thread, best of several in
turns, as ratios within one run. Accuracies are means over half splits.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from data import INTERACTIONS, load
from measure import scores
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from skliquid import voters

GROWN = ("spambase", f"{INTERACTIONS}10000")
COMPARED = ("kr-vs-kp", "online-shoppers", "spambase", "letter", "satellite", "vehicle")


def our_trees(seed: int) -> voters.RandomizedForestClassifier:
    return voters.RandomizedForestClassifier(
        n_estimators=100,
        max_features="sqrt",
        min_samples_leaf=1,
        splitter="random",
        random_state=seed,
    )


def their_trees(seed: int) -> ExtraTreesClassifier:
    return ExtraTreesClassifier(n_estimators=100, n_jobs=1, random_state=seed)


def our_boosting(seed: int) -> voters.BoostedTreesClassifier:
    return voters.BoostedTreesClassifier(random_state=seed)


def their_boosting(seed: int) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(random_state=seed)


PAIRS = {"extra trees": (our_trees, their_trees), "boosting": (our_boosting, their_boosting)}


def speed(dataset: str, n_repeats: int) -> dict[str, Any]:
    """Return how long ours takes to grow and to predict, as shares of scikit-learn's time."""
    data = load(dataset, 0)
    makers = {"ours": our_trees, "theirs": their_trees}
    models = {name: make(0).fit(data.X_train, data.y_train) for name, make in makers.items()}
    grow = in_turns(
        {n: partial(m.fit, data.X_train, data.y_train) for n, m in models.items()}, n_repeats
    )
    predict = in_turns(
        {n: partial(m.predict_proba, data.X_test) for n, m in models.items()}, n_repeats
    )
    accuracy = {name: model.score(data.X_test, data.y_test) for name, model in models.items()}
    return {
        "dataset": dataset,
        "rows": len(data.y_train),
        "grow, ms": f"{1e3 * grow['ours']:.0f} : {1e3 * grow['theirs']:.0f}",
        "grow, ratio": f"{grow['ours'] / grow['theirs']:.2f}",
        "predict, ms": f"{1e3 * predict['ours']:.1f} : {1e3 * predict['theirs']:.1f}",
        "predict, ratio": f"{predict['ours'] / predict['theirs']:.2f}",
        "accuracy": f"{accuracy['ours']:.4f} : {accuracy['theirs']:.4f}",
    }


def in_turns(tasks: dict[str, Callable[[], Any]], n_repeats: int) -> dict[str, float]:
    """Return the least CPU seconds of each task."""
    best = dict.fromkeys(tasks, np.inf)
    for _ in range(n_repeats):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - start)
    return best


def compared(datasets: list[str], n_splits: int) -> Iterator[dict[str, Any]]:
    """Yield mean scores and the ratio of CPU times, of ours and of scikit-learn's."""
    for kind, makers in PAIRS.items():
        for dataset in datasets:
            means = [_means(make, dataset, n_splits) for make in makers]
            shown = {name: f"{means[0][name]:.4f} : {means[1][name]:.4f}" for name in SHOWN}
            ratio = f"{means[0]['fit'] / means[1]['fit']:.2f}"
            yield {"voters": kind, "dataset": dataset, **shown, "fit, ratio": ratio}


SHOWN = ("accuracy", "clipped", "auc")


def _means(make: Callable[[int], Any], dataset: str, n_splits: int) -> pd.Series:
    rows = []
    for seed in range(n_splits):
        data, model = load(dataset, seed), make(seed)
        start = time.process_time()
        model.fit(data.X_train, data.y_train)
        fit = time.process_time() - start
        found = scores(model, data)
        rows.append({name: found[name] for name in SHOWN} | {"fit": fit})
    return pd.DataFrame(rows).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--datasets", nargs="*", default=COMPARED, help="for accuracy, by name")
    options = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grown = [speed(dataset, options.repeats) for dataset in GROWN]
        print("## 100 extra trees, ours : scikit-learn's\n")
        print(_markdown(grown), flush=True)
        print("\n## Accuracy, clipped log-loss, ROC-AUC, ours : scikit-learn's\n")
        print(_markdown(list(compared(options.datasets, options.splits))))


def _markdown(rows: list[dict[str, Any]]) -> str:
    return pd.DataFrame(rows).to_markdown(index=False, disable_numparse=True)


if __name__ == "__main__":
    main()
