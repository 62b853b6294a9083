"""Supervision: budgets, interrupts, callbacks and progress of a running ``fit``."""

from skliquid.supervision.budget import Budget
from skliquid.supervision.callbacks import CallbackSupportMixin, with_callbacks
from skliquid.supervision.progress import print_line, with_progress
from skliquid.supervision.supervision import Report, Supervision

__all__ = [
    "Budget",
    "CallbackSupportMixin",
    "Report",
    "Supervision",
    "print_line",
    "with_callbacks",
    "with_progress",
]
