"""Voter pools: how the voters of an ensemble are trained and asked."""

from skliquid.pools.estimator_pool import EstimatorPool
from skliquid.pools.grouped_pool import GroupedPool, pool_for
from skliquid.pools.linear_pool import LinearPool
from skliquid.pools.pool import VoterPool

__all__ = ["EstimatorPool", "GroupedPool", "LinearPool", "VoterPool", "pool_for"]
