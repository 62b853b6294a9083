"""Splits of the paper's datasets, of tables, and of synthetic data, by name."""

import re
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import pandas as pd
from halves import Halves, halves
from tables import TABLES, table_halves

from skliquid.datasets import load_dataset

MOST_ROWS = 20_000
"""Of a table. Half of them are for training."""

INTERACTIONS, WHOLE = "interactions-", "whole-"
"""A synthetic dataset is named by this or another family, followed by the number of training rows;
a table of which all rows are used, by ``whole-`` and its name."""

N_COLUMNS, N_TEST, NOISE = 20, 20_000, 0.05


def load(dataset: str, seed: int, *, as_frame: bool = False) -> Halves:
    """Return a split, encoded by its training half, or as data frames with categories."""
    family, _, number = dataset.rpartition("-")
    if family in FAMILIES:
        return _synthetic(family, int(number), seed)
    if as_frame:
        return _frames(dataset, seed)
    if dataset in TABLES:
        return table_halves(dataset, seed, MOST_ROWS)
    return halves(dataset, None, "ours", seed)


@lru_cache(maxsize=1)
def _frames(dataset: str, seed: int) -> Halves:
    """Return a split as frames whose category columns have the categories of the training half."""
    if dataset in TABLES:
        data = table_halves(dataset, seed, MOST_ROWS, encoded=False)
    elif dataset.startswith(WHOLE):
        data = table_halves(dataset.removeprefix(WHOLE), seed, encoded=False)
    else:
        data = _paper_frames(dataset, seed)
    X_train, X_test = data.X_train.copy(), data.X_test.copy()
    for name in X_train.select_dtypes("category"):
        X_train[name] = X_train[name].cat.remove_unused_categories()
        X_test[name] = X_test[name].cat.set_categories(X_train[name].cat.categories)
    X_train.columns = X_test.columns = _plain_names(X_train.columns)
    return replace(data, X_train=X_train, X_test=X_test)


def _plain_names(names: pd.Index) -> list[str]:
    """Return names without the characters that LightGBM and XGBoost refuse."""
    return [re.sub(r"\W+", "_", f"{name} {k}") for k, name in enumerate(names)]


def _paper_frames(dataset: str, seed: int) -> Halves:
    X = _frame(dataset)
    order = np.random.default_rng(seed).permutation(len(X))
    is_train = np.isin(np.arange(len(X)), order[: len(X) // 2])
    data = halves(dataset, None, "ours", seed)
    return replace(data, X_train=X[is_train], X_test=X[~is_train])


@lru_cache(maxsize=1)
def _frame(name: str) -> pd.DataFrame:
    """Return one of the paper's datasets as it is, but for times, which nobody gets."""
    dataset = load_dataset(name, as_frame=True)
    return dataset.X.loc[:, [kind != "time" for kind in dataset.column_types]]


@lru_cache(maxsize=1)
def _synthetic(family: str, n_rows: int, seed: int) -> Halves:
    """Return training rows and 20,000 test rows, with columns in random order."""
    rng = np.random.default_rng(seed)
    X, y = FAMILIES[family](n_rows + N_TEST, rng)
    X = X[:, rng.permutation(X.shape[1])]
    return Halves(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:], int(y.max()) + 1)


def make_interactions(n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of normal numbers, and labels, about as many of either class.

    The class follows from signs and products of two and of three columns and from a few linear
    terms; ten columns are noise, and so is one label in twenty.
    """
    X = rng.normal(size=(n_rows, N_COLUMNS))
    a, b, c, d, e, f, g, h, i, j = X[:, :10].T
    pairs = np.sign(a * b) + c * d + 0.7 * ((h > 0.5) ^ (i > -0.5))
    score = pairs + 0.5 * e * f * g + 0.7 * (a + c - j) - 0.35
    return X, ((score > 0) ^ (rng.random(n_rows) < NOISE)).astype(int)


def make_tree_sum(
    n_rows: int, rng: np.random.Generator, n_classes: int = 2
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of 25 normal numbers, and labels drawn by the sum of 30 deep random trees.

    The more rows there are, the more of the trees can be learned.
    """
    X, n_outputs = rng.normal(size=(n_rows, 25)), 1 if n_classes == 2 else n_classes
    scores, rows = np.zeros((n_rows, n_outputs)), np.arange(n_rows)
    for _ in range(30):
        leaf = np.zeros(n_rows, dtype=np.int64)
        for level in range(5):
            column, cut = rng.integers(0, 25, 2**level), rng.normal(0, 0.7, 2**level)
            leaf = 2 * leaf + (X[rows, column[leaf]] > cut[leaf])
        scores += rng.normal(size=(32, n_outputs))[leaf]
    scores *= 2.6 / scores.std(axis=0)
    if n_classes == 2:
        return X, (rng.random(n_rows) < 1 / (1 + np.exp(-scores[:, 0]))).astype(int)
    return X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def make_network(n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of 25 normal numbers, and labels drawn by a random network with 20 units."""
    X = rng.normal(size=(n_rows, 25))
    score = np.tanh(X @ rng.normal(size=(25, 20)) * 0.3) @ rng.normal(size=20)
    score *= 1.6 / score.std()
    return X, (rng.random(n_rows) < 1 / (1 + np.exp(-score))).astype(int)


FAMILIES = {
    "interactions": make_interactions,
    "trees": make_tree_sum,
    "trees-of-7-classes": partial(make_tree_sum, n_classes=7),
    "network": make_network,
}
"""Synthetic data, by family."""
