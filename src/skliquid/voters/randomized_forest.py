"""RandomizedForestClassifier: a few deep trees with random splits."""

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid import native
from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import require
from skliquid.validation.checks import check_count, check_number
from skliquid.voters.binning import BinnedRows
from skliquid.voters.growing import TreeVoter, sum_trees
from skliquid.voters.grown_trees import Tree


class RandomizedForestClassifier(TreeVoter):
    """A small forest of deep trees whose splits are drawn at random.

    Each tree sees all rows, without bootstrap. Columns are put into at most 63 bins of about equal
    size, and missing values into a bin of their own. The probabilities of a leaf are the shares of
    its rows, with the probabilities of its parent as one more row; those of the forest are the mean
    over trees.

    Parameters
    ----------
    n_estimators : int, default=8
        Number of trees.
    max_features : "sqrt", int or float, default="sqrt"
        The columns that are tried at each split, as a number or a share. One-hot encoded columns
        count as one, except for the square root.
    min_samples_leaf : int, default=1
        Minimum number of rows in a leaf.
    splitter : {"random", "best", "mixed"}, default="random"
        The thresholds that are tried in a column: one at random, all, or all from 64 rows on and
        two at random below. In categorical columns sets of categories are tried.
    max_rows : int, default=100_000
        Maximum number of rows per tree: in ``fit`` drawn at random for each tree, in
        ``partial_fit`` the last ones.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categorical, by number, by name or by one boolean each. ``"from_dtype"``:
        those of a data frame with a categorical type. The 63 most frequent categories are
        distinguished; others count as missing.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes; they multiply ``sample_weight``.
    n_jobs : int, default=None
        Number of threads, as joblib counts them. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the trees.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when X had names that are all strings.
    n_seen_ : int
        Number of rows seen so far.
    n_grown_ : int
        Number of trees grown so far, including those that were replaced.
    n_visits_ : int
        Sample visits of the last call: rows that trees were grown on, summed over trees.
    trees_ : GrownTrees
        The trees.

    Notes
    -----
    ``partial_fit`` keeps the last ``max_rows`` rows, and grows trees again in turn, all of them
    while half of these rows are replaced. So a row costs the same however long the stream is, and
    rows before the last 1.6 ``max_rows`` are forgotten. Until then one call grows a quarter of the
    trees at most. ``fit`` keeps no rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RandomizedForestClassifier(random_state=0).fit(X, y).predict(X[:1])
    array([0])
    """

    def __init__(
        self,
        n_estimators: int = 8,
        *,
        max_features: Any = "sqrt",
        min_samples_leaf: int = 1,
        splitter: str = "random",
        max_rows: int = 100_000,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.splitter = splitter
        self.max_rows = max_rows
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def check_stored(self) -> None:
        """Raise unless leaves hold shares of rows."""
        super().check_stored()
        has_trees = len(self.trees_) > 0 or self.n_outputs < 2
        require(has_trees and self.trees_.have_shares(), "leaves with shares of rows")

    def prepare(self, rows: BinnedRows, n_trees: int | None, weights: int) -> NDArray[Any]:
        """Return a task for each tree: no tree depends on another."""
        n_new = self.n_trees if n_trees is None else n_trees
        tasks = np.zeros(n_new, dtype=native.FOREST_TASK)
        tasks["seed"], tasks["weights"] = self.seeds(n_new), weights
        tasks["n_drawn"] = min(rows.n_rows, self.max_rows)
        tasks["n_tried"] = self._n_tried(rows)
        tasks["min_leaf"] = min(self.min_samples_leaf, rows.n_rows)
        tasks["splitter"] = native.SPLITTERS.index(self.splitter)
        return tasks

    @classmethod
    def grow_tasks(
        cls, voters: Sequence[Any], rows: BinnedRows, tasks: NDArray[Any], X: Any, n_threads: int
    ) -> list[tuple[list[Tree], int]]:
        """Return the tree of each task, and its sample visits."""
        binned = *rows[:4], len(voters[0].classes_), rows.weights
        records = tasks.view(np.uint8)
        grown: list[tuple[list[Tree], int]] = rows.core.grow_forest(
            *binned, records, n_threads, rows.features
        )
        return grown

    @classmethod
    def probabilities(cls, voters: Sequence[Any], X: Any, n_threads: int) -> Floats:
        """Return the mean over trees: one row per voter, row and class."""
        if voters[0].n_outputs < 2:
            return np.ones((len(voters), X.shape[0], 1))
        found = sum_trees(voters, X, n_threads)
        found /= found.sum(axis=2, keepdims=True)
        return found

    @classmethod
    def onnx_probabilities(cls, rows: Any, voters: Sequence[Any]) -> Any:
        """Return the same as tensors of an ONNX graph; see ``onnx/graph_builder.py``."""
        sums = rows.sum_trees(voters)
        return sums / sums.sum(2, keepdims=True)

    def check_parameters(self) -> None:
        """Raise an error unless all parameters are valid."""
        super().check_parameters()
        check_count("min_samples_leaf", self.min_samples_leaf)
        if self.splitter not in native.SPLITTERS:
            raise ValueError(
                f"splitter must be one of {', '.join(native.SPLITTERS)}: got {self.splitter!r}. "
                "Choose one of these names."
            )
        if isinstance(self.max_features, Integral):
            check_count("max_features", self.max_features)
        elif self.max_features != "sqrt":
            rule = "'sqrt', a whole number or a share above 0 and up to 1"
            check_number("max_features", self.max_features, rule, lambda x: 0 < x <= 1, like=0.5)

    def _n_tried(self, rows: BinnedRows) -> int:
        if self.max_features == "sqrt":
            return math.isqrt(rows.n_features)
        if isinstance(self.max_features, Integral):
            return min(int(self.max_features), rows.n_columns)
        return max(int(self.max_features * rows.n_columns), 1)

    @property
    def has_sparse_leaves(self) -> bool:
        """Whether leaves list only the classes that they know."""
        return self.n_outputs > native.MOST_DENSE_CLASSES

    def _widen(self, positions: NDArray[np.intp]) -> None:
        def widen(values: NDArray[np.float32]) -> NDArray[Any]:
            wider = np.zeros((len(values), self.n_outputs))
            wider[:, positions] = values
            return wider

        if self.has_sparse_leaves:
            self.trees_ = self.trees_.with_outputs(positions, self.n_outputs)
        else:
            self.trees_ = self.trees_.with_values(widen, self.n_outputs)
