"""front: the ensembles between a fitted one and a single representative, and what each costs."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length, column_or_1d

from skliquid.delegation.arrays import Floats, Labels, Voters
from skliquid.delegation.fresh_answers import FreshAnswers
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.rows import Rows
from skliquid.delegation.votes import LEAST_SHARE, tempered, winner
from skliquid.fitted.fitted_votes import FittedVotes
from skliquid.fitted.reduced import delegate_one, n_bytes, reduced, rows_to_time, seconds
from skliquid.mechanisms import Knowledge, as_mechanism
from skliquid.validation.checks import missing_extra
from skliquid.validation.input import encode

if TYPE_CHECKING:
    import pandas as pd

SCORES, COSTS = ("accuracy", "log_loss"), ("bytes", "milliseconds")


@dataclass(frozen=True, eq=False)
class FrontPoint:
    """An ensemble with fewer representatives, its scores and its costs.

    Attributes
    ----------
    n_representatives : int
        Number of representatives.
    accuracy, log_loss : float
        Its scores on the given rows.
    bytes : int
        The size of the file that :func:`~skliquid.save` writes, or of a pickle where the voters
        cannot be saved.
    milliseconds : float
        The time of ``predict_proba`` for 1,000 rows on this machine.
    is_best : bool
        Whether it is on the front: no other ensemble costs as little and scores as well.
    """

    n_representatives: int
    accuracy: float
    log_loss: float
    bytes: int
    milliseconds: float
    is_best: bool
    _reduced: Any

    @property
    def ensemble(self) -> Any:
        """The ensemble, a copy of its own: it predicts, and can be saved."""
        return copy.deepcopy(self._reduced)


@dataclass(frozen=True, eq=False)
class Front:
    """The points that :func:`front` returns, from all representatives to one.

    Attributes
    ----------
    points : tuple of FrontPoint
        All points; iteration and indices give them, too.
    score : {"accuracy", "log_loss"}
        The score by which points are best.
    cost : {"bytes", "milliseconds"}
        The cost by which points are best.
    """

    points: tuple[FrontPoint, ...]
    score: str
    cost: str

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[FrontPoint]:
        return iter(self.points)

    def __getitem__(self, position: int) -> FrontPoint:
        return self.points[position]

    @property
    def best(self) -> list[FrontPoint]:
        """The points on the Pareto front, from the most to the least expensive."""
        best = [point for point in self.points if point.is_best]
        return sorted(best, key=lambda point: -getattr(point, self.cost))

    def to_pandas(self) -> "pd.DataFrame":
        """Return a table with one row per point."""
        try:
            import pandas as pd  # noqa: PLC0415 (of an extra)
        except ImportError as error:
            raise missing_extra("A table of the front", "pandas", "pandas") from error
        names = ("n_representatives", *SCORES, *COSTS, "is_best")
        return pd.DataFrame([{name: getattr(one, name) for name in names} for one in self])


def front(ensemble: Any, X: Any, y: Any, *, score: str = "accuracy", cost: str = "bytes") -> Front:
    """Return the Pareto front of a score against a cost, by further delegation.

    The representatives of a fitted ensemble delegate one after the other, until one is left. The
    next is the one that contributes the least to the group on ``X``, per byte or millisecond that
    it needs. Give rows that the ensemble was not trained on, and score the ensemble that you choose
    on others. An ensemble with a larger ``n_final`` has a longer front.

    Parameters
    ----------
    ensemble : LiquidEnsembleClassifier or PrunedEnsemble
        Fitted. It is not changed.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Rows to score on; the first 1,000 are also those on which predictions are timed.
    y : array-like of shape (n_samples,)
        Their labels.
    score : {"accuracy", "log_loss"}, default="accuracy"
        The score of the front.
    cost : {"bytes", "milliseconds"}, default="bytes"
        The cost of the front: of the saved file, or of ``predict_proba`` for 1,000 rows.

    Returns
    -------
    front : Front
        The ensembles, with scores and costs; ``front.best`` are those on the front.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from skliquid import LiquidEnsembleClassifier, front
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> ensemble = LiquidEnsembleClassifier(random_state=0).fit(X_train, y_train)
    >>> points = front(ensemble, X_test, y_test)
    >>> [point.n_representatives for point in points]
    [5, 4, 3, 2, 1]
    >>> smallest = points.best[-1].ensemble
    >>> bool(smallest.score(X_test, y_test) == points.best[-1].accuracy)
    True
    """
    _check(ensemble, score, cost)
    panel = _Panel.of(ensemble, X, y)
    points = [panel.measure(one) for one in panel.path(cost)]
    worth = np.array([point[score] for point in points]) * (-1 if score == "log_loss" else 1)
    is_best = _are_best(worth, np.array([point[cost] for point in points]))
    pairs = zip(points, is_best.tolist(), strict=True)
    return Front(tuple(FrontPoint(**one, is_best=best) for one, best in pairs), score, cost)


def _check(ensemble: Any, score: str, cost: str) -> None:
    if not isinstance(ensemble, FittedVotes):
        raise TypeError(
            "ensemble must be a fitted LiquidEnsembleClassifier or PrunedEnsemble: got "
            f"{type(ensemble).__name__}. Give the last step of a pipeline, with rows as it sees "
            "them, or prune another ensemble before."
        )
    for name, value, allowed in (("score", score, SCORES), ("cost", cost, COSTS)):
        if value not in allowed:
            raise ValueError(
                f"{name} must be {' or '.join(map(repr, allowed))}: got {value!r}. Choose one of "
                "them."
            )


@dataclass(frozen=True, eq=False)
class _Panel:
    """A fitted ensemble, and the answers of its representatives on rows with labels."""

    ensemble: Any
    to_time: Any
    y: Labels
    voters: Voters
    answers: NDArray[Any]

    @classmethod
    def of(cls, ensemble: Any, X: Any, y: Any) -> "_Panel":
        """Ask the representatives of an ensemble; rows and labels are checked."""
        training, voting = ensemble._ready(), ensemble._voting
        rows, voters = ensemble._check_X(X, voting.method), training.graph.representatives
        labels = encode(column_or_1d(y, warn=True), ensemble.classes_)
        check_consistent_length(X, labels)
        answers = getattr(training.pool, voting.method)(voters, rows)
        return cls(ensemble, rows_to_time(X), labels, voters, answers)

    def path(self, cost: str) -> Iterator[Any]:
        """Yield the ensemble, and those left after each further delegation."""
        training, voters = self.ensemble._fitted.training, self.voters
        mechanism, rng = as_mechanism(self.ensemble.mechanism), copy.deepcopy(training.rng)
        known, graph = Knowledge.of(training.competence_average), training.graph
        competence = np.full(graph.n_voters, np.nan)
        whole = reduced(self.ensemble, graph, competence)
        yield whole
        needed = self._needed_by_each(whole, cost)
        while len(left := graph.representatives) > 1:
            competence = np.full(graph.n_voters, np.nan)
            competence[left] = gains = self._contributions(graph)
            own = needed[voters.searchsorted(left)]
            weakest = left[np.argmin(np.where(gains > 0, gains / own, gains))]
            graph = delegate_one(
                graph, int(weakest), competence, mechanism, rng=rng, knowledge=known
            )
            yield reduced(self.ensemble, graph, competence)

    def _needed_by_each(self, whole: Any, cost: str) -> Floats:
        """Return the cost of each voter itself, without what an ensemble of any size needs."""
        n_voters, alone = self.ensemble.delegation_graph_.n_voters, []
        for voter in self.voters.tolist():
            one = reduced(
                self.ensemble, DelegationGraph(np.full(n_voters, voter)), np.zeros(n_voters)
            )
            alone.append(self._cost(one, cost))
        shared = (sum(alone) - self._cost(whole, cost)) / max(len(alone) - 1, 1)
        needed: Floats = np.maximum(np.array(alone) - shared, max(alone) / 1000)
        return needed

    def _contributions(self, graph: DelegationGraph) -> Floats:
        answers, n_classes = self._answers_of(graph), len(self.ensemble.classes_)
        probabilities = self.ensemble._voting.probabilities(answers, n_classes)
        weights = self._vote_weights(graph).astype(np.float64)
        rows = Rows(self.y, self.y)
        return FreshAnswers(graph.representatives, probabilities, weights, rows).contributions

    def _answers_of(self, graph: DelegationGraph) -> NDArray[Any]:
        return self.answers[self.voters.searchsorted(graph.representatives)]

    def _vote_weights(self, graph: DelegationGraph) -> NDArray[Any]:
        ensemble, average = self.ensemble, self.ensemble._fitted.training.accuracy_average
        is_soft, n_classes = ensemble._voting.is_soft, len(ensemble.classes_)
        mechanism = as_mechanism(ensemble.mechanism)
        return mechanism.weigh_votes(graph, average, n_classes, is_soft=is_soft)

    def measure(self, one: Any) -> dict[str, Any]:
        """Return the scores and the costs of an ensemble on the path."""
        graph, voting = one.delegation_graph_, one._voting
        n_classes, weights = len(one.classes_), self._vote_weights(graph)
        shares = voting.shares(self._answers_of(graph), weights, n_classes)
        shares = one._with_uniform_share(shares)
        probabilities = tempered(shares, 1 / one.temperature_) if voting.is_soft else shares
        own = probabilities[np.arange(len(self.y)), self.y]
        return {
            "n_representatives": len(graph.representatives),
            "accuracy": float(np.mean(winner(shares) == self.y)),
            "log_loss": float(-np.log(np.maximum(own, LEAST_SHARE)).mean()),
            "bytes": self._cost(one, "bytes"),
            "milliseconds": self._cost(one, "milliseconds"),
            "_reduced": one,
        }

    def _cost(self, one: Any, cost: str) -> Any:
        return n_bytes(one) if cost == "bytes" else 1000 * seconds(one, self.to_time)


def _are_best(worth: Floats, cost: Floats) -> NDArray[np.bool_]:
    """Return which points are on the Pareto front: each is worth more than all that cost less.

    Examples
    --------
    >>> _are_best(np.array([0.9, 0.8, 0.9, 0.7]), np.array([5, 2, 4, 3])).tolist()
    [False, True, True, False]
    """
    order, best = np.lexsort((-worth, cost)), np.zeros(len(worth), np.bool_)
    before = np.concatenate([[-np.inf], np.maximum.accumulate(worth[order])[:-1]])
    best[order] = worth[order] > before
    return best
