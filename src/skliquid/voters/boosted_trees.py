"""BoostedTreesClassifier: a short sequence of small trees by gradient boosting."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from skliquid import native
from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import Array, require
from skliquid.validation.checks import check_count, check_number
from skliquid.voters.binning import BinnedRows
from skliquid.voters.growing import TreeVoter, sum_trees
from skliquid.voters.grown_trees import Tree

MAX_COLUMNS = 500  # of a tree: it bounds time and memory for histograms
GROWTH_DEPTH, GROWTH_RATE, GROWTH_SHARE, GROWTH_PENALTY = 6, 0.15, 0.8, 10.0  # of growing voters
NEW_CLASS = -5.0  # score of a class that comes late, before any tree has seen it


class BoostedTreesClassifier(TreeVoter):
    """A short sequence of small trees, each grown on the errors of those before it.

    Gradient boosting of the log-loss on random rows and columns, with histograms: columns are put
    into at most 63 bins of about equal size, and missing values into a bin of their own. With more
    than two classes one tree serves all of them, with a number for each in its leaves.

    Parameters
    ----------
    n_estimators : int, default=80
        Number of trees.
    learning_rate : float, default=0.2
        The factor by which the numbers in leaves are shrunk.
    max_depth : int, default=5
        Depth of the trees, at most 16.
    max_features : float, default=1.0
        The share of the columns that each tree sees, at most 500 of them.
    subsample : float, default=0.8
        The share of the rows that each tree is grown on.
    l2_regularization : float, default=1.0
        Penalty on the numbers in leaves.
    min_child_weight : float, default=1.0
        Minimum sum of second derivatives in a leaf.
    max_rows : int, default=100_000
        Maximum number of rows: in ``fit`` drawn at random, in ``partial_fit`` the last ones.
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
        Number of trees grown so far, including those that were dropped.
    n_visits_ : int
        Sample visits of the last call: rows that trees were grown on, summed over trees.
    trees_ : GrownTrees
        The trees.
    base_scores_ : ndarray of shape (1,) or (n_classes,)
        Scores before the first tree: the log-odds of the classes, among the rows that trees were
        last grown on.

    Notes
    -----
    ``partial_fit`` keeps the last ``max_rows`` rows, adds trees, and drops the oldest when there
    are more than ``n_estimators``; all are replaced while half of these rows are. So a row costs
    the same however long the stream is, and rows before the last 1.6 ``max_rows`` are forgotten.
    Until then one call adds a quarter of the trees at most. ``fit`` keeps no rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> BoostedTreesClassifier(random_state=0).fit(X, y).predict(X[:1])
    array([0])
    """

    base_scores_: Annotated[Floats, Array("n_outputs")]

    def __init__(
        self,
        n_estimators: int = 80,
        *,
        learning_rate: float = 0.2,
        max_depth: int = 5,
        max_features: float = 1.0,
        subsample: float = 0.8,
        l2_regularization: float = 1.0,
        min_child_weight: float = 1.0,
        max_rows: int = 100_000,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_features = max_features
        self.subsample = subsample
        self.l2_regularization = l2_regularization
        self.min_child_weight = min_child_weight
        self.max_rows = max_rows
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def decision_function(self, X: Any) -> Floats:
        """Return the log-odds of the second class; with more classes, a score for each.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores; their softmax are the probabilities.
        """
        scores: Floats = self.scores([self], self.check_X(X), self._n_threads)[0]
        return scores[:, 0] if self.n_outputs == 1 else scores

    @property
    def can_grow(self) -> bool:
        """Whether more trees go on improving it, as :class:`GrowingRows` grows them."""
        return self.can_be_pooled and self.class_weight is None and self.sees_coded_rows

    def plan_growth(self, n_trees: int, n_rows: int, n_classes: int) -> None:
        """Plan more trees on more rows and columns than a short sequence has, and smaller steps."""
        rate, share = min(self.learning_rate, GROWTH_RATE), max(self.subsample, GROWTH_SHARE)
        max_rows = max(self.max_rows, n_rows)
        self.set_params(n_estimators=n_trees, max_rows=max_rows, learning_rate=rate)
        penalty = GROWTH_PENALTY / max(n_classes - 1, 1)
        self.set_params(
            max_depth=GROWTH_DEPTH,
            max_features=1.0,
            subsample=share,
            l2_regularization=max(self.l2_regularization, penalty),
            min_child_weight=max(self.min_child_weight, penalty),
        )

    @property
    def n_outputs(self) -> int:
        """Number of outputs: one for two classes, their log-odds."""
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def check_stored(self) -> None:
        """Raise unless each output has a base score."""
        super().check_stored()
        require(self.base_scores_.shape == (self.n_outputs,), "a base score of each output")

    def start(self, classes: NDArray[Any], n_columns: int) -> None:
        """Start without trees."""
        super().start(classes, n_columns)
        self.base_scores_ = np.zeros(self.n_outputs)

    def prepare(self, rows: BinnedRows, n_trees: int | None, weights: int) -> NDArray[Any]:
        """Drop the oldest trees, and return one task: new trees depend on those before them."""
        n_new = self.n_trees if n_trees is None else n_trees
        self.trees_ = self.trees_.keep_last(self.n_trees - n_new)
        own = rows.weights[weights] if weights >= 0 else None
        self.base_scores_ = log_odds(rows.y, own, len(self.classes_))
        n_window = min(rows.n_rows, self.max_rows)
        n_columns = min(round(self.max_features * rows.n_columns), MAX_COLUMNS)
        tasks = np.zeros(1, dtype=native.BOOSTING_TASK)
        tasks["seed"], tasks["weights"] = self.seeds(1), weights
        tasks["n_trees"], tasks["n_window"] = n_new, n_window
        tasks["n_drawn"] = max(int(self.subsample * n_window), 1)
        tasks["n_columns"] = max(n_columns, 1)
        tasks["depth"], tasks["rate"] = self.max_depth, self.learning_rate
        tasks["penalty"], tasks["min_hessian"] = self.l2_regularization, self.min_child_weight
        return tasks

    @classmethod
    def grow_tasks(
        cls, voters: Sequence[Any], rows: BinnedRows, tasks: NDArray[Any], X: Any, n_threads: int
    ) -> list[tuple[list[Tree], int]]:
        """Return the trees of each voter, and their sample visits."""
        have_trees = np.array([len(voter.trees_) > 0 for voter in voters])
        tasks["scores"] = np.where(have_trees, have_trees.cumsum() - 1, -1)
        continued = [voter for voter in voters if len(voter.trees_)]
        none = np.empty((0, rows.n_rows, voters[0].n_outputs))
        scores = cls.scores(continued, X, n_threads) if continued else none
        return cls.continue_tasks(voters, rows, tasks, scores, n_threads)

    @classmethod
    def continue_tasks(
        cls,
        voters: Sequence[Any],
        rows: BinnedRows,
        tasks: NDArray[Any],
        scores: Floats,
        n_threads: int,
    ) -> list[tuple[list[Tree], int]]:
        """Return the same, and update ``scores``: one row per voter, row and output.

        ``tasks["scores"]`` is the position of a voter's scores, or -1 to start at its base scores.
        """
        base = np.stack([voter.base_scores_ for voter in voters])
        binned = *rows[:4], len(voters[0].classes_), rows.weights
        records = tasks.view(np.uint8)
        grown: list[tuple[list[Tree], int]] = rows.core.grow_sequences(
            *binned, records, base, scores, n_threads, rows.features
        )
        return grown

    @classmethod
    def scores(cls, voters: Sequence[Any], X: Any, n_threads: int) -> Floats:
        """Return the scores of each voter: one row per voter, row and output."""
        found = sum_trees(voters, X, n_threads)
        found += np.stack([voter.base_scores_ for voter in voters])[:, None, :]
        return found

    @classmethod
    def margins(cls, voters: Sequence[Any], X: Any, n_threads: int) -> Floats:
        """Return the scores of each class: one row per voter, row and class."""
        scores = cls.scores(voters, X, n_threads)
        return np.concatenate([-scores, scores], axis=2) if scores.shape[2] == 1 else scores

    @classmethod
    def probabilities(cls, voters: Sequence[Any], X: Any, n_threads: int) -> Floats:
        """Return the softmax of the scores: one row per voter, row and class."""
        n_classes = len(voters[0].classes_)
        found = np.ones((len(voters), X.shape[0], n_classes))
        if n_classes > 1:
            for scores, own in zip(cls.scores(voters, X, n_threads), found, strict=True):
                native.to_probabilities(scores, own)
        return found

    @classmethod
    def onnx_probabilities(cls, rows: Any, voters: Sequence[Any]) -> Any:
        """Return the same as tensors of an ONNX graph; see ``onnx/graph_builder.py``."""
        scores = rows.sum_trees(voters) + np.stack([voter.base_scores_ for voter in voters])
        if voters[0].n_outputs > 1:
            return scores.op("Softmax", axis=2)
        second = 1 / ((-scores).op("Exp") + 1)
        return (1 - second).concat(second, axis=2)

    def check_parameters(self) -> None:
        """Raise an error unless all parameters are valid."""
        super().check_parameters()
        check_count("max_depth", self.max_depth)
        check_number("max_depth", self.max_depth, "at most 16", lambda x: x <= 16, like=5)
        share, positive = "above 0 and up to 1", "above zero, and finite"
        for name in ("max_features", "subsample"):
            check_number(name, getattr(self, name), share, lambda x: 0 < x <= 1, like=0.5)
        for name in ("learning_rate", "l2_regularization"):
            check_number(name, getattr(self, name), positive, lambda x: 0 < x < np.inf, like=0.2)
        weight = self.min_child_weight
        check_number("min_child_weight", weight, "zero or more", lambda x: x >= 0, like=1.0)

    def _widen(self, positions: NDArray[np.intp]) -> None:
        def widen(numbers: NDArray[Any], filling: float = 0.0) -> NDArray[Any]:
            wider = np.full((len(numbers), self.n_outputs), filling)
            is_binary = len(positions) == 2
            wider[:, positions] = np.hstack([-numbers / 2, numbers / 2]) if is_binary else numbers
            return wider

        base, self.base_scores_ = self.base_scores_, np.zeros(self.n_outputs)
        if len(self.trees_):
            self.base_scores_ = widen(base[None], NEW_CLASS)[0]
        self.trees_ = self.trees_.with_values(widen, self.n_outputs)


def log_odds(y: NDArray[Any], weights: Floats | None, n_classes: int) -> Floats:
    """Return scores that give each class its share of the rows, half a row added to each."""
    counts = np.bincount(y, weights, minlength=n_classes) + 0.5
    logs: Floats = np.log(counts / counts.sum())
    return np.array([logs[1] - logs[0]]) if n_classes == 2 else logs
