"""Shard: some of the voters on a worker, and the tasks that a cluster runs on them.

A scheduler runs a task again, from the tasks before it, when the worker that held its result is
lost. Therefore no task changes its arguments: only copies change. Voters train and vote under the
driver's configuration of scikit-learn.
"""

import copy
import pickle
import platform
import sys
from typing import Any, NamedTuple

from sklearn import config_context

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.rows import Rows
from skliquid.pools import VoterPool, pool_for


class Shard(NamedTuple):
    """Some of the voters, and the sample visits of their last step."""

    pool: VoterPool
    visits: int = 0


def versions() -> dict[str, str]:
    """Return the versions of packages on which the bits of a voter may depend."""
    return {name: sys.modules[name].__version__ for name in ("skliquid", "sklearn", "numpy")}


def build_shard(options: bytes, needed: dict[str, str]) -> Shard:
    """Return a shard of untrained voters, made by :func:`pool_for` with ``options``."""
    for name, version in versions().items():
        if version != needed[name]:
            raise RuntimeError(
                "Workers must have the package versions of the driver, or bits may differ: "
                f"{platform.node()} has {name} {version}, not {needed[name]}. Install the same "
                "version there and restart the workers."
            )
    return Shard(pool_for(**pickle.loads(options)))


def keep_voters(shard: Shard, voters: Voters | None, training_is_over: bool = False) -> Shard:
    """Return a copy of the shard with ``voters`` only, or with all if None."""
    pool = copy.deepcopy(shard.pool)
    return Shard(pool if voters is None else pool.keep(voters, training_is_over=training_is_over))


def run_step(
    shard: Shard,
    to_keep: Voters | None,
    voters: Voters,
    rows: Rows,
    weights: Floats | None,
    *options: Any,
    max_passes: int | None,
    **settings: Any,
) -> Shard:
    """Return the shard after ``voters`` have trained on ``rows``, without dropped voters.

    If each voter has its own ``weights``, they are passed separately from the rows.
    """
    shard = keep_voters(shard, to_keep)
    shard.pool.limit_passes(max_passes)
    rows = rows if weights is None else rows._replace(sample_weight=weights)
    return shard._replace(visits=call_pool(shard, voters, rows, *options, **settings))


def visits(shard: Shard) -> int:
    """Return the sample visits of the last step."""
    return shard.visits


def call_pool(
    shard: Shard, *arguments: Any, method: str, n_jobs: int | None, config: dict[str, Any]
) -> Any:
    """Return the result of a method of the shard's pool."""
    shard.pool.set_n_jobs(n_jobs)  # no result depends on it
    with config_context(**config):
        return getattr(shard.pool, method)(*arguments)


def predict(shard: Shard, voters: Voters, data: Any, **settings: Any) -> Any:
    """Return the predictions of ``voters`` for ``data``: features, or rows that include them."""
    return call_pool(shard, voters, data.X if isinstance(data, Rows) else data, **settings)
