"""Voter pools: how the voters of an ensemble are trained and asked."""

from skliquid.pools.dask_pool import DaskPool
from skliquid.pools.estimator_pool import EstimatorPool
from skliquid.pools.fitted_pool import FittedPool, FittedVoter
from skliquid.pools.fourier_features import FourierFeatures
from skliquid.pools.grouped_pool import GroupedPool, knows_visits, pool_for
from skliquid.pools.linear_pool import LinearPool
from skliquid.pools.pool import VoterPool
from skliquid.pools.sampled_pool import SampledPool
from skliquid.pools.voters import (
    FOURIER_MAPS,
    OWN_ALPHA,
    Sample,
    Variety,
    drawn_params,
    drawn_subspaces,
    fitted_maps,
    seeded,
    voters_of,
)

__all__ = [
    "FOURIER_MAPS",
    "OWN_ALPHA",
    "DaskPool",
    "EstimatorPool",
    "FittedPool",
    "FittedVoter",
    "FourierFeatures",
    "GroupedPool",
    "LinearPool",
    "Sample",
    "SampledPool",
    "Variety",
    "VoterPool",
    "drawn_params",
    "drawn_subspaces",
    "fitted_maps",
    "knows_visits",
    "pool_for",
    "seeded",
    "voters_of",
]
