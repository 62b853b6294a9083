"""Interrupt: Ctrl-C during ``fit``, with the option to keep the ensemble so far."""

import copy
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

from skliquid.supervision.progress import print_line
from skliquid.training import Training


class Interrupt:
    """The effect of Ctrl-C, or of the stop button of a notebook, on a training.

    If ``keeps``, training ends after the current increment, and an unfinished final fit is undone;
    otherwise ``KeyboardInterrupt`` is raised. A second Ctrl-C always raises it.
    """

    def __init__(self, *, keeps: bool):
        self.keeps = keeps
        self.is_asked = False

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Return a context in which the first Ctrl-C is noted; only a main thread gets any."""
        if not self.keeps or current_thread() is not main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._ask)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.is_asked:
            signal.default_int_handler(number, frame)
        self.is_asked = True
        print_line("stopping after this increment; interrupt again to stop at once")

    def increments(
        self, training: Training, increments: Iterable[Any]
    ) -> Generator[Any, None, None]:
        """Yield increments until Ctrl-C is pressed."""
        for increment in increments:
            yield increment
            if self.is_asked:
                n_done, n_left = training.record.n_increments, len(training.graph.representatives)
                training.record.note_stop(
                    f"Ctrl-C ended delegation after {n_done} increments with {n_left} "
                    "representatives"
                )
                return

    def finish(self, training: Training, finish: Callable[[], None]) -> None:
        """Call ``finish``, the final fit; at Ctrl-C leave the voters as they were before it."""
        if self.is_asked:
            training.record.note_stop("Ctrl-C left no representative with a final fit")
        elif not self.keeps:
            finish()
        else:
            pool, cost = copy.deepcopy(training.pool), training.record.final_fit_cost
            try:
                finish()
            except KeyboardInterrupt:
                self.is_asked = True
                training.pool, training.record.final_fit_cost = pool, cost
                training.record.note_stop("Ctrl-C left no representative with a final fit")
