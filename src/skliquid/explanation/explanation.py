"""Explanation: who decided each row, and by which columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats, Voters
from skliquid.validation.checks import missing_extra


@dataclass(frozen=True, eq=False)
class Representative:
    """A representative, its part in the decision, and the voters behind it.

    Attributes
    ----------
    voter : int
        Its number among all voters.
    estimator : str
        Its estimator, such as ``"forest"``.
    vote : float
        Its part of the vote: its ``vote_weights_`` divided by their sum.
    delegators : ndarray of int
        The voters whose votes it carries, without itself.
    probabilities : ndarray of shape (n_samples, n_classes)
        Its class probabilities.
    values : ndarray of shape (n_samples, n_columns, n_outputs)
        Exact Shapley values of its score: the log-odds of the second of two classes, a score of
        each class with more, and the probability of each class for forests.
    base_values : ndarray of shape (n_outputs,)
        The mean score over the background. With the sum of ``values`` over columns it is the score.
    """

    voter: int
    estimator: str
    vote: float
    delegators: Voters
    probabilities: Floats
    values: Floats
    base_values: Floats


@dataclass(frozen=True, eq=False)
class Explanation:
    """What :func:`skliquid.explain` returns: contributions of columns, and who decided.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_columns, n_classes)
        The contribution of each column to the probability of each class.
    base_values : ndarray of shape (n_classes,)
        The probabilities where no column is known. With the sum of ``values`` over columns they are
        ``probabilities``.
    probabilities : ndarray of shape (n_samples, n_classes)
        ``predict_proba`` of the ensemble; with hard votes the mean of the representatives'
        probabilities, weighted by their votes.
    representatives : list of Representative
        The representatives, in the order of ``estimators_``.
    data : ndarray of shape (n_samples, n_columns)
        The rows, as they were given.
    feature_names : list of str
        Names of the columns.
    classes : ndarray of shape (n_classes,)
        The classes, sorted.
    """

    values: Floats
    base_values: Floats
    probabilities: Floats
    representatives: list[Representative]
    data: NDArray[Any]
    feature_names: list[str]
    classes: NDArray[Any]

    def to_shap(self, label: Any = None) -> Any:
        """Return the contributions to one class as a ``shap.Explanation``.

        Parameters
        ----------
        label : object, default=None
            The class. None means the second of two classes; of more than two, all, in the last
            dimension.

        Returns
        -------
        explanation : shap.Explanation
            For ``shap.plots``, such as ``shap.plots.waterfall(explanation[0])``.
        """
        try:
            import shap
        except ImportError as error:
            raise missing_extra("Explanation.to_shap", "shap", "explain") from error
        shows_all = label is None and len(self.classes) > 2
        position: Any = slice(None) if shows_all else self.position_of(label)
        base = np.broadcast_to(self.base_values, self.probabilities.shape)
        names = [str(name) for name in self.classes.tolist()]
        return shap.Explanation(
            self.values[..., position],
            base[..., position],
            data=self.data,
            feature_names=self.feature_names,
            output_names=names if shows_all else None,
        )

    def to_pandas(self, label: Any = None) -> Any:
        """Return the contributions to one class as a data frame, one column per column.

        Parameters
        ----------
        label : object, default=None
            The class. None means the second.

        Returns
        -------
        table : pandas.DataFrame of shape (n_samples, n_columns)
            The contributions.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise missing_extra("Explanation.to_pandas", "pandas", "pandas") from error
        return pd.DataFrame(self.values[..., self.position_of(label)], columns=self.feature_names)

    def position_of(self, label: Any) -> int:
        """Return the position of a class; that of the second for None."""
        if label is None:
            return 1
        classes: list[Any] = self.classes.tolist()
        if label not in classes:
            raise ValueError(
                f"label must be one of the classes {classes}: got {label!r}. Choose one of them."
            )
        return classes.index(label)
