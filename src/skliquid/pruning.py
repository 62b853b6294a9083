"""prune: make an ensemble that exists smaller, by delegation."""

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
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.mechanisms import MECHANISMS, FastestLearners
from skliquid.pools import FittedPool, FittedVoter

_VOTES_ARE_NUMBERS = (
    BaggingClassifier,
    RandomForestClassifier,
    ExtraTreesClassifier,
    VotingClassifier,
)
"""Ensembles that teach their voters numbers in place of labels."""

_VOTES_ARE_LABELS = (AdaBoostClassifier, LiquidEnsembleClassifier)


def prune(
    ensemble: Any,
    X: Any,
    y: Any,
    *,
    n_final: int = 10,
    mechanism: Any = "proportional_weighted",
    delegation_rate: Any = "auto",
    increment_size: Any = "auto",
    candidates: str = "representatives",
    vote_weights: Any = "delegated",
    random_state: Any = None,
) -> LiquidEnsembleClassifier:
    """Return a smaller, weighted ensemble of the voters of one that is fitted.

    The voters are judged on the rows given, increment by increment, and the weakest delegate, as
    in training; but nobody learns. Give rows that the voters were not trained on: on their own,
    voters that learn by heart, as trees do, all look the same.

    Parameters
    ----------
    ensemble : classifier or list of classifiers
        Fitted: a ``BaggingClassifier``, ``RandomForestClassifier``, ``ExtraTreesClassifier``,
        ``VotingClassifier``, ``AdaBoostClassifier``, ``LiquidEnsembleClassifier``, or a list of
        classifiers of any kinds that were fitted to the same labels. How much each counted there is
        forgotten: all begin with one vote.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Rows to judge by, as the voters were given them: with missing values and columns of text
        where they can take them.
    y : array-like of shape (n_samples,)
        Their labels.
    n_final, mechanism, delegation_rate, increment_size, candidates, vote_weights, random_state
        As in :class:`~skliquid.LiquidEnsembleClassifier`. A mechanism with which delegations are
        taken back keeps all voters; ``"learning_slopes"`` is none for voters that do not learn.

    Returns
    -------
    pruned : LiquidEnsembleClassifier
        Fitted. ``estimators_`` are voters of ``ensemble``, ``estimator_weights_`` the votes they
        carry. Its ``partial_fit`` goes on pruning by more rows. Its parameters do not say where the
        voters came from, so ``fit`` and ``clone``, which would make others, raise an error.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.model_selection import train_test_split
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_judge, y_train, y_judge = train_test_split(X, y, random_state=0)
    >>> forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)
    >>> small = prune(forest, X_judge, y_judge, n_final=5, random_state=0)
    >>> len(forest.estimators_), len(small.estimators_), int(small.estimator_weights_.sum())
    (100, 5, 100)
    """
    _check_mechanism(mechanism)
    voters, classes = fitted_voters(ensemble)
    pruned = LiquidEnsembleClassifier(
        n_estimators=len(voters),
        n_final=n_final,
        mechanism=mechanism,
        delegation_rate=delegation_rate,
        increment_size=increment_size,
        competence="training",  # which nobody needs, so that the first increment counts too
        candidates=candidates,
        vote_weights=vote_weights,
        final_fit="none",
        random_state=check_random_state(random_state).randint(2**31 - 1),
    )
    for name, value in _features_known(ensemble, voters).items():
        setattr(pruned, name, value)
    return pruned._judge(FittedPool(voters), classes, X, y)


def fitted_voters(ensemble: Any) -> tuple[list[FittedVoter], NDArray[Any]]:
    """Return the voters of a fitted ensemble, and all classes."""
    if isinstance(ensemble, list | tuple):
        return _voters_in_a_list(ensemble)
    if not hasattr(ensemble, "fit") or isinstance(ensemble, type):
        raise TypeError(
            "ensemble must be a fitted ensemble or a list of fitted classifiers: "
            f"{ensemble!r} is neither. Give a BaggingClassifier, for example."
        )
    if not isinstance(ensemble, _VOTES_ARE_NUMBERS + _VOTES_ARE_LABELS):
        known = [kind.__name__ for kind in _VOTES_ARE_NUMBERS + _VOTES_ARE_LABELS]
        raise TypeError(
            f"ensemble must be a list of classifiers or one of {', '.join(known)}: what "
            f"{type(ensemble).__name__} is made of need not vote for classes. If it does, give a "
            "list of fitted classifiers, each of which predicts labels as in y."
        )
    check_is_fitted(ensemble)
    classes = _one_output(ensemble)
    pruned: FittedPool | None = getattr(ensemble, "_fitted_pool", None)
    if pruned is not None:
        return pruned.voters(ensemble.delegation_graph_.representatives), classes
    answers = np.arange(len(classes)) if isinstance(ensemble, _VOTES_ARE_NUMBERS) else classes
    members = ensemble.estimators_
    features = getattr(ensemble, "estimators_features_", [None] * len(members))
    sees_numbers = isinstance(ensemble, LiquidEnsembleClassifier)
    return [
        FittedVoter(member, answers, seen, sees_numbers)
        for member, seen in zip(members, features, strict=True)
    ], classes


def _voters_in_a_list(ensemble: Sequence[Any]) -> tuple[list[FittedVoter], NDArray[Any]]:
    members = [pair[-1] if isinstance(pair, tuple) else pair for pair in ensemble]
    if not members:
        raise ValueError("ensemble must hold a voter: the list is empty. Give classifiers.")
    for member in members:
        if not hasattr(member, "fit") or isinstance(member, type) or not is_classifier(member):
            raise TypeError(
                f"ensemble must hold classifiers only: {member!r} is none. Leave it out."
            )
        check_is_fitted(member)
    labels = [_one_output(member) for member in members]
    if len({each.dtype.kind in "OSU" for each in labels}) > 1:
        raise ValueError(
            "ensemble must hold classifiers that predict labels of one kind: some predict text "
            "and some numbers. Fit them all to the same labels."
        )
    classes = np.unique(np.concatenate(labels))
    return [FittedVoter(member, classes) for member in members], classes


def _one_output(classifier: Any) -> NDArray[Any]:
    """Return the classes of ``classifier``, unless it has several outputs."""
    classes = getattr(classifier, "classes_", None)
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:
        raise ValueError(
            "ensemble must tell classes of one output apart, and keep them in classes_: "
            f"{type(classifier).__name__} has {classes!r}. Fit classifiers to a single column y."
        )
    return classes


def _features_known(ensemble: Any, voters: Sequence[FittedVoter]) -> dict[str, Any]:
    """Return what is known of the features that the voters were fitted to."""
    fitted = [ensemble, *(voter.estimator for voter in voters)]
    names = ("feature_names_in_", "n_features_in_")
    knows = next((each for name in names for each in fitted if hasattr(each, name)), None)
    return {name: getattr(knows, name) for name in names if hasattr(knows, name)}


def _check_mechanism(mechanism: Any) -> None:
    named = MECHANISMS.get(mechanism) if isinstance(mechanism, str) else mechanism
    looks_at_learning = isinstance(getattr(named, "returns", None), FastestLearners)
    if looks_at_learning:
        raise ValueError(
            "mechanism must not ask who learns fastest, as 'learning_slopes' does: voters that are "
            "fitted learn no more. Choose another, such as 'proportional_weighted'."
        )
