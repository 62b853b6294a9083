"""What is compared: our ensembles, and what one would use instead.

All with their default settings, one thread, and the same settings on all datasets. All take data
frames: those that know categories take them natively, others have an encoder of scikit-learn.
"""

from collections.abc import Callable
from typing import Any, Self
from unittest.mock import patch

import numpy as np
from lightgbm import LGBMClassifier
from rival_frames import (
    CalibratedLightGBM,
    EarlyStoppedLightGBM,
    NativeCatBoost,
    with_codes,
    with_one_hot,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, SGDClassifier
from skrub import tabular_pipeline
from xgboost import XGBClassifier

from skliquid import Diversity, LiquidEnsembleClassifier, presets
from skliquid.diversity import LogUniform
from skliquid.mechanisms import Mechanism
from skliquid.mechanisms.probability import any_candidate
from skliquid.mechanisms.selection import at_random

OURS, CONTROL = "skliquid", "skliquid, pruned at random"
FIXED_SIZE = "skliquid, without growth"
DIRECT, LINEAR = "skliquid, nobody delegates", "skliquid, linear voters"
LIGHTGBM, LIGHTGBM_300 = "LightGBM, 100 trees", "LightGBM, 300 trees"
EARLY_STOPPED, CALIBRATED = "LightGBM, early stopping", "LightGBM, calibrated"
XGBOOST, CATBOOST, HISTGB = "XGBoost", "CatBoost", "HistGradientBoosting"
FOREST, EXTRA = "random forest", "extra trees"
ADABOOST_50, ADABOOST_350 = "AdaBoost, 50 stumps", "AdaBoost, 350 stumps"
LOGISTIC, SKRUB = "logistic regression", "skrub's tabular_pipeline"

RANDOM = Mechanism(at_random, any_candidate)


def ours(seed: int, **changes: Any) -> LiquidEnsembleClassifier:
    """Return the ensemble with its defaults, or with some of them changed."""
    return LiquidEnsembleClassifier(random_state=seed, **changes)


def linear_voters(seed: int, **changes: Any) -> LiquidEnsembleClassifier:
    """Return the ensemble with the defaults it had before trees, or some of them changed."""
    drawn = {"alpha": LogUniform(1e-6, 1e-3), "eta0": LogUniform(0.05, 20)}
    defaults = {
        "estimator": SGDClassifier(
            loss="log_loss",
            learning_rate="invscaling",
            eta0=1.0,
            power_t=0.25,
            average=True,
            n_iter_no_change=1,
        ),
        "n_estimators": 80,
        "n_final": 12,
        "increment_size": "auto",
        "diversity": Diversity(param_distributions=drawn, feature_maps="fourier"),
        "competence": "contribution",
    }
    return LiquidEnsembleClassifier(random_state=seed, **defaults | changes)


class FixedSizeEnsemble(LiquidEnsembleClassifier):
    """The ensemble with voters that do not grow, however large the data are."""

    def fit(self, X: Any, y: Any) -> Self:
        with patch.object(presets, "MIN_ROWS_TO_GROW", np.inf):
            return super().fit(X, y)


def lightgbm(seed: int, n_trees: int) -> LGBMClassifier:
    return LGBMClassifier(n_estimators=n_trees, random_state=seed, n_jobs=1, verbose=-1)


def skrub(seed: int) -> Any:
    """Return skrub's default for classification, with a seed."""
    pipeline = tabular_pipeline("classifier", n_jobs=1)
    pipeline[-1].set_params(random_state=seed)
    return pipeline


METHODS: dict[str, Callable[[int], Any]] = {
    OURS: ours,
    CONTROL: lambda seed: ours(seed, mechanism=RANDOM),
    FIXED_SIZE: lambda seed: FixedSizeEnsemble(random_state=seed),
    DIRECT: lambda seed: ours(seed, mechanism="direct"),
    LINEAR: linear_voters,
    LIGHTGBM: lambda seed: lightgbm(seed, 100),
    LIGHTGBM_300: lambda seed: lightgbm(seed, 300),
    EARLY_STOPPED: lambda seed: EarlyStoppedLightGBM(random_state=seed),
    CALIBRATED: lambda seed: CalibratedLightGBM(random_state=seed),
    XGBOOST: lambda seed: XGBClassifier(enable_categorical=True, random_state=seed, n_jobs=1),
    CATBOOST: NativeCatBoost,
    HISTGB: lambda seed: HistGradientBoostingClassifier(
        categorical_features="from_dtype", random_state=seed
    ),
    FOREST: lambda seed: with_codes(RandomForestClassifier(random_state=seed, n_jobs=1)),
    EXTRA: lambda seed: with_codes(ExtraTreesClassifier(random_state=seed, n_jobs=1)),
    ADABOOST_50: lambda seed: with_codes(AdaBoostClassifier(n_estimators=50, random_state=seed)),
    ADABOOST_350: lambda seed: with_codes(AdaBoostClassifier(n_estimators=350, random_state=seed)),
    LOGISTIC: lambda _: with_one_hot(LogisticRegression(max_iter=1000)),
    SKRUB: skrub,
}

SLOW = (CATBOOST, ADABOOST_350, SKRUB)
"""Methods that take long: they have fewer splits."""
