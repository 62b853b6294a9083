"""FittedPool: voters that were trained elsewhere, and learn no more."""

import warnings
from collections.abc import Sequence
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
    """

    estimator: Any
    labels: NDArray[Any]
    features: NDArray[np.intp] | None = None

    @property
    def takes_rows_as_they_come(self) -> bool:
        """Whether it looks at a data frame, or at what has no features, such as texts."""
        is_of_an_array = not hasattr(self.estimator, "feature_names_in_") and hasattr(
            self.estimator, "n_features_in_"
        )
        return self.features is None and not is_of_an_array

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
        asked, as_array = self.voters(voters), X
        if not all(voter.takes_rows_as_they_come for voter in asked):
            as_array = check_array(X, accept_sparse="csr", dtype=None, ensure_all_finite=False)
        with warnings.catch_warnings():  # said before, once for all voters
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            votes = [v.vote(X if v.takes_rows_as_they_come else as_array) for v in asked]
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
