"""Choosing: which pool holds which voter.

Each pool in ``POOLS`` declares the voters that it supports, and the first that supports a voter
takes it. To add a pool, write its file and put it into this list.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import NDArray

from skliquid.delegation.voter_pool import VoterPool
from skliquid.diversity import FeatureMap, VoterSpec
from skliquid.pools.estimator_pool import EstimatorPool
from skliquid.pools.grouped_pool import GroupedPool
from skliquid.pools.linear import LinearPool
from skliquid.pools.sampled_pool import SampledPool
from skliquid.pools.tree_pool import TreePool

POOLS: list[Any] = [LinearPool, TreePool, EstimatorPool]  # by preference; the last supports all


def pool_names() -> list[str]:
    """Return the values of the parameter ``pool`` that are names."""
    return ["auto", *(pool.name for pool in POOLS)]


def check_pool_supports(name: Any, voters: Iterable[Any]) -> None:
    """Raise an error if ``name`` is that of a pool that does not support all ``voters``."""
    for pool in (pool for pool in POOLS if pool.name == name):
        for unsupported in filter(None, map(pool.unsupported_parameter, voters)):
            raise ValueError(
                f"pool={name!r} must support all voters: it does not support {unsupported}. Choose "
                "pool='auto', which takes for each voter the fastest pool that supports it."
            )


def pool_for(
    name: Any, spec: VoterSpec, classes: NDArray[Any], n_jobs: int | None = None
) -> VoterPool:
    """Return a pool of the voters that ``spec`` describes.

    ``name`` is ``"auto"``, the name of a pool, or an object with a method ``pool_for``.
    """
    if not isinstance(name, str):
        own_pool: VoterPool = name.pool_for(spec, classes, n_jobs)
        return own_pool
    voters = spec.voters()
    if spec.params:
        check_pool_supports(name, voters)
    shared: dict[Any, Any] = {}  # results that pools of one ensemble have in common
    maps = [f if f is None else FeatureMap(f, number) for number, f in enumerate(spec.maps)]
    parts: list[tuple[VoterPool, list[int], FeatureMap | None]] = []
    for (m, (pool_type, _)), members in _group_voters(name, spec, voters).items():
        subspaces = None if m is not None or spec.subspaces is None else spec.subspaces[members]
        unfitted = [voters[voter] for voter in members]
        pool = pool_type(unfitted, classes, n_jobs, subspaces, shared)
        parts.append((pool, members, None if m is None else maps[m]))
    is_one = len(parts) == 1 and parts[0][2] is None
    pool = parts[0][0] if is_one else GroupedPool(parts)
    if spec.sample is None:
        return pool
    return SampledPool(pool, list(spec.seeds), spec.sample)


def _group_voters(name: str, spec: VoterSpec, voters: Sequence[Any]) -> dict[Any, list[int]]:
    """Return voters by feature map, pool and sharing key."""
    choices: list[Any] = []  # per estimator: one choice for all its voters, or None
    for k, estimator in enumerate(spec.estimators):
        choice = _choose_pool(name, estimator)
        choices.append(choice if choice[0].can_share(spec.params_of(k)) else None)
    groups: dict[Any, list[int]] = {}
    for voter, feature_map in enumerate(spec.maps_of(range(len(voters)))):
        choice = choices[spec.estimator_of(voter)] or _choose_pool(name, voters[voter])
        groups.setdefault((feature_map, choice), []).append(voter)
    return groups


def _choose_pool(name: str, voter: Any) -> tuple[type[VoterPool], Any]:
    """Return the pool for ``voter``, and its sharing key in this pool."""
    named = [pool for pool in POOLS if name in ("auto", pool.name)]
    pool = next((p for p in named if p.unsupported_parameter(voter) is None), POOLS[-1])
    return pool, pool.sharing_key(voter)
