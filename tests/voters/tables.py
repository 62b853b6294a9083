"""Tables that tests of voters share."""

import numpy as np

N_COLUMNS = 11
CATEGORICAL = np.isin(np.arange(N_COLUMNS), [3, 4])


def mixed_table(seed=0, n_rows=150, n_classes=3):
    """Return rows with all kinds of columns, labels that depend on some, and weights.

    Columns are continuous (two), of few values, categorical (two), constant, all missing, and those
    of a one-hot encoding (four). Values are missing elsewhere too, and some weights are zero.
    """
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, 2))
    few = rng.integers(0, 4, size=(n_rows, 1))
    categories = rng.integers(0, [5, 20], size=(n_rows, 2))
    X = np.hstack([numbers, few, categories, np.ones((n_rows, 2))]).astype(float)
    hidden = X[:, 0] + 0.7 * few[:, 0] + categories[:, 0] % 3 + 0.5 * rng.normal(size=n_rows)
    y = np.digitize(hidden, np.quantile(hidden, np.arange(1, n_classes) / n_classes))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 6] = np.nan
    X = np.hstack([X, np.eye(5)[(y + rng.integers(3, size=n_rows)) % 5, 1:]])
    weights = rng.exponential(size=n_rows) * (rng.random(n_rows) < 0.9)
    return X, y, weights


def random_order_of_categories(seed=0, n_rows=2000, n_classes=2):
    """Return four columns of 40 categories, whose effects have nothing to do with their order."""
    rng = np.random.default_rng(seed)
    categories = rng.integers(40, size=(n_rows, 4))
    effects = rng.normal(size=(40, 4, n_classes))
    y = effects[categories, np.arange(4)].sum(axis=1).argmax(axis=1)
    return categories.astype(float), y


def with_interaction(n_rows, rng, sign=1.0):
    """Return rows of two classes, which the product of two columns decides."""
    X = rng.normal(size=(n_rows, 4))
    return X, (sign * X[:, 0] * X[:, 1] > 0).astype(int)
