"""The linear pool: linear voters in one array, trained by one compiled call per increment.

``support`` says which voters it accepts, ``state`` holds the arrays, ``layout`` brings rows into
the form that the native core takes, ``prediction`` computes votes, and ``reference`` is the
readable version of the compiled loop.
"""

from skliquid.pools.linear.linear_pool import LinearPool

__all__ = ["LinearPool"]
