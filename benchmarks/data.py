"""Splits of the paper's datasets, of tables, and of a synthetic with interactions, by name."""

import re
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd
from halves import Halves, halves
from tables import TABLES, table_halves

from skliquid.datasets import load_dataset

MOST_ROWS = 20_000
"""Of a table. Half of them are for training."""

INTERACTIONS = "interactions-"
"""A synthetic dataset is named by this, followed by the number of training rows."""

N_COLUMNS, N_TEST, NOISE = 20, 20_000, 0.05


def load(dataset: str, seed: int, *, as_frame: bool = False) -> Halves:
    """Return a split, encoded by its training half, or as data frames with categories."""
    if dataset.startswith(INTERACTIONS):
        return _interactions(int(dataset.removeprefix(INTERACTIONS)), seed)
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
def _interactions(n_rows: int, seed: int) -> Halves:
    """Return so many training rows and 20,000 test rows, with columns in random order."""
    rng = np.random.default_rng(seed)
    X, y = make_interactions(n_rows + N_TEST, rng)
    X = X[:, rng.permutation(N_COLUMNS)]
    return Halves(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:], 2)


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
