"""Fitted: the state that training leaves behind; FittedVotes: predictions from it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from skliquid.delegation.arrays import Floats, Labels, Voters
from skliquid.delegation.class_weights import ClassCounts
from skliquid.delegation.competence import MEASURES, CompetenceMeasure
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.increments import slices
from skliquid.delegation.new_classes import NewClasses
from skliquid.delegation.record import TrainingCost, TrainingRecord
from skliquid.delegation.rows import Rows
from skliquid.delegation.voter_pool import VoterPool
from skliquid.delegation.votes import (
    VOTINGS,
    Voting,
    decision_values,
    mean_probabilities,
    tempered,
    winner,
    with_margins,
)
from skliquid.diversity import VoterSpec
from skliquid.mechanisms import MECHANISMS, Mechanism, as_mechanism
from skliquid.pools.importances import mean_importances
from skliquid.tables.table_encoder import TableEncoder
from skliquid.training import Rules, Training
from skliquid.validation.input import check_classes, check_has_classes
from skliquid.validation.parameters import (
    Constraint,
    has_methods,
    one_of,
    positive_integer,
    positive_real,
    share,
)

DELEGATION_PARAMETERS: dict[str, list[Constraint]] = {
    "n_final": [one_of(["auto"]), positive_integer],
    "mechanism": [one_of(MECHANISMS), Mechanism, tuple],
    "delegation_rate": [one_of(["auto"]), share, callable, has_methods("n_delegators")],
    "increment_size": [one_of(["auto"]), positive_integer],
    "competence": [one_of(MEASURES), CompetenceMeasure],
    "voting": [one_of(VOTINGS)],
    "max_bytes": [positive_integer, None],
    "max_predict_seconds": [positive_real, None],
    "random_state": ["random_state"],
}
"""Parameters of every ensemble whose voters delegate."""

_NUMBERS_AT_ONCE, _ROWS_AT_ONCE = 5_000_000, 2**14


@dataclass(frozen=True, eq=False)
class Fitted:
    """The state of a fitted ensemble; before training all fields are empty."""

    classes: NDArray[Any] | None = None  # all classes, sorted
    n_samples_seen: int = 0  # rows given so far
    dtype: Any = None  # precision of the rows, in which training continues
    training: Training | None = None  # from when there are two classes
    spec: VoterSpec | None = None  # estimators, seeds and hyperparameters of the voters
    new_classes: NewClasses | None = None  # None when all classes were announced
    kept: Voters | None = None  # voters that were not dropped
    counts: ClassCounts = field(default_factory=ClassCounts)  # rows per class so far

    def without_delegators(self, rules: Rules, *, training_is_over: bool) -> "Fitted":
        """Drop the voters that will not be asked again."""
        training = self.training
        if training is None or not training.record:
            return self
        kept = rules.mechanism.measured_voters(training.graph)
        training.pool = training.pool.keep(kept, training_is_over=training_is_over)
        return replace(self, kept=kept)


class FittedVotes(ABC):
    """Predictions and fitted attributes of classifiers whose state is a :class:`Fitted`.

    A class that includes it has parameters ``mechanism`` and ``voting``. In notebooks, a sentence
    on the training follows scikit-learn's diagram, which links to the documentation.
    """

    _doc_link_module = "skliquid"

    mechanism: Any
    voting: str
    n_features_in_: int
    encoder_: TableEncoder | None = None
    n_jobs: int | None = None
    _fitted = Fitted()
    _way_to_fit = "call fit or partial_fit"

    @abstractmethod
    def _check_X(self, X: Any, *methods: str) -> Any:
        """Return validated rows for these ``methods`` of the pool."""

    @property
    @abstractmethod
    def estimators_features_(self) -> list[NDArray[np.intp]]:
        """The features that each of ``estimators_`` sees."""

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
        shares = self._shares(self._ready(), self._check_X(X, self._voting.method))
        return self.classes_[winner(shares)]

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class.

        With soft votes it is the mean of the representatives' probabilities, weighted by
        ``vote_weights_``, at the temperature that suited the group's answers in training best
        (``temperature_``). With hard votes it is the share of the weight that each class receives.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``; each row sums to one.
        """
        return self._probabilities(self._ready(), self._check_X(X, self._voting.method))

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

    def decision_function(self, X: Any) -> Floats:
        """Return the log-odds of the second class; with more classes, of each against the others.

        Where a probability is 0 or 1, rows are ranked by the mean margin of the representatives
        (their ``decision_function``), beyond all others.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_odds : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Finite numbers; for two classes positive where the second is more probable.
        """
        training = self._ready()
        X = self._check_X(X, self._voting.method, "margins")
        power = training.calibration.power if self._voting.is_soft else 1.0
        values = decision_values(self._shares(training, X), power)
        is_certain = np.flatnonzero(np.isinf(values).any(axis=1))
        if len(is_certain):
            group, rows = self._group(training), X[is_certain]
            margins = group.combined(mean_probabilities, "margins", rows)
            values[is_certain] = with_margins(values[is_certain], margins, power)
        return values[:, 1] if len(self.classes_) == 2 else values

    def _probabilities(self, training: Training, X: Any) -> Floats:
        shares = self._shares(training, X)
        return tempered(shares, training.calibration.power) if self._voting.is_soft else shares

    def _shares(self, training: Training, X: Any) -> Floats:
        """Return class probabilities before calibration."""
        shares = self._group(training).combined(self._voting.shares, self._voting.method, X)
        return self._with_uniform_share(shares)

    def _with_uniform_share(self, shares: Floats) -> Floats:
        """Return shares of the votes, of which some go to all classes alike."""
        uniform = self.uniform_share_
        return (1 - uniform) * shares + uniform / shares.shape[1] if uniform else shares

    @property
    def uniform_share_(self) -> float:
        """The share of the votes that goes to all classes alike."""
        return 0.0

    def _group(self, training: Training) -> "Group":
        mechanism, n_classes = as_mechanism(self.mechanism), len(self.classes_)
        return Group.of(training, mechanism, n_classes, is_soft=self._voting.is_soft)

    @property
    def _voting(self) -> Voting:
        if self.voting not in VOTINGS:
            raise ValueError(
                f"voting must be {' or '.join(map(repr, VOTINGS))}: got {self.voting!r}. Choose "
                "one of them."
            )
        return VOTINGS[self.voting]

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
        return training.pool.estimators(self._representatives)

    @property
    def _representatives(self) -> Voters:
        return self._trained("estimators_").graph.representatives

    @property
    def estimator_weights_(self) -> Voters:
        """Votes that each of ``estimators_`` carries."""
        graph = self._trained("estimator_weights_").graph
        return graph.weights[graph.representatives]

    @property
    def vote_weights_(self) -> NDArray[Any]:
        """How much each of ``estimators_`` counts, by the ``vote_weights`` of the mechanism."""
        return self._group(self._trained("vote_weights_")).weights

    @property
    def feature_importances_(self) -> Floats:
        """How much each feature counts for the representatives, in all one.

        The mean of their importances, weighted by the votes they carry: shares of splits for trees,
        absolute coefficients for linear voters, of features as they see them. It exists only if
        every representative has importances. ``sklearn.inspection.permutation_importance`` takes
        longer, is for any ensemble, and measures what a feature is worth on rows of your choice.
        """
        training = self._trained("feature_importances_")
        voters = training.pool.estimators(self._representatives)
        features, weights = self.estimators_features_, self.estimator_weights_.tolist()
        importances = mean_importances(voters, features, weights, self._n_columns)
        encoder = self.encoder_
        return importances if encoder is None else encoder.importances_of_columns(importances)

    @property
    def _n_columns(self) -> int:
        """Number of columns of the rows that voters see; of tables they are encoded."""
        return self.n_features_in_ if self.encoder_ is None else self.encoder_.n_output_columns

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

    @property
    def temperature_(self) -> float:
        """The temperature of ``predict_proba`` with soft votes; 1 where none was fitted."""
        return 1 / self._trained("temperature_").calibration.power

    def _ready(self) -> Training:
        """Return the training with the current ``n_jobs``; raise if the ensemble is not fitted."""
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

    # Notebooks

    def _repr_html_inner(self) -> str:
        diagram: Any = super()
        return f"{diagram._repr_html_inner()}{self._summary_html()}"  # noqa: SLF001 (overridden)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        diagram: Any = super()
        shown: dict[str, str] = diagram._repr_mimebundle_(**options)
        if "text/html" in shown:
            shown["text/html"] += self._summary_html()
        return shown

    def _summary_html(self) -> str:
        if not self.__sklearn_is_fitted__():
            return ""
        return f'<div style="font-family:sans-serif">{escape(self._summary())}</div>'

    def _summary(self) -> str:
        return self.record_.summary()

    def _get_doc_link(self) -> str:
        address = documentation()
        return address and f"{address}/api/ensemble.html#skliquid.{type(self).__name__}"


@cache
def documentation() -> str:
    """Return the address of the documentation in the package's metadata; empty without one."""
    try:
        addresses = metadata("skliquid").get_all("Project-URL") or []
    except PackageNotFoundError:  # a copy of the source that was not installed
        return ""
    named: dict[str, str] = dict(address.split(", ", 1) for address in addresses)
    return named.get("Documentation", "").rstrip("/")


@dataclass(frozen=True)
class Group:
    """The representatives and their vote weights."""

    pool: VoterPool
    voters: Voters
    weights: NDArray[Any]
    n_classes: int

    @classmethod
    def of(
        cls, training: Training, mechanism: Mechanism, n_classes: int, *, is_soft: bool
    ) -> "Group":
        """Return the representatives of ``training``."""
        graph, accuracy = training.graph, training.accuracy_average
        weights = mechanism.weigh_votes(graph, accuracy, n_classes, is_soft=is_soft)
        return cls(training.pool, graph.representatives, weights, n_classes)

    def combined(self, combine: Callable[..., Floats], method: str, X: Any) -> Floats:
        """Return the answers of a ``method`` of the pool, combined block by block."""
        ask = getattr(self.pool, method)
        n_per_row = len(self.voters) * (1 if method == "vote" else self.n_classes)
        blocks = slices(X.shape[0], min(max(_NUMBERS_AT_ONCE // n_per_row, 1), _ROWS_AT_ONCE))
        return np.concatenate(
            [combine(ask(self.voters, X[block]), self.weights, self.n_classes) for block in blocks]
        )


def scorer(
    training: Training, eval_set: tuple[Any, Labels] | None, rules: Rules
) -> Callable[[], float] | None:
    """Return a function that scores the ensemble on ``eval_set``."""
    if eval_set is None:
        return None
    X, y = eval_set
    combine, method = rules.voting.shares, rules.voting.method

    def score() -> float:
        is_soft = rules.voting.is_soft
        group = Group.of(training, rules.mechanism, rules.n_classes, is_soft=is_soft)
        return float(np.mean(winner(group.combined(combine, method, X)) == y))

    return score


def resolve_classes(
    rows: Rows, announced: Any, known: NDArray[Any] | None, new_classes: NewClasses | None
) -> tuple[Rows, NDArray[Any], NewClasses | None]:
    """Return the rows to train on, all classes, and rows to keep unless classes were announced."""
    if known is None and new_classes is None and announced is None:
        new_classes = NewClasses()
    if new_classes is None:
        return rows, check_classes(announced, known), None
    if announced is not None:
        classes = check_classes(announced, known)
    else:  # unique_labels refuses to mix text and numbers
        labels = [] if new_classes.rows is None else [new_classes.rows.y]
        classes = unique_labels(*labels, rows.y)
    to_train = new_classes.followed_by(rows) if known is None else rows
    return to_train, classes, new_classes.update(rows)


def check_can_continue(
    training: Training, rules: Rules, n_estimators: int, kept: Voters | None
) -> None:
    """Raise when ``partial_fit`` cannot continue ``training`` with these parameters."""
    measured = rules.mechanism.measured_voters(training.graph)
    if training.is_interrupted:
        raise ValueError(
            "partial_fit must not continue after a call that failed or was stopped within an "
            "increment: some voters have trained on its rows and some have not. Continue from a "
            "copy made before, or fit from scratch."
        )
    if n_estimators != training.graph.n_voters:
        raise ValueError(
            "n_estimators must not change between calls of partial_fit: got "
            f"{n_estimators}, but there are {training.graph.n_voters} voters. Set it back, or "
            "start from scratch with a clone."
        )
    is_measured, is_accuracy = (
        training.accuracy_average.n_answers.any(),
        not rules.measure.by_contribution,
    )
    if is_measured and is_accuracy != (training.competence_average.variance is None):
        raise ValueError(
            "competence must not change between contribution and accuracy after the first call of "
            "partial_fit: their averages cannot be compared. Set it back, or start from scratch "
            "with a clone."
        )
    if kept is not None and len(np.setdiff1d(measured, kept)):
        raise ValueError(
            "mechanism must be revocable from the first call of partial_fit: delegators were "
            "dropped, so none can return. Set the mechanism back, or start from scratch with a "
            "clone."
        )
