"""explain: who decided each row, and the contribution of each column."""

from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats
from skliquid.delegation.votes import LEAST_SHARE, tempered
from skliquid.explanation.explanation import Explanation, Representative
from skliquid.explanation.scores import Game, Scores, contributions, scores_of
from skliquid.explanation.shares import logs_from_shares, shares_from_logs
from skliquid.fitted.fitted_votes import FittedVotes
from skliquid.pools import FittedVoter
from skliquid.pruned import PrunedEnsemble, fitted_voters
from skliquid.tables.frames import take_rows, with_columns
from skliquid.validation.limits import MAX_THREADS

MAX_BACKGROUND = 1_000
"""The most rows of the background, at equal distances."""

MAX_CELLS = 2**27
"""The most contributions of a call: a gigabyte."""


def explain(ensemble: Any, X: Any, background: Any = None) -> Explanation:
    r"""Return who decided each row, and the contribution of each column to its probabilities.

    The contributions of a row sum to the difference between its probabilities and those where no
    column is known. They come from exact Shapley values of each representative: a column that is
    not in a coalition is drawn from the background, independently of all others. What a
    representative adds up is its score :math:`s_i(x) = \bar s_i + \sum_j \phi_{ij}(x)`. This is the
    probability of each class for forests, and log-odds for boosted trees and linear voters. Where
    scores are log-odds, their Shapley values are rescaled, so that they sum to the change of the
    representative's probabilities. Votes are averaged by ``vote_weights_``, and the temperature is
    applied in the same way.

    Parameters
    ----------
    ensemble : LiquidEnsembleClassifier or PrunedEnsemble
        A fitted ensemble. Representatives may be forests and boosted trees of
        :mod:`skliquid.voters`, decision trees and forests of scikit-learn, and linear classifiers,
        each behind maps that change columns one by one. Linear classifiers may also see random
        Fourier features.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The rows to explain.
    background : array-like, data frame or sparse matrix, default=None
        Rows to compare with, such as training rows; of more than 1,000 rows 1,000 are used, at
        equal distances. None means ``X``, which then needs two rows or more.

    Returns
    -------
    explanation : Explanation
        Contributions, representatives, their probabilities, votes and delegators. Its ``to_shap``
        gives what ``shap.plots`` takes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skliquid import LiquidEnsembleClassifier, explain
    >>> X, y = load_iris(return_X_y=True)
    >>> ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    >>> explanation = explain(ensemble, X[:2], background=X)
    >>> explanation.values.shape
    (2, 4, 3)
    >>> sums = explanation.base_values + explanation.values.sum(axis=1)
    >>> bool(np.allclose(sums, ensemble.predict_proba(X[:2])))
    True
    """
    if not isinstance(ensemble, FittedVotes):
        raise TypeError(
            "ensemble must be a LiquidEnsembleClassifier or a PrunedEnsemble: got "
            f"{type(ensemble).__name__}. Of a pipeline, give the last step, and rows that the "
            "others have transformed; for other models call shap.Explainer(model.predict_proba, X)."
        )
    training = ensemble._ready()
    X = with_columns(X)
    table = _Table.of(ensemble, X, X if background is None else with_columns(background))
    table.check(len(ensemble.classes_), background)
    group, graph = ensemble._group(training), training.graph
    votes = group.weights / group.weights.sum()
    names = [voter.estimator for voter in training.record.voters]
    mean, values, base = np.zeros(()), np.zeros(()), np.zeros(())
    representatives: list[Representative] = []
    for number, voter, vote in zip(group.voters.tolist(), _voters(ensemble), votes, strict=True):
        probabilities = voter.predict("probabilities", voter.converter(table.X))
        scores = _scores(voter, number, table.game_of(voter))
        shares = _contributions(voter, number, scores, probabilities)
        mean = mean + vote * probabilities
        values, base = values + vote * shares.values, base + vote * shares.base
        representatives.append(
            Representative(
                voter=number,
                estimator=names[number] if names else type(voter.estimator).__name__,
                vote=float(vote),
                delegators=np.setdiff1d(np.flatnonzero(graph.gurus == number), [number]),
                probabilities=probabilities,
                values=scores.values,
                base_values=scores.base,
            )
        )
    values, mean = (1 - ensemble.uniform_share_) * values, ensemble._with_uniform_share(mean)
    base = ensemble._with_uniform_share(base[None])[0]
    power = training.calibration.power if ensemble._voting.is_soft else 1.0
    values, base, mean = _tempered(values, base, mean, power)
    data: Any = X.toarray() if hasattr(X, "toarray") else X
    return Explanation(
        values, base, mean, representatives, np.asarray(data), table.names, ensemble.classes_
    )


class _Table(NamedTuple):
    """The rows and the background as an ensemble sees them."""

    X: Any
    background: Any
    players: NDArray[np.int32]  # the table's column of each column that the ensemble sees
    names: list[str]  # of the table's columns
    n_threads: int

    @classmethod
    def of(cls, ensemble: Any, X: Any, background: Any) -> "_Table":
        """Return the rows, validated and encoded."""
        check = (
            ensemble._checked_data if isinstance(ensemble, PrunedEnsemble) else ensemble._check_X
        )
        rows = check(X)
        compared = rows if background is X else check(background)
        n_compared = compared.shape[0] if hasattr(compared, "shape") else len(compared)
        some = np.arange(0, n_compared, max(-(-n_compared // MAX_BACKGROUND), 1))
        encoder, n_columns = ensemble.encoder_, getattr(ensemble, "n_features_in_", 0)
        names: Any = [f"x{column}" for column in range(n_columns)]
        players = np.arange(n_columns, dtype=np.int32)
        if encoder is not None:
            players = encoder.sources_
            players = players if encoder.gives_codes else players[encoder.view_.sources_]
            names = [column.name for column in encoder.columns_]
        elif hasattr(ensemble, "feature_names_in_"):
            names = ensemble.feature_names_in_.tolist()
        n_threads = min(int(effective_n_jobs(ensemble.n_jobs)), MAX_THREADS)
        names = list(map(str, names))
        return cls(rows, take_rows(compared, some), players.astype(np.int32), names, n_threads)

    def check(self, n_classes: int, background: Any) -> None:
        """Raise unless there are columns, rows to compare with, and not too many contributions."""
        if not self.names:
            raise ValueError(
                "X must have columns whose contributions can be found: the voters were fitted to "
                "data without columns. Call shap.Explainer(ensemble.predict_proba, X)."
            )
        n_rows = self.X.shape[0]
        if background is None and n_rows < 2:
            raise ValueError(
                f"background must be given unless X has two rows or more: got {n_rows}. Give rows "
                "to compare with, such as training rows."
            )
        if n_rows * len(self.names) * n_classes > MAX_CELLS:
            raise ValueError(
                f"X must have at most {MAX_CELLS} contributions, of each row, column and class: "
                f"got {n_rows} rows, {len(self.names)} columns and {n_classes} classes. Explain "
                "fewer rows at a time."
            )

    def game_of(self, voter: FittedVoter) -> Game:
        """Return the game of a voter: rows and background as it sees them."""
        X, background = voter.converter(self.X), voter.converter(self.background)
        players, seen = self.players, voter.features
        if seen is not None:
            X, background, players = X[:, seen], background[:, seen], players[seen]
        return Game(X, background, players, len(self.names), self.n_threads)


def _voters(ensemble: Any) -> list[FittedVoter]:
    is_pruned = isinstance(ensemble, PrunedEnsemble)
    return (ensemble.voters() if is_pruned else fitted_voters(ensemble))[0]


def _scores(voter: FittedVoter, number: int, game: Game) -> Scores:
    scores = scores_of(voter.estimator, game)
    if scores is None:
        raise _unsupported(voter, number)
    return scores


def _contributions(
    voter: FittedVoter, number: int, scores: Scores, probabilities: Floats
) -> Scores:
    """Return contributions to the probabilities of all classes, of which a voter may know some."""
    known = np.flatnonzero(np.isin(voter.labels, voter.estimator.classes_))
    found = contributions(scores, probabilities[:, known])
    if found is None:
        raise _unsupported(voter, number)
    values = np.zeros((*scores.values.shape[:2], len(voter.labels)))
    base = np.zeros(len(voter.labels))
    values[:, :, known], base[known] = found.values, found.base
    return Scores(values, base, are_shares=True)


def _unsupported(voter: FittedVoter, number: int) -> TypeError:
    return TypeError(
        "ensemble must have representatives made of trees, or linear ones with logistic or softmax "
        "probabilities, and feature maps that do not mix columns: got "
        f"{voter.estimator!r} as voter {number}. Call shap.Explainer(ensemble.predict_proba, X), "
        "which takes any model."
    )


def _tempered(
    values: Floats, base: Floats, shares: Floats, power: float
) -> tuple[Floats, Floats, Floats]:
    """Return contributions, base values and probabilities at an inverse temperature."""
    if power == 1:
        return values, base, shares
    high, base_high = np.maximum(shares, LEAST_SHARE), np.maximum(base, LEAST_SHARE)
    logs = power * logs_from_shares(values, high, base_high)
    values = shares_from_logs(logs, power * np.log(high), power * np.log(base_high))
    return values, tempered(base[None], power)[0], tempered(shares, power)
