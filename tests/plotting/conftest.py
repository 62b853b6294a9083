"""Fitted ensembles, and figures that are closed after each test."""

import matplotlib.pyplot as plt
import pytest
from small_ensembles import small

from skliquid import LiquidEnsembleClassifier


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def mixed(binary):
    """The default ensemble: 24 voters of three estimators, 5 representatives, 3 increments."""
    return LiquidEnsembleClassifier(random_state=0).fit(*binary)


@pytest.fixture(scope="session")
def alike(binary):
    """An ensemble of 12 voters that differ only in their seeds, with an evaluation set."""
    X, y = binary
    ensemble = small(increment_size=50)
    return ensemble.fit(X[:400], y[:400], eval_set=(X[400:], y[400:]))
