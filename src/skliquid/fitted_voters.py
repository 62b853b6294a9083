"""Fitted voters: the members of ensembles that exist, and how to ask for their predictions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.utils.validation import check_is_fitted

from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.pools import FittedVoter

_PREDICT_NUMBERS = (
    BaggingClassifier,
    RandomForestClassifier,
    ExtraTreesClassifier,
    VotingClassifier,
)
"""Ensembles that fit their voters to numbers in place of labels."""

_PREDICT_LABELS = (AdaBoostClassifier, LiquidEnsembleClassifier)


def fitted_voters(ensemble: Any) -> tuple[list[FittedVoter], NDArray[Any]]:
    """Return the voters of a fitted ensemble, and all classes."""
    if isinstance(ensemble, list | tuple):
        return _voters_of_list(ensemble)
    if not hasattr(ensemble, "fit") or isinstance(ensemble, type):
        raise TypeError(
            "ensemble must be a fitted ensemble or a list of fitted classifiers: got "
            f"{ensemble!r}. Give a BaggingClassifier, for example."
        )
    if not isinstance(ensemble, _PREDICT_NUMBERS + _PREDICT_LABELS):
        known = [cls.__name__ for cls in _PREDICT_NUMBERS + _PREDICT_LABELS]
        raise TypeError(
            f"ensemble must be a list of classifiers or one of {', '.join(known)}: got "
            f"{type(ensemble).__name__}, whose members need not vote for classes. If they do, give "
            "a list of fitted classifiers, each of which predicts labels as in y."
        )
    check_is_fitted(ensemble)
    classes = _classes_of(ensemble)
    labels = np.arange(len(classes)) if isinstance(ensemble, _PREDICT_NUMBERS) else classes
    members = ensemble.estimators_
    features = getattr(ensemble, "estimators_features_", [None] * len(members))
    sees_numbers = isinstance(ensemble, LiquidEnsembleClassifier)
    return [
        FittedVoter(member, labels, seen, sees_numbers)
        for member, seen in zip(members, features, strict=True)
    ], classes


def _voters_of_list(ensemble: Sequence[Any]) -> tuple[list[FittedVoter], NDArray[Any]]:
    members = [pair[-1] if isinstance(pair, tuple) else pair for pair in ensemble]
    if not members:
        raise ValueError("ensemble must hold a voter: got an empty list. Give classifiers.")
    for member in members:
        if not hasattr(member, "fit") or isinstance(member, type) or not is_classifier(member):
            raise TypeError(f"ensemble must hold classifiers only: got {member!r}. Leave it out.")
        check_is_fitted(member)
    labels = list(map(_classes_of, members))
    if len({values.dtype.kind in "OSU" for values in labels}) > 1:
        raise ValueError(
            "ensemble must hold classifiers that predict labels of one type: got some that predict "
            "text and some that predict numbers. Fit them all to the same labels."
        )
    classes = np.unique(np.concatenate(labels))
    return [FittedVoter(member, classes) for member in members], classes


def _classes_of(classifier: Any) -> NDArray[Any]:
    """Return the classes of ``classifier``, unless it has several outputs."""
    classes = getattr(classifier, "classes_", None)
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:
        raise ValueError(
            "ensemble must predict classes of one output, and keep them in classes_: got "
            f"{type(classifier).__name__} with {classes!r}. Fit classifiers to a single column y."
        )
    return classes


def known_features(ensemble: Any, voters: Sequence[FittedVoter]) -> dict[str, Any]:
    """Return what is known of the features that the voters were fitted to."""
    fitted = [ensemble, *(voter.estimator for voter in voters)]
    names = ("feature_names_in_", "n_features_in_")
    source = next((item for name in names for item in fitted if hasattr(item, name)), None)
    return {name: getattr(source, name) for name in names if hasattr(source, name)}
