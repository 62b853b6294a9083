"""Increments: slices of the data, each followed by delegations."""

from itertools import pairwise


def slices(n_rows: int, size: int) -> list[slice]:
    """Return slices of ``size`` rows; the last may be shorter."""
    return _between([*range(0, n_rows, size), n_rows])


def equal_slices(n_rows: int, n_parts: int) -> list[slice]:
    """Return ``n_parts`` slices whose lengths differ by one row at most."""
    return _between([-(-n_rows * part // n_parts) for part in range(n_parts + 1)])


def doubling_slices(n_rows: int, first: int, n_parts: int | None) -> list[slice]:
    """Return slices that are each as long as all before together, at most ``n_parts`` of them.

    The first has ``first`` rows. With ``n_parts=None`` all rows are covered.

    Examples
    --------
    >>> doubling_slices(1000, 250, 3)
    [slice(0, 250, None), slice(250, 500, None), slice(500, 1000, None)]
    """
    ends = [0]
    while ends[-1] < n_rows and (n_parts is None or len(ends) <= n_parts):
        ends.append(min(first, n_rows))
        first *= 2
    return _between(ends)


def _between(ends: list[int]) -> list[slice]:
    return [slice(start, stop) for start, stop in pairwise(ends)]
