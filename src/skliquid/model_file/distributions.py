"""Distributions of scipy, from which voters draw hyperparameters."""

from importlib import import_module
from typing import Any

from skliquid.model_file.fields import Check, Items, Keyed, Text, Unfit
from skliquid.model_file.values import Kind

_FIELDS: dict[str, Check] = {"name": Text(), "args": Items(), "kwds": Keyed()}
_MODULE = "scipy.stats"  # which takes long to import


class Distribution:
    """What stands for any distribution of scipy with fixed parameters."""


def is_distribution(value: Any) -> bool:
    """Return whether a value is a distribution of scipy with fixed parameters."""
    name, module = type(value).__name__, type(value).__module__
    return module.startswith(_MODULE) and name in ("rv_continuous_frozen", "rv_discrete_frozen")


def _take_apart(distribution: Any) -> dict[str, Any]:
    name = distribution.dist.name
    known = getattr(import_module(_MODULE), name, None)
    if type(known) is not type(distribution.dist):
        raise Unfit(f"a distribution of scipy.stats: got {name!r}")
    return {"name": name, "args": distribution.args, "kwds": distribution.kwds}


def _make(name: str, args: Any, kwds: Any) -> Any:
    stats = import_module(_MODULE)
    known = getattr(stats, name, None)
    if not isinstance(known, stats.rv_continuous | stats.rv_discrete):
        raise Unfit(f"a distribution of scipy.stats: got {name!r:.40}")
    return known(*args, **kwds)


KINDS = [Kind("distribution", Distribution, _FIELDS, _take_apart, _make, matches=is_distribution)]
