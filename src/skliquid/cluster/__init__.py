"""Clusters: a connection to a Dask scheduler, and voters that train on its workers."""

from skliquid.cluster.connection import ClusterError
from skliquid.cluster.dask_pool import DaskPool

__all__ = ["ClusterError", "DaskPool"]
