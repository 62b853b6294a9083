"""What are vote weights worth in the default ensemble and in pruned forests, where votes are soft?

Half splits of the paper's datasets and of the tables for choosing settings (``tables.py``). Votes
carried, one vote each and log-odds are trained with; fitted weights replace those of one vote each
after training. ``--write FILE`` writes the tables, ``--results FILE`` keeps every single result,
and goes on where it was stopped.
"""

import argparse
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from halves import Halves, halves
from joblib import Parallel, delayed
from measure import scores
from scipy.stats import wilcoxon
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from tables import TABLES, table_halves
from threadpoolctl import threadpool_limits

from reproduction.mixture_weights import mixture_weights
from skliquid import CompetenceMeasure, LiquidEnsembleClassifier, as_mechanism, prune
from skliquid.datasets import DATASET_NAMES, load_dataset

N_TREES, SIZES = 100, (5, 10, 20)
SCORES = {"accuracy": "accuracy", "clipped": "log-loss", "auc": "ROC-AUC"}
CARRIED, EQUAL, LOG_ODDS = "votes carried", "one vote each", "log-odds"
AT_THE_END = "one vote each, at the end alone"
TRAINED = {CARRIED: "delegated", EQUAL: "auto", LOG_ODDS: "log_odds"}
FITTED = {"fitted, maximum likelihood": 0.0, "fitted, halfway to equal": 1.0}
HINDSIGHT = "fitted to the test half"
WHOLE, RANDOM = "the whole forest", "trees at random, one vote each"
DEFAULT = "The default ensemble"


HEAD = """# Vote weights: results

Made by `make bench-weights`: half splits of the paper's datasets and of tables for choosing
settings, of at most {n_rows:,} rows. Means over tables, and differences to votes carried ± one
standard error over tables, with the p-value of the signed-rank test over tables. Log-loss is
clipped at 1e-15.

In training, contributions and temperature are those of the group with the same weights (log-odds:
with votes carried). *At the end alone*: trained with votes carried, which are then replaced.
Fitted weights replace those of one vote each after training, at its temperature. They are mixture
weights for answers on rows that the voters had not trained on: for the default ensemble its last
increment, for forests all rows for pruning. Those fitted to the test half are what nobody has."""


class Remembering(CompetenceMeasure):
    """Contributions, and the class probabilities of the voters on each increment."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "panels", [])

    def evaluate(self, panel: Any) -> Any:
        probabilities = panel.pool.probabilities(panel.voters, panel.rows.X)
        of_label = probabilities[:, np.arange(len(panel.rows.y)), panel.rows.y]
        self.panels.append((panel.voters, of_label))
        return super().evaluate(panel)

    def of_labels(self, voters: Any, n_last: int) -> np.ndarray:
        """Return the probabilities that voters gave to labels on the last increments."""
        panels = self.panels[-n_last:]
        return np.hstack([of_label[asked.searchsorted(voters)] for asked, of_label in panels])


def one_split(dataset: str, number: int, group: str, n_rows: int) -> list[dict[str, Any]]:
    """Return the scores of a group of ensembles on one split."""
    entropy = [number, *map(ord, dataset + "choose")]
    seed = int(np.random.SeedSequence(entropy).generate_state(1)[0])
    is_table = dataset in TABLES
    data = table_halves(dataset, seed, n_rows) if is_table else _some(dataset, seed, n_rows)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            {"dataset": dataset, "split": number, "group": group, "kind": kind, "weights": weights}
            | {name: value for name, value in found.items() if name in SCORES}
            for kind, weights, found in GROUPS[group](data, seed % 2**31)
        ]


Scored = Iterator[tuple[str, str, dict[str, Any]]]


def default_ensembles(data: Halves, seed: int) -> Scored:
    """Yield the scores of the default ensemble; weights are fitted to its last increment."""

    def fit(mechanism: Any, measure: Any) -> LiquidEnsembleClassifier:
        ensemble = LiquidEnsembleClassifier(
            mechanism=mechanism, competence=measure, random_state=seed
        )
        return ensemble.fit(data.X_train, data.y_train)

    yield from by_weights(DEFAULT, fit, data, n_last=1)


def pruned_forests(data: Halves, seed: int) -> Scored:
    """Yield the scores of forests, pruned on a third of the training half."""
    parts = train_test_split(
        data.X_train, data.y_train, test_size=1 / 3, stratify=data.y_train, random_state=seed
    )
    X_fit, X_prune, y_fit, y_prune = parts
    forest = RandomForestClassifier(N_TREES, random_state=seed).fit(X_fit, y_fit)
    yield "Random forests", WHOLE, scores(forest, data)
    for size in SIZES:
        kind = f"{size} of {N_TREES} trees"

        def fit(mechanism: Any, measure: Any, n_final: int = size) -> Any:
            options = {"mechanism": mechanism, "competence": measure, "random_state": seed}
            return prune(forest, X_prune, y_prune, n_final=n_final, **options)

        yield from by_weights(kind, fit, data, n_last=0)
        at_random = RandomForestClassifier(size, random_state=seed).fit(X_fit, y_fit)
        yield kind, RANDOM, scores(at_random, data)


GROUPS = {"default": default_ensembles, "forests": pruned_forests}


def by_weights(kind: str, fit: Any, data: Halves, n_last: int) -> Scored:
    """Yield the scores of an ensemble by vote weights."""
    for name, weights in TRAINED.items():
        measure = Remembering()
        mechanism = as_mechanism("proportional_weighted", vote_weights=weights)
        ensemble = fit(mechanism, measure)
        yield kind, name, scores(ensemble, data)
        if name == CARRIED and kind == DEFAULT:
            ensemble.mechanism = as_mechanism(mechanism, vote_weights="equal")
            yield kind, AT_THE_END, scores(ensemble, data)
        if name == EQUAL:
            yield from _fitted(kind, ensemble, measure, data, n_last)


def _fitted(kind: str, ensemble: Any, measure: Remembering, data: Halves, n_last: int) -> Scored:
    voters, mechanism = ensemble.delegation_graph_.representatives, ensemble.mechanism
    before, tested = measure.of_labels(voters, n_last), _on_test_half(ensemble, data)
    fitted = {name: mixture_weights(before, strength) for name, strength in FITTED.items()}
    for name, weights in (fitted | {HINDSIGHT: mixture_weights(tested, 0.0)}).items():
        ensemble.mechanism = as_mechanism(mechanism, vote_weights=lambda *_, w=weights: w)
        yield kind, name, scores(ensemble, data)


def _on_test_half(ensemble: Any, data: Halves) -> np.ndarray:
    """Return the probabilities that representatives give to the labels of the test half."""
    training = ensemble._ready()  # noqa: SLF001 (voters with feature maps need their pool)
    X = ensemble._check_X(data.X_test, "probabilities")  # noqa: SLF001
    probabilities = training.pool.probabilities(training.graph.representatives, X)
    return probabilities[:, np.arange(len(data.y_test)), data.y_test]


def _some(dataset: str, seed: int, n_rows: int) -> Halves:
    data = halves(dataset, None, "ours", seed)
    rng = np.random.default_rng(seed)
    train, test = (rng.permutation(len(y))[: n_rows // 2] for y in (data.y_train, data.y_test))
    rows = data.X_train[train], data.y_train[train], data.X_test[test], data.y_test[test]
    return Halves(*rows, data.n_classes)


# Tables


def summary(results: pd.DataFrame, n_rows: int) -> str:
    """Return means, and differences to votes carried, as Markdown."""
    parts = [HEAD.format(n_rows=n_rows)]
    for kind, of_kind in results.groupby("kind", sort=False):
        n_splits = len(of_kind[["dataset", "split"]].drop_duplicates())
        n_tables = of_kind["dataset"].nunique()
        means = of_kind.groupby(["dataset", "weights"], sort=False)[[*SCORES]].mean()
        wide = means.unstack("weights")
        rows = [_row(wide, name) for name in of_kind["weights"].unique()]
        table = pd.DataFrame(rows).to_markdown(index=False, disable_numparse=True)
        parts += [f"## {kind}", f"{n_splits} splits of {n_tables} tables:", table]
    return "\n\n".join(parts) + "\n"


def _row(wide: pd.DataFrame, name: str) -> dict[str, str]:
    row = {"weights": name}
    for column, title in SCORES.items():
        row[title] = f"{wide[column, name].mean():.4f}"
        if CARRIED in wide[column] and name != CARRIED:
            gain = wide[column, name] - wide[column, CARRIED]
            p = wilcoxon(gain).pvalue if gain.round(9).any() else 1.0
            row[f"{title}, difference"] = f"{gain.mean():+.4f} ± {gain.sem():.4f}, p = {p:.2g}"
        else:
            row[f"{title}, difference"] = ""
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--rows", type=int, default=4000, help="most rows of a table, both halves")
    parser.add_argument("--groups", nargs="*", default=list(GROUPS), help="default, forests")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--datasets", nargs="*", help="some datasets or tables, by name")
    parser.add_argument("--write", type=Path, help="where to write the tables as Markdown")
    parser.add_argument(
        "--results", type=Path, default=Path("out/vote_weights.csv"), help="every single result"
    )
    options = parser.parse_args()
    chosen = [name for name, table in TABLES.items() if table.use == "choose"]
    datasets = options.datasets or [*DATASET_NAMES, *chosen]
    for name in set(DATASET_NAMES) & set(datasets):
        load_dataset(name)  # raises now, not after minutes, where a file is missing
    path, tasks = options.results, product(range(options.splits), options.groups, datasets)
    path.parent.mkdir(parents=True, exist_ok=True)
    done = set()
    if path.is_file():
        done = set(
            pd.read_csv(path)[["split", "group", "dataset"]].itertuples(index=False, name=None)
        )
    missing = [task for task in tasks if task not in done]
    calls = [delayed(one_split)(name, n, group, options.rows) for n, group, name in missing]
    for found in Parallel(n_jobs=options.jobs, return_as="generator_unordered")(calls):
        pd.DataFrame(found).to_csv(path, mode="a", index=False, header=not path.is_file())
        print(found[0]["dataset"], found[0]["split"], flush=True)
    text = summary(pd.read_csv(path), options.rows)
    print(text)
    if options.write:
        options.write.write_text(text)


if __name__ == "__main__":
    main()
