"""Limits: guards against overflow and exhausted memory, one value each."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.validation.user_warnings import warn_user

MIN_WEIGHT, MAX_WEIGHT = 1e-100, 1e25
"""Range of row weights above zero: the sum of their squares neither vanishes nor overflows."""

MAX_NUMBER = 1e100
"""Largest number in a file that is trained on: products of such numbers are finite."""

MAX_THREADS = 1024

MAX_SPARSE_CELLS = 2**31
"""Cells of a sparse matrix that trees are grown on, zeros included: each takes one byte."""

MAX_COLUMNS, BYTES_PER_COLUMN = 2**29, 24
"""Columns of sparse rows, which are fewer, and the memory for each: place, mean and deviation."""

MANY_VOTERS = 20_000
"""With more voters than these, delegation takes minutes."""

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


def check_columns_fit(n_columns: int) -> None:
    """Raise if sparse rows have too many columns, or more than fit into the main memory."""
    fitting = min(MAX_COLUMNS - 1, bytes_of_memory() // BYTES_PER_COLUMN)
    if n_columns > fitting:
        raise ValueError(
            f"X must have at most {fitting:,} columns, each of which takes memory: got "
            f"{n_columns:,}. Leave out those without numbers: numpy.unique(X.indices, "
            "return_inverse=True) returns the others, and new indices for them."
        )


def check_sparse_cells(n_rows: int, n_columns: int) -> None:
    """Raise if sparse rows have too many cells, zeros included, to grow trees on."""
    if n_rows * n_columns > MAX_SPARSE_CELLS:
        raise ValueError(
            f"X must have at most {MAX_SPARSE_CELLS} cells where it is sparse and voters are "
            f"trees, zeros included: got {n_rows} rows and {n_columns} columns. Use linear voters, "
            "lower max_rows, or reduce the columns, for example with TruncatedSVD."
        )


def warn_if_many_voters(n_voters: int) -> None:
    """Warn, before training, of numbers of voters with which it may take hours."""
    if n_voters > MANY_VOTERS:
        warn_user(
            f"Training {n_voters:,} voters may take hours: the time for delegation grows with the "
            "square of their number. Lower n_estimators, or follow it with verbose=1."
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
