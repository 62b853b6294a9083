"""Protocols: how a dataset is split into halves, and the rules by which a trial is scored."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from reproduction.own_table import load_data

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.intp]
"""Classes as positions in the sorted array of classes."""
Encoded: TypeAlias = tuple[NDArray[np.str_], Floats, Labels]
"""Column types, rows and labels."""

VARIATIONS = ("features_per_voter", "candidates", "weight_of", "stopping_rule", "boosting")
"""Rules that a method may override, in a trial with the same halves and the same seeds."""


@dataclass(frozen=True)
class Halves:
    """A dataset split in two: a training half and a test half."""

    X_train: Floats
    y_train: Labels
    X_test: Floats
    y_test: Labels
    n_classes: int


@dataclass(frozen=True)
class Protocol:
    """The rules of a trial.

    ``prepare(X, is_train, column_types)`` returns the features for the voters; in ``X``, categories
    are encoded as their positions in sorted order. Scores are recorded after one pass and after the
    final fit; tables show the ``reported`` one. ``features_per_voter`` is a number of features (all
    if a dataset has fewer), a share of them, or all, drawn once per voter without replacement;
    AdaBoost uses all features. ``candidates`` and ``weight_of`` are as in ``Mechanism``, and
    ``stopping_rule`` is as in ``LinearPool``; None keeps their defaults.
    """

    prepare: Callable[[Floats, NDArray[np.bool_], NDArray[np.str_]], Floats]
    drops_missing: bool  # whether rows with a missing value are left out
    rounding: Literal["at_least_one", "floor"]  # of the number of delegators
    goes_on: bool  # whether representatives continue training after the last delegation
    reported: Literal["one_pass", "final"]
    features_per_voter: int | float | Literal["all"] = "all"
    candidates: Literal["representatives", "voters"] = "representatives"
    weight_of: Literal["guru", "candidate"] | None = None
    stopping_rule: Literal["loss", "objective"] | None = None
    boosting: Literal["SAMME", "SAMME.R"] = "SAMME"  # of trees

    def varied(self, method: Mapping[str, Any]) -> "Protocol":
        """Return these rules with the ones that ``method`` overrides."""
        names = ("goes_on", *VARIATIONS)
        return replace(self, **{name: method[name] for name in names if name in method})


def raw(X: Floats, is_train: NDArray[np.bool_], column_types: NDArray[np.str_]) -> Floats:
    """Return unscaled numbers, and positions of categories as numbers; no points in time."""
    return X[:, column_types != "time"]


def scaled(X: Floats, is_train: NDArray[np.bool_], column_types: NDArray[np.str_]) -> Floats:
    """Return scaled numbers and one-hot encoded categories, fitted on the training half."""
    numerical = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    one_hot = OneHotEncoder(handle_unknown="ignore")
    categorical = make_pipeline(SimpleImputer(strategy="most_frequent"), one_hot)
    transformer = make_column_transformer(
        (numerical, column_types == "numerical"),
        (categorical, column_types == "categorical"),
        sparse_threshold=0,
    )
    numbers: Floats = transformer.fit(X[is_train]).transform(X)
    return numbers


PROTOCOLS: dict[str, Protocol] = {
    "paper": Protocol(
        raw,
        drops_missing=True,
        rounding="floor",
        goes_on=True,
        reported="one_pass",
        features_per_voter=20,
        candidates="voters",
        stopping_rule="loss",
        boosting="SAMME.R",
    ),
    "ours": Protocol(
        scaled, drops_missing=False, rounding="at_least_one", goes_on=False, reported="final"
    ),
}


@lru_cache(maxsize=2)
def halves(dataset: str, target: str | None, protocol: str, seed: int) -> Halves:
    """Return ``dataset`` under ``protocol``, split in half at random."""
    column_types, X, labels = rows(dataset, target, protocol)
    order = np.random.default_rng(seed).permutation(len(labels))
    is_train = np.isin(np.arange(len(labels)), order[: len(labels) // 2])
    numbers = PROTOCOLS[protocol].prepare(X, is_train, column_types)
    n_classes, n_trained = int(labels.max()) + 1, len(np.unique(labels[is_train]))
    if n_trained < n_classes:
        raise ValueError(
            f"dataset must have rows of all {n_classes} classes in its training half: that of "
            f"{dataset} has {n_trained}. Leave out classes that are rare."
        )
    train, test = is_train, ~is_train
    return Halves(numbers[train], labels[train], numbers[test], labels[test], n_classes)


def rows(dataset: str, target: str | None, protocol: str) -> Encoded:
    """Return column types, rows and labels of ``dataset`` that ``protocol`` uses."""
    column_types, X, labels = _encoded(dataset, target)
    if PROTOCOLS[protocol].drops_missing:
        complete = ~np.isnan(X).any(axis=1)
        if len(np.unique(labels[complete])) < 2:
            raise ValueError(
                f"dataset must have complete rows of two classes under the protocol {protocol}: of "
                f"the {len(labels)} rows of {dataset}, {complete.sum()} have no missing value. "
                "Fill in the others, or leave out the columns with most of them."
            )
        X, labels = X[complete], labels[complete]
    return column_types, X, labels


@lru_cache(maxsize=8)
def _encoded(name: str, target: str | None) -> Encoded:
    """Return a dataset with categories as positions, without columns that have no value."""
    dataset = load_data(name, target)
    columns = [_encode(*pair) for pair in zip(dataset.X.T, dataset.column_types, strict=True)]
    filled = [k for k, column in enumerate(columns) if not np.isnan(column).all()]
    if not filled:
        raise ValueError(
            f"dataset must have a feature with values: all cells of {name} but those of its class "
            "are missing. Give another file."
        )
    labels = np.unique(dataset.y, return_inverse=True)[1]
    column_types = np.array(dataset.column_types)[filled]
    return column_types, np.column_stack([columns[k] for k in filled]), labels


def _encode(column: NDArray[Any], column_type: str) -> Floats:
    if column_type == "numerical":
        return column.astype(np.float64)
    codes, is_known = np.full(len(column), np.nan), np.array([cell is not None for cell in column])
    codes[is_known] = np.unique(column[is_known].astype(str), return_inverse=True)[1]
    return codes
