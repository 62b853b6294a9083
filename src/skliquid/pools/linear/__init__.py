"""The linear pool: linear voters in one array, trained by one compiled call per increment."""

from skliquid.pools.linear.linear_pool import LinearPool

__all__ = ["LinearPool"]
