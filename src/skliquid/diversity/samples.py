"""Samples: the rows and features that each voter sees."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.storable import Share, storable


@storable
class Sample(NamedTuple):
    """How each voter samples the rows: the share it sees, and whether with replacement."""

    share: Share
    bootstrap: bool


def row_sample(max_samples: Any, bootstrap: bool, n_rows: int) -> Sample | None:
    """Return how voters sample ``n_rows``, or None if every voter sees every row."""
    share = max_samples if isinstance(max_samples, float) else max_samples / n_rows
    return Sample(min(share, 1), bootstrap) if bootstrap or share < 1 else None


def draw_subspaces(
    n_voters: int, n_features: int, max_features: Any, rng: np.random.Generator
) -> NDArray[np.intp] | None:
    """Return the features that each voter sees, in ascending order, or None if all see all."""
    if isinstance(max_features, Integral):
        n_seen = min(int(max_features), n_features)
    else:
        n_seen = max(int(max_features * n_features), 1)
    if n_seen == n_features:
        return None
    features = np.tile(np.arange(n_features), (n_voters, 1))
    subspaces: NDArray[np.intp] = np.sort(rng.permuted(features, axis=1)[:, :n_seen], axis=1)
    return subspaces
