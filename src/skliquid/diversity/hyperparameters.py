"""Hyperparameters: distributions from which each voter draws its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np

from skliquid.delegation.storable import storable


@storable
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


@storable
@dataclass(frozen=True)
class Spread:
    """Values that are drawn equally often, in random order.

    If an estimator also draws from lists or from distributions of scipy, each voter draws
    independently, as from a list.
    """

    values: tuple[Any, ...]

    def rvs(self, size: int | None = None, random_state: Any = None) -> Any:
        """Return ``size`` draws, or one value."""
        if size is None:
            return self.values[random_state.randint(len(self.values))]
        first, n_values = random_state.randint(len(self.values)), len(self.values)
        drawn = np.empty(size, dtype=object)
        for k in range(size):  # one by one, since values may be tuples
            drawn[k] = self.values[(first + k) % n_values]
        return drawn[random_state.permutation(size)]


def distributions_by_name(
    distributions: Any, names: Sequence[str]
) -> dict[str, dict[str, Any]] | None:
    """Return distributions for each estimator in a list, or None if all voters share theirs.

    ``"forest__max_features"`` is the parameter ``max_features`` of the estimator ``"forest"``.
    """
    if not isinstance(distributions, Mapping):
        return None
    parts = {key: key.partition("__") for key in distributions}
    if not parts or not all(part[0] in names and part[2] for part in parts.values()):
        return None
    found: dict[str, dict[str, Any]] = {}
    for key, (name, _, parameter) in parts.items():
        found.setdefault(name, {})[parameter] = distributions[key]
    return found


def draw_hyperparameters(
    distributions: Any, n_voters: int, random_state: np.random.RandomState
) -> list[Mapping[str, Any]]:
    """Return the hyperparameters of each voter, drawn as ``RandomizedSearchCV`` draws them.

    If all distributions are lists with fewer combinations than voters, each combination is drawn
    equally often. :class:`Spread` and :class:`LogUniform` are drawn without importing
    ``sklearn.model_selection``, which takes long.
    """
    if not distributions:
        return []
    is_own = isinstance(distributions, Mapping) and all(
        isinstance(values, Spread | LogUniform) for values in distributions.values()
    )
    if is_own:
        draws = [values.rvs(n_voters, random_state).tolist() for values in distributions.values()]
        return [dict(zip(distributions, drawn, strict=True)) for drawn in zip(*draws, strict=True)]
    from sklearn.model_selection import ParameterGrid, ParameterSampler

    spaces = distributions if isinstance(distributions, list | tuple) else [distributions]
    is_finite = not any(hasattr(values, "rvs") for space in spaces for values in space.values())
    n_draws = min(n_voters, len(ParameterGrid(distributions))) if is_finite else n_voters
    draws = ParameterSampler(distributions, n_draws, random_state=random_state)
    return list(islice(cycle(list(draws)), n_voters))


@storable
@dataclass(frozen=True)
class DefaultsWithout:
    """The default distributions without some parameters, such as ``linear__alpha``.

    A key without a parameter, such as ``linear``, leaves out all parameters of that estimator.
    """

    keys: tuple[str, ...]

    def applied_to(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """Return the default distributions that are left."""
        kept = (key for key in defaults if not {key, key.partition("__")[0]} & set(self.keys))
        return {key: defaults[key] for key in kept}
