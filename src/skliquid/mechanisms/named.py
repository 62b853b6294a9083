"""Mechanisms by name: the paper's six. A new mechanism is one entry in ``NAMED``."""

from collections.abc import Mapping
from typing import TypeAlias, TypeVar

from skliquid.mechanisms.mechanism import Mechanism, Probability, Selection
from skliquid.mechanisms.probability import (
    any_candidate,
    best_of_the_lightest,
    better,
    gain_of_the_better,
    gain_per_weight,
    none,
)
from skliquid.mechanisms.selection import at_random, least_accurate, nobody

Named = TypeVar("Named")
Pair: TypeAlias = tuple[Selection, Probability]

NAMED: dict[str, Mechanism] = {
    "direct": Mechanism(nobody, none),
    "random": Mechanism(at_random, any_candidate),
    "max": Mechanism(least_accurate, best_of_the_lightest, weight_of="candidate"),
    "random_better": Mechanism(least_accurate, better),
    "proportional_better": Mechanism(least_accurate, gain_of_the_better),
    "proportional_weighted": Mechanism(least_accurate, gain_per_weight),
}

OF_THE_PAPER = tuple(NAMED)[:6]


def resolve(mechanism: str | Mechanism | Pair, named: Mapping[str, Named]) -> Named | Mechanism:
    """Return the mechanism that a name in ``named``, a mechanism or a pair stands for."""
    if isinstance(mechanism, Mechanism):
        return mechanism
    if isinstance(mechanism, str) and mechanism in named:
        return named[mechanism]
    if isinstance(mechanism, tuple) and len(mechanism) == 2:
        return Mechanism(*mechanism)
    raise ValueError(
        f"mechanism must be one of {', '.join(named)}, a Mechanism or a pair (selection, "
        f"probability) of functions: got {mechanism!r}. Choose a name, or give both functions."
    )
