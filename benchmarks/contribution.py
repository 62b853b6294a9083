"""Is it better to delegate by contribution to the group, by own accuracy, or at random?

Three kinds of ensembles: diverse linear voters, a list of linear voters and decision trees, and
bagged trees that ``prune`` makes smaller. All are paired over half splits of the paper's datasets
and of the tables in ``tables.py``, with soft votes throughout. ``--choose`` uses what is for
choosing settings. ``--write FILE`` writes the results as Markdown.
"""

import argparse
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from halves import Halves, halves
from measure import scores
from rich.progress import track
from rivals import RANDOM, linear_voters
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from tables import TABLES, table_halves
from threadpoolctl import threadpool_limits

from skliquid import LiquidEnsembleClassifier, prune
from skliquid.datasets import DATASET_NAMES, load_dataset

MOST_ROWS = 4000
"""Trees are refitted at every increment, which takes long on more rows."""

WAYS: dict[str, dict[str, Any]] = {
    "contribution": {"competence": "contribution"},
    "own accuracy": {"competence": "prequential"},
    "random": {"competence": "prequential", "mechanism": RANDOM},
}
HEAD = f"""# Contribution, own accuracy, random pruning

By `make bench-contribution`; three half splits of each dataset, at most {MOST_ROWS:,} rows.
Log-loss is clipped at 1e-15."""

COLUMNS = ["accuracy", "auc", "clipped"]


def linear(data: Halves, seed: int, **options: Any) -> Any:
    return linear_voters(seed, **options).fit(data.X_train, data.y_train)


def mixed(data: Halves, seed: int, **options: Any) -> Any:
    voters = [
        ("linear", SGDClassifier(loss="log_loss", average=True)),
        ("tree", DecisionTreeClassifier(max_features="sqrt")),
    ]
    ensemble = LiquidEnsembleClassifier(
        voters,
        n_estimators=60,
        increment_size=-(-len(data.y_train) // 20),
        bootstrap=True,
        random_state=seed,
        **options,
    )
    return ensemble.fit(data.X_train, data.y_train)


def pruned(data: Halves, seed: int, **options: Any) -> Any:
    parts = train_test_split(
        data.X_train, data.y_train, test_size=0.3, stratify=data.y_train, random_state=seed
    )
    X_fit, X_prune, y_fit, y_prune = parts
    whole = BaggingClassifier(n_estimators=80, random_state=seed).fit(X_fit, y_fit)
    return prune(whole, X_prune, y_prune, random_state=seed, **options)


KINDS: dict[str, Callable[..., Any]] = {
    "linear voters": linear,
    "linear voters and trees": mixed,
    "bagged trees, pruned": pruned,
}


def one_split(
    dataset: str, number: int, use: str, kinds: list[str], n_final: int
) -> list[dict[str, Any]]:
    seed = int(np.random.SeedSequence([number, *map(ord, dataset + use)]).generate_state(1)[0])
    is_table = dataset in TABLES
    data = table_halves(dataset, seed, MOST_ROWS) if is_table else _some(dataset, seed)
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in kinds:
            for way, options in WAYS.items():
                model = KINDS[kind](data, seed % 2**31, n_final=n_final, **options)
                found = scores(model, data)
                trees = [isinstance(v, DecisionTreeClassifier) for v in model.estimators_]
                rows.append(
                    {"dataset": dataset, "split": number, "kind": kind, "way": way}
                    | {name: found[name] for name in COLUMNS}
                    | {"trees": np.mean(trees)}
                )
    return rows


def _some(dataset: str, seed: int) -> Halves:
    data = halves(dataset, None, "ours", seed)
    rng, n = np.random.default_rng(seed), MOST_ROWS // 2
    train, test = (rng.permutation(len(y))[:n] for y in (data.y_train, data.y_test))
    return Halves(
        data.X_train[train],
        data.y_train[train],
        data.X_test[test],
        data.y_test[test],
        data.n_classes,
    )


def summary(results: pd.DataFrame) -> str:
    """Return the differences as Markdown: means over datasets, and who is ahead how often."""
    parts = [HEAD]
    for kind in results["kind"].unique():
        of_kind = results[results["kind"] == kind]
        wide = of_kind.groupby(["dataset", "way"])[COLUMNS].mean().unstack()
        rows = []
        for other in ("own accuracy", "random"):
            row: dict[str, Any] = {"contribution against": other}
            for column, sign in (("accuracy", 1), ("auc", 1), ("clipped", -1)):
                gain = sign * (wide[column]["contribution"] - wide[column][other])
                label = {"auc": "ROC-AUC", "clipped": "log-loss"}.get(column, column)
                row[label] = f"{sign * gain.mean():+.4f} ± {gain.sem():.4f}"
                row[f"{label}, better : worse"] = f"{(gain > 1e-9).sum()} : {(gain < -1e-9).sum()}"
            rows.append(row)
        means = of_kind.groupby(["way", "dataset"])[[*COLUMNS, "trees"]].mean()
        means = means.groupby("way").mean().loc[list(WAYS)].rename(columns={"clipped": "log-loss"})
        by_dataset = wide["accuracy"][list(WAYS)]
        parts += [
            f"## {kind}",
            pd.DataFrame(rows).to_markdown(index=False),
            means.to_markdown(floatfmt=".4f"),
            "Accuracy:",
            by_dataset.to_markdown(floatfmt=".4f"),
        ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), help="some kinds, by name")
    parser.add_argument("--datasets", nargs="*", help="some datasets or tables, by name")
    parser.add_argument("--n-final", type=int, default=12, help="representatives at the end")
    parser.add_argument("--choose", action="store_true", help="what is for choosing settings")
    parser.add_argument("--write", type=Path, help="where to write the results as Markdown")
    parser.add_argument("--results", type=Path, help="where to keep every single result, as CSV")
    options = parser.parse_args()
    use = "choose" if options.choose else "report"
    for name in DATASET_NAMES:
        load_dataset(name)
    tables = [name for name, table in TABLES.items() if table.use == use]
    datasets = options.datasets or [*DATASET_NAMES, *tables]
    rows = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as processes:
        tasks = [(name, number) for number in range(options.splits) for name in datasets]
        same = use, options.kinds, options.n_final
        waiting = [processes.submit(one_split, *task, *same) for task in tasks]
        for done in track(as_completed(waiting), "Splits", total=len(waiting)):
            rows += done.result()
    results = pd.DataFrame(rows).sort_values(["dataset", "split"], kind="stable")
    if options.results:
        results.to_csv(options.results, index=False)
    text = summary(results)
    print(text)
    if options.write:
        options.write.write_text(text)


if __name__ == "__main__":
    main()
