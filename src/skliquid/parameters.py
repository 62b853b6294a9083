"""Parameters: which values an ensemble's parameters may have, alone and together.

The only module that uses private names of scikit-learn.
"""

from collections.abc import Collection, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeAlias

from sklearn.base import is_classifier
from sklearn.utils import Tags, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.metaestimators import _BaseComposition

from skliquid.checks import check_n_final
from skliquid.competence import MEASURES, Competence
from skliquid.diversity import DefaultsWithout, Diversity, is_auto
from skliquid.mechanisms import MECHANISMS, Mechanism
from skliquid.voting import VOTINGS

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


OF_DELEGATION: dict[str, list[Constraint]] = {
    "n_final": [one_of(["auto"]), positive_integer],
    "mechanism": [one_of(MECHANISMS), Mechanism, tuple],
    "delegation_rate": [one_of(["auto"]), share, callable, has_methods("n_delegators")],
    "increment_size": [one_of(["auto"]), positive_integer],
    "competence": [one_of(MEASURES), Competence],
    "voting": [one_of(VOTINGS)],
    "random_state": ["random_state"],
}
"""Parameters of every ensemble whose voters delegate."""


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


def check_diversity(diversity: Any, *, names: Sequence[str]) -> None:
    """Raise unless maps are transformers, and hyperparameters, except seeds, come from dicts.

    Maps may also be given by the ``names`` of the estimators.
    """
    if not isinstance(diversity, Diversity):
        return
    maps = diversity.feature_maps
    by_name = maps if isinstance(maps, dict) else {}
    for unknown in (name for name in by_name if name not in names):
        raise ValueError(
            f"feature_maps must have names of estimators as keys: got {unknown!r}, which is not "
            f"among {list(filter(None, names))}. Correct it, or give a list of maps for all voters."
        )
    for own in by_name.values() if isinstance(maps, dict) else [maps]:
        _check_maps(own)
    _check_distributions(diversity.param_distributions)


def _check_maps(maps: Any) -> None:
    is_name = isinstance(maps, str) and maps in ("auto", "fourier")
    if not (maps is None or isinstance(maps, list) or is_name):
        raise ValueError(
            "feature_maps must be a list of transformers, 'fourier', 'auto' or None, or a dict of "
            f"these by the names of estimators: got {maps!r}. Give a list such as [RBFSampler()]."
        )
    for item in maps if isinstance(maps, list) else ():
        is_transformer = hasattr(item, "fit") and hasattr(item, "transform")
        if isinstance(item, type) or not (is_transformer or is_passthrough(item)):
            raise ValueError(
                "feature_maps must hold transformers, or 'passthrough' for rows as they are: got "
                f"{item!r}. Give objects such as RBFSampler()."
            )


def _check_distributions(distributions: Any) -> None:
    is_default = is_auto(distributions) or isinstance(distributions, DefaultsWithout)
    if distributions is None or is_default:
        return
    for space in distributions if isinstance(distributions, list) else [distributions]:
        if not isinstance(space, dict):
            raise TypeError(
                f"param_distributions must be a dict or a list of dicts: got {space!r}. Give "
                "lists or distributions by the names of hyperparameters."
            )
        for name in (name for name in space if name.rpartition("__")[2] == "random_state"):
            raise ValueError(
                "param_distributions must not draw random_state, since each voter has its own "
                f"seed: got {space[name]!r}. Set the ensemble's random_state instead."
            )


def check_no_budget(max_cost: int | None, max_seconds: float | None) -> None:
    """Raise when a budget is set for ``partial_fit``."""
    for name, limit in (("max_cost", max_cost), ("max_seconds", max_seconds)):
        if limit is not None:
            raise ValueError(
                f"{name} must be None in partial_fit, where the caller decides how many rows come: "
                f"got {limit}. Set it to None, and stop when training_cost_.total is high enough."
            )


def check_is_share(max_samples: Any) -> None:
    """Raise when ``max_samples`` is a number of rows in ``partial_fit``."""
    if max_samples > 1 or isinstance(max_samples, Integral):
        raise ValueError(
            "max_samples must be a share in partial_fit, since the number of rows is not known: "
            f"got {max_samples} rows. Give a share like 0.5."
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
