"""Delegation mechanisms: who delegates next, and to whom."""

from skliquid.mechanisms.mechanism import CANDIDATES, Mechanism, Probability, Selection
from skliquid.mechanisms.named import MECHANISMS, OF_THE_PAPER, as_mechanism, revocable
from skliquid.mechanisms.refinement import Knowledge, Refinement, Situation
from skliquid.mechanisms.returns import BetterThanGuru, FastestLearners, Return
from skliquid.voting import VOTE_WEIGHTS, VoteWeights

__all__ = [
    "CANDIDATES",
    "MECHANISMS",
    "OF_THE_PAPER",
    "VOTE_WEIGHTS",
    "BetterThanGuru",
    "FastestLearners",
    "Knowledge",
    "Mechanism",
    "Probability",
    "Refinement",
    "Return",
    "Selection",
    "Situation",
    "VoteWeights",
    "as_mechanism",
    "revocable",
]
