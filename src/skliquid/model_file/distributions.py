"""Distributions of scipy, from which voters draw hyperparameters."""

from typing import Any

import scipy.stats

from skliquid.model_file.fields import Check, Items, Keyed, Text, Unfit
from skliquid.model_file.values import Kind

_FIELDS: dict[str, Check] = {"name": Text(), "args": Items(), "kwds": Keyed()}


def _take_apart(distribution: Any) -> dict[str, Any]:
    own = distribution.dist.name
    known = getattr(scipy.stats, own, None)
    if type(known) is not type(distribution.dist):
        raise Unfit(f"a distribution of scipy.stats: got {own!r}")
    return {"name": own, "args": distribution.args, "kwds": distribution.kwds}


def _make(name: str, args: Any, kwds: Any) -> Any:
    known = getattr(scipy.stats, name, None)
    if not isinstance(known, scipy.stats.rv_continuous | scipy.stats.rv_discrete):
        raise Unfit(f"a distribution of scipy.stats: got {name!r:.40}")
    return known(*args, **kwds)


KINDS = [
    Kind(type(frozen).__name__, type(frozen), _FIELDS, _take_apart, _make)
    for frozen in (scipy.stats.norm(), scipy.stats.randint(0, 2))
]
