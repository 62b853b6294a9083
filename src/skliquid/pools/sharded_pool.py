"""ShardedPool: voters in shards, each of them a pool on a worker of a cluster."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from skliquid.arrays import Floats, Labels, Voters, Votes
from skliquid.pools import shard as tasks
from skliquid.pools.feature_map import FeatureMap
from skliquid.pools.grouped_pool import GroupedPool, bytes_of_a_copy

MOST_BYTES_TO_REPEAT = 2**28
"""Bytes of increments after which shards are brought here: the scheduler holds them till then."""


class Cluster(Protocol):
    """What a sharded pool asks of a cluster, as :class:`~skliquid.pools.DaskPool` does it."""

    checkpoint_every: int

    def submit(
        self, task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], **options: Any
    ) -> list[Any]:
        """Return results to come of ``task``, one for each tuple of arguments."""
        ...

    def send(self, value: Any) -> tuple[Any, int]:
        """Return ``value`` as a result to come, and its number of bytes."""
        ...

    def fetch(self, futures: Sequence[Any]) -> list[Any]:
        """Return results, as soon as they are there."""
        ...


class ShardedPool:
    """Voters on a cluster, until training is over; then here.

    A step makes a new shard of the one before, so that the cluster can take the same steps again
    when a worker is lost. Training need not wait for its steps where their cost is known
    beforehand: only questions are waited for. What goes wrong in a step is therefore raised by the
    question after it.

    Parameters
    ----------
    cluster : Cluster
        Where the shards are.
    members : list of arrays of int
        ``members[k][i]`` is the voter that the k-th shard knows as i.
    shards : list of futures
        What each shard is at the start.
    n_jobs : int or None
        Threads that a shard may use.
    knows_visits : bool
        Whether every voter sees each row of an increment once.
    maps : sequence of fitted transformers or None
        Through which voters look at the rows; shards come back with copies of them.
    """

    def __init__(
        self,
        cluster: Cluster,
        members: Sequence[Voters],
        shards: Sequence[Any],
        *,
        n_jobs: int | None,
        knows_visits: bool,
        maps: Sequence[Any] = (),
    ):
        self._n_jobs, self._maps = n_jobs, maps
        self._cluster, self._members, self._knows_visits = cluster, members, knows_visits
        self._shard_of = np.repeat(np.arange(len(members)), [len(some) for some in members])
        self._name_in_shard = np.concatenate([np.arange(len(some)) for some in members])
        self._here: GroupedPool | None = None
        self._to_keep: Voters | None = None
        self._sent: dict[str, tuple[tuple[Any, ...], Any]] = {}
        self._n_steps = self._n_bytes = 0
        self._max_passes: int | None = None
        self._shards = list(shards)

    @property
    def n_jobs(self) -> int | None:
        """Threads that a shard may use."""
        return self._n_jobs

    @n_jobs.setter
    def n_jobs(self, n_jobs: int | None) -> None:
        self._n_jobs = n_jobs
        if self._here is not None:
            self._here.n_jobs = n_jobs

    def hold(self, max_passes: int | None) -> None:
        """Let nobody who is fitted anew on an increment take more passes; None means any."""
        self._max_passes = max_passes
        if self._here is not None:
            self._here.hold(max_passes)

    def train(self, voters: Voters, X: Any, y: Labels, sample_weight: Floats | None = None) -> int:
        """Train ``voters`` on one more increment and return the sample visits it takes."""
        if self._here is not None:
            return self._here.train(voters, X, y, sample_weight)
        changed = self._step("train", voters, (X, y), sample_weight)
        visits = len(voters) * len(y) if self._knows_visits else self._visits(changed)
        self._n_steps += 1
        if self._n_steps >= self._cluster.checkpoint_every or self._n_bytes > MOST_BYTES_TO_REPEAT:
            self._root_anew()
        return visits

    def accuracy(self, voters: Voters, X: Any, y: Labels) -> Floats:
        """Return the share of rows that each of ``voters`` gets right."""
        if self._here is not None:
            return self._here.accuracy(voters, X, y)
        accuracy = np.empty(len(voters))
        for positions, answer in self._ask("accuracy", voters, self._sent_rows("rows", X, y)):
            accuracy[positions] = answer
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
        """Fit ``voters`` in full, anew or from where they are; return the sample visits."""
        how = {"warm": warm, "max_passes": max_passes}
        if self._here is not None:
            return self._here.finish(voters, X, y, sample_weight, warm=warm, max_passes=max_passes)
        return self._visits(self._step("finish", voters, (X, y), sample_weight, **how))

    def vote(self, voters: Voters, X: Any) -> Votes:
        """Return the vote of each of ``voters`` (rows) on each sample (columns)."""
        if self._here is not None:
            return self._here.vote(voters, X)
        votes = np.empty((len(voters), X.shape[0]), dtype=np.intp)
        for positions, answer in self._ask("vote", voters, self._sent_rows("asked", X)):
            votes[positions] = answer
        return votes

    def estimators(self, voters: Voters) -> list[Any]:
        """Return ``voters`` as fitted scikit-learn classifiers."""
        if self._here is not None:
            return self._here.estimators(voters)
        made: dict[int, Any] = {}
        for positions, answer in self._ask("estimators", voters, ()):
            made.update(zip(positions.tolist(), answer, strict=True))
        return [made[position] for position in range(len(voters))]

    def keep(self, voters: Voters, *, training_is_over: bool) -> None:
        """Forget all other voters; when training is over, bring these here."""
        if self._here is not None:
            self._here.keep(voters, training_is_over=training_is_over)
            return
        self._to_keep = voters
        if training_is_over:
            self._here = self._joined(self._brought(training_is_over=True))
            self._shards, self._sent = [], {}

    def __reduce__(self) -> tuple[Any, ...]:
        here = self._here or self._joined(self._brought(training_is_over=False))
        return _itself, (here,)  # a copy lives on one machine

    # Shards

    def _step(
        self,
        method: str,
        voters: Voters,
        rows: tuple[Any, Labels],
        sample_weight: Floats | None,
        **how: Any,
    ) -> list[Any]:
        """Put a step after the shards that have some of ``voters``; return what comes of it."""
        sent, parts = self._sent_rows("rows", *rows), self._split(voters)
        steps = [
            (
                self._shards[k],
                some,
                self._kept_in(k),
                sent,
                self._sent_weights(sample_weight, positions),
            )
            for k, some, positions in parts
        ]
        changed = self._cluster.submit(
            tasks.stepped,
            steps,
            method=method,
            n_jobs=self._n_jobs,
            max_passes=self._max_passes,
            how=how,
            config=get_config(),
        )
        for (k, _, _), shard in zip(parts, changed, strict=True):
            self._shards[k] = shard
        return changed

    def _visits(self, shards: Sequence[Any]) -> int:
        asked = [(shard,) for shard in shards]
        return sum(self._cluster.fetch(self._cluster.submit(tasks.visits, asked)))

    def _ask(
        self, method: str, voters: Voters, rows: Any
    ) -> Iterator[tuple[NDArray[np.intp], Any]]:
        """Yield answers of the shards, with the positions of those who answer."""
        parts = self._split(voters)
        asked = [(self._shards[k], some, rows) for k, some, _ in parts]
        answers = self._cluster.fetch(
            self._cluster.submit(
                tasks.answered, asked, method=method, n_jobs=self._n_jobs, config=get_config()
            )
        )
        for (_, _, positions), answer in zip(parts, answers, strict=True):
            yield positions, answer

    def _split(self, voters: Voters) -> list[tuple[int, Voters, NDArray[np.intp]]]:
        """Return each shard that has some of ``voters``, which of its own, and their positions."""
        shard_of = self._shard_of[voters]
        parts = [(k, np.flatnonzero(shard_of == k)) for k in np.unique(shard_of).tolist()]
        return [(k, self._name_in_shard[voters[at]], at) for k, at in parts]

    # Rows on their way to the workers

    def _sent_rows(self, role: str, *arrays: Any) -> Any:
        """Return rows as they will be on the workers; those of the last call are sent once."""
        last = self._sent.get(role)
        if last is None or any(a is not b for a, b in zip(last[0], arrays, strict=True)):
            future, n_bytes = self._cluster.send(arrays)
            last = self._sent[role] = arrays, future
            self._n_bytes += n_bytes
        return last[1]

    def _sent_weights(self, sample_weight: Floats | None, positions: NDArray[np.intp]) -> Any:
        if sample_weight is None:
            return ()
        if sample_weight.ndim == 1:
            return self._sent_rows("weights", sample_weight)
        return (sample_weight[positions],)

    # Shards on their way here

    def _kept_in(self, k: int) -> Voters | None:
        """Return the voters that the ``k``-th shard need not forget, or None for all."""
        if self._to_keep is None:
            return None
        names: Voters = self._name_in_shard[self._to_keep[self._shard_of[self._to_keep] == k]]
        return names

    def _brought(self, *, training_is_over: bool) -> list[tasks.Shard]:
        """Return copies of all shards, without voters that were forgotten."""
        if self._to_keep is None:
            return self._cluster.fetch(self._shards)
        asked = [(shard, self._kept_in(k)) for k, shard in enumerate(self._shards)]
        return self._cluster.fetch(
            self._cluster.submit(tasks.kept, asked, training_is_over=training_is_over)
        )

    def _joined(self, shards: Sequence[tasks.Shard]) -> GroupedPool:
        parts = [
            (shard.pool, some.tolist(), None)
            for shard, some in zip(shards, self._members, strict=True)
        ]
        pool = GroupedPool(parts)
        pool.share_maps({bytes_of_a_copy(each): FeatureMap(each) for each in self._maps if each})
        return pool

    def _root_anew(self) -> None:
        """Bring the shards here and send them back, so that what led to them can be forgotten."""
        shards, self._sent = self._brought(training_is_over=False), {}
        self._shards = [self._cluster.send(shard)[0] for shard in shards]
        self._n_steps = self._n_bytes = 0


def _itself(pool: GroupedPool) -> GroupedPool:
    return pool
