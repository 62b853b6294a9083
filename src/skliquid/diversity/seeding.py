"""Seeding: unfitted voters as copies of a few estimators, each with its own seed."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline


def copies_of(
    estimators: Sequence[Any], seeds: Sequence[int], params: Sequence[Mapping[str, Any]] = ()
) -> list[Any]:
    """Return one voter per seed, the estimators being spread evenly over them."""
    copiers, drawn = list(map(_copier, estimators)), params or [{}] * len(seeds)
    return [
        copiers[voter % len(copiers)](seed, own)
        for voter, (seed, own) in enumerate(zip(seeds, drawn, strict=True))
    ]


def seeded(estimator: Any, seed: int) -> Any:
    """Return a copy of ``estimator`` in which every ``random_state`` follows from ``seed``."""
    return _copier(estimator)(seed, {})


def final_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, or else the estimator itself."""
    return final_step(estimator.steps[-1][1]) if isinstance(estimator, Pipeline) else estimator


def derived_seeds(seed: int, n_seeds: int) -> list[int]:
    """Return several seeds that follow from one."""
    return list(map(int, np.random.SeedSequence(int(seed)).generate_state(n_seeds)))


def _copier(estimator: Any) -> Callable[[int, Mapping[str, Any]], Any]:
    """Return a function that copies ``estimator`` with a seed and hyperparameters."""
    estimator = clone(estimator)
    values = estimator.get_params()
    seed_names = sorted(name for name in values if name.rsplit("__", 1)[-1] == "random_state")
    # without estimators inside, a shallow copy is as good as a clone, and faster
    is_flat = not any(hasattr(value, "get_params") for value in values.values())
    shallow_copy = _shallow_copier(type(estimator)) if is_flat else clone

    def copy_with(seed: int, params: Mapping[str, Any]) -> Any:
        voter = shallow_copy(estimator)
        if seed_names == ["random_state"]:
            voter.random_state = int(seed)
        elif seed_names:
            seeds = derived_seeds(seed, len(seed_names))
            voter.set_params(**dict(zip(seed_names, seeds, strict=True)))
        if params.keys() <= vars(voter).keys():  # set_params takes ten times as long
            vars(voter).update(params)
        else:
            voter.set_params(**params)
        return voter

    return copy_with


def _shallow_copier(cls: Any) -> Callable[[Any], Any]:
    """Return ``copy.copy``, or a faster function that does the same for most estimators."""
    if cls.__getstate__ is not BaseEstimator.__getstate__ or hasattr(cls, "__slots__"):
        return copy.copy

    def shallow_copy(estimator: Any) -> Any:
        twin = cls.__new__(cls)
        vars(twin).update(vars(estimator))
        return twin

    return shallow_copy
