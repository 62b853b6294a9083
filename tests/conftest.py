"""Settings and data that all tests share."""

import os
import signal

# Threads of OpenMP that wait do not spin: other tests need the cores. It is read on import.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("MPLBACKEND", "Agg")  # displays make figures of pyplot

import numpy as np
import pytest
from chromium import chromium  # noqa: F401 (a fixture)
from hypothesis import Phase, settings
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import StandardScaler

# A runner may ignore signals, as nohup does; tests that send them need them as they usually are.
for name, handler in (
    ("SIGINT", signal.default_int_handler),
    ("SIGTERM", signal.SIG_DFL),
    ("SIGHUP", signal.SIG_DFL),
):
    number = getattr(signal, name, None)  # Windows has no SIGHUP
    if number is not None and signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)


# The same examples on every machine, however slow it is.
settings.register_profile("skliquid", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("skliquid")
# For mutation testing, where one example that fails is enough.
settings.register_profile("mutants", max_examples=30, phases=[Phase.explicit, Phase.generate])


def _scaled(load):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return StandardScaler().fit_transform(X)[order], y[order]


@pytest.fixture(scope="session")
def binary():
    """Scaled breast cancer data: 569 rows, two classes."""
    return _scaled(load_breast_cancer)


@pytest.fixture(scope="session")
def multiclass():
    """Scaled iris data: 150 rows, three classes."""
    return _scaled(load_iris)


@pytest.fixture(scope="session")
def digits():
    """Scaled digits: the first 600 rows of ten classes."""
    X, y = _scaled(load_digits)
    return X[:600], y[:600]
