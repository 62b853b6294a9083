"""Delegation mechanisms: who delegates next, and to whom."""

from skliquid.mechanisms.mechanism import CANDIDATES, Candidates, Mechanism, Probability, Selection
from skliquid.mechanisms.named import MECHANISMS, OF_THE_PAPER, AnyMechanism, as_mechanism
from skliquid.mechanisms.refinement import (
    BetterBeyondChance,
    Knowledge,
    Refinement,
    Situation,
    WeightCap,
)
from skliquid.mechanisms.revocable import BetterThanGuru, FastestLearners, Return, Revocable

__all__ = [
    "CANDIDATES",
    "MECHANISMS",
    "OF_THE_PAPER",
    "AnyMechanism",
    "BetterBeyondChance",
    "BetterThanGuru",
    "Candidates",
    "FastestLearners",
    "Knowledge",
    "Mechanism",
    "Probability",
    "Refinement",
    "Return",
    "Revocable",
    "Selection",
    "Situation",
    "WeightCap",
    "as_mechanism",
]
