"""Dask: training where the data live, on the workers of a cluster.

Start reading in ``classifier``.
"""

from skliquid.dask.classifier import DaskLiquidEnsembleClassifier
from skliquid.dask.cluster import Cluster, ClusterError

__all__ = ["Cluster", "ClusterError", "DaskLiquidEnsembleClassifier"]
