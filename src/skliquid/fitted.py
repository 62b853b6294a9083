"""What training leaves behind: one value, and the predictions that follow from it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skliquid.arrays import Floats, Voters
from skliquid.delegation_graph import DelegationGraph
from skliquid.discovery import Discovery
from skliquid.diversity import VoterSpec
from skliquid.increments import slices
from skliquid.mechanisms import Mechanism, as_mechanism
from skliquid.record import TrainingCost, TrainingRecord
from skliquid.training import Rules, Training
from skliquid.validation import EvalSet, check_has_classes
from skliquid.voting import checked_weights, tally, winner

_VOTES_AT_ONCE, _ROWS_AT_ONCE = 5_000_000, 2**14


@dataclass(frozen=True, eq=False)
class Fitted:
    """What training leaves behind; before it, nothing is known."""

    classes: NDArray[Any] | None = None  # all classes, sorted
    n_samples_seen: int = 0  # rows given so far
    dtype: Any = None  # precision of the rows, in which training continues
    training: Training | None = None  # from when there are two classes
    spec: VoterSpec | None = None  # what the voters were made from
    discovery: Discovery | None = None  # None when all classes were announced
    kept: Voters | None = None  # voters that were not dropped

    def without_delegators(self, rules: Rules, *, training_is_over: bool) -> "Fitted":
        """Drop the voters that will not be asked again."""
        training = self.training
        if training is None or not training.record:
            return self
        kept = rules.mechanism.scored(training.graph)
        training.pool = training.pool.keep(kept, training_is_over=training_is_over)
        return replace(self, kept=kept)


class FittedVotes(ABC):
    """Predictions and fitted attributes of classifiers whose state is a :class:`Fitted`.

    A class that includes it has a parameter ``mechanism``.
    """

    mechanism: Any
    n_jobs: int | None = None
    _fitted = Fitted()
    _way_to_fit = "call fit or partial_fit"

    @abstractmethod
    def _check_X(self, X: Any) -> Any:
        """Return the rows as the voters take them."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that receives most weight; in a tie the first in sorted order.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classes.
        """
        winners = winner(self.predict_proba(X))
        return self.classes_[winners]

    def predict_proba(self, X: Any) -> Floats:
        """Return the share of the weight that each class receives.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes)
            Shares in the order of ``classes_``; each row sums to one.
        """
        training = self._ready()
        return shares(training, self._check_X(X), len(self.classes_), as_mechanism(self.mechanism))

    def decision_function(self, X: Any) -> Floats:
        """Return by how much the second class outweighs the first; with more classes, all shares.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        margins : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Between -1 and 1 for two classes, positive where the second wins.
        """
        shares = self.predict_proba(X)
        return shares[:, 1] - shares[:, 0] if len(self.classes_) == 2 else shares

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""
        if self._fitted.classes is None:
            raise self._missing("classes_")
        return self._fitted.classes

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows given so far."""
        if not self._fitted.n_samples_seen:
            raise self._missing("n_samples_seen_")
        return self._fitted.n_samples_seen

    @property
    def estimators_(self) -> list[Any]:
        """The representatives, fitted."""
        training = self._trained("estimators_")
        return training.pool.estimators(training.graph.representatives)

    @property
    def estimator_weights_(self) -> Voters:
        """Votes that each of ``estimators_`` carries."""
        graph = self._trained("estimator_weights_").graph
        return graph.weights[graph.representatives]

    @property
    def delegation_graph_(self) -> DelegationGraph:
        """All delegations."""
        return self._trained("delegation_graph_").graph

    @property
    def record_(self) -> TrainingRecord:
        """What happened at each increment."""
        return self._trained("record_").record

    @property
    def training_cost_(self) -> TrainingCost:
        """Sample visits of the increments and of the final fit."""
        return self._trained("training_cost_").record.cost

    def _ready(self) -> Training:
        """Return the training, for as many threads as are set now; raise if it is not done."""
        check_has_classes(self, self._fitted.n_samples_seen)
        check_is_fitted(self, msg=f"This %(name)s is not fitted yet: {self._way_to_fit}.")
        training = self._trained("estimators_")
        training.pool.set_n_jobs(self.n_jobs)
        return training

    def _trained(self, name: str) -> Training:
        if self._fitted.training is None:
            raise self._missing(name)
        return self._fitted.training

    def __sklearn_is_fitted__(self) -> bool:
        training = self._fitted.training
        return training is not None and len(training.record) > 0

    def _missing(self, name: str) -> AttributeError:
        return AttributeError(f"{name} exists only after training: {self._way_to_fit}.")


def shares(training: Training, X: Any, n_classes: int, mechanism: Mechanism) -> Floats:
    """Return the share of the weight that each class receives, computed block by block."""
    voters = training.graph.representatives
    weights = checked_weights(mechanism.vote_weights, training.graph, training.accuracy, n_classes)
    blocks = slices(X.shape[0], min(max(_VOTES_AT_ONCE // len(voters), 1), _ROWS_AT_ONCE))
    votes = (training.pool.vote(voters, X[block]) for block in blocks)
    return np.concatenate([tally(block_votes, weights, n_classes) for block_votes in votes])


def evaluation(
    training: Training, eval_set: EvalSet | None, mechanism: Mechanism
) -> Callable[[DelegationGraph], float] | None:
    """Return what computes the accuracy of the weighted vote on ``eval_set``."""
    if eval_set is None:
        return None
    (X, y, *_), n_classes = eval_set
    return lambda _: float(np.mean(winner(shares(training, X, n_classes, mechanism)) == y))
