"""Choosing: which pool holds which voter.

Each pool in ``POOLS`` says which voters it accepts, and the first that does takes them. To add a
pool, write its folder and put it into this list.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import NDArray

from skliquid.diversity import FeatureMap, VoterSpec
from skliquid.pools.estimator_pool import EstimatorPool
from skliquid.pools.grouped_pool import GroupedPool
from skliquid.pools.linear import LinearPool
from skliquid.pools.pool import VoterPool
from skliquid.pools.sampled_pool import SampledPool
from skliquid.pools.trees import TreePool

POOLS: list[Any] = [LinearPool, TreePool, EstimatorPool]
"""Pools by preference; the last accepts every voter."""


def pool_names() -> list[str]:
    """Return what the parameter ``pool`` of an ensemble may name."""
    return ["auto", *(pool.name for pool in POOLS)]


def check_accepted(name: Any, voters: Iterable[Any]) -> None:
    """Raise when the pool called ``name``, if it is a name, does not accept all ``voters``."""
    for pool in (pool for pool in POOLS if pool.name == name):
        for refusal in filter(None, map(pool.refusal, voters)):
            raise ValueError(
                f"pool={name!r} must support all voters: it does not support {refusal}. Choose "
                "pool='auto', which takes for each voter the fastest pool that supports it."
            )


def pool_for(
    name: Any,
    spec: VoterSpec,
    classes: NDArray[Any],
    n_jobs: int | None = None,
    *,
    only: Sequence[int] | None = None,
) -> VoterPool:
    """Return a pool of the voters that ``spec`` describes.

    ``name`` is ``"auto"``, the name of a pool, or an object whose method ``pool_for`` makes it, as
    that of a :class:`~skliquid.DaskPool`. With ``only``, the pool has these of the voters, each as
    it would be among all, and knows them by their positions in ``only``.
    """
    if not isinstance(name, str):
        made: VoterPool = name.pool_for(spec, classes, n_jobs)
        return made
    chosen = range(len(spec.seeds)) if only is None else only
    voters = spec.voters()
    if spec.params:
        check_accepted(name, voters)
    shared: dict[Any, Any] = {}  # by which pools of one ensemble can share results
    maps = [f if f is None else FeatureMap(f, number) for number, f in enumerate(spec.maps)]
    parts: list[tuple[VoterPool, list[int], FeatureMap | None]] = []
    for (m, (pool_type, _)), places in _groups(name, spec, voters, chosen).items():
        members = [chosen[place] for place in places]
        subspaces = None if m is not None or spec.subspaces is None else spec.subspaces[members]
        unfitted = [voters[voter] for voter in members]
        pool = pool_type(unfitted, classes, n_jobs, subspaces, shared)
        parts.append((pool, places, None if m is None else maps[m]))
    is_one = len(parts) == 1 and parts[0][2] is None
    pool = parts[0][0] if is_one else GroupedPool(parts)
    if spec.sample is None:
        return pool
    return SampledPool(pool, [spec.seeds[voter] for voter in chosen], spec.sample)


def _groups(
    name: str, spec: VoterSpec, voters: Sequence[Any], chosen: Sequence[int]
) -> dict[Any, list[int]]:
    """Return positions in ``chosen`` by feature map, pool and what the voters share."""
    choices: list[Any] = []  # of the voters of each estimator: one for all, or one each
    for k, estimator in enumerate(spec.estimators):
        choice = _choose(name, estimator)
        choices.append(choice if choice[0].holds_together(spec.params_of(k)) else None)
    groups: dict[Any, list[int]] = {}
    for place, (voter, feature_map) in enumerate(zip(chosen, spec.maps_of(chosen), strict=True)):
        choice = choices[spec.kind_of(voter)] or _choose(name, voters[voter])
        groups.setdefault((feature_map, choice), []).append(place)
    return groups


def _choose(name: str, voter: Any) -> tuple[type[VoterPool], Any]:
    """Return the pool for ``voter``, and what voters that share it have in common."""
    accepting = (p for p in POOLS if name in ("auto", p.name) and p.refusal(voter) is None)
    pool = next(accepting, POOLS[-1])
    return pool, pool.group_of(voter)
