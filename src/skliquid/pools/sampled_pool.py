"""SampledPool: voters that each learn from their own sample of the rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skliquid.arrays import Floats, Labels, Voters, Votes
from skliquid.pools.pool import VoterPool, hold

_MOST_NUMBERS_AT_ONCE = 2**24


class SampledPool:
    """Bagging that needs to see a row only once.

    How often a voter sees a row is drawn when the row comes: from a Poisson distribution with
    replacement, which is what a bootstrap of many rows amounts to, else as a yes or no. Every voter
    draws from a generator of its own, so that its sample depends on nothing but its seed and the
    rows that came.

    Parameters
    ----------
    pool : VoterPool
        The voters, which take a row of weights each.
    seeds : sequence of int
        One for each voter.
    share : float
        How many rows a voter sees, as a share of those that come.
    bootstrap : bool
        Whether rows are drawn with replacement.
    """

    def __init__(self, pool: VoterPool, seeds: Sequence[int], *, share: float, bootstrap: bool):
        self.sampled = pool
        self._share, self._bootstrap = share, bootstrap
        self._generators = dict(enumerate(map(np.random.default_rng, seeds)))

    @property
    def n_jobs(self) -> int | None:
        """Threads of the pool."""
        return self.sampled.n_jobs

    @n_jobs.setter
    def n_jobs(self, n_jobs: int | None) -> None:
        self.sampled.n_jobs = n_jobs

    def hold(self, max_passes: int | None) -> None:
        """Let nobody who is fitted anew on an increment take more passes; None means any."""
        hold(self.sampled, max_passes)

    def train(self, voters: Voters, X: Any, y: Labels, sample_weight: Floats | None = None) -> int:
        """Train ``voters`` on one more increment and return the sample visits it took."""
        return self.sampled.train(voters, X, y, self._drawn(voters, len(y), sample_weight))

    def accuracy(self, voters: Voters, X: Any, y: Labels) -> Floats:
        """Return the share of rows that each of ``voters`` gets right."""
        return self.sampled.accuracy(voters, X, y)

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
        """Fit ``voters`` in full, anew or from where they are; return the sample visits."""
        n_at_once = max(_MOST_NUMBERS_AT_ONCE // len(y), 1)
        visits = 0
        for start in range(0, len(voters), n_at_once):
            some = voters[start : start + n_at_once]
            drawn = self._drawn(some, len(y), sample_weight)
            visits += self.sampled.finish(some, X, y, drawn, warm=warm, max_passes=max_passes)
        return visits

    def vote(self, voters: Voters, X: Any) -> Votes:
        """Return the vote of each of ``voters`` (rows) on each sample (columns)."""
        return self.sampled.vote(voters, X)

    def estimators(self, voters: Voters) -> list[Any]:
        """Return ``voters`` as fitted scikit-learn classifiers."""
        return self.sampled.estimators(voters)

    def keep(self, voters: Voters, *, training_is_over: bool) -> None:
        """Forget all other voters; when training is over, copies need not carry its rows."""
        self.sampled.keep(voters, training_is_over=training_is_over)
        self._generators = {voter: self._generators[voter] for voter in voters.tolist()}

    def _drawn(self, voters: Voters, n_rows: int, sample_weight: Floats | None) -> Floats:
        counts = np.empty((len(voters), n_rows))
        for k, voter in enumerate(voters.tolist()):
            generator = self._generators[voter]
            counts[k] = (
                generator.poisson(self._share, n_rows)
                if self._bootstrap
                else generator.random(n_rows) < self._share
            )
        counts[~counts.any(axis=1)] = 1  # nobody learns from nothing
        return counts if sample_weight is None else counts * sample_weight
