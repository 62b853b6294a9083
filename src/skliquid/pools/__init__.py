"""Voter pools: how the voters of an ensemble are held, trained and asked for predictions."""

from skliquid.delegation.voter_pool import VoterPool
from skliquid.pools.choosing import check_pool_supports, pool_for, pool_names
from skliquid.pools.estimator_pool import EstimatorPool
from skliquid.pools.fitted_pool import FittedPool, FittedVoter
from skliquid.pools.grouped_pool import GroupedPool
from skliquid.pools.linear import LinearPool
from skliquid.pools.sampled_pool import SampledPool
from skliquid.pools.tree_pool import TreePool

__all__ = [
    "EstimatorPool",
    "FittedPool",
    "FittedVoter",
    "GroupedPool",
    "LinearPool",
    "SampledPool",
    "TreePool",
    "VoterPool",
    "check_pool_supports",
    "pool_for",
    "pool_names",
]
