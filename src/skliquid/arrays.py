"""Names for the array types that pass from one module to another."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Voters: TypeAlias = NDArray[np.intp]
"""One integer a voter: its index, or the votes it carries."""

RowNumbers: TypeAlias = range | NDArray[np.intp]
"""Which rows of the data."""

Labels: TypeAlias = NDArray[np.intp]
"""Classes as positions in the sorted array of classes."""

Votes: TypeAlias = NDArray[np.integer[Any]]
"""Labels too, a row a voter, in integers as small as a pool likes."""

Floats: TypeAlias = NDArray[np.float64]
"""Accuracies, gains, likelihoods, shares."""
