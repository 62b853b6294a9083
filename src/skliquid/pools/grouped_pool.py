"""GroupedPool: several pools as one, each with some of the voters and its view of the rows."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats, Voters, Votes
from skliquid.diversity import FeatureMap, Views
from skliquid.pools.learned import Learned, among
from skliquid.pools.pool import VoterPool
from skliquid.rows import Rows


class Part(NamedTuple):
    """Those of some voters that one pool holds."""

    k: int  # which pool
    names: Voters  # by which it knows them
    positions: Voters  # among those asked for


class Partition:
    """Which pool holds which voter: ``members[k][i]`` is the one that the k-th knows as i."""

    def __init__(self, members: Sequence[Sequence[int] | Voters]):
        n_voters = sum(map(len, members))
        self._pool_of, self._names = np.empty((2, n_voters), dtype=np.intp)
        self._n_pools = len(members)
        for k, voters in enumerate(members):
            self._pool_of[voters], self._names[voters] = k, np.arange(len(voters))
        self._last: tuple[Voters | None, list[Part]] = None, []

    def names(self, k: int, voters: Voters) -> Voters:
        """Return the names of those of ``voters`` that the ``k``-th pool holds."""
        names: Voters = self._names[voters[self._pool_of[voters] == k]]
        return names

    def members(self, k: int) -> Voters:
        """Return the voters of the ``k``-th pool, in the order of their names there."""
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


class GroupedPool(VoterPool):
    """Several pools, each with some of the voters.

    Each comes with its voters, ``voters[i]`` being the one that the pool knows as i, and with the
    feature map through which they see the rows, or None.
    """

    def __init__(self, pools: Sequence[tuple[VoterPool, Sequence[int], FeatureMap | None]]):
        self.pools = [pool for pool, _, _ in pools]
        self.maps = [feature_map for _, _, feature_map in pools]
        self._partition = Partition([voters for _, voters, _ in pools])
        self._views = Views()

    def train(self, voters: Voters, rows: Rows) -> int:
        return sum(pool.train(names, seen) for pool, names, seen, _ in self._seen(voters, rows))

    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        parts = self._seen(voters, rows)
        return sum(pool.finish(names, seen, max_passes) for pool, names, seen, _ in parts)

    def vote(self, voters: Voters, X: Any) -> Votes:
        return self._ask("vote", voters, X)

    def probabilities(self, voters: Voters, X: Any) -> Floats:
        return self._ask("probabilities", voters, X)

    def margins(self, voters: Voters, X: Any) -> Floats:
        return self._ask("margins", voters, X)

    def expect(self, rows: Rows) -> None:
        self._views.keep(rows.X)
        for pool in self.pools:
            pool.expect(rows)

    def _ask(self, method: str, voters: Voters, X: Any) -> NDArray[Any]:
        """Return the answers of all pools, one for each of ``voters``."""
        parts = self._partition.split(voters)
        views = self._views.through([self.maps[part.k] for part in parts], X)
        found: list[NDArray[Any]] = [
            getattr(self.pools[k], method)(names, view)
            for (k, names, _), view in zip(parts, views, strict=True)
        ]
        if len(found) == 1:
            return found[0]
        dtype = np.result_type(*found)
        answers = np.empty((len(voters), *found[0].shape[1:]), dtype=dtype)
        for (_, _, positions), answer in zip(parts, found, strict=True):
            answers[positions] = answer
        return answers

    def estimators(self, voters: Voters) -> list[Any]:
        estimators: list[Any] = [None] * len(voters)
        for k, names, positions in self._partition.split(voters):
            feature_map = self.maps[k]
            for position, fitted in zip(positions, self.pools[k].estimators(names), strict=True):
                estimators[position] = feature_map.before(fitted) if feature_map else fitted
        return estimators

    def keep(self, voters: Voters, *, training_is_over: bool) -> VoterPool:
        self.pools = [
            pool.keep(self._partition.names(k, voters), training_is_over=training_is_over)
            for k, pool in enumerate(self.pools)
        ]
        self._views.clear()
        return self

    def learned(self, voters: Voters) -> list[Learned]:
        return [
            part.renamed(positions)
            for k, names, positions in self._partition.split(voters)
            for part in self.pools[k].learned(names)
        ]

    def restore(self, parts: Sequence[Learned]) -> None:
        for k, pool in enumerate(self.pools):
            if own := among(parts, self._partition.members(k)):
                pool.restore(own)

    def _seen(self, voters: Voters, rows: Rows) -> Iterator[tuple[VoterPool, Voters, Rows, Voters]]:
        """Yield each pool with its voters, what they see, and their positions in ``voters``."""
        parts, weights = self._partition.split(voters), rows.sample_weight
        if weights is None or weights.ndim == 1:
            self._views.keep(rows.X)
        views = self._views.through([self.maps[part.k] for part in parts], rows.X)
        for (k, names, positions), X in zip(parts, views, strict=True):
            is_shared = weights is None or weights.ndim == 1
            own = rows if is_shared else rows.for_voters(positions)
            yield self.pools[k], names, own._replace(X=X), positions
