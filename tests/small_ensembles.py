"""Small ensembles, and how to compare them."""

import numpy as np
from sklearn.linear_model import SGDClassifier

from skliquid import LiquidEnsembleClassifier

SGD = SGDClassifier()
FEW_X = np.random.default_rng(0).normal(size=(60, 3))
FEW_Y = (FEW_X[:, 0] > 0).astype(int)


def small(estimator=SGD, **options):
    defaults = {"n_estimators": 12, "n_final": 3, "competence": "training", "random_state": 0}
    return LiquidEnsembleClassifier(estimator, **defaults | options)


def of_four(estimator=None, **options):
    """Return an ensemble for tests of errors: four voters, of which two remain."""
    defaults = {"n_estimators": 4, "n_final": 2, "competence": "training", "random_state": 0}
    return LiquidEnsembleClassifier(estimator, **defaults | options)


def same(first, second, X):
    """Return whether two ensembles have the same delegations, votes and costs."""
    return (
        np.array_equal(first.delegation_graph_.delegation, second.delegation_graph_.delegation)
        and np.array_equal(first.predict_proba(X), second.predict_proba(X))
        and first.training_cost_ == second.training_cost_
    )


def parts(X, y, size):
    """Return the rows in parts of ``size``."""
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]
