"""Shards: the tasks that a cluster runs, none of which changes its arguments.

A scheduler runs a task again, from the tasks before it, when the worker that held its result is
lost. Only copies may therefore change. Voters train and vote under the driver's configuration of
scikit-learn.
"""

import copy
import pickle
import platform
import sys
from typing import Any, NamedTuple

from sklearn import config_context

from skliquid.arrays import Floats, Voters
from skliquid.pools import VoterPool, pool_for
from skliquid.rows import Rows


class Shard(NamedTuple):
    """Some of the voters, and the sample visits of their last step."""

    pool: VoterPool
    visits: int = 0


def opened(package: bytes) -> Any:
    """Return the object that was packed: rows, or a whole shard."""
    return pickle.loads(package)


def versions() -> dict[str, str]:
    """Return the versions of packages on which the bits of a voter may depend."""
    return {name: sys.modules[name].__version__ for name in ("skliquid", "sklearn", "numpy")}


def built(package: bytes, needed: dict[str, str]) -> Shard:
    """Return a shard of untrained voters, as :func:`pool_for` makes them."""
    for name, version in versions().items():
        if version != needed[name]:
            raise RuntimeError(
                "Workers must have the package versions of the driver, or bits may differ: "
                f"{platform.node()} has {name} {version}, not {needed[name]}. Install the same "
                "version there and restart the workers."
            )
    return Shard(pool_for(**opened(package)))


def kept(shard: Shard, to_keep: Voters | None, training_is_over: bool = False) -> Shard:
    """Return a copy of the shard, with the voters ``to_keep`` only, or with all."""
    pool = copy.deepcopy(shard.pool)
    return Shard(pool if to_keep is None else pool.keep(to_keep, training_is_over=training_is_over))


def stepped(
    shard: Shard,
    to_keep: Voters | None,
    voters: Voters,
    rows: Rows,
    weights: Floats | None,
    *options: Any,
    max_passes: int | None,
    **how: Any,
) -> Shard:
    """Return the shard after ``voters`` have trained on ``rows``, without dropped voters.

    Where each voter has its own ``weights``, they come apart from the rows.
    """
    shard = kept(shard, to_keep)
    shard.pool.limit_passes(max_passes)
    seen = rows if weights is None else rows._replace(sample_weight=weights)
    return shard._replace(visits=answered(shard, voters, seen, *options, **how))


def visits(shard: Shard) -> int:
    """Return the sample visits of the last step."""
    return shard.visits


def asked(shard: Shard, voters: Voters, about: Any = None, **how: Any) -> Any:
    """Return what ``voters`` answer about some X, or about rows, of which they see X only."""
    arguments = [] if about is None else [about.X if isinstance(about, Rows) else about]
    return answered(shard, voters, *arguments, **how)


def answered(
    shard: Shard, *arguments: Any, method: str, n_jobs: int | None, config: dict[str, Any]
) -> Any:
    """Return what a method of the shard's pool gives for ``arguments``."""
    shard.pool.set_n_jobs(n_jobs)  # on which no result depends
    with config_context(**config):
        return getattr(shard.pool, method)(*arguments)
