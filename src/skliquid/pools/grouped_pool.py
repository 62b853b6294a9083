"""GroupedPool: voters of several pools, as one; and the choice of a pool for each voter."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats, Labels, Voters, Votes
from skliquid.pools.estimator_pool import EstimatorPool
from skliquid.pools.linear_pool import LinearPool, shared_parameters, unsupported
from skliquid.pools.pool import VoterPool
from skliquid.pools.voters import seeded

FEWEST_LINEAR_VOTERS = 20
"""Below this, ``"auto"`` does not wait for compiled code to load; the results are the same."""


def pool_for(
    name: str,
    kinds: Sequence[Any],
    seeds: Sequence[int],
    classes: NDArray[Any],
    n_jobs: int | None,
) -> VoterPool:
    """Return the pool that ``"auto"``, ``"linear"`` or ``"estimator"`` stands for.

    There is a voter for each seed; the kinds are spread evenly over them.
    """
    is_linear = name == "linear" or (name == "auto" and len(seeds) >= FEWEST_LINEAR_VOTERS)
    voters: dict[int, Any] = {}
    groups: dict[Any, list[int]] = {}
    for k, kind in enumerate(kinds):
        mine = range(k, len(seeds), len(kinds))
        voters.update(zip(mine, seeded(kind, [seeds[voter] for voter in mine]), strict=True))
        key = shared_parameters(kind) if is_linear and unsupported(kind) is None else None
        groups.setdefault(key, []).extend(mine)
    pools: list[tuple[VoterPool, list[int]]] = []
    for key, members in groups.items():
        make: Callable[..., VoterPool] = EstimatorPool if key is None else LinearPool
        members.sort()
        pools.append((make([voters[voter] for voter in members], classes, n_jobs), members))
    return pools[0][0] if len(pools) == 1 else GroupedPool(pools)


class GroupedPool:
    """Several pools, each with some of the voters.

    Parameters
    ----------
    pools : list of (pool, voters)
        ``voters[i]`` is the voter that the pool knows as i.
    """

    def __init__(self, pools: Sequence[tuple[VoterPool, Sequence[int]]]):
        self._pools = [pool for pool, _ in pools]
        n_voters = sum(len(voters) for _, voters in pools)
        self._pool_of = np.empty(n_voters, dtype=np.intp)
        self._name_in_pool = np.empty(n_voters, dtype=np.intp)
        for k, (_, voters) in enumerate(pools):
            self._pool_of[voters] = k
            self._name_in_pool[voters] = np.arange(len(voters))

    @property
    def n_jobs(self) -> int | None:
        """Threads of every pool."""
        return self._pools[0].n_jobs

    @n_jobs.setter
    def n_jobs(self, n_jobs: int | None) -> None:
        for pool in self._pools:
            pool.n_jobs = n_jobs

    def train(self, voters: Voters, X: Any, y: Labels, sample_weight: Floats | None = None) -> int:
        """Train ``voters`` on one more increment and return the sample visits it took."""
        return sum(pool.train(some, X, y, sample_weight) for pool, some, _ in self._split(voters))

    def accuracy(self, voters: Voters, X: Any, y: Labels) -> Floats:
        """Return the share of rows that each of ``voters`` gets right."""
        accuracy = np.empty(len(voters))
        for pool, some, positions in self._split(voters):
            accuracy[positions] = pool.accuracy(some, X, y)
        return accuracy

    def finish(
        self,
        voters: Voters,
        X: Any,
        y: Labels,
        sample_weight: Floats | None = None,
        *,
        warm: bool = False,
    ) -> int:
        """Fit ``voters`` in full, anew or from where they are; return the sample visits."""
        return sum(
            pool.finish(some, X, y, sample_weight, warm=warm)
            for pool, some, _ in self._split(voters)
        )

    def vote(self, voters: Voters, X: Any) -> Votes:
        """Return the vote of each of ``voters`` (rows) on each sample (columns)."""
        votes = np.empty((len(voters), X.shape[0]), dtype=np.intp)
        for pool, some, positions in self._split(voters):
            votes[positions] = pool.vote(some, X)
        return votes

    def estimators(self, voters: Voters) -> list[Any]:
        """Return ``voters`` as fitted scikit-learn classifiers."""
        made: dict[int, Any] = {}
        for pool, some, positions in self._split(voters):
            made.update(zip(positions.tolist(), pool.estimators(some), strict=True))
        return [made[position] for position in range(len(voters))]

    def keep(self, voters: Voters, *, training_is_over: bool) -> None:
        """Forget all other voters; when training is over, copies need not carry its rows."""
        for k, pool in enumerate(self._pools):
            some = self._name_in_pool[voters[self._pool_of[voters] == k]]
            pool.keep(some, training_is_over=training_is_over)

    def _split(self, voters: Voters) -> list[tuple[VoterPool, Voters, Voters]]:
        """Return each pool that has some of ``voters``, which of its own, and at what positions."""
        parts = []
        for k, pool in enumerate(self._pools):
            positions = np.flatnonzero(self._pool_of[voters] == k)
            if len(positions):
                parts.append((pool, self._name_in_pool[voters[positions]], positions))
        return parts
