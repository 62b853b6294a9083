"""Growing: the base class of voters made of trees, and how they grow and predict together.

Trees are grown on rows in bins, and keep thresholds in the units of the rows. So they do not depend
on bins afterwards. Whenever trees are grown, bins are made for the rows at hand.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import islice
from numbers import Integral
from typing import Annotated, Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_array, check_random_state, check_X_y
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from skliquid import native
from skliquid.delegation.arrays import Floats, compact
from skliquid.delegation.class_weights import ClassCounts, class_factors
from skliquid.delegation.increments import slices
from skliquid.delegation.storable import Classes, Count, Range, require, storable
from skliquid.validation import data_types, limits
from skliquid.validation.checks import check_count, check_number
from skliquid.validation.parameters import check_class_weight, check_labels_are_known
from skliquid.voters.binning import BinnedRows
from skliquid.voters.categories import CategoryCoder, CodedCategories, Coder, category_coder
from skliquid.voters.grown_trees import GrownTrees, Tree
from skliquid.voters.recent_rows import RecentRows

PER_CALL = 4  # until max_rows were seen, one call of partial_fit grows at most one in four trees
BATCHES = 8  # at least one in eight trees is grown at a time
_NUMBERS_AT_ONCE = 2**22
_ACCEPTED: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "order": "C",
    "ensure_all_finite": "allow-nan",
}


class TreeVoter(ClassifierMixin, BaseEstimator, ABC):
    """Base class of classifiers made of trees; subclasses describe the parameters."""

    n_estimators: Any
    max_rows: int
    categorical_features: Any
    class_weight: Any
    n_jobs: int | None
    random_state: Any

    classes_: Classes
    n_grown_: Count
    n_seen_: Count
    n_visits_: Count
    trees_: GrownTrees
    _seed: Count
    _turns: Annotated[float, Range(0)]
    _recent: RecentRows
    _counts: ClassCounts
    _coder: CategoryCoder | CodedCategories | None = None

    def __init_subclass__(cls) -> None:
        storable(cls)
        super().__init_subclass__()

    # For users

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow all trees from scratch.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows. Missing values are NaN.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        self : TreeVoter
            The classifier.
        """
        X, y, weights = self._check(X, y, sample_weight, reset=True)
        classes, labels = np.unique(y, return_inverse=True)
        check_labels_are_known(self.class_weight, classes)
        self.start(classes, X.shape[1])
        self.n_seen_ = len(y)
        self.n_visits_ = self._grow(X, labels, self._apply_class_weights(y, weights), None)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: grow some of the trees again.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows. Missing values are NaN.
        y : array-like of shape (n_samples,)
            Their labels. Classes may be new.
        classes : array-like, default=None
            Labels that may occur, if they are known.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        self : TreeVoter
            The classifier.
        """
        is_first = not self.__sklearn_is_fitted__()
        X, y, weights = self._check(X, y, sample_weight, reset=is_first)
        if is_first:
            self.start(np.empty(0, dtype=y.dtype), X.shape[1])
        positions = self.add_classes(y if classes is None else unique_labels(np.ravel(classes), y))
        if positions is not None:
            self._recent.relabel(positions)
        weights, recent = self._apply_class_weights(y, weights), self._recent
        recent.append(X, np.searchsorted(self.classes_, y), weights)
        n_due, self.n_visits_ = self.take_turn(len(y)), 0
        if n_due:
            self.n_visits_ = self._grow(recent.X, recent.y, recent.weights, n_due)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``; each row sums to one.
        """
        found: Floats = self.probabilities([self], self.check_X(X), self._n_threads)[0]
        return found

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Logarithms in the order of ``classes_``; ``-inf`` for a probability of zero.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class; in a tie the first in sorted order.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classes.
        """
        best = self.predict_proba(X).argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[best]
        return predicted

    # For pools: rows were checked, and labels are positions of classes

    def start(self, classes: NDArray[Any], n_columns: int) -> None:
        """Start without trees."""
        self.classes_, self.n_features_in_ = classes, n_columns
        self.n_grown_ = self.n_seen_ = self.n_visits_ = 0
        self.trees_ = GrownTrees([], max(self.n_outputs, 1), n_columns, self.has_sparse_leaves)
        own = self.random_state  # a generator takes longer to make than a small forest
        is_seed = isinstance(own, Integral)
        self._seed = int(own) if is_seed else int(check_random_state(own).randint(2**31 - 1))
        self._turns, self._counts = 0.0, ClassCounts()
        self._recent = RecentRows(self.max_rows)

    @property
    def n_trees(self) -> int:
        """Number of trees when it is complete."""
        return int(self.n_estimators)

    @property
    def feature_importances_(self) -> Floats:
        r"""The share of splits on each feature, where a split at depth d counts :math:`2^{-d}`."""
        check_is_fitted(self)
        splits = self.trees_.splits()
        return splits / (splits.sum() or 1.0)

    @property
    def n_outputs(self) -> int:
        """Number of outputs: the numbers that a leaf holds."""
        return len(self.classes_)

    @property
    def has_sparse_leaves(self) -> bool:
        """Whether leaves list only the outputs that they know."""
        return False

    @property
    def coder(self) -> Coder | None:
        """The coder of categories, or None if no column is categorical."""
        return self._coder

    @property
    def is_categorical(self) -> NDArray[np.bool_]:
        """Whether each column is categorical."""
        coded = self.categorical_features
        if isinstance(coded, CodedCategories):
            return coded.is_categorical
        if self._coder is None:
            return np.zeros(self.n_features_in_, dtype=bool)
        return self._coder.is_categorical

    def trees_due(self, n_new: int) -> tuple[int, float]:
        """Return the number of trees to grow after ``n_new`` rows, and the part left for later.

        All trees are grown again while half of the rows that are kept are replaced; so the cost per
        row stays the same. As long as all rows are kept, one call grows a quarter at most. An
        eighth is grown at least, since rows are put into bins each time.
        """
        if len(self.classes_) < 2:
            return 0, 0.0
        n_seen = self.n_seen_ + n_new
        max_due = self.n_trees if n_seen > self.max_rows else -(-self.n_trees // PER_CALL)
        if not len(self.trees_):
            return max_due, 0.0
        turns = self._turns + 2 * self.n_trees * n_new / min(n_seen, self.max_rows)
        n_due = min(math.floor(turns), max_due)
        return (n_due, turns % 1.0) if n_due >= max(self.n_trees // BATCHES, 1) else (0, turns)

    def take_turn(self, n_new: int) -> int:
        """Count ``n_new`` rows, and return the number of trees to grow."""
        n_due, self._turns = self.trees_due(n_new)
        self.n_seen_ += n_new
        return n_due

    def add_classes(self, labels: NDArray[Any]) -> NDArray[np.intp] | None:
        """Add new classes; return the new positions of known classes, None if they stay."""
        before = self.classes_
        if len(before) == 0:
            self.classes_ = unique_labels(labels)
            n, sparse = self.n_outputs, self.has_sparse_leaves
            self.trees_ = GrownTrees([], n, self.n_features_in_, sparse)
            return None
        both = unique_labels(before, labels)
        if len(both) == len(before):
            return None
        self.classes_, positions = both, np.searchsorted(both, before)
        self._widen(positions)
        return positions

    def seeds(self, n: int) -> NDArray[np.uint64]:
        """Return seeds for the next trees."""
        sequence = np.random.SeedSequence([self._seed, self.n_grown_])
        return sequence.generate_state(n, np.uint64).astype(np.uint64)

    def add_trees(self, trees: Sequence[Tree]) -> None:
        """Add trees; the oldest go when there are too many."""
        self.trees_ = self.trees_.keep_last(self.n_trees - len(trees), trees)
        self.n_grown_ += len(trees)

    @abstractmethod
    def prepare(self, rows: BinnedRows, n_trees: int | None, weights: int) -> NDArray[Any]:
        """Make room for ``n_trees``, None for all, and return tasks for the core to grow them.

        ``weights`` is the position of the voter's own weights in ``rows``, or -1.
        """

    @classmethod
    @abstractmethod
    def grow_tasks(
        cls, voters: Sequence[Any], rows: BinnedRows, tasks: NDArray[Any], X: Any, n_threads: int
    ) -> list[tuple[list[Tree], int]]:
        """Return the trees and sample visits of each task; see :func:`grow`."""

    @classmethod
    @abstractmethod
    def probabilities(cls, voters: Sequence[Any], X: Any, n_threads: int) -> Floats:
        """Return class probabilities of voters of this class: one row per voter, row and class."""

    @classmethod
    def margins(cls, voters: Sequence[Any], X: Any, n_threads: int) -> Floats:  # noqa: ARG003
        """Return decision functions in the same shape; zeros for voters without one."""
        return np.zeros((len(voters), X.shape[0], len(voters[0].classes_)))

    @property
    def can_be_pooled(self) -> bool:
        """Whether it can be trained together with others: no method for users is its own."""
        names = ("fit", "partial_fit", "predict", "predict_proba")
        return all(getattr(type(self), name) is getattr(TreeVoter, name) for name in names)

    @property
    def can_grow(self) -> bool:
        """Whether more trees go on improving it."""
        return False

    @property
    def sees_coded_rows(self) -> bool:
        """Whether rows are arrays of numbers, with codes for categories."""
        chosen = self.categorical_features
        is_by_type = isinstance(chosen, str) and chosen == "from_dtype"
        return chosen is None or isinstance(chosen, CodedCategories) or is_by_type

    def plan_growth(self, n_trees: int, n_rows: int, n_classes: int) -> None:
        """Prepare for more trees than planned, grown on up to ``n_rows``."""

    def keep_size_of(self, before: "TreeVoter", n_rows: int) -> None:
        """Plan as many trees as ``before`` has, if it has grown."""
        if len(before.trees_) > self.n_trees:
            self.plan_growth(len(before.trees_), n_rows, len(before.classes_))

    def check_stored(self) -> None:
        """Raise unless trees, rows and categories are for its classes and columns."""
        shape, is_sparse = (max(self.n_outputs, 1), self.n_features_in_), self.trees_.is_sparse
        is_valid = (self.trees_.n_outputs, self.trees_.n_columns) == shape
        require(
            is_valid and is_sparse == self.has_sparse_leaves, "trees for its classes and columns"
        )
        are_valid = self._recent.fit_into(self.n_features_in_, len(self.classes_))
        require(are_valid, "rows of its classes and columns")
        require(len(self.is_categorical) == self.n_features_in_, "categories of its columns")

    # Inside

    @abstractmethod
    def _widen(self, positions: NDArray[np.intp]) -> None:
        """Make room for new classes in all trees; the known classes are at ``positions``."""

    def check_parameters(self) -> None:
        """Raise an error unless all parameters are valid."""
        check_count("max_rows", self.max_rows)
        check_class_weight(self.class_weight)
        if isinstance(self.class_weight, str) and self.class_weight != "balanced":
            raise ValueError(
                f"class_weight must be 'balanced', a dict or None: got {self.class_weight!r}. "
                "Choose one of them."
            )
        if self.n_jobs == 0:
            raise ValueError("n_jobs must not be 0: got 0. Give 1, or -1 for all cores.")
        n, bytes_each = self.n_estimators, limits.BYTES_PER_TREE
        check_count("n_estimators", n)
        limits.check_fits_in_memory("n_estimators", n, bytes_each=bytes_each)

    @property
    def _n_threads(self) -> int:
        return min(int(effective_n_jobs(self.n_jobs)), limits.MAX_THREADS)

    def _grow(self, X: Any, y: NDArray[Any], weights: Floats | None, n_trees: int | None) -> int:
        """Grow ``n_trees``, or all, and return the sample visits."""
        rows = BinnedRows.from_rows(X, y, weights, self.is_categorical, self._n_threads)
        return grow([self], rows, [n_trees], self._n_threads, X)[0]

    def _check(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Any:
        """Return rows, labels and weights as arrays."""
        self.check_parameters()
        data_types.check_convertible_labels(y)
        X, y = self._to_arrays(X, reset=reset, y=y)
        check_classification_targets(y)
        return X, y, _check_weights(sample_weight, len(y))

    def check_X(self, X: Any) -> Any:
        """Return rows of numbers, with codes for categories, as the trees see them."""
        check_is_fitted(self)
        return self._to_arrays(X, reset=False)

    def _to_arrays(self, X: Any, *, reset: bool, **y: Any) -> Any:
        """Return rows, with categories as numbers, and labels if they are to be learned from."""
        X = data_types.convertible_rows(X)
        if reset:
            self._coder = category_coder(X, self.categorical_features)
        with data_types.conversion_of("X"):
            if self._coder is None:
                return validate_data(self, X, reset=reset, **y, **_ACCEPTED)
            validate_data(self, X, reset=reset, skip_check_array=True)
            if y:
                self._coder.learn(X)
            coded = self._coder.encode(X)
        return check_X_y(coded, **y, **_ACCEPTED) if y else check_array(coded, **_ACCEPTED)

    def _apply_class_weights(self, y: NDArray[Any], weights: Floats | None) -> Floats | None:
        """Count labels, and return the weights of rows times those of their classes."""
        self._counts = self._counts.plus(y)
        if self.class_weight is not None:
            factors = class_factors(y, self.class_weight, self._counts)
            weights = factors if weights is None else factors * weights
        limits.check_weight_range(weights)
        return weights

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


def _check_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Return one weight per row, or None if all count the same."""
    if sample_weight is None:
        return None
    weights = data_types.converted_weights(sample_weight)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must hold one number per row: got the shape {weights.shape} for "
            f"{n_rows} rows. Give one number for each."
        )
    check_number("sample_weight", float(weights.min()), "zero or more", lambda w: w >= 0, like=1.0)
    if not weights.any():
        raise ValueError(
            "sample_weight must be above zero for some rows: all are zero. Give rows of at least "
            "one class a positive weight."
        )
    return weights


def grow(
    voters: Sequence[TreeVoter],
    rows: BinnedRows,
    n_trees: Sequence[int | None],
    n_threads: int,
    X: Any = None,
) -> list[int]:
    """Grow trees of ``voters`` and return the sample visits of each.

    ``n_trees`` is the number to add to each voter; None means all, from scratch. With one row of
    weights per voter in ``rows``, each has its own. ``X`` are the same rows as numbers; voters that
    already have trees need them.
    """
    visits, n_weights = [0] * len(voters), len(rows.weights)
    if len(voters[0].classes_) < 2:  # there is nothing to distinguish
        return visits
    positions = range(len(voters)) if n_weights > 1 else [n_weights - 1] * len(voters)
    voter_types: list[type[TreeVoter]] = list(dict.fromkeys(map(type, voters)))
    for voter_type in voter_types:
        chosen = [k for k, voter in enumerate(voters) if type(voter) is voter_type]
        own = [voters[k] for k in chosen]
        tasks = [voters[k].prepare(rows, n_trees[k], positions[k]) for k in chosen]
        grown = iter(voter_type.grow_tasks(own, rows, np.concatenate(tasks), X, n_threads))
        for k, own_tasks in zip(chosen, tasks, strict=True):
            results = list(islice(grown, len(own_tasks)))
            voters[k].add_trees([tree for trees, _ in results for tree in trees])
            visits[k] = sum(n for _, n in results)
    return visits


def sum_trees(
    voters: Sequence[TreeVoter], X: Any, n_threads: int, start: Floats | None = None
) -> Floats:
    """Return the sum over the trees of each voter: one row per voter, row and output.

    Sums begin at ``start``, one row per voter, and trees are added one after the other.
    """
    handles = [voter.trees_.handle for voter in voters]
    sums = np.zeros((len(voters), X.shape[0], voters[0].n_outputs))
    if start is not None:
        sums += start[:, None, :]
    if not hasattr(X, "toarray"):
        native.add_up_trees(handles, compact(X), sums, n_threads)
        return sums
    for block in slices(X.shape[0], max(_NUMBERS_AT_ONCE // X.shape[1], 1)):
        part = sums[:, block].copy()
        native.add_up_trees(handles, X[block].toarray(), part, n_threads)
        sums[:, block] = part
    return sums
