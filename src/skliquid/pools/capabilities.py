"""Capabilities: whether a classifier learns by increments, and its passes over the rows."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skliquid.diversity import VoterSpec, final_step
from skliquid.validation.input import takes_sample_weight
from skliquid.validation.parameters import BUDGETS, LIMITS
from skliquid.voters import TreeVoter


def learns_by_increments(estimator: Any) -> bool:
    """Return whether ``estimator`` has a ``partial_fit`` that works with its parameters."""
    if not hasattr(estimator, "partial_fit"):
        return False
    own = estimator.get_params(deep=False)
    has_budget = any(own.get(name) is not None for name in BUDGETS + LIMITS)
    if has_budget or isinstance(own.get("max_samples"), Integral):  # these need all rows
        return False
    params = {name.rsplit("__", 1)[-1]: value for name, value in estimator.get_params().items()}
    return not params.get("early_stopping") and params.get("class_weight") != "balanced"


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
    counted = getattr(final_step(estimator), "n_visits_", None)
    return n_passes(estimator) * n_rows if counted is None else int(counted)


def n_passes(estimator: Any) -> int:
    """Return the number of passes over the training data in the last fit: the paper's :math:`e`.

    This is ``n_iter_`` where there is one (the largest of several; the last step's in a pipeline),
    or the number of our trees, else 1, as for a tree or a wrapped classifier.
    """
    last = final_step(estimator)
    if grows_trees(last):
        return max(len(last.trees_), 1)
    n_iter = getattr(last, "n_iter_", None)
    return 1 if n_iter is None else max(int(np.max(n_iter)), 1)


def pass_limit(estimator: Any) -> float:
    """Return ``max_iter``, the number of our trees, or without both the passes of the last fit."""
    last = final_step(estimator)
    if grows_trees(last):
        return float(last.n_trees)
    max_iter = getattr(last, "max_iter", None)
    if max_iter is None:
        return n_passes(estimator)
    return max(max_iter, 1) if max_iter >= 0 else np.inf  # SVC's -1 means no limit


@contextmanager
def limit_passes(estimator: Any, max_passes: int | None) -> Iterator[None]:
    """Limit ``estimator`` to ``max_passes``, if it has ``max_iter`` or is made of our trees."""
    last = final_step(estimator)
    name = "n_estimators" if grows_trees(last) else "max_iter"
    own_limit = getattr(last, name, None)
    if max_passes is None or own_limit is None or max_passes >= pass_limit(estimator):
        yield
        return
    last.set_params(**{name: max_passes})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the limit left no time to converge
        yield
    last.set_params(**{name: own_limit})
