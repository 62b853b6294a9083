"""Protocols: how a dataset becomes two halves, and by what rules a trial is judged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skliquid.arrays import Floats, Labels
from skliquid.datasets import load_dataset
from skliquid.ensemble import FEATURES_PER_VOTER

VARIATIONS = ("features_per_voter", "candidates", "weight_of", "stopping_rule", "boosting")
"""Rules that a method may set otherwise, in a trial with the same halves and the same seeds."""


@dataclass(frozen=True)
class Halves:
    """A dataset cut in two: one half to learn from, one to be judged on."""

    X_train: Floats
    y_train: Labels
    X_test: Floats
    y_test: Labels
    n_classes: int


@dataclass(frozen=True)
class Protocol:
    """The rules of a trial.

    Parameters
    ----------
    prepare : callable
        ``prepare(X, is_train, kinds)`` returns the features as voters see them, from numbers and
        the positions of categories in sorted order.
    drops_missing : bool
        Whether rows with a missing value are left out.
    rounding : str
        How a share of the representatives becomes a number of delegators.
    goes_on : bool
        Whether representatives go on training when nobody delegates any more.
    judged : str
        Which of the accuracies that every trial records is reported.
    features_per_voter : int, float or "all"
        How many features each voter sees, drawn once per voter without replacement: a number
        (all where a dataset has fewer), a share, or all. AdaBoost sees all.
    candidates : str
        Whom a delegator may choose, as in the ensemble.
    weight_of : str or None
        Whose weight a mechanism compares, as in ``Mechanism``; None for the mechanism's own choice.
    stopping_rule : str or None
        When a final fit ends, as in ``LinearPool``; None for the installed scikit-learn's rule.
    boosting : str
        AdaBoost's algorithm for trees, ``"SAMME"`` or ``"SAMME.R"``.
    """

    prepare: Callable[[Floats, NDArray[np.bool_], Sequence[str]], Floats]
    drops_missing: bool
    rounding: Literal["at_least_one", "floor"]
    goes_on: bool
    judged: str
    features_per_voter: int | float | Literal["all"] = "all"
    candidates: Literal["representatives", "voters"] = "representatives"
    weight_of: Literal["guru", "candidate"] | None = None
    stopping_rule: Literal["loss", "objective"] | None = None
    boosting: Literal["SAMME", "SAMME.R"] = "SAMME"

    def varied(self, method: Mapping[str, Any]) -> "Protocol":
        """Return these rules with those that ``method`` sets otherwise."""
        names = ("goes_on", *VARIATIONS)
        return replace(self, **{name: method[name] for name in names if name in method})


def raw(X: Floats, is_train: NDArray[np.bool_], kinds: Sequence[str]) -> Floats:
    """Return numbers as they are, positions of categories as if they were numbers, no times."""
    return X[:, [k for k, kind in enumerate(kinds) if kind != "time"]]


def scaled(X: Floats, is_train: NDArray[np.bool_], kinds: Sequence[str]) -> Floats:
    """Return numbers scaled and categories one-hot, as the training half says; no times."""
    coder = make_column_transformer(
        (
            make_pipeline(SimpleImputer(strategy="median"), StandardScaler()),
            _places(kinds, "numerical"),
        ),
        (
            make_pipeline(
                SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
            ),
            _places(kinds, "categorical"),
        ),
        sparse_threshold=0,
    )
    numbers: Floats = coder.fit(X[is_train]).transform(X)
    return numbers


PROTOCOLS: dict[str, Protocol] = {
    "paper": Protocol(
        raw,
        drops_missing=True,
        rounding="floor",
        goes_on=True,
        judged="one_pass",
        features_per_voter=FEATURES_PER_VOTER,
        candidates="voters",
        stopping_rule="loss",
        boosting="SAMME.R",
    ),
    "ours": Protocol(
        scaled, drops_missing=False, rounding="at_least_one", goes_on=False, judged="final"
    ),
}


@lru_cache(maxsize=2)
def halves(dataset: str, target: str | None, protocol: str, seed: int) -> Halves:
    """Return ``dataset`` under ``protocol``, cut in half at random."""
    kinds, X, labels = rows(dataset, target, protocol)
    is_train = np.zeros(len(labels), dtype=np.bool_)
    order = np.random.default_rng(seed).permutation(len(labels))
    is_train[order[: len(labels) // 2]] = True
    numbers = PROTOCOLS[protocol].prepare(X, is_train, kinds)
    n_classes = int(labels.max()) + 1
    if len(np.unique(labels[is_train])) < n_classes:
        raise ValueError(
            f"dataset must have rows of all {n_classes} classes in its training half: that of "
            f"{dataset} has {len(np.unique(labels[is_train]))}. Leave out classes that are rare."
        )
    train, test = is_train, ~is_train
    return Halves(numbers[train], labels[train], numbers[test], labels[test], n_classes)


def rows(dataset: str, target: str | None, protocol: str) -> tuple[tuple[str, ...], Floats, Labels]:
    """Return the kinds of ``dataset``, and those rows and labels that ``protocol`` takes."""
    kinds, X, labels = _coded(dataset, target)
    if PROTOCOLS[protocol].drops_missing:
        complete = ~np.isnan(X).any(axis=1)
        if len(np.unique(labels[complete])) < 2:
            raise ValueError(
                f"dataset must have complete rows of two classes under the protocol {protocol}: of "
                f"the {len(labels)} rows of {dataset}, {complete.sum()} have no missing value. "
                "Fill in the others, or leave out the columns with most of them."
            )
        X, labels = X[complete], labels[complete]
    return kinds, X, labels


@lru_cache(maxsize=8)
def _coded(name: str, target: str | None) -> tuple[tuple[str, ...], Floats, Labels]:
    """Return kinds, rows and labels of a dataset, categories as positions in sorted order.

    Columns without a value are left out.
    """
    dataset = load_dataset(name, target=target)
    columns = [_codes(*pair) for pair in zip(dataset.X.T, dataset.column_types, strict=True)]
    known = [k for k, column in enumerate(columns) if not np.isnan(column).all()]
    if not known:
        raise ValueError(
            f"dataset must have a feature with values: all cells of {name} but those of its class "
            "are missing. Give another file."
        )
    labels = np.unique(dataset.y, return_inverse=True)[1]
    kinds = tuple(dataset.column_types[k] for k in known)
    return kinds, np.column_stack([columns[k] for k in known]), labels


def _codes(column: NDArray[Any], kind: str) -> Floats:
    if kind == "numerical":
        return column.astype(np.float64)
    codes, known = np.full(len(column), np.nan), np.array([each is not None for each in column])
    codes[known] = np.unique(column[known].astype(str), return_inverse=True)[1]
    return codes


def _places(kinds: Sequence[str], kind: str) -> list[int]:
    return [k for k, each in enumerate(kinds) if each == kind]
