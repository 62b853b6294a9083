"""Delegation mechanisms: who delegates next, and to whom."""

from skliquid.mechanisms.mechanism import CANDIDATES, Candidates, Mechanism, Probability, Selection
from skliquid.mechanisms.named import MECHANISMS, OF_THE_PAPER, as_mechanism
from skliquid.mechanisms.refinement import (
    BetterBeyondChance,
    ErrorOverlap,
    Knowledge,
    Refinement,
    Situation,
    WeightCap,
)

__all__ = [
    "CANDIDATES",
    "MECHANISMS",
    "OF_THE_PAPER",
    "BetterBeyondChance",
    "Candidates",
    "ErrorOverlap",
    "Knowledge",
    "Mechanism",
    "Probability",
    "Refinement",
    "Selection",
    "Situation",
    "WeightCap",
    "as_mechanism",
]
