"""Mechanisms: who delegates, to whom, how many at a time, and how votes are weighted.

- :class:`Mechanism`, its parts (``selection``, ``probability``, ``refinement``, ``revocation``) and
  :data:`MECHANISMS` by name;
- ``schedules`` and ``sizes``: how many delegate at each increment;
- ``vote_weights``: how much each representative counts.
"""

from skliquid.mechanisms.mechanism import CANDIDATES, Mechanism, Probability, Selection
from skliquid.mechanisms.named import MECHANISMS, PAPER_MECHANISMS, as_mechanism, revocable
from skliquid.mechanisms.refinement import Knowledge, Refinement, Situation
from skliquid.mechanisms.revocation import BetterThanGuru, FastestLearners, Revocation
from skliquid.mechanisms.schedules import FixedCount, JustFastEnough, Rate, Rounded, Schedule
from skliquid.mechanisms.sizes import Sizes
from skliquid.mechanisms.vote_weights import (
    VOTE_WEIGHTS,
    VoteWeights,
    delegated,
    delegated_log_odds,
    equal,
    log_odds,
)

__all__ = [
    "CANDIDATES",
    "MECHANISMS",
    "PAPER_MECHANISMS",
    "VOTE_WEIGHTS",
    "BetterThanGuru",
    "FastestLearners",
    "FixedCount",
    "JustFastEnough",
    "Knowledge",
    "Mechanism",
    "Probability",
    "Rate",
    "Refinement",
    "Revocation",
    "Rounded",
    "Schedule",
    "Selection",
    "Situation",
    "Sizes",
    "VoteWeights",
    "as_mechanism",
    "delegated",
    "delegated_log_odds",
    "equal",
    "log_odds",
    "revocable",
]
