"""Exchange with scikit-learn: attributes of its linear classifiers, and fits that it takes over."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import compute_class_weight

from skliquid.delegation.rows import Rows
from skliquid.pools.linear import layout, reference
from skliquid.pools.linear.problem import LinearProblem
from skliquid.pools.linear.state import Separators, SeparatorState
from skliquid.pools.linear.support import INSTALLED_RULE

_CORE_SETTINGS = ("loss", "learning_rate", "shuffles", "average_from")  # not of the reference


def fitted_attributes(estimator: Any, rows: Rows, classes: NDArray[Any]) -> dict[str, Any]:
    """Return the attributes that scikit-learn adds to ``estimator`` when it trains it.

    One number of one row, and three classes, are enough to know them.
    """
    unfitted, weights = set(vars(estimator)), estimator.class_weight
    estimator.class_weight, few, estimator.n_jobs = None, classes[:3], None
    estimator.partial_fit(rows.X[:1, :1], few[:1], classes=few)
    estimator.class_weight = weights
    by_class = compute_class_weight(weights, classes=classes, y=classes[rows.y])
    known = {name: value for name, value in vars(estimator).items() if name not in unfitted}
    return known | {"classes_": classes, "_expanded_class_weight": by_class}


def fit(estimator: Any, rows: Rows, classes: NDArray[Any], *, max_iter: int) -> None:
    """Fit ``estimator`` from scratch by scikit-learn itself."""
    estimator.set_params(warm_start=False, max_iter=max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # raised once for all voters
        estimator.fit(rows.X, classes[rows.y], **rows.weights_argument)


def read(
    estimator: Any,
    problem: LinearProblem,
    state: SeparatorState,
    separators: Separators,
    columns: NDArray[np.int64] | slice,
) -> None:
    """Copy the coefficients of ``columns`` and the counters of ``estimator`` into ``state``."""
    scalars, averages = state.scalars, problem.averages
    coef = np.atleast_2d(estimator._standard_coef if averages else estimator.coef_)[:, columns]
    state.coef[separators, : coef.shape[1]] = coef
    intercept = estimator._standard_intercept if averages else estimator.intercept_
    scalars["intercept"][separators] = intercept
    if averages:
        average = np.atleast_2d(estimator._average_coef)[:, columns]
        state.average[separators, : average.shape[1]] = average
        scalars["average_intercept"][separators] = estimator._average_intercept
        scalars["shows_average"][separators] = problem.average_from <= estimator.t_ - 1
    scalars["n_iter"][separators] = estimator.n_iter_
    scalars["steps"][separators] = estimator.t_


def write(estimator: Any, problem: LinearProblem, state: SeparatorState) -> Any:
    """Return ``estimator``, fitted: with the coefficients of ``state``."""
    coef, intercept = state.prediction_arrays()
    vars(estimator).update(problem.attributes)
    estimator.coef_ = np.ascontiguousarray(coef[:, : problem.n_features])
    estimator.intercept_ = intercept.astype(problem.intercept_dtype)
    estimator.n_iter_ = int(state.scalars["n_iter"].max())
    estimator.t_ = float(state.scalars["steps"][0])
    if problem.averages:
        _write_average(estimator, problem, state)
    return estimator


def _write_average(estimator: Any, problem: LinearProblem, state: SeparatorState) -> None:
    """Give ``estimator`` both coefficients that scikit-learn holds when it averages."""
    scalars, dtype, is_binary = state.scalars, problem.dtype, problem.n_separators == 1
    for prefix, coef, intercept in (
        ("standard", state.coef, scalars["intercept"]),
        ("average", state.average, scalars["average_intercept"]),
    ):
        values = np.ascontiguousarray(coef[:, : problem.n_features])
        setattr(estimator, f"_{prefix}_coef", values.ravel() if is_binary else values)
        setattr(estimator, f"_{prefix}_intercept", intercept.astype(dtype))
    shows, intercept = scalars["shows_average"][0], scalars["intercept"].copy()
    if is_binary and (not shows or intercept[0] != dtype.type(intercept[0])):
        estimator._standard_intercept = intercept  # from before an average was shown
    prefix = "average" if shows else "standard"
    estimator.coef_ = getattr(estimator, f"_{prefix}_coef").reshape(problem.n_separators, -1)
    estimator.intercept_ = getattr(estimator, f"_{prefix}_intercept")


def fit_by_reference(
    problem: LinearProblem,
    state: SeparatorState,
    separators: Separators,
    rows: Rows,
    stopping_rule: str,
    *,
    max_iter: int,
) -> None:
    """Fit a voter by the readable loop, as a scikit-learn with another stopping rule would."""
    params, scalars = problem.params, state.scalars
    if problem.averages or problem.dtype == np.float32 or not params["shuffle"]:
        raise ValueError(
            f"stopping_rule must be {INSTALLED_RULE!r}, the installed scikit-learn's, with "
            f"averages, float32 or without shuffling: got {stopping_rule!r}, and rounding decides "
            "when a voter stops. Scale X, or do without these."
        )
    labels, importance, weight_rows = problem.arrays(1, rows)
    pairs, is_sparse = layout.feature_value_pairs(rows.X), scipy.sparse.issparse(rows.X)
    settings = problem.settings(stopping_rule, is_sparse, max_iter, problem.tol)._asdict()
    options = {name: value for name, value in settings.items() if name not in _CORE_SETTINGS}
    for k, (s, weight_row) in enumerate(zip(separators, weight_rows, strict=True)):
        separator = reference.train(
            [0.0] * state.coef.shape[1],
            0.0,
            pairs,
            labels[k].tolist(),
            importance[weight_row].tolist(),
            seed=int(scalars["seed"][s]),
            alpha=float(scalars["alpha"][s]),
            eta0=float(scalars["eta0"][s]),
            loss=params["loss"],
            learning_rate=params["learning_rate"],
            **options,
        )
        state.coef[s] = separator.coef
        scalars["intercept"][s] = separator.intercept
        scalars["n_iter"][s] = separator.n_iter
    scalars["steps"][separators] = 1 + scalars["n_iter"][separators].max() * rows.n_rows
