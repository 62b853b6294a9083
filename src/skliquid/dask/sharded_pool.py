"""ShardedPool: voters in shards, each of them a pool on a worker of a cluster."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from skliquid.dask import shard as tasks
from skliquid.delegation.arrays import Floats, Voters, Votes
from skliquid.delegation.rows import Rows
from skliquid.delegation.voter_pool import VoterState
from skliquid.diversity import FeatureMap
from skliquid.pools import GroupedPool, VoterPool
from skliquid.pools.grouped_pool import Partition
from skliquid.pools.predictions import stack_predictions

MAX_BYTES_TO_REPEAT = 2**28
"""Bytes of increments after which shards are fetched: until then the scheduler holds them."""


class ShardedPool(VoterPool):
    """Voters on a cluster; when training is over, a pool in this process takes its place.

    A step makes a new shard from the one before, so that the cluster can repeat the steps when a
    worker is lost. Training waits for predictions, and for steps of unknown cost, but not for other
    steps. An error in a step is therefore raised by the next call that waits.

    The ``cluster`` has the interface of a :class:`~skliquid.DaskPool`. ``members[k][i]`` is the
    voter that the k-th of the ``shards`` (futures) knows as i. Shards come back with copies of the
    feature ``maps``.
    """

    def __init__(
        self,
        cluster: Any,
        members: Sequence[Voters],
        shards: Sequence[Any],
        *,
        n_jobs: int | None,
        sees_rows_once: bool,
        maps: Sequence[Any] = (),
    ):
        self.n_jobs, self._maps = n_jobs, maps
        self._cluster, self._members, self._sees_rows_once = cluster, members, sees_rows_once
        self._partition, self._shards = Partition(members), list(shards)
        self._kept: list[Voters | None] = [None] * len(members)  # by shard; None means all
        self._sent: tuple[Rows | None, Any] = None, None
        self._n_steps = self._n_bytes = 0

    def train(self, voters: Voters, rows: Rows) -> int:
        changed = self._step("train", voters, rows)
        visits = len(voters) * rows.n_rows if self._sees_rows_once else self._visits(changed)
        self._n_steps += 1
        if self._n_steps >= self._cluster.checkpoint_every or self._n_bytes > MAX_BYTES_TO_REPEAT:
            self._checkpoint()
        return visits

    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        return self._visits(self._step("finish", voters, rows, max_passes))

    def can_grow(self, voters: Voters) -> NDArray[np.bool_]:
        return np.array(self._collect(tasks.call_pool, "can_grow", voters), dtype=np.bool_)

    def grow(self, voters: Voters, rows: Rows, size: float) -> int:
        return self._visits(self._step("grow", voters, rows, size))

    def vote(self, voters: Voters, X: Any) -> Votes:
        return self._predict("vote", voters, X)

    def probabilities(self, voters: Voters, X: Any) -> Floats:
        return self._predict("probabilities", voters, X)

    def margins(self, voters: Voters, X: Any) -> Floats:
        return self._predict("margins", voters, X)

    def expect(self, rows: Rows) -> None:
        self._send_rows(rows)

    def estimators(self, voters: Voters) -> list[Any]:
        return self._collect(tasks.call_pool, "estimators", voters)

    def keep(self, voters: Voters, *, training_is_over: bool) -> VoterPool:
        self._kept = [self._partition.names(k, voters) for k in range(len(self._members))]
        return self._join(training_is_over=True) if training_is_over else self

    def state_of(self, voters: Voters) -> list[VoterState]:
        return self._join().state_of(voters)

    def __reduce__(self) -> tuple[Any, ...]:
        return _identity, (self._join(),)  # a copy is held in one process

    def _step(self, method: str, voters: Voters, rows: Rows, *options: Any) -> list[Any]:
        """Append a step to the shards that hold ``voters``; return the new shards."""
        sent, parts = self._send_rows(rows), self._partition.split(voters)
        steps = []
        for k, names, positions in parts:
            own = rows.for_voters(positions).sample_weight if rows.has_weights_per_voter else None
            steps.append((self._shards[k], self._kept[k], names, sent, own, *options))
        changed = self._submit(tasks.run_step, steps, method, max_passes=self.max_passes)
        for part, shard in zip(parts, changed, strict=True):
            self._shards[part.k] = shard
        return changed

    def _visits(self, shards: Sequence[Any]) -> int:
        visits = self._cluster.submit(tasks.visits, [(shard,) for shard in shards])
        return sum(self._cluster.fetch(visits))

    def _predict(self, method: str, voters: Voters, X: Any) -> NDArray[Any]:
        """Return predictions for ``X``; it is not sent again if its rows were sent."""
        last, future = self._sent
        data = future if last is not None and last.X is X else self._cluster.send(X)[0]
        return stack_predictions(self._collect(tasks.predict, method, voters, data))

    def _collect(self, task: Any, method: str, voters: Voters, *arguments: Any) -> list[Any]:
        """Return the results of ``method``, one for each of ``voters``."""
        parts = self._partition.split(voters)
        calls = [(self._shards[part.k], part.names, *arguments) for part in parts]
        results = self._cluster.fetch(self._submit(task, calls, method))
        by_voter: list[Any] = [None] * len(voters)
        for part, result in zip(parts, results, strict=True):
            for position, value in zip(part.positions, result, strict=True):
                by_voter[position] = value
        return by_voter

    def _submit(self, task: Any, arguments: Any, method: str, **options: Any) -> list[Any]:
        options |= {"method": method, "n_jobs": self.n_jobs, "config": get_config()}
        return list(self._cluster.submit(task, arguments, **options))

    def _send_rows(self, rows: Rows) -> Any:
        """Return a future of the rows; those of the last call are not sent again."""
        weights = None if rows.has_weights_per_voter else rows.sample_weight
        rows, (last, future) = Rows(rows.X, rows.y, weights), self._sent
        if last is None or any(a is not b for a, b in zip(last, rows, strict=True)):
            future, n_bytes = self._cluster.send(rows)
            self._sent, self._n_bytes = (rows, future), self._n_bytes + n_bytes
        return future

    def _fetch_shards(self, *, training_is_over: bool = False) -> list[tasks.Shard]:
        """Return copies of all shards, without dropped voters."""
        shards = zip(self._shards, self._kept, strict=True)
        calls = [(shard, kept, training_is_over) for shard, kept in shards]
        return list(self._cluster.fetch(self._cluster.submit(tasks.keep_voters, calls)))

    def _join(self, *, training_is_over: bool = False) -> GroupedPool:
        """Return the voters in one pool in this process."""
        shards = self._fetch_shards(training_is_over=training_is_over)
        members = [voters.tolist() for voters in self._members]
        pool = GroupedPool([(s.pool, m, None) for s, m in zip(shards, members, strict=True)])
        maps = [f if f is None else FeatureMap(f, number) for number, f in enumerate(self._maps)]
        _share_maps(pool, maps)
        return pool

    def _checkpoint(self) -> None:
        """Fetch the shards and send them back, so that the steps before need not be kept."""
        self._shards = [self._cluster.send(shard)[0] for shard in self._fetch_shards()]
        self._sent, self._n_steps, self._n_bytes = (None, None), 0, 0


def _share_maps(pool: VoterPool, maps: Sequence[FeatureMap | None]) -> None:
    """Replace copies of ``maps`` in ``pool``, and in the pools inside it, by ``maps``."""
    if isinstance(pool, GroupedPool):
        pool.maps = [copied and maps[copied.number] for copied in pool.maps]
    for inner in pool.pools:
        _share_maps(inner, maps)


def _identity(pool: GroupedPool) -> GroupedPool:
    return pool
