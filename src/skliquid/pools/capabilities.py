"""Capabilities: what a scikit-learn classifier can do, and how often it passes over its rows."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from skliquid.diversity import VoterSpec
from skliquid.voters import TreeVoter


def takes_sample_weight(estimator: Any) -> bool:
    """Return whether ``estimator`` can give rows different weights."""
    if has_fit_parameter(estimator, "sample_weight"):
        return True
    is_routed = get_config()["enable_metadata_routing"]  # otherwise requests are ignored
    return is_routed and bool(get_routing_for_object(estimator).consumes("fit", ["sample_weight"]))


def learns_by_increments(estimator: Any) -> bool:
    """Return whether ``estimator`` has a ``partial_fit`` that works with its parameters."""
    if not hasattr(estimator, "partial_fit") or _needs_all_rows(estimator.get_params(deep=False)):
        return False
    params = {name.rsplit("__", 1)[-1]: value for name, value in estimator.get_params().items()}
    return not params.get("early_stopping") and params.get("class_weight") != "balanced"


def _needs_all_rows(params: Mapping[str, Any]) -> bool:
    """Return whether a liquid ensemble with ``params`` must know how many rows there are."""
    has_budget = any(params.get(name) is not None for name in ("max_cost", "max_seconds"))
    return has_budget or isinstance(params.get("max_samples"), Integral)


def sees_rows_once(spec: VoterSpec) -> bool:
    """Return whether every voter is sure to see each row of an increment once."""
    voters = spec.voters() if spec.params else spec.estimators
    learn = all(learns_by_increments(voter) and not grows_trees(voter) for voter in voters)
    return learn and (spec.sample is None or all(map(takes_sample_weight, spec.estimators)))


def grows_trees(estimator: Any) -> bool:
    """Return whether ``estimator`` is made of our trees: each tree is a pass over some rows."""
    return isinstance(estimator, TreeVoter)


def n_visits(estimator: Any, n_rows: int) -> int:
    """Return the sample visits of the last fit to ``n_rows`` rows.

    A visit is one voter learning once from one row: a step of a linear voter, or a tree that is
    grown on the row.
    """
    counted = getattr(_last_step(estimator), "n_visits_", None)
    return n_passes(estimator) * n_rows if counted is None else int(counted)


def n_passes(estimator: Any) -> int:
    """Return how often ``estimator`` passed over its training data: the paper's :math:`e`.

    This is ``n_iter_`` where there is one (the largest of several; the last step's in a pipeline),
    or the number of our trees, else 1, as for a tree or a wrapped classifier.
    """
    counting = _last_step(estimator)
    if grows_trees(counting):
        return max(len(counting.trees_), 1)
    n_iter = getattr(counting, "n_iter_", None)
    return 1 if n_iter is None else max(int(np.max(n_iter)), 1)


def most_passes(estimator: Any) -> float:
    """Return ``max_iter`` of ``estimator``, or its trees, or without both the passes of last."""
    counting = _last_step(estimator)
    if grows_trees(counting):
        return float(counting.n_trees)
    max_iter = getattr(counting, "max_iter", None)
    if max_iter is None:
        return n_passes(estimator)
    return max(max_iter, 1) if max_iter >= 0 else np.inf  # SVC's -1 means no limit


@contextmanager
def limited_to(max_passes: int | None, estimator: Any) -> Iterator[None]:
    """Limit ``estimator`` to ``max_passes``, if it has ``max_iter`` or is made of our trees."""
    counting = _last_step(estimator)
    name = "n_estimators" if grows_trees(counting) else "max_iter"
    max_iter = getattr(counting, name, None)
    if max_passes is None or max_iter is None or max_passes >= most_passes(estimator):
        yield
        return
    counting.set_params(**{name: max_passes})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the limit left no time to converge
        yield
    counting.set_params(**{name: max_iter})


def _last_step(estimator: Any) -> Any:
    """Return ``estimator``, or the last step of a pipeline."""
    while hasattr(estimator, "steps"):
        estimator = estimator[-1]
    return estimator
