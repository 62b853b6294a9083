"""Marks of voters: one shape per kind, all of the same area."""

from collections.abc import Sequence

import numpy as np

from skliquid.arrays import Floats
from skliquid.record import TrainingRecord

_ROUND = 60
_SHAPES = ((_ROUND, 0.0), (4, 45.0), (3, 90.0), (4, 0.0), (5, 90.0), (3, -90.0), (6, 0.0))
"""Number of corners, and the angle of the first: circle, square, triangle, diamond, ..."""


def mark(k: int) -> Floats:
    """Return the corners of the k-th mark: a regular polygon with the area of the unit circle."""
    n_corners, first = _SHAPES[k % len(_SHAPES)]
    angles = np.radians(first) + 2 * np.pi * np.arange(n_corners) / n_corners
    return outer_radius(k) * np.column_stack([np.cos(angles), np.sin(angles)])


def outer_radius(k: int) -> float:
    """Return the radius of the circle around the k-th mark."""
    n_corners, _ = _SHAPES[k % len(_SHAPES)]
    return float(np.sqrt(2 * np.pi / (n_corners * np.sin(2 * np.pi / n_corners))))


def inner_radius(k: int) -> float:
    """Return the radius of the largest circle inside of the k-th mark."""
    n_corners, _ = _SHAPES[k % len(_SHAPES)]
    return outer_radius(k) * float(np.cos(np.pi / n_corners))


def kinds_of(record: TrainingRecord) -> list[str]:
    """Return the kind of each voter; all are of one nameless kind if nothing is known."""
    kinds = [voter.kind for voter in record.voters]
    return kinds or [""] * record[-1].graph.n_voters


def in_order(kinds: Sequence[str]) -> list[str]:
    """Return each kind once, in the order of the voters."""
    return list(dict.fromkeys(kinds))
