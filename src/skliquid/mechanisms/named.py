"""Mechanisms by name: the paper's six, and those that know more."""

from typing import TypeAlias

from skliquid.mechanisms.mechanism import Mechanism, Probability, Selection
from skliquid.mechanisms.probability import (
    any_candidate,
    best_of_the_lightest,
    better,
    gain_of_the_better,
    gain_per_weight,
    none,
)
from skliquid.mechanisms.refinement import BetterBeyondChance, WeightCap
from skliquid.mechanisms.revocable import FastestLearners, Revocable
from skliquid.mechanisms.selection import at_random, least_accurate, nobody

AnyMechanism: TypeAlias = Mechanism | Revocable

MECHANISMS: dict[str, AnyMechanism] = {
    "direct": Mechanism(nobody, none),
    "random": Mechanism(at_random, any_candidate),
    "max": Mechanism(least_accurate, best_of_the_lightest, weight_of="candidate"),
    "random_better": Mechanism(least_accurate, better),
    "proportional_better": Mechanism(least_accurate, gain_of_the_better),
    "proportional_weighted": Mechanism(least_accurate, gain_per_weight),
    "capped": Mechanism(least_accurate, gain_per_weight, (WeightCap(),)),
    "confident": Mechanism(least_accurate, gain_per_weight, (BetterBeyondChance(),)),
    "learning_slopes": Revocable(Mechanism(least_accurate, gain_per_weight), FastestLearners()),
}

OF_THE_PAPER = tuple(MECHANISMS)[:6]


def as_mechanism(
    mechanism: str | AnyMechanism | tuple[Selection, Probability], *, revocable: bool = False
) -> AnyMechanism:
    """Return the mechanism that a name, a mechanism or a pair of functions stands for.

    With ``revocable`` its delegators may return.
    """
    named = _named(mechanism)
    return Revocable(named) if revocable and isinstance(named, Mechanism) else named


def _named(mechanism: str | AnyMechanism | tuple[Selection, Probability]) -> AnyMechanism:
    if isinstance(mechanism, Mechanism | Revocable):
        return mechanism
    if isinstance(mechanism, str):
        if mechanism not in MECHANISMS:
            raise ValueError(
                f"mechanism must be one of {', '.join(MECHANISMS)}, or a pair of functions: "
                f"{mechanism!r} is not known. Choose one of these names."
            )
        return MECHANISMS[mechanism]
    if len(mechanism) != 2:
        raise ValueError(
            f"mechanism must be a pair (selection, probability) of functions, got {mechanism!r}. "
            "Give both functions."
        )
    return Mechanism(*mechanism)
