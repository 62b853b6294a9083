"""Hyperparameters that each voter draws for itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np


@dataclass(frozen=True)
class LogUniform:
    r"""Numbers whose logarithm is uniform between those of ``low`` and ``high``.

    A draw is :math:`\exp(\ln a + u (\ln b - \ln a))` with :math:`u` uniform between 0 and 1, the
    same as that of ``scipy.stats.loguniform``, which takes long to import.
    """

    low: float
    high: float

    def rvs(self, size: int | None = None, random_state: Any = None) -> Any:
        """Return ``size`` draws, or one number."""
        u = random_state.uniform(size=size)
        return np.exp(np.log(self.low) + u * (np.log(self.high) - np.log(self.low)))


DEFAULT_HYPERPARAMETERS = {"alpha": LogUniform(1e-6, 1e-3), "eta0": LogUniform(0.05, 20)}
"""What the default voters draw."""


def draw_hyperparameters(
    distributions: Any, n_voters: int, random_state: np.random.RandomState
) -> list[Mapping[str, Any]]:
    """Return the hyperparameters of each voter, drawn as ``RandomizedSearchCV`` draws them.

    When all distributions are lists with fewer combinations than voters, each combination is taken
    equally often.
    """
    if not distributions:
        return []
    if distributions is DEFAULT_HYPERPARAMETERS:  # all at once, and model_selection is not loaded
        draws = [values.rvs(n_voters, random_state).tolist() for values in distributions.values()]
        return [dict(zip(distributions, drawn, strict=True)) for drawn in zip(*draws, strict=True)]
    from sklearn.model_selection import ParameterGrid, ParameterSampler

    spaces = distributions if isinstance(distributions, list | tuple) else [distributions]
    is_finite = not any(hasattr(values, "rvs") for space in spaces for values in space.values())
    n_draws = min(n_voters, len(ParameterGrid(distributions))) if is_finite else n_voters
    draws = ParameterSampler(distributions, n_draws, random_state=random_state)
    return list(islice(cycle(list(draws)), n_voters))
