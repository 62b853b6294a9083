"""Splits of the paper's datasets, of tables, and of a synthetic with interactions, by name."""

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
    """Return a split, encoded by its training half or as data frames, where the source has them."""
    if dataset.startswith(INTERACTIONS):
        return _interactions(int(dataset.removeprefix(INTERACTIONS)), seed)
    if dataset in TABLES:
        return table_halves(dataset, seed, MOST_ROWS, encoded=not as_frame)
    data = halves(dataset, None, "ours", seed)
    if not as_frame:
        return data
    X = _frame(dataset)
    order = np.random.default_rng(seed).permutation(len(X))
    is_train = np.isin(np.arange(len(X)), order[: len(X) // 2])
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
