"""prune: make an ensemble that exists smaller, by delegation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.pools.fitted_pool import FittedPool, FittedVoter


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
    ensemble : BaggingClassifier, RandomForestClassifier, VotingClassifier or list of classifiers
        Fitted; or any classifier that keeps fitted classifiers in ``estimators_``.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows to judge by.
    y : array-like of shape (n_samples,)
        Their labels.
    n_final, mechanism, delegation_rate, increment_size, candidates, vote_weights, random_state
        As in :class:`~skliquid.LiquidEnsembleClassifier`.

    Returns
    -------
    pruned : LiquidEnsembleClassifier
        Fitted. ``estimators_`` are voters of ``ensemble``, ``estimator_weights_`` the votes they
        carry. Its ``partial_fit`` goes on pruning by more rows.

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
    voters, classes = fitted_voters(ensemble)
    pruned = LiquidEnsembleClassifier(
        n_estimators=len(voters),
        n_final=n_final,
        mechanism=mechanism,
        delegation_rate=delegation_rate,
        increment_size=increment_size,
        candidates=candidates,
        vote_weights=vote_weights,
        final_fit="none",
        random_state=check_random_state(random_state).randint(2**31 - 1),
    )
    return pruned._judge(FittedPool(voters), classes, X, y)


def fitted_voters(ensemble: Any) -> tuple[list[FittedVoter], NDArray[Any]]:
    """Return the voters of a fitted ensemble, and all classes."""
    if isinstance(ensemble, list | tuple):
        voters = [pair[-1] if isinstance(pair, tuple) else pair for pair in ensemble]
        if not voters:
            raise ValueError("ensemble must hold a voter: the list is empty. Give classifiers.")
        for voter in voters:
            check_is_fitted(voter)
        classes = np.unique(np.concatenate([voter.classes_ for voter in voters]))
        return [FittedVoter(voter, classes) for voter in voters], classes
    if not hasattr(ensemble, "fit"):
        raise TypeError(
            "ensemble must be a fitted ensemble or a list of fitted classifiers: "
            f"{ensemble!r} is neither. Give a BaggingClassifier, for example."
        )
    check_is_fitted(ensemble)
    members = getattr(ensemble, "estimators_", None)
    if not isinstance(members, list) or not all(hasattr(each, "predict") for each in members):
        raise TypeError(
            "ensemble must keep its voters in a list, estimators_: "
            f"{type(ensemble).__name__} does not. Give a list of fitted classifiers."
        )
    classes = ensemble.classes_
    features = getattr(ensemble, "estimators_features_", [None] * len(members))
    return [
        FittedVoter(member, _answers(member, classes), seen)
        for member, seen in zip(members, features, strict=True)
    ], classes


def _answers(member: Any, classes: NDArray[Any]) -> NDArray[Any]:
    """Return what a member of an ensemble answers for each class: the class, or its number."""
    own = member.classes_
    return (
        classes
        if np.isin(own, classes).all() and own.dtype == classes.dtype
        else np.arange(len(classes))
    )
