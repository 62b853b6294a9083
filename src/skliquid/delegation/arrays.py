"""Array types that modules exchange, and functions to stack and compact arrays."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Voters: TypeAlias = NDArray[np.intp]
"""One integer per voter: its index, or the votes it carries."""

RowNumbers: TypeAlias = range | NDArray[np.intp]
"""Which rows of the data."""

Labels: TypeAlias = NDArray[np.intp]
"""Classes as positions in the sorted array of classes."""

Votes: TypeAlias = NDArray[np.integer[Any]]
"""Labels with one row per voter, of any integer type."""

Floats: TypeAlias = NDArray[np.float64]
"""Accuracies, gains, likelihoods, shares."""


def stacked(parts: Sequence[Any]) -> Any:
    """Return the rows of all ``parts`` in order; sparse if one of them is."""
    if any(map(scipy.sparse.issparse, parts)):
        return scipy.sparse.vstack([scipy.sparse.csr_array(part) for part in parts], format="csr")
    return np.concatenate(parts)


def compact(array: Any, dtype: Any = None) -> NDArray[Any]:
    """Return a contiguous, aligned array, as compiled code needs it."""
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])
