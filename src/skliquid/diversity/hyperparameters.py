"""Hyperparameters that each voter draws for itself."""

import math
from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True)
class Spread:
    """Values that are dealt out evenly: several draws have each equally often, in random order.

    Where an estimator also draws from lists or from distributions of scipy, each voter draws by
    itself, as from a list.
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

    Examples
    --------
    >>> distributions_by_name({"forest__max_features": [2, 3]}, ["linear", "forest"])
    {'forest': {'max_features': [2, 3]}}
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

    When all distributions are lists with fewer combinations than voters, each combination is taken
    equally often. Lists and :class:`LogUniform` as the default voters have them, in a
    :class:`Spread`, are drawn without loading ``sklearn.model_selection``.
    """
    if not distributions:
        return []
    if all(isinstance(values, Spread | LogUniform) for values in _values(distributions)):
        draws = [values.rvs(n_voters, random_state).tolist() for values in distributions.values()]
        return [dict(zip(distributions, drawn, strict=True)) for drawn in zip(*draws, strict=True)]
    from sklearn.model_selection import ParameterGrid, ParameterSampler

    spaces = distributions if isinstance(distributions, list | tuple) else [distributions]
    is_finite = not any(hasattr(values, "rvs") for space in spaces for values in space.values())
    n_draws = min(n_voters, len(ParameterGrid(distributions))) if is_finite else n_voters
    draws = ParameterSampler(distributions, n_draws, random_state=random_state)
    return list(islice(cycle(list(draws)), n_voters))


def _values(distributions: Any) -> list[Any]:
    return list(distributions.values()) if isinstance(distributions, Mapping) else [None]


DEFAULT_NAMES = ("linear", "forest", "boosted")
"""What the default voters are called."""

MANY_ROWS, MANY_COLUMNS = 20_000, 500
"""From so many rows on, boosted trees of the default ensemble are deeper; from so many columns on,
its forests try a fixed number."""

MOST_TIMES_THE_TREES = 4.0
"""The trees of the default ensemble grow with the root of the number of classes, up to so often."""

MOST_STEPS, FEW_PASSES = 1_000_000, 10
"""Linear voters of the default ensemble take so many steps in the final fit, or one pass over the
rows, where ten passes would be more."""

ROWS_OF_A_STREAM = 20_000
"""On how many rows trees of the default ensemble are grown in ``partial_fit``: the last ones."""

ALL_ROWS, MOST_ROWS = 50_000, 200_000
"""Trees of the default ensemble see all rows up to so many, and of more a sample: each tree of a
forest so many, each boosted sequence an eighth of the others too, up to the second number."""


def default_hyperparameters(
    n_rows: int | None = None,
    n_columns: int = 1,
    n_classes: int = 2,
    names: Sequence[str] = DEFAULT_NAMES,
) -> dict[str, Any]:
    """Return what the default voters called ``names`` draw.

    It depends on the number of rows, None if that is not known, on that of columns, and on that of
    classes: the more there are, the more trees.
    """
    more_trees = min(math.sqrt(max(n_classes, 2) / 2), MOST_TIMES_THE_TREES)
    is_large = n_rows is not None and n_rows > MANY_ROWS
    is_wide = n_columns > MANY_COLUMNS
    drawn = _less_work(n_rows) | {
        "linear__alpha": LogUniform(1e-6, 1e-3),
        "linear__eta0": LogUniform(0.05, 20),
        "forest__max_features": Spread(("sqrt", 125, 200) if is_wide else ("sqrt", 0.25, 0.4)),
        "forest__min_samples_leaf": Spread((1, 2, 3)),
        "forest__splitter": Spread(("random", "best", "mixed")),
        "forest__n_estimators": Spread((round(8 * more_trees),)),
        "boosted__n_estimators": Spread((round((80 if is_large else 60) * more_trees),)),
        "boosted__max_depth": Spread((5, 6, 7) if is_large else (3, 4, 5, 6)),
        "boosted__learning_rate": Spread((0.15, 0.2, 0.3)),
        "boosted__max_features": Spread((0.5, 0.7, 1.0) if is_large else (0.3, 0.5, 0.7, 1.0)),
        "boosted__subsample": Spread((0.4, 0.5, 0.6) if is_large else (0.6, 0.8, 1.0)),
        "boosted__l2_regularization": Spread((1.0, 3.0, 10.0)),
        "boosted__min_child_weight": Spread((1.0, 3.0)),
    }
    return {key: values for key, values in drawn.items() if key.partition("__")[0] in names}


@dataclass(frozen=True)
class DefaultsWithout:
    """What the default voters draw, but for parameters that are set, such as ``linear__alpha``.

    The parameters of an estimator that is replaced, such as ``linear``, are not drawn either.
    """

    keys: tuple[str, ...]

    def resolved(self, **data: Any) -> dict[str, Any]:
        """Return what is drawn; ``data`` are those of :func:`default_hyperparameters`."""
        drawn = default_hyperparameters(**data)
        kept = (key for key in drawn if not {key, key.partition("__")[0]} & set(self.keys))
        return {key: drawn[key] for key in kept}


def _less_work(n_rows: int | None) -> dict[str, Any]:
    """Return what limits the work on many rows, and how many are kept of a stream."""
    limits: dict[str, Any] = {}
    if n_rows is None:
        return {
            name: Spread((ROWS_OF_A_STREAM,)) for name in ("boosted__max_rows", "forest__max_rows")
        }
    if n_rows * FEW_PASSES > MOST_STEPS:
        limits["linear__max_iter"] = Spread((max(MOST_STEPS // n_rows, 1),))
        limits["linear__tol"] = Spread((None,))
    if n_rows > ALL_ROWS:
        some = min(ALL_ROWS + (n_rows - ALL_ROWS) // 8, MOST_ROWS)
        limits["boosted__max_rows"] = Spread((some,))
        limits["forest__max_rows"] = Spread((ALL_ROWS,))
    return limits
