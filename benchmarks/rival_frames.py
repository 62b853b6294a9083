"""Rivals that take data frames with categories: natively, or by an encoder of scikit-learn.

All of it runs inside ``fit`` and ``predict_proba``, so it counts in a rival's time.
"""

import time
from typing import Any, Self

import numpy as np
import pandas as pd
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier, early_stopping
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

MISSING = "missing"
MOST_SECONDS = 180
"""CPU time after which CatBoost adds no tree; many classes and categories take it up to an hour."""


def categories(X: Any) -> list[str]:
    """Return the names of the category columns of a frame; none of an array."""
    return list(X.select_dtypes("category")) if isinstance(X, pd.DataFrame) else []


def numbers(X: Any) -> list[Any]:
    """Return the names of the other columns of a frame; all positions of an array."""
    if isinstance(X, pd.DataFrame):
        return [name for name in X if name not in categories(X)]
    return list(range(X.shape[1]))


def with_codes(classifier: Any) -> Pipeline:
    """Return a classifier behind the codes of categories, and medians for missing numbers."""
    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1
    )
    return make_pipeline(
        ColumnTransformer(
            [("numbers", SimpleImputer(strategy="median"), numbers), ("codes", codes, categories)]
        ),
        classifier,
    )


def with_one_hot(classifier: Any) -> Pipeline:
    """Return a classifier behind scaled numbers and one-hot encoded categories."""
    scaled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    one_hot = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(
        ColumnTransformer([("numbers", scaled, numbers), ("one_hot", one_hot, categories)]),
        classifier,
    )


class NativeCatBoost(ClassifierMixin, BaseEstimator):
    """CatBoost with the category columns as ``cat_features``; a missing one is a category.

    It has up to 1,000 trees, its default: as many as it grows in three CPU minutes.
    """

    def __init__(self, random_state: int = 0):
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        self.model_ = CatBoostClassifier(
            random_seed=self.random_state,
            thread_count=1,
            allow_writing_files=False,
            verbose=False,
            cat_features=categories(X),
        ).fit(_without_missing(X), y, callbacks=[_TimeLimit()])
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return np.ravel(self.model_.predict(_without_missing(X)))  # CatBoost returns a column

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(_without_missing(X))


class _TimeLimit:
    def __init__(self) -> None:
        self.end = time.process_time() + MOST_SECONDS

    def after_iteration(self, _: Any) -> bool:
        return time.process_time() < self.end


def _without_missing(X: Any) -> Any:
    names = [name for name in categories(X) if X[name].hasnans]
    filled = {name: X[name].cat.add_categories(MISSING).fillna(MISSING) for name in names}
    return X.assign(**filled) if filled else X


class _FittedModel(ClassifierMixin, BaseEstimator):
    """Predicts with ``model_``."""

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(X)


class EarlyStoppedLightGBM(_FittedModel):
    """LightGBM that stops when the log-loss of held-out training rows does not improve."""

    def __init__(self, n_trees: int = 2000, patience: int = 50, random_state: int = 0):
        self.n_trees = n_trees
        self.patience = patience
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        X_train, X_held, y_train, y_held = train_test_split(
            X, y, test_size=0.1, stratify=y, random_state=self.random_state
        )
        self.model_ = LGBMClassifier(
            n_estimators=self.n_trees, random_state=self.random_state, n_jobs=1, verbose=-1
        ).fit(
            X_train,
            y_train,
            eval_set=[(X_held, y_held)],
            callbacks=[early_stopping(self.patience, verbose=False)],
        )
        self.classes_ = self.model_.classes_
        return self


class CalibratedLightGBM(_FittedModel):
    """LightGBM with temperature scaling, in five folds, or as many as the rarest class has rows."""

    def __init__(self, n_trees: int = 100, random_state: int = 0):
        self.n_trees = n_trees
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        lightgbm = LGBMClassifier(
            n_estimators=self.n_trees, random_state=self.random_state, n_jobs=1, verbose=-1
        )
        n_folds = max(2, min(5, np.unique(y, return_counts=True)[1].min()))
        self.model_ = CalibratedClassifierCV(lightgbm, method="temperature", cv=n_folds).fit(X, y)
        self.classes_ = self.model_.classes_
        return self
