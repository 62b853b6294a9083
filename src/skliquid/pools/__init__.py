"""Voter pools: how the voters of an ensemble are trained and asked."""

from skliquid.pools.estimator_pool import EstimatorPool
from skliquid.pools.pool import VoterPool

__all__ = ["EstimatorPool", "VoterPool"]
