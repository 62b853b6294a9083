"""Parameters: rules for the values of parameters, alone and together.

No other module uses private names of scikit-learn.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeAlias

from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import Tags, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.metaestimators import _BaseComposition

from skliquid.validation.checks import check_n_final

Constraint: TypeAlias = Any
Composition: TypeAlias = _BaseComposition

positive_integer: Constraint = Interval(Integral, 1, None, closed="left")
share: Constraint = Interval(Real, 0, 1, closed="both")
positive_share: Constraint = Interval(RealNotInt, 0, 1, closed="right")
positive_real: Constraint = Interval(Real, 0, None, closed="neither")


def one_of(names: Sequence[str] | Mapping[str, Any]) -> Constraint:
    """Return the constraint that a parameter is one of ``names``."""
    return StrOptions(set(names))


def has_methods(*methods: str) -> Constraint:
    """Return the constraint that a parameter is an object with ``methods``."""
    return HasMethods(list(methods))


def check_delegation(
    n_final: Any, n_voters: int, delegation_rate: Any, *, limit: str = "n_estimators"
) -> None:
    """Raise unless ``n_final`` voters can remain, at a rate that is an object."""
    if n_final != "auto":
        check_n_final(n_final, n_voters, limit=limit)
    if isinstance(delegation_rate, type):
        name = delegation_rate.__name__
        raise TypeError(
            f"delegation_rate must be an object: got the class {name}. Call it, as in {name}(...)."
        )


def check_n_jobs(n_jobs: int | None) -> None:
    """Raise when ``n_jobs`` is 0."""
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: got 0. Give 1, or -1 for all cores.")


def check_estimators(
    named: Sequence[Any], *, n_estimators: int, taken: Collection[str] = ()
) -> None:
    """Raise unless ``named`` pairs names, none of them ``taken``, with classifiers."""
    if not named or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in named):
        raise ValueError(
            "estimator must be a classifier or a list of (name, classifier) pairs: got "
            f"{named!r}. Give at least one pair."
        )
    names = [name for name, _ in named]
    if len(set(map(str, names))) < len(names) or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"estimator must have a different name, a string, in each pair: got {names!r}. "
            "Rename them."
        )
    for name in names:
        if "__" in name or name in taken:
            raise ValueError(
                "estimator must have names that are not parameters of the ensemble and contain no "
                f"double underscore: got {name!r}. Rename it."
            )
    for _, estimator in named:
        is_object = hasattr(estimator, "fit") and not isinstance(estimator, type)
        if not is_object or not is_classifier(estimator):
            raise ValueError(
                f"estimator must be a classifier: got {estimator!r}. Give an object such as "
                "SGDClassifier()."
            )
    if len(named) > n_estimators:
        raise ValueError(
            f"n_estimators must not be below the number of estimators: {len(named)} estimators "
            f"cannot share {n_estimators} voters. Raise n_estimators or give fewer estimators."
        )


BUDGETS = ("max_cost", "max_seconds")
LIMITS = ("max_bytes", "max_predict_seconds")


def check_no_budget(ensemble: Any) -> None:
    """Raise when a budget or a limit is set for ``partial_fit``."""
    for name in BUDGETS:
        if (limit := getattr(ensemble, name)) is not None:
            raise ValueError(
                f"{name} must be None in partial_fit, where the caller decides how many rows come: "
                f"got {limit}. Set it to None, and stop when training_cost_.total is high enough."
            )
    for name in LIMITS:
        if (limit := getattr(ensemble, name)) is not None:
            raise ValueError(
                f"{name} must be None in partial_fit, where voters go on to grow: got {limit}. Set "
                "it to None, and give the limit to skliquid.prune, or call refit with it at the "
                "end."
            )


def check_is_share(max_samples: Any) -> None:
    """Raise when ``max_samples`` is a number of rows in ``partial_fit``."""
    if max_samples > 1 or isinstance(max_samples, Integral):
        raise ValueError(
            "max_samples must be a share in partial_fit, since the number of rows is not known: "
            f"got {max_samples} rows. Give a share like 0.5."
        )


def check_class_weight(class_weight: Any) -> None:
    """Raise unless the weights in a dict are finite numbers of zero or more."""
    items = class_weight.items() if isinstance(class_weight, Mapping) else ()
    for label, weight in items:
        if not isinstance(weight, Real) or not 0 <= float(weight) < math.inf:
            raise ValueError(
                f"class_weight must hold finite numbers of zero or more: got {weight!r} for the "
                f"class {label!r}. Give a number like 10."
            )


def check_labels_are_known(class_weight: Any, classes: NDArray[Any]) -> None:
    """Raise when a dict gives a weight to a label that is none of ``classes``."""
    known = set(classes.tolist())
    for label in class_weight if isinstance(class_weight, Mapping) else ():
        if label not in known:
            raise ValueError(
                f"class_weight must hold classes of y only: got a weight for {label!r}, and the "
                f"classes are {classes.tolist()}. Correct the label, or leave it out."
            )


def shared_tags(tags: Tags, estimators: Sequence[Any]) -> Tags:
    """Return ``tags`` narrowed to the data that all of ``estimators`` accept."""
    tagged = [
        estimator
        for estimator in estimators
        if hasattr(estimator, "__sklearn_tags__") and not isinstance(estimator, type)
    ]
    all_tags = list(map(get_tags, tagged))
    tags.input_tags.sparse = all(own.input_tags.sparse for own in all_tags)
    tags.input_tags.allow_nan = all(map(_takes_missing_values, tagged))
    tags.classifier_tags.multi_class = all(
        own.classifier_tags is None or own.classifier_tags.multi_class for own in all_tags
    )
    return tags


def _takes_missing_values(estimator: Any) -> bool:
    """Return whether ``estimator``, or the first step of a pipeline, accepts missing values."""
    while hasattr(estimator, "steps"):
        estimator = next(step for _, step in estimator.steps if not is_passthrough(step))
    return bool(get_tags(estimator).input_tags.allow_nan)


def is_passthrough(value: Any) -> bool:
    """Return whether ``value`` is the string ``"passthrough"``."""
    return isinstance(value, str) and value == "passthrough"
