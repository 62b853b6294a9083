"""Tables with category columns, as data frames: real ones, and two synthetic ones of a seed."""

from functools import lru_cache

import numpy as np
import pandas as pd
from data import load
from halves import Halves

REAL = {
    "report": (
        *("adult", "car", "caravan", "census-income", "default-of-credit", "dna", "fars"),
        *("german-credit", "hpc", "hypothyroid", "kr-vs-k", "lending-club", "soybean"),
        *("stackoverflow", "credit-approval", "heart", "kr-vs-kp", "online-shoppers"),
    ),
    "choose": (
        *("bank", "cardiotocography", "churn", "credit-data", "diamonds", "income", "nursery"),
    ),
    "speed": ("mushroom", "splice"),
}
"""All tables of the benchmarks that have a category column, by their use."""

CUSTOMERS, POSTAL_CODES = "customers", "customers, postal codes"
SYNTHETIC = (CUSTOMERS, POSTAL_CODES)
ONE_ROW = (*SYNTHETIC, "adult", "bank", "car", "kr-vs-kp", "mushroom", "splice")
"""Tables on which the prediction of one row is measured."""
NUMBERS = ("page-blocks", "pima", "satellite", "spambase")
"""Some tables of numbers."""

N_TRAIN, N_TEST = 16_000, 10_000


def frames(name: str, seed: int) -> Halves:
    """Return a split whose frames have category columns, with the categories of the training half.

    Categories of the test half that are not among them are missing.
    """
    if name not in SYNTHETIC:
        return load(name, seed, as_frame=True)
    X, y = customers(seed, 800 if name == POSTAL_CODES else 12)
    X = X.astype(dict.fromkeys(X.select_dtypes("str"), "category"))
    return Halves(X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:], 2)


def as_strings(X: pd.DataFrame) -> pd.DataFrame:
    """Return the same frame with strings instead of categories; missing ones stay missing."""
    return X.astype(dict.fromkeys(X.select_dtypes("category"), "str"))


@lru_cache(maxsize=1)
def customers(seed: int, n_places: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return three columns of numbers and four of strings; the class follows from all of them."""
    rng = np.random.default_rng([seed, n_places])
    n = N_TRAIN + N_TEST
    age, income, hours = rng.normal(45, 15, n), rng.lognormal(10, 0.5, n), rng.normal(38, 8, n)
    codes = [rng.integers(n_distinct, size=n) for n_distinct in (n_places, 30, 4, 6)]
    effects = [rng.normal(size=codes_of.max() + 1)[codes_of] for codes_of in codes]
    score = sum(effects) + (age - 45) / 15 + effects[1] * (hours - 38) / 8 + np.log(income) - 10
    y = (score + rng.logistic(size=n) > 0).astype(int)
    income[rng.random(n) < 0.05] = np.nan
    names = ("place", "job", "contract", "channel")
    texts = {
        name: pd.Series(codes_of).map(lambda code, name=name: f"{name} {code}").astype("str")
        for name, codes_of in zip(names, codes, strict=True)
    }
    return pd.DataFrame({"age": age, "income": income, "hours": hours} | texts), y
