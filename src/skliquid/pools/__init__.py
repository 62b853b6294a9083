"""Voter pools: how the voters of an ensemble are held, trained and asked for their votes."""

from skliquid.pools.capabilities import (
    grows_trees,
    learns_by_increments,
    most_passes,
    n_passes,
    sees_rows_once,
    takes_sample_weight,
)
from skliquid.pools.choosing import check_accepted, pool_for, pool_names
from skliquid.pools.estimator_pool import EstimatorPool
from skliquid.pools.fitted_pool import FittedPool, FittedVoter
from skliquid.pools.grouped_pool import GroupedPool
from skliquid.pools.linear import LinearPool
from skliquid.pools.pool import VoterPool
from skliquid.pools.sampled_pool import SampledPool
from skliquid.pools.trees import TreePool

__all__ = [
    "EstimatorPool",
    "FittedPool",
    "FittedVoter",
    "GroupedPool",
    "LinearPool",
    "SampledPool",
    "TreePool",
    "VoterPool",
    "check_accepted",
    "grows_trees",
    "learns_by_increments",
    "most_passes",
    "n_passes",
    "pool_for",
    "pool_names",
    "sees_rows_once",
    "takes_sample_weight",
]
