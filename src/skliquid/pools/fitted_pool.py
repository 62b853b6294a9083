"""FittedPool: voters that were trained elsewhere, and learn no more."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from skliquid.arrays import Floats, Labels, Voters, Votes
from skliquid.pools.votes import votes_of


@dataclass(frozen=True)
class FittedVoter:
    """A fitted classifier, and how to ask it.

    Parameters
    ----------
    estimator : classifier
        It is asked by ``predict``.
    labels : array
        What it answers for each class, in the order of the classes: the classes themselves, or the
        numbers that an ensemble made of them.
    features : array of int or None
        The features it looks at; None means all.
    sees_numbers : bool
        Whether it was shown arrays of floating-point numbers, whatever its ensemble was given.
    """

    estimator: Any
    labels: NDArray[Any]
    features: NDArray[np.intp] | None = None
    sees_numbers: bool = False

    @property
    def view(self) -> Callable[[Any], Any]:
        """What makes of rows as they come those that it looks at.

        Rows stay as they are for one that looks at a data frame, or at what has no features, such
        as texts.
        """
        if self.sees_numbers:
            return _as_numbers
        is_of_an_array = not hasattr(self.estimator, "feature_names_in_") and hasattr(
            self.estimator, "n_features_in_"
        )
        return _as_it_came if self.features is None and not is_of_an_array else _as_array

    def vote(self, X: Any) -> Votes:
        """Return the positions of the classes that it predicts."""
        seen = X if self.features is None else X[:, self.features]
        votes = votes_of(self.estimator, seen, self.labels)
        return votes.astype(np.min_scalar_type(len(self.labels) - 1))


class FittedPool:
    """Voters that are asked, not taught: to train them costs nothing and changes nothing.

    They are asked once, by ``answers``, since they always say the same. What other methods take for
    ``X`` are these answers.

    Parameters
    ----------
    voters : sequence of FittedVoter
        The voters.
    """

    n_jobs: int | None = None

    def __init__(self, voters: Sequence[FittedVoter]):
        self._voters = dict(enumerate(voters))

    def answers(self, voters: Voters, X: Any) -> Votes:
        """Return the vote of each voter (columns) on each sample (rows); only ``voters`` are asked.

        ``X`` is as it came, and so it goes to voters that were fitted to data frames.
        """
        asked = self.voters(voters)
        seen = {view: view(X) for view in {voter.view for voter in asked}}
        with warnings.catch_warnings():  # said before, once for all voters
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            votes = [voter.vote(seen[voter.view]) for voter in asked]
        answers = np.zeros((len(votes[0]), len(self._voters)), votes[0].dtype)
        answers[:, self._columns(voters)] = np.transpose(votes)
        return answers

    def train(self, voters: Voters, X: Any, y: Labels, sample_weight: Floats | None = None) -> int:
        """Do nothing."""
        return 0

    def accuracy(self, voters: Voters, X: Votes, y: Labels) -> Floats:
        """Return the share of rows that each of ``voters`` gets right."""
        accuracy: Floats = np.mean(self.vote(voters, X) == y, axis=1)
        return accuracy

    def finish(
        self,
        voters: Voters,
        X: Any,
        y: Labels,
        sample_weight: Floats | None = None,
        *,
        warm: bool = False,
        max_passes: int | None = None,
    ) -> int:
        """Do nothing."""
        return 0

    def vote(self, voters: Voters, X: Votes) -> Votes:
        """Return the vote of each of ``voters`` (rows) on each sample (columns)."""
        votes: Votes = X[:, self._columns(voters)].T
        return votes

    def voters(self, voters: Voters) -> list[FittedVoter]:
        """Return ``voters``, each with how to ask it."""
        return [self._voters[voter] for voter in voters.tolist()]

    def estimators(self, voters: Voters) -> list[Any]:
        """Return ``voters`` as they came."""
        return [voter.estimator for voter in self.voters(voters)]

    def keep(self, voters: Voters, *, training_is_over: bool) -> None:
        """Forget all other voters."""
        self._voters = {voter: self._voters[voter] for voter in voters.tolist()}

    def _columns(self, voters: Voters) -> Voters:
        return np.searchsorted(list(self._voters), voters)


def _as_it_came(X: Any) -> Any:
    return X


def _as_array(X: Any, dtype: Any = None) -> Any:
    return check_array(X, accept_sparse="csr", dtype=dtype, ensure_all_finite=False)


def _as_numbers(X: Any) -> Any:
    return _as_array(X, [np.float64, np.float32])
