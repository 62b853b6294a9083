"""SampledPool: voters that each learn from their own sample of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Voters
from skliquid.delegation.increments import slices
from skliquid.delegation.rows import Rows
from skliquid.delegation.storable import storable
from skliquid.delegation.voter_pool import VoterPool, VoterState
from skliquid.diversity import Sample
from skliquid.pools.predictions import DispatchingPool

_MAX_NUMBERS = 2**24  # weights of rows that are drawn at once


@storable
@dataclass(frozen=True, eq=False)
class SampleState(VoterState):
    """The generators from which voters draw their samples."""

    generators: list[np.random.Generator]

    is_learned = False


class SampledPool(DispatchingPool):
    """Online bagging: how often a voter sees a row is drawn when the row arrives.

    With replacement the count follows a Poisson distribution, the limit of a bootstrap of many
    rows; without, it is 0 or 1. Every voter has a generator with its own seed, so that its sample
    depends only on this seed and the rows.
    """

    def __init__(self, pool: VoterPool, seeds: Sequence[int], sample: Sample):
        self.pools, self._sample = [pool], sample
        self._generators = dict(enumerate(map(np.random.default_rng, seeds)))

    def train(self, voters: Voters, rows: Rows) -> int:
        return self.pools[0].train(voters, self._draw(voters, rows))

    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        cuts = slices(len(voters), max(_MAX_NUMBERS // rows.n_rows, 1))
        finish, parts = self.pools[0].finish, [voters[cut] for cut in cuts]
        return sum(finish(part, self._draw(part, rows), max_passes) for part in parts)

    def _predict(self, method: str, voters: Voters, X: Any) -> NDArray[Any]:
        predictions: NDArray[Any] = getattr(self.pools[0], method)(voters, X)
        return predictions

    def expect(self, rows: Rows) -> None:
        self.pools[0].expect(rows)

    def estimators(self, voters: Voters) -> list[Any]:
        return self.pools[0].estimators(voters)

    def keep(self, voters: Voters, *, training_is_over: bool) -> VoterPool:
        self.pools = [self.pools[0].keep(voters, training_is_over=training_is_over)]
        self._generators = {voter: self._generators[voter] for voter in voters.tolist()}
        return self

    def state_of(self, voters: Voters) -> list[VoterState]:
        generators = [self._generators[voter] for voter in voters.tolist()]
        own = SampleState(np.arange(len(voters)), generators)
        return [*self.pools[0].state_of(voters), own]

    def load_state(self, parts: Sequence[VoterState]) -> None:
        self.pools[0].load_state([part for part in parts if not isinstance(part, SampleState)])
        self._generators = {}
        for part in parts:
            if isinstance(part, SampleState):
                self._generators |= zip(part.voters.tolist(), part.generators, strict=True)

    def _draw(self, voters: Voters, rows: Rows) -> Rows:
        """Return the rows with the number of times that each voter sees them as weights."""
        (share, bootstrap), n = self._sample, rows.n_rows
        counts = np.empty((len(voters), n))
        for own, voter in zip(counts, voters.tolist(), strict=True):
            rng = self._generators[voter]
            own[:] = rng.poisson(share, n) if bootstrap else rng.random(n) < share
        counts[~counts.any(axis=1)] = 1  # no voter can learn from an empty sample
        weights = counts if rows.sample_weight is None else counts * rows.sample_weight
        return rows._replace(sample_weight=weights)


def index_weights(rows: Rows, voters: Voters, n_voters: int) -> Rows:
    """Return the rows with weights, if each voter has its own, indexed by voter."""
    if not rows.has_weights_per_voter:
        return rows
    weights = np.zeros((n_voters, rows.n_rows))
    weights[voters] = rows.sample_weight
    return rows._replace(sample_weight=weights)
