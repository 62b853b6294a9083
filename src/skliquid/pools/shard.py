"""Shards: the tasks that a cluster runs, each of which leaves what it was given as it was.

A scheduler runs a task again, from the tasks before it, when the worker that held its result is
lost. Nothing may therefore change in place but copies. Voters learn and answer under the driver's
configuration of scikit-learn.
"""

import copy
import pickle
import platform
import sys
from typing import Any, NamedTuple

from sklearn import config_context

from skliquid.arrays import Voters
from skliquid.pools.grouped_pool import pool_for
from skliquid.pools.pool import VoterPool, hold


class Shard(NamedTuple):
    """Some of the voters, and the sample visits of their last step."""

    pool: VoterPool
    visits: int = 0


def opened(packed: bytes) -> Any:
    """Return what was packed on the way here: rows, or a whole shard."""
    return pickle.loads(packed)


def versions() -> dict[str, str]:
    """Return the versions that the bits of a voter may depend on."""
    return {name: sys.modules[name].__version__ for name in ("skliquid", "sklearn", "numpy")}


def built(packed: bytes, needed: dict[str, str]) -> Shard:
    """Return a shard of voters that have learned nothing yet, as :func:`pool_for` makes them."""
    for name, version in versions().items():
        if version != needed[name]:
            raise RuntimeError(
                "Workers must have the versions of the driver, or bits may differ: on "
                f"{platform.node()} there is {name} {version}, not {needed[name]}. Install the "
                "same there and start the workers again."
            )
    return Shard(pool_for(**opened(packed)))


def kept(shard: Shard, voters: Voters, training_is_over: bool) -> Shard:
    """Return the shard without all voters but ``voters``."""
    pool = copy.deepcopy(shard.pool)
    pool.keep(voters, training_is_over=training_is_over)
    return Shard(pool)


def stepped(
    shard: Shard,
    voters: Voters,
    to_keep: Voters | None,
    rows: tuple[Any, Any],
    weights: tuple[Any, ...],
    *,
    method: str,
    n_jobs: int | None,
    max_passes: int | None,
    how: dict[str, Any],
    config: dict[str, Any],
) -> Shard:
    """Return the shard after ``voters`` have learned from ``rows``, and others are forgotten."""
    pool = copy.deepcopy(shard.pool)
    pool.n_jobs = n_jobs
    hold(pool, max_passes)
    if to_keep is not None:
        pool.keep(to_keep, training_is_over=False)
    with config_context(**config):
        return Shard(pool, getattr(pool, method)(voters, *rows, *weights, **how))


def visits(shard: Shard) -> int:
    """Return the sample visits of the last step."""
    return shard.visits


def answered(
    shard: Shard,
    voters: Voters,
    rows: tuple[Any, ...],
    *,
    method: str,
    n_jobs: int | None,
    config: dict[str, Any],
) -> Any:
    """Return what ``voters`` of the shard say of ``rows``."""
    shard.pool.n_jobs = n_jobs  # which no result depends on
    with config_context(**config):
        return getattr(shard.pool, method)(voters, *rows)
