"""Callbacks of scikit-learn (from version 1.9 on) at each increment of ``fit``."""

import copy
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from skliquid.delegation.rows import Rows
from skliquid.training import Training

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # before scikit-learn 1.9
    CallbackSupportMixin = type("CallbackSupportMixin", (), {})
    _with_callbacks = None

Method = TypeVar("Method", bound=Callable[..., Any])

__all__ = ["CallbackSupportMixin", "FitCallbacks", "with_callbacks"]


def with_callbacks(method: Method) -> Method:
    """Return a method that tears callbacks down at its end, if scikit-learn has any."""
    managed: Method = _with_callbacks(method) if _with_callbacks else method
    return managed


class FitCallbacks:
    """The callbacks of an ensemble during ``fit``.

    Each increment is a task, and so is the final fit. A callback may end delegation: the remaining
    increments are skipped. ``state`` returns the fitted state of a training so far.
    """

    def __init__(
        self,
        ensemble: Any,
        rows: Rows,
        training: Training,
        state: Callable[[Training], Any],
        *,
        n_tasks: int,
    ):
        self.ensemble, self.training, self.state = ensemble, training, state
        self.data: dict[str, Any] = {"X": rows.X, "y": rows.y}
        if rows.sample_weight is not None:
            self.data["metadata"] = {"sample_weight": rows.sample_weight}
        self.context: Any = None
        self.is_stopped = False
        if getattr(ensemble, "_skl_callbacks", None):
            begin = ensemble._init_callback_context  # noqa: SLF001 (scikit-learn's name for it)
            self.context = begin(max_subtasks=n_tasks)
            self.context.call_on_fit_task_begin(estimator=ensemble, **self.data)

    def increments(self, increments: Iterable[Any]) -> Generator[Any, None, None]:
        """Yield increments, and call the callbacks before and after each."""
        for increment in increments:
            task = self._begin("increment")
            try:
                yield increment
            finally:
                if not self.training.is_interrupted:
                    self.is_stopped = self._end(task)
            if self.is_stopped:
                return

    @contextmanager
    def final_fit(self) -> Iterator[None]:
        """Return the context of the final fit."""
        task = self._begin("final fit")
        yield
        self._end(task)

    def end(self) -> None:
        """Call the callbacks at the end of ``fit``."""
        self._end(self.context)

    def _begin(self, name: str) -> Any:
        if self.context is None:
            return None
        task = self.context.subcontext(name)
        return task.call_on_fit_task_begin(estimator=self.ensemble, **self.data)

    def _end(self, task: Any) -> bool:
        """Call the callbacks after a task, and return whether they end delegation."""
        if task is None:
            return False
        is_stopped: bool = task.call_on_fit_task_end(
            estimator=self.ensemble, reconstruction_attributes=self._attributes, **self.data
        )
        return is_stopped

    def _attributes(self) -> dict[str, Any]:
        """Return the fitted attributes for callbacks that ask for a copy of the ensemble."""
        training = self.training.with_pool(copy.deepcopy(self.training.pool), 0)
        return {"_fitted": self.state(training)}
