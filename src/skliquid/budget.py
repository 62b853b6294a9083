"""Budgets: training that ends in time, with the best ensemble so far."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from time import perf_counter

from skliquid.increments import Rows
from skliquid.pools.estimator_pool import n_passes
from skliquid.training import Training

_VOTERS_AT_ONCE = 4
_MANY = 10**9


@dataclass
class Budget:
    """What training may take at the most: sample visits, seconds, or both.

    The first increment is always trained on, since before it there is no ensemble. After that,
    nothing is begun that would not end within the visits, nor, by how long things took so far,
    within the seconds.
    """

    max_cost: int | None = None
    max_seconds: float | None = None
    started: float = field(default_factory=perf_counter)

    @property
    def is_unlimited(self) -> bool:
        """Whether there is nothing to watch."""
        return self.max_cost is None and self.max_seconds is None

    def increments(self, training: Training, increments: Iterable[Rows]) -> Iterator[Rows]:
        """Yield increments as long as they can be paid for."""
        for t, increment in enumerate(increments):
            n_left = len(training.graph.representatives)
            visits = n_left * len(increment.y)
            if t > 0 and self.visits_left(training) < visits:
                told = f"ended delegation after {t} increments with {n_left} representatives"
                self._tell(training, told)
                return
            yield increment

    def finish(self, training: Training, data: Rows, *, warm: bool) -> None:
        """Fit the representatives, the heaviest first, as far as the budget goes."""
        voters = training.graph.representatives
        heaviest_first = voters[(-training.graph.weights[voters]).argsort(kind="stable")]
        for start in range(0, len(voters), _VOTERS_AT_ONCE):
            some = heaviest_first[start : start + _VOTERS_AT_ONCE]
            one_pass = len(some) * len(data.y)
            max_passes = int(min(self.visits_left(training) // one_pass, _MANY))
            if max_passes < 1:
                told = f"left {start} of {len(voters)} representatives with a final fit"
                self._tell(training, told)
                return
            training.record.final_fit_cost += training.pool.finish(
                some, *data[1:], warm=warm, max_passes=max_passes
            )
            if any(n_passes(each) == max_passes for each in training.pool.estimators(some)):
                told = f"held final fits from the {start + 1}. on to {max_passes} passes"
                self._tell(training, told)

    def _tell(self, training: Training, what: str) -> None:
        """Write down what the limit that is nearest has cut short."""
        is_cost = self._visits_within_cost(training) <= self._visits_within_seconds(training)
        limit = f"max_cost={self.max_cost}" if is_cost else f"max_seconds={self.max_seconds}"
        before = f"{training.record.stopped}; " if training.record.stopped else ""
        training.record.stopped = f"{before}{limit} {what}"

    def visits_left(self, training: Training) -> float:
        """Return how many more sample visits are allowed, by both limits."""
        return min(self._visits_within_cost(training), self._visits_within_seconds(training))

    def _visits_within_cost(self, training: Training) -> float:
        if self.max_cost is None:
            return float("inf")
        return self.max_cost - training.record.cost.total

    def _visits_within_seconds(self, training: Training) -> float:
        if self.max_seconds is None:
            return float("inf")
        passed = perf_counter() - self.started
        visits_a_second = training.record.cost.total / passed
        return (self.max_seconds - passed) * visits_a_second
