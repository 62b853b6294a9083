"""Delegation mechanisms: who delegates next, and to whom."""

from skliquid.mechanisms.any_mechanism import MECHANISMS, AnyMechanism, as_mechanism
from skliquid.mechanisms.mechanism import CANDIDATES, Mechanism, Probability, Selection
from skliquid.mechanisms.named import OF_THE_PAPER
from skliquid.mechanisms.refinement import Knowledge, Refinement, Situation
from skliquid.mechanisms.revocable import (
    BetterThanGuru,
    FastestLearners,
    Return,
    Revocable,
    wilson,
)
from skliquid.mechanisms.vote_weights import VOTE_WEIGHTS, VoteWeights, checked_weights

__all__ = [
    "CANDIDATES",
    "MECHANISMS",
    "OF_THE_PAPER",
    "VOTE_WEIGHTS",
    "AnyMechanism",
    "BetterThanGuru",
    "FastestLearners",
    "Knowledge",
    "Mechanism",
    "Probability",
    "Refinement",
    "Return",
    "Revocable",
    "Selection",
    "Situation",
    "VoteWeights",
    "as_mechanism",
    "checked_weights",
    "wilson",
]
