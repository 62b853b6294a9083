"""Delegation mechanisms: who delegates next, and to whom."""

from skliquid.mechanisms.mechanism import CANDIDATES, Candidates, Mechanism, Probability, Selection
from skliquid.mechanisms.named import MECHANISMS, as_mechanism

__all__ = [
    "CANDIDATES",
    "MECHANISMS",
    "Candidates",
    "Mechanism",
    "Probability",
    "Selection",
    "as_mechanism",
]
