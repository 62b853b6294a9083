"""FittedPool: voters that were trained elsewhere and learn no more."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from skliquid.arrays import Floats, Voters, Votes
from skliquid.pools.answers import margins_of, probabilities_of, votes_of
from skliquid.pools.pool import VoterPool
from skliquid.rows import Rows

_MOST_NUMBERS_IN_FULL = 2**25  # more probabilities are kept in single precision


@dataclass(frozen=True)
class FittedVoter:
    """A fitted classifier, and how to ask for its predictions."""

    estimator: Any
    labels: NDArray[Any]  # what it predicts for each class: the classes, or numbers for them
    features: NDArray[np.intp] | None = None  # that it sees; None means all
    sees_numbers: bool = False  # whether it was fitted to arrays of floating-point numbers

    @property
    def view(self) -> Callable[[Any], Any]:
        """What converts rows as given into rows as it was fitted to.

        Rows stay as they are for an estimator that was fitted to a data frame, or to data without
        features, such as texts.
        """
        if self.sees_numbers:
            return _as_numbers
        was_fitted_to_array = not hasattr(self.estimator, "feature_names_in_") and hasattr(
            self.estimator, "n_features_in_"
        )
        return _as_given if self.features is None and not was_fitted_to_array else _as_array

    def vote(self, X: Any) -> Votes:
        """Return the positions of the classes that it predicts."""
        votes = votes_of(self.estimator, self._seen(X), self.labels)
        return votes.astype(np.min_scalar_type(len(self.labels) - 1))

    def probabilities(self, X: Any) -> Floats:
        """Return its class probabilities."""
        return probabilities_of(self.estimator, self._seen(X), self.labels)

    def margins(self, X: Any) -> Floats:
        """Return its decision function, per class."""
        return margins_of(self.estimator, self._seen(X), self.labels)

    def _seen(self, X: Any) -> Any:
        return X if self.features is None else X[:, self.features]


@dataclass(frozen=True)
class KnownAnswers:
    """Rows on which the answers are known, since fitted voters always answer the same.

    ``answers`` are arrays by the name of the method that gives them, with one row per sample and
    one column per voter of the pool.
    """

    answers: dict[str, NDArray[Any]]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows, and of voters."""
        return next(iter(self.answers.values())).shape[:2]

    def __getitem__(self, positions: Any) -> "KnownAnswers":
        return KnownAnswers({name: found[positions] for name, found in self.answers.items()})


class FittedPool(VoterPool):
    """Voters that predict but do not train: training costs nothing and changes nothing."""

    is_fitted = True

    def __init__(self, voters: Sequence[FittedVoter]):
        self._voters = dict(enumerate(voters))

    def known_answers(self, methods: Sequence[str], voters: Voters, X: Any) -> KnownAnswers:
        """Return rows for which ``voters`` need not predict again; other voters are not asked."""
        columns, known = self._columns(voters).tolist(), {}
        for method in methods:
            answers = self._answers(method, voters, X)
            for column, answer in zip(columns, answers, strict=True):
                if method not in known:
                    shape = len(answer), len(self._voters), *answer.shape[1:]
                    is_large = math.prod(shape) > _MOST_NUMBERS_IN_FULL and answer.dtype.kind == "f"
                    known[method] = np.zeros(shape, np.float32 if is_large else answer.dtype)
                known[method][:, column] = answer
        return KnownAnswers(known)

    def train(self, voters: Voters, rows: Rows) -> int:
        return 0

    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        return 0

    def vote(self, voters: Voters, X: Any) -> Votes:
        return self._ask("vote", voters, X)

    def probabilities(self, voters: Voters, X: Any) -> Floats:
        return self._ask("probabilities", voters, X)

    def margins(self, voters: Voters, X: Any) -> Floats:
        return self._ask("margins", voters, X)

    def _ask(self, method: str, voters: Voters, X: Any) -> NDArray[Any]:
        if isinstance(X, KnownAnswers):
            known = X.answers[method][:, self._columns(voters)]
            return np.ascontiguousarray(known.swapaxes(0, 1))
        return np.stack(list(self._answers(method, voters, X)))

    def _answers(self, method: str, voters: Voters, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the answers of each voter."""
        asked = self.voters(voters)
        seen = {view: view(X) for view in {voter.view for voter in asked}}
        for voter in asked:
            with warnings.catch_warnings():  # raised before, once for all voters
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
                answer = getattr(voter, method)(seen[voter.view])
            yield answer

    def voters(self, voters: Voters) -> list[FittedVoter]:
        """Return ``voters``, each with how to ask for its predictions."""
        return [self._voters[voter] for voter in voters.tolist()]

    def estimators(self, voters: Voters) -> list[Any]:
        return [voter.estimator for voter in self.voters(voters)]

    def keep(self, voters: Voters, *, training_is_over: bool) -> VoterPool:
        self._voters = {voter: self._voters[voter] for voter in voters.tolist()}
        return self

    def _columns(self, voters: Voters) -> Voters:
        return np.searchsorted(list(self._voters), voters)


def _as_given(X: Any) -> Any:
    return X


def _as_array(X: Any, dtype: Any = None) -> Any:
    return check_array(X, accept_sparse="csr", dtype=dtype, ensure_all_finite=False)


def _as_numbers(X: Any) -> Any:
    return _as_array(X, [np.float64, np.float32])
