"""Supervision: what may end a ``fit`` early, and what reports on it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from skliquid.budget import Budget
from skliquid.callbacks import FitCallbacks
from skliquid.interrupts import Interrupt
from skliquid.progress import print_line, with_progress
from skliquid.rows import Rows
from skliquid.training import Training


class Supervision:
    """Budget, Ctrl-C, scikit-learn's callbacks and progress messages of one ``fit``.

    Parameters
    ----------
    ensemble : LiquidEnsembleClassifier
        The ensemble, whose ``fit`` is running.
    given : Rows
        All rows, with their labels.
    training : Training
        What is supervised.
    state : callable
        Returns what makes an ensemble fitted to the increments so far.
    budget : Budget
        The limits.
    n_increments : int
        The most increments.
    """

    def __init__(
        self,
        ensemble: Any,
        given: Rows,
        training: Training,
        state: Callable[[Training], Any],
        *,
        budget: Budget,
        n_increments: int,
    ):
        self.training, self.budget, self.n_increments = training, budget, n_increments
        self.is_verbose = bool(ensemble.verbose)
        self.interrupt = Interrupt(keeps=ensemble.on_interrupt == "keep")
        n_tasks = n_increments + ensemble.final_fit
        self.callbacks = FitCallbacks(ensemble, given, training, state, n_tasks=n_tasks)

    @contextmanager
    def increments(self, increments: Iterable[Rows]) -> Iterator[Iterable[Rows]]:
        """Return the context in which those increments are yielded that may be trained on."""
        allowed = self.budget.increments(self.training, increments)
        allowed = self.interrupt.increments(self.training, allowed)
        allowed = self.callbacks.increments(allowed)
        if self.is_verbose:
            allowed = with_progress(self.training, allowed, self.n_increments)
        with self.interrupt.handled(), closing(allowed):
            yield allowed

    def finish(self, rows: Rows) -> None:
        """Refit the representatives on all rows, as far as is allowed."""
        if self.is_verbose:
            n_left = len(self.training.graph.representatives)
            print_line(f"final fit of {n_left} representatives")
        with self.callbacks.final_fit():
            self.interrupt.finish(self.training, lambda: self.budget.finish(self.training, rows))

    def end(self) -> None:
        """Record if a budget was exceeded, and call the callbacks at the end of ``fit``."""
        self.budget.conclude(self.training)
        self.callbacks.end()
