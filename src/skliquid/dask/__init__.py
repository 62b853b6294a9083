"""Dask: a connection to a scheduler, and voters that train on its workers."""

from skliquid.dask.connection import ClusterError
from skliquid.dask.dask_pool import DaskPool

__all__ = ["ClusterError", "DaskPool"]
