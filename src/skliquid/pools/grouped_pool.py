"""GroupedPool: several pools as one, each with some of the voters and its view of the rows."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Voters
from skliquid.delegation.rows import Rows
from skliquid.delegation.voter_pool import VoterPool, VoterState, among
from skliquid.diversity import FeatureMap, Views
from skliquid.pools.predictions import DispatchingPool


class Part(NamedTuple):
    """The voters that one pool holds, of those asked for."""

    k: int  # position of the pool
    names: Voters  # their indices in this pool
    positions: Voters  # their positions among the voters asked for


class Partition:
    """Which pool holds which voter: ``members[k][i]`` is voter i of the k-th pool."""

    def __init__(self, members: Sequence[Sequence[int] | Voters]):
        n_voters = sum(map(len, members))
        self._pool_of, self._names = np.empty((2, n_voters), dtype=np.intp)
        self._n_pools = len(members)
        for k, voters in enumerate(members):
            self._pool_of[voters], self._names[voters] = k, np.arange(len(voters))
        self._last: tuple[Voters | None, list[Part]] = None, []

    def names(self, k: int, voters: Voters) -> Voters:
        """Return the indices in the ``k``-th pool of those ``voters`` that it holds."""
        names: Voters = self._names[voters[self._pool_of[voters] == k]]
        return names

    def members(self, k: int) -> Voters:
        """Return the voters of the ``k``-th pool, in the order of their indices there."""
        voters = np.flatnonzero(self._pool_of == k)
        return voters[np.argsort(self._names[voters])]

    def split(self, voters: Voters) -> list[Part]:
        """Return a part for each pool that holds some of ``voters``."""
        if self._last[0] is not voters:  # the same voters train on an increment and vote on it
            pool_of = self._pool_of[voters]
            places = [(k, np.flatnonzero(pool_of == k)) for k in range(self._n_pools)]
            parts = [Part(k, self._names[voters[at]], at) for k, at in places if len(at)]
            self._last = voters, parts
        return self._last[1]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_last": (None, [])}


class GroupedPool(DispatchingPool):
    """Several pools, each with its voters and their feature map.

    ``voters[i]`` is voter i of its pool. The map is None where voters see the rows themselves.
    """

    def __init__(self, pools: Sequence[tuple[VoterPool, Sequence[int], FeatureMap | None]]):
        self.pools = [pool for pool, _, _ in pools]
        self.maps = [feature_map for _, _, feature_map in pools]
        self._partition = Partition([voters for _, voters, _ in pools])
        self._views = Views()

    def train(self, voters: Voters, rows: Rows) -> int:
        return sum(pool.train(names, own) for pool, names, own in self._split_rows(voters, rows))

    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        parts = self._split_rows(voters, rows)
        return sum(pool.finish(names, own, max_passes) for pool, names, own in parts)

    def can_grow(self, voters: Voters) -> NDArray[np.bool_]:
        found = np.zeros(len(voters), dtype=np.bool_)
        for k, names, positions in self._partition.split(voters):
            found[positions] = self.pools[k].can_grow(names)
        return found

    def grow(self, voters: Voters, rows: Rows, size: float) -> int:
        parts = self._split_rows(voters, rows)
        return sum(pool.grow(names, own, size) for pool, names, own in parts)

    def expect(self, rows: Rows) -> None:
        self._views.keep(rows.X)
        for pool in self.pools:
            pool.expect(rows)

    def _predict(self, method: str, voters: Voters, X: Any) -> NDArray[Any]:
        parts = self._partition.split(voters)
        views = self._views.transform([self.maps[part.k] for part in parts], X)
        found: list[NDArray[Any]] = [
            getattr(self.pools[k], method)(names, view)
            for (k, names, _), view in zip(parts, views, strict=True)
        ]
        if len(found) == 1:
            return found[0]
        predictions = np.empty((len(voters), *found[0].shape[1:]), dtype=np.result_type(*found))
        for (_, _, positions), own in zip(parts, found, strict=True):
            predictions[positions] = own
        return predictions

    def estimators(self, voters: Voters) -> list[Any]:
        estimators: list[Any] = [None] * len(voters)
        for k, names, positions in self._partition.split(voters):
            feature_map = self.maps[k]
            for position, fitted in zip(positions, self.pools[k].estimators(names), strict=True):
                estimators[position] = feature_map.pipeline_with(fitted) if feature_map else fitted
        return estimators

    def keep(self, voters: Voters, *, training_is_over: bool) -> VoterPool:
        self.pools = [
            pool.keep(self._partition.names(k, voters), training_is_over=training_is_over)
            for k, pool in enumerate(self.pools)
        ]
        self._views.clear()
        return self

    def state_of(self, voters: Voters) -> list[VoterState]:
        return [
            part.renamed(positions)
            for k, names, positions in self._partition.split(voters)
            for part in self.pools[k].state_of(names)
        ]

    def load_state(self, parts: Sequence[VoterState]) -> None:
        for k, pool in enumerate(self.pools):
            if own := among(parts, self._partition.members(k)):
                pool.load_state(own)

    def _split_rows(self, voters: Voters, rows: Rows) -> Iterator[tuple[VoterPool, Voters, Rows]]:
        """Yield each pool with its voters and the rows as they see them."""
        parts = self._partition.split(voters)
        if not rows.has_weights_per_voter:
            self._views.keep(rows.X)
        views = self._views.transform([self.maps[part.k] for part in parts], rows.X)
        for (k, names, positions), X in zip(parts, views, strict=True):
            yield self.pools[k], names, rows.for_voters(positions)._replace(X=X)
