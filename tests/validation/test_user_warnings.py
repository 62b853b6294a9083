"""Warnings point at the line of the user, however deep they arise."""

import inspect
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skliquid
from skliquid import LiquidEnsembleClassifier, TableEncoder
from skliquid.validation.user_warnings import warn_user

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(200, 2)), RNG.integers(2, size=200)
ENSEMBLE = LiquidEnsembleClassifier(
    SGDClassifier(max_iter=1), n_estimators=3, n_final=1, random_state=0
)
FRAME = pd.DataFrame({"x": X[:, 0], "left": pd.period_range("2020", periods=200)})

CALLS = {
    "ensemble": (ConvergenceWarning, lambda: ENSEMBLE.fit(X, Y)),
    "pipeline": (
        ConvergenceWarning,
        lambda: make_pipeline(StandardScaler(), ENSEMBLE).fit(X, Y),
    ),
    "grid-search": (
        ConvergenceWarning,
        lambda: GridSearchCV(ENSEMBLE, {"n_final": [1, 2]}, cv=2).fit(X, Y),
    ),
    "cross-validation": (
        ConvergenceWarning,
        lambda: cross_val_score(make_pipeline(StandardScaler(), ENSEMBLE), X, Y, cv=2),
    ),
    "encoder": (UserWarning, lambda: TableEncoder().fit(FRAME)),
    "frame": (
        UserWarning,
        lambda: LiquidEnsembleClassifier(n_estimators=3, n_final=1, random_state=0).fit(FRAME, Y),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_warnings_point_at_the_line_of_the_user(name):
    category, call = CALLS[name]
    with pytest.warns(category) as caught:
        call()
    first = inspect.getsourcelines(call)[1]
    assert {warning.filename for warning in caught} == {__file__}
    assert {abs(warning.lineno - first) <= 1 for warning in caught} == {True}


def test_a_warning_has_its_category_and_is_shown_once_per_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            warn_user("old", DeprecationWarning)
    assert [(w.category, str(w.message)) for w in caught] == [(DeprecationWarning, "old")]


def test_all_warnings_of_the_package_point_at_the_user():
    sources = Path(skliquid.__file__).parent.rglob("*.py")
    found = [path.name for path in sources if re.search(r"\bwarnings\.warn\(", path.read_text())]
    assert found == []
