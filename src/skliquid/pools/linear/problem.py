"""Problem: classes and hyperparameters that all voters of a linear pool have in common."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid import native
from skliquid.delegation.arrays import Labels
from skliquid.delegation.rows import Rows
from skliquid.pools.linear.support import STOPPING_RULES

_SPARSE_INTERCEPT_STEP = 0.01  # scikit-learn's, since sparse rows reach the intercept more often


class LinearProblem:
    """Classes and hyperparameters, and the settings and arrays that the native core needs.

    ``attributes`` are those that scikit-learn adds to a fitted voter. With two classes a voter has
    one separator, else one per class, against all others.
    """

    def __init__(
        self, params: dict[str, Any], classes: NDArray[Any], attributes: dict[str, Any]
    ) -> None:
        self.params, self.attributes = params, attributes
        self.n_separators = 1 if len(classes) == 2 else len(classes)
        self.n_features: int = attributes["n_features_in_"]
        self.dtype = attributes["coef_"].dtype
        self.class_weight = attributes["_expanded_class_weight"].astype(self.dtype)
        self.votes_dtype = np.min_scalar_type(len(classes) - 1)
        self.average_from = int(params["average"])
        self.averages = self.average_from > 0
        self.tol = -np.inf if params["tol"] is None else float(params["tol"])
        # as scikit-learn stores them: as the data for several classes, else as float64
        is_binary = self.n_separators == 1 and not self.averages
        self.intercept_dtype = np.dtype(np.float64) if is_binary else self.dtype

    def settings(
        self, stopping_rule: str, is_sparse: bool, max_iter: int, tol: float
    ) -> native.Settings:
        """Return the hyperparameters as the core takes them."""
        params, penalized = self.params, self.params["penalty"] == "l2"
        if stopping_rule not in STOPPING_RULES:
            raise ValueError(
                f"stopping_rule must be one of {', '.join(STOPPING_RULES)}: got "
                f"{stopping_rule!r}. Choose one."
            )
        return native.Settings(
            loss=native.LOSSES.index(params["loss"]),
            learning_rate=native.LEARNING_RATES.index(params["learning_rate"]),
            power_t=float(params["power_t"]),
            penalized=penalized,
            penalty_counts=penalized and stopping_rule == "objective" and tol > -np.inf,
            intercept_step=params["fit_intercept"] * (_SPARSE_INTERCEPT_STEP if is_sparse else 1.0),
            shuffles=bool(params["shuffle"]),
            average_from=self.average_from,
            max_iter=max_iter,
            tol=tol,
            n_iter_no_change=int(params["n_iter_no_change"]),
        )

    def arrays(
        self, n_voters: int, rows: Rows, classes: slice = slice(None)
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.intp]]:
        """Return labels, arrays of row weights, and the position of each separator's array.

        They are for the separators of ``classes``. Separators with the same weights share an array:
        with many classes, all those of a voter.
        """
        y, dtype, positive = rows.y, self.dtype, np.arange(self.n_separators)[classes]
        by_class, n = self.class_weight, len(positive)
        if self.n_separators == 1:
            distinct = by_class[y][None]
        elif np.all(by_class == 1):
            distinct = np.ones((1, len(y)), dtype=dtype)
        else:
            distinct = np.where(y == positive[:, None], by_class[positive, None], dtype.type(1))
        weights = distinct[None]  # voter, separator, row
        if rows.sample_weight is not None:
            weights = weights * rows.sample_weight.reshape(-1, 1, len(y)).astype(dtype)
        importance = np.ascontiguousarray(weights.reshape(-1, len(y)))
        first = np.arange(n_voters) * (len(distinct) if len(weights) > 1 else 0)
        taken = np.add.outer(first, np.arange(n) % len(distinct)).ravel()
        return self._labels(y, positive), importance, taken

    def _labels(self, y: Labels, positive: NDArray[np.intp]) -> NDArray[Any]:
        """Return the labels for some separators of a voter: one class against the others."""
        negative = 0.0 if self.params["loss"] == "log_loss" else -1.0
        if self.n_separators == 1:
            return np.array([negative, 1.0], dtype=self.dtype)[y][None]
        labels = np.full((len(positive), len(y)), negative, dtype=self.dtype)
        places = y - positive[0]
        own = np.flatnonzero((places >= 0) & (places < len(positive)))
        labels[places[own], own] = 1.0
        return labels
