"""FittedPool: voters that were trained elsewhere, and learn no more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats, Labels, Voters, Votes


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

    def vote(self, X: Any) -> Labels:
        """Return the positions of the classes that it predicts."""
        seen = X if self.features is None else X[:, self.features]
        votes: Labels = np.searchsorted(self.labels, self.estimator.predict(seen))
        return votes


class FittedPool:
    """Voters that are asked, not taught: to train them costs nothing and changes nothing.

    Parameters
    ----------
    voters : sequence of FittedVoter
        The voters.
    """

    n_jobs: int | None = None

    def __init__(self, voters: Sequence[FittedVoter]):
        self._voters = dict(enumerate(voters))

    def train(self, voters: Voters, X: Any, y: Labels, sample_weight: Floats | None = None) -> int:
        """Do nothing."""
        return 0

    def accuracy(self, voters: Voters, X: Any, y: Labels) -> Floats:
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

    def vote(self, voters: Voters, X: Any) -> Votes:
        """Return the vote of each of ``voters`` (rows) on each sample (columns)."""
        return np.stack([self._voters[voter].vote(X) for voter in voters.tolist()])

    def estimators(self, voters: Voters) -> list[Any]:
        """Return ``voters`` as they came."""
        return [self._voters[voter].estimator for voter in voters.tolist()]

    def keep(self, voters: Voters, *, training_is_over: bool) -> None:
        """Forget all other voters."""
        self._voters = {voter: self._voters[voter] for voter in voters.tolist()}
