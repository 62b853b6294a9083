"""Supervision: budget, Ctrl-C, callbacks and progress messages of one ``fit``."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any, TypeAlias, TypeVar

from skliquid.delegation.rows import Rows
from skliquid.supervision.budget import Budget
from skliquid.supervision.callbacks import FitCallbacks
from skliquid.supervision.interrupts import Interrupt
from skliquid.supervision.progress import print_line, with_progress
from skliquid.training import Training

Item = TypeVar("Item")
Report: TypeAlias = Callable[[Training, str, float], None]
"""Called with the training, its stage, and the share of the stage that is done at most."""


class Supervision:
    """Budget, Ctrl-C, scikit-learn's callbacks and progress messages of one ``fit``.

    ``given`` are all rows with their labels; ``state`` returns the fitted state of a training.
    ``report`` is called after each increment.
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
        n_sizes: int,
        report: Report | None = None,
    ):
        self.training, self.budget, self.n_increments = training, budget, n_increments
        self.report = report
        self.is_verbose = bool(ensemble.verbose)
        self.interrupt = Interrupt(keeps=ensemble.on_interrupt == "keep")
        n_tasks = n_increments + n_sizes + ensemble.final_fit
        self.callbacks = FitCallbacks(ensemble, given, training, state, n_tasks=n_tasks)

    def increments(self, increments: Iterable[Rows]) -> AbstractContextManager[Iterable[Rows]]:
        """Return a context that yields the increments that may be trained on."""
        allowed = self.budget.increments(self.training, increments)
        allowed = self._reported(allowed, "choosing", lambda k, _: (k + 1) / self.n_increments)
        return self._supervised(allowed, self.n_increments)

    def sizes(self, sizes: Sequence[float], n_rows: int) -> AbstractContextManager[Iterable[float]]:
        """Return a context that yields the sizes to which voters may grow on ``n_rows`` rows."""
        if self.interrupt.is_asked or self.callbacks.is_stopped:
            sizes = ()
        n_increments = self.training.record.n_increments + len(sizes)
        allowed: Iterable[float] = self.budget.sizes(self.training, sizes, n_rows)
        allowed = self._reported(allowed, "growing", lambda _, size: size / sizes[-1])
        return self._supervised(allowed, n_increments)

    def _reported(
        self, items: Iterable[Item], stage: str, share: Callable[[int, Item], float]
    ) -> Iterator[Item]:
        """Yield items, and report the share of the stage that is done after each."""
        for k, item in enumerate(items):
            try:
                yield item
            except GeneratorExit:  # this was the last one
                self._report(stage, share(k, item))
                raise
            self._report(stage, share(k, item))

    def _report(self, stage: str, share: float) -> None:
        if self.report is not None and not self.training.is_interrupted:
            self.report(self.training, stage, share)

    @contextmanager
    def _supervised(self, allowed: Iterable[Any], n_increments: int) -> Iterator[Iterable[Any]]:
        allowed = self.callbacks.increments(self.interrupt.increments(self.training, allowed))
        if self.is_verbose:
            allowed = with_progress(self.training, allowed, n_increments)
        with self.interrupt.handled(), closing(allowed):
            yield allowed

    def finish(self, rows: Rows, score: Callable[[], float] | None) -> None:
        """Refit the representatives on all rows, within the budget, and record their score."""
        if self.is_verbose:
            n_left = len(self.training.graph.representatives)
            print_line(f"final fit of {n_left} representatives")
        with self.callbacks.final_fit():
            self.interrupt.finish(self.training, lambda: self.budget.finish(self.training, rows))
        if score:
            accuracy = self.training.record.final_eval_accuracy = score()
            if self.is_verbose:
                print_line(f"accuracy on the evaluation set: {accuracy:.3f}")

    def end(self) -> None:
        """Record if a budget was exceeded, and call the callbacks at the end of ``fit``."""
        self.budget.conclude(self.training)
        self.callbacks.end()
