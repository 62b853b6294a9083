"""Tree voters that share the rows they are grown on, and their bins."""

from skliquid.pools.trees.tree_pool import TreePool

__all__ = ["TreePool"]
