"""SampledPool: voters that each learn from their own sample of the rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skliquid.arrays import Floats, Voters, Votes
from skliquid.diversity import Sample
from skliquid.increments import slices
from skliquid.pools.learned import Learned
from skliquid.pools.pool import VoterPool
from skliquid.rows import Rows

_MOST_NUMBERS_AT_ONCE = 2**24


class SampledPool(VoterPool):
    """Online bagging: how often a voter sees a row is drawn when the row arrives.

    With replacement the count follows a Poisson distribution, to which a bootstrap of many rows
    converges; without, it is 0 or 1. Every voter has a generator with its own seed, so that its
    sample depends on nothing but this seed and the rows.
    """

    def __init__(self, pool: VoterPool, seeds: Sequence[int], sample: Sample):
        self.pools, self._sample = [pool], sample
        self._generators = dict(enumerate(map(np.random.default_rng, seeds)))

    def train(self, voters: Voters, rows: Rows) -> int:
        return self.pools[0].train(voters, self._sampled(voters, rows))

    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        cuts = slices(len(voters), max(_MOST_NUMBERS_AT_ONCE // rows.n_rows, 1))
        finish, parts = self.pools[0].finish, [voters[cut] for cut in cuts]
        return sum(finish(part, self._sampled(part, rows), max_passes) for part in parts)

    def vote(self, voters: Voters, X: Any) -> Votes:
        return self.pools[0].vote(voters, X)

    def probabilities(self, voters: Voters, X: Any) -> Floats:
        return self.pools[0].probabilities(voters, X)

    def margins(self, voters: Voters, X: Any) -> Floats:
        return self.pools[0].margins(voters, X)

    def expect(self, rows: Rows) -> None:
        self.pools[0].expect(rows)

    def estimators(self, voters: Voters) -> list[Any]:
        return self.pools[0].estimators(voters)

    def keep(self, voters: Voters, *, training_is_over: bool) -> VoterPool:
        self.pools = [self.pools[0].keep(voters, training_is_over=training_is_over)]
        self._generators = {voter: self._generators[voter] for voter in voters.tolist()}
        return self

    def learned(self, voters: Voters) -> list[Learned]:
        generators = [self._generators[voter] for voter in voters.tolist()]
        own = Learned("samples", np.arange(len(voters)), {"generators": generators})
        return [*self.pools[0].learned(voters), own]

    def restore(self, parts: Sequence[Learned]) -> None:
        self.pools[0].restore([part for part in parts if part.kind != "samples"])
        self._generators = {
            voter: generator
            for part in parts
            if part.kind == "samples"
            for voter, generator in zip(part.voters.tolist(), part.own["generators"], strict=True)
        }

    def _sampled(self, voters: Voters, rows: Rows) -> Rows:
        """Return the rows with the number of times that each voter sees them as weights."""
        share, bootstrap = self._sample
        counts = np.empty((len(voters), rows.n_rows))
        for k, voter in enumerate(voters.tolist()):
            rng, n = self._generators[voter], rows.n_rows
            counts[k] = rng.poisson(share, n) if bootstrap else rng.random(n) < share
        counts[~counts.any(axis=1)] = 1  # no voter can learn from an empty sample
        weights = counts if rows.sample_weight is None else counts * rows.sample_weight
        return rows._replace(sample_weight=weights)
