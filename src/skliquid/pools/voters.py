"""Voters before they are trained: copies of a few kinds, each with its own seed."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone


def seeded(kind: Any, seeds: Sequence[int]) -> list[Any]:
    """Return a copy of ``kind`` for each seed, in which every ``random_state`` follows from it."""
    fresh = clone(kind)
    params = fresh.get_params()
    names = sorted(name for name in params if name.rsplit("__", 1)[-1] == "random_state")
    if any(hasattr(value, "get_params") for value in params.values()):
        return [_with_seeds(clone(fresh), names, seed) for seed in seeds]
    # nothing inside can be trained, so a shallow copy is as good as a clone, and much sooner made
    return [_with_seeds(_copy(fresh), names, seed) for seed in seeds]


def _copy(voter: Any) -> Any:
    kind: Any = type(voter)
    if kind.__getstate__ is not BaseEstimator.__getstate__ or hasattr(kind, "__slots__"):
        return copy.copy(voter)
    twin = kind.__new__(kind)  # as copy would, without asking how
    vars(twin).update(vars(voter))
    return twin


def _with_seeds(voter: Any, names: Sequence[str], seed: int) -> Any:
    if names == ["random_state"]:
        voter.random_state = int(seed)
    elif names:
        seeds = np.random.SeedSequence(int(seed)).generate_state(len(names))
        voter.set_params(**dict(zip(names, map(int, seeds), strict=True)))
    return voter
