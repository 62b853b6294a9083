"""Limits: guards against overflow and exhausted memory, one value each."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

MIN_WEIGHT, MAX_WEIGHT = 1e-100, 1e25
"""Range of row weights above zero: the sum of their squares neither vanishes nor overflows."""

MAX_NUMBER = 1e100
"""Largest number in a file that is trained on: products of such numbers are finite."""

MAX_THREADS = 1024

MAX_SPARSE_CELLS = 2**31
"""Cells of a sparse matrix that trees are grown on, zeros included: each takes one byte."""

BYTES_PER_VOTER, BYTES_PER_TREE = 800, 96
"""Memory of the smallest voter, with its share of the record, and of the smallest tree."""

_BYTES_PER_CELL, _LARGEST_MEMORY = 24, 4 << 30  # of a sample and training on it; by default


def check_weight_range(weights: NDArray[Any] | None) -> None:
    """Raise if a row weight, class weight included, is too small or too large to compute with."""
    positive = weights[weights > 0] if weights is not None else np.empty(0)
    if not len(positive):
        return
    low, high = float(positive.min()), float(positive.max())
    if low < MIN_WEIGHT or high > MAX_WEIGHT:
        raise ValueError(
            f"sample_weight must be 0 or from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}, class_weight "
            f"included: got {low if low < MIN_WEIGHT else high:g}. Give 0 to rows that should not "
            "count, or multiply all weights by a common number."
        )


def check_fits_in_memory(name: str, count: int, *, bytes_each: int) -> None:
    """Raise if ``count`` objects of at least ``bytes_each`` do not fit into the main memory."""
    memory = bytes_of_memory()
    if int(count) * bytes_each > memory:
        raise ValueError(
            f"{name} must not exceed what fits into memory: {int(count)} of them, of {bytes_each} "
            f"bytes at least, do not fit into {memory / 2**30:.3g} GiB. Give a number far below "
            f"{memory // bytes_each}."
        )


def check_sample_fits(n_rows: int, n_columns: int, max_memory: int | None = None) -> None:
    """Raise if a sample, and training on it, takes too much memory."""
    allowed = min(bytes_of_memory() // 4, _LARGEST_MEMORY) if max_memory is None else max_memory
    needed = n_rows * n_columns * _BYTES_PER_CELL
    if needed > allowed:
        raise ValueError(
            f"max_memory (--max-memory) must be enough for {n_rows:,} rows x {n_columns:,} columns,"
            f" about {needed / 1e6:,.0f} MB: got {allowed / 1e6:,.0f} MB. Raise it, leave out "
            "columns, or set max_rows of the ensemble (--max-rows) to "
            f"{allowed // (n_columns * _BYTES_PER_CELL):,} or fewer."
        )


def bytes_of_memory() -> int:
    """Return the size of the main memory; where it is unknown, more than machines have."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # on Windows
        return 2**41
