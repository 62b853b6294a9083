"""GroupedPool: voters of several pools, as one; and the choice of a pool for each voter."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Floats, Labels, Voters, Votes
from skliquid.pools.estimator_pool import (
    EstimatorPool,
    learns_by_increments,
    takes_sample_weight,
)
from skliquid.pools.feature_map import FeatureMap, Views
from skliquid.pools.linear_pool import (
    LinearPool,
    shared_parameters,
    stays_with_its_kind,
    unsupported,
)
from skliquid.pools.pool import VoterPool, hold
from skliquid.pools.sampled_pool import SampledPool
from skliquid.pools.voters import Variety, taken, voters_of

_ALIKE = Variety()


def pool_for(
    name: str,
    kinds: Sequence[Any],
    seeds: Sequence[int],
    classes: NDArray[Any],
    n_jobs: int | None,
    *,
    variety: Variety = _ALIKE,
    only: Sequence[int] | None = None,
) -> VoterPool:
    """Return the pool that ``"auto"``, ``"linear"`` or ``"estimator"`` stands for.

    There is a voter for each seed; the kinds are spread evenly over them, and so are the maps. With
    ``only``, the pool has these of the voters, each as it would be among all, and knows them by
    their positions in it.
    """
    chosen = range(len(seeds)) if only is None else only
    pool = _grouped(name, kinds, seeds, classes, n_jobs, variety=variety, chosen=chosen)
    if variety.sample is None:
        return pool
    return SampledPool(pool, [seeds[v] for v in chosen], **variety.sample._asdict())


def _grouped(
    name: str,
    kinds: Sequence[Any],
    seeds: Sequence[int],
    classes: NDArray[Any],
    n_jobs: int | None,
    *,
    variety: Variety,
    chosen: Sequence[int],
) -> VoterPool:
    """Return a pool of the voters ``chosen``, in parts by what they share."""

    def key(voter: Any) -> Any:
        is_linear = name != "estimator" and unsupported(voter) is None
        return shared_parameters(voter) if is_linear else None

    voters = voters_of(kinds, seeds, variety.params)
    key_of_kind = list(map(key, kinds))
    maps = [None if each is None else FeatureMap(each) for each in variety.maps]
    groups: dict[Any, list[int]] = {}
    for place, v in enumerate(chosen):
        is_alike = not variety.params or stays_with_its_kind(variety.params[v])
        mine = key_of_kind[v % len(kinds)] if is_alike else key(voters[v])
        groups.setdefault((variety.map_of(v, len(kinds)), mine), []).append(place)
    parts = []
    linear = partial(LinearPool, examined={})
    for (m, shared), members in groups.items():
        make: Callable[..., VoterPool] = EstimatorPool if shared is None else linear
        names = [chosen[place] for place in members]
        seen = variety.subspaces[names] if m is None and variety.subspaces is not None else None
        its_own = voters if len(members) == len(voters) else taken(voters, names)
        pool = make(its_own, classes, n_jobs, seen)
        parts.append((pool, members, None if m is None else maps[m]))
    if len(parts) == 1 and parts[0][2] is None:
        return parts[0][0]
    return GroupedPool(parts)


class GroupedPool:
    """Several pools, each with some of the voters.

    Parameters
    ----------
    pools : list of (pool, voters, map)
        ``voters[i]`` is the voter that the pool knows as i. Its voters see rows through the map, or
        as they are when it is None.
    """

    def __init__(self, pools: Sequence[tuple[VoterPool, Sequence[int], FeatureMap | None]]):
        self._pools = [pool for pool, _, _ in pools]
        self._maps = [feature_map for _, _, feature_map in pools]
        self._views = Views()
        self._last_split: tuple[Voters | None, list[tuple[int, Voters, Voters]]] = None, []
        n_voters = sum(len(voters) for _, voters, _ in pools)
        self._pool_of = np.empty(n_voters, dtype=np.intp)
        self._name_in_pool = np.empty(n_voters, dtype=np.intp)
        for k, (_, voters, _) in enumerate(pools):
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

    def hold(self, max_passes: int | None) -> None:
        """Let nobody who is fitted anew on an increment take more passes; None means any."""
        for pool in self._pools:
            hold(pool, max_passes)

    def train(self, voters: Voters, X: Any, y: Labels, sample_weight: Floats | None = None) -> int:
        """Train ``voters`` on one more increment and return the sample visits it took."""
        return sum(
            self._pools[k].train(some, self._seen(k, X), y, _of(sample_weight, positions))
            for k, some, positions in self._split(voters)
        )

    def accuracy(self, voters: Voters, X: Any, y: Labels) -> Floats:
        """Return the share of rows that each of ``voters`` gets right."""
        accuracy = np.empty(len(voters))
        for k, some, positions in self._split(voters):
            accuracy[positions] = self._pools[k].accuracy(some, self._seen(k, X), y)
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
        return sum(
            self._pools[k].finish(
                some,
                self._seen(k, X),
                y,
                _of(sample_weight, positions),
                warm=warm,
                max_passes=max_passes,
            )
            for k, some, positions in self._split(voters)
        )

    def vote(self, voters: Voters, X: Any) -> Votes:
        """Return the vote of each of ``voters`` (rows) on each sample (columns)."""
        votes = np.empty((len(voters), X.shape[0]), dtype=np.intp)
        views = self._views.of(X)
        for k, some, positions in self._split(voters):
            votes[positions] = self._pools[k].vote(some, views.through(self._maps[k], X))
        return votes

    def estimators(self, voters: Voters) -> list[Any]:
        """Return ``voters`` as fitted scikit-learn classifiers."""
        made: dict[int, Any] = {}
        for k, some, positions in self._split(voters):
            fitted, view = self._pools[k].estimators(some), self._maps[k]
            if view is not None:
                fitted = list(map(view.before, fitted))
            made.update(zip(positions.tolist(), fitted, strict=True))
        return [made[position] for position in range(len(voters))]

    def keep(self, voters: Voters, *, training_is_over: bool) -> None:
        """Forget all other voters; when training is over, copies need not carry its rows."""
        for k, pool in enumerate(self._pools):
            some = self._name_in_pool[voters[self._pool_of[voters] == k]]
            pool.keep(some, training_is_over=training_is_over)
        self._views.forget()

    def share_maps(self, known: dict[bytes, FeatureMap]) -> None:
        """Make one of maps that have come to be equal, also of pools within."""
        self._maps = [
            view and known.setdefault(bytes_of_a_copy(view.transformer), view)
            for view in self._maps
        ]
        for pool in self._pools:
            within = getattr(pool, "sampled", pool)
            if isinstance(within, GroupedPool):
                within.share_maps(known)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_last_split": (None, [])}

    def _seen(self, k: int, X: Any) -> Any:
        """Return ``X`` as the voters of the ``k``-th pool see it."""
        return self._views.through(self._maps[k], X)

    def _split(self, voters: Voters) -> list[tuple[int, Voters, Voters]]:
        """Return each pool that has some of ``voters``, which of its own, and at what positions."""
        last, parts = self._last_split
        if last is not voters:  # who trains on an increment is asked of it too
            parts = list(self._parts(voters))
            self._last_split = voters, parts
        return parts

    def _parts(self, voters: Voters) -> Iterator[tuple[int, Voters, Voters]]:
        pool_of = self._pool_of[voters]
        for k in range(len(self._pools)):
            positions = np.flatnonzero(pool_of == k)
            if len(positions):
                yield k, self._name_in_pool[voters[positions]], positions


def knows_visits(kinds: Sequence[Any], seeds: Sequence[int], variety: Variety) -> bool:
    """Return whether every voter is sure to see each row of an increment once."""
    voters = voters_of(kinds, seeds, variety.params) if variety.params else kinds
    learn = all(learns_by_increments(each) for each in voters)
    return learn and (variety.sample is None or all(takes_sample_weight(each) for each in kinds))


def _of(sample_weight: Floats | None, positions: Voters) -> Floats | None:
    """Return the weights of the rows for the voters at ``positions``, if each has its own."""
    if sample_weight is None or sample_weight.ndim == 1:
        return sample_weight
    own: Floats = sample_weight[positions]
    return own


def bytes_of_a_copy(transformer: Any) -> bytes:
    """Return bytes that are the same for an object and its copies.

    Those of the object itself tell which of its parts are one, and copies may have made them two.
    """
    return pickle.dumps(pickle.loads(pickle.dumps(transformer)))
