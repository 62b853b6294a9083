"""Budgets: training that ends in time, with the best ensemble so far."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf, isqrt
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.dummy import DummyClassifier

from skliquid.arrays import Floats
from skliquid.increments import Rows
from skliquid.pools import Variety, knows_visits
from skliquid.pools.estimator_pool import (
    learns_by_increments,
    most_passes,
    n_passes,
    takes_sample_weight,
)
from skliquid.pools.pool import hold
from skliquid.training import Training

_VOTERS_AT_ONCE = 4
_MANY = 10**9


class _Fits(NamedTuple):
    """Fits to come, one of each voter.

    Attributes
    ----------
    rows : array of float
        How many rows a pass goes over.
    least : array of float
        The passes that a voter took the last time. Held to fewer, it would lose by the fit.
    most : array of float
        The passes that a voter takes if it is not held.
    """

    rows: Floats
    least: Floats
    most: Floats

    def first(self, n_voters: int) -> "_Fits":
        """Return the fits of the first ``n_voters``."""
        return _Fits(*(values[:n_voters] for values in self))

    def visits(self, max_passes: float) -> float:
        """Return the most visits of voters that are held to ``max_passes``."""
        return float(np.sum(self.rows * np.minimum(self.most, max_passes)))

    def max_passes(self, visits: float) -> int:
        """Return to what number of passes ``visits`` hold the voters; 0 if they do not suffice."""
        passes = bisect_right(range(_MANY + 1), visits, key=self.visits) - 1
        return passes if passes >= self.least.max() else 0


@dataclass
class Budget:
    """What training may take at the most: sample visits, seconds, or both.

    Nothing is begun that would not end within the visits, nor, by how long things took so far,
    within the seconds. Voters that are fitted anew at each increment are held to as many passes as
    there are visits for, where they have ``max_iter``.

    Parameters
    ----------
    max_cost, max_seconds : int, float or None
        The limits; None means none.
    """

    max_cost: int | None = None
    max_seconds: float | None = None
    started: float = field(default_factory=perf_counter)
    knows_visits: bool = field(default=False, init=False)
    """Whether every voter is sure to see each row of an increment once."""
    repeats_rows: bool = field(default=False, init=False)
    """Whether a row that a voter drew twice is there twice, for want of weights."""
    _held_to: int | None = field(default=None, init=False)

    @property
    def is_unlimited(self) -> bool:
        """Whether there is nothing to watch."""
        return self.max_cost is None and self.max_seconds is None

    def know(self, kinds: Sequence[Any], seeds: Sequence[int], variety: Variety) -> None:
        """Look at the voters, as :func:`~skliquid.pools.pool_for` makes them."""
        if self.is_unlimited:
            return
        self.knows_visits = knows_visits(kinds, seeds, variety)
        is_bootstrap = variety.sample is not None and variety.sample.bootstrap
        self.repeats_rows = is_bootstrap and not all(map(takes_sample_weight, kinds))

    def increments(self, training: Training, increments: Iterable[Rows]) -> Iterator[Rows]:
        """Yield increments as long as they can be paid for."""
        if self.is_unlimited:
            yield from increments
            return
        n_so_far = 0
        for t, increment in enumerate(increments):
            n_so_far += len(increment.y)
            fits = self._fits_to_increment(training, len(increment.y), n_so_far)
            max_passes = fits.max_passes(self.visits_left(training))
            if max_passes == 0:
                self._check_first(training, fits)
                n_left = len(fits.rows)
                self._tell(
                    training, f"ended delegation after {t} increments with {n_left} representatives"
                )
                return
            self._held_to = max_passes if max_passes < fits.most.max() else None
            hold(training.pool, self._held_to)
            yield increment
            self._tell_held_increment(training)

    def _check_first(self, training: Training, fits: _Fits) -> None:
        """Raise when not even the first increment, without which there is nothing, can be paid."""
        if not training.record:
            raise ValueError(
                "max_cost must allow all voters a pass over the first increment: "
                f"{len(fits.rows)} voters may take {fits.visits(1):.0f} visits for it, and "
                f"{self.max_cost} are less. Raise max_cost, or lower n_estimators or "
                "increment_size."
            )

    def _fits_to_increment(self, training: Training, n_new: int, n_so_far: int) -> _Fits:
        """Return what an increment will take."""
        voters = training.graph.representatives
        if self.knows_visits or not training.record:
            once, most = np.ones(len(voters)), 1 if self.knows_visits else inf
            return _Fits(self._n_given(n_new) * once, once, most * once)
        return self._fits(training.pool.estimators(voters), n_so_far, n_new)

    def _fits(self, estimators: Sequence[Any], n_rows: int, n_new: int | None = None) -> _Fits:
        """Return fits to ``n_rows``, or to the ``n_new`` of them where voters learn from those."""
        fits = []
        for each in estimators:
            # who stands in for a voter until a second class comes says nothing about it
            most = inf if isinstance(each, DummyClassifier) else most_passes(each)
            if not learns_by_increments(each):
                fits.append((self._n_given(n_rows), min(n_passes(each), most), most))
            elif n_new is None:
                fits.append((self._n_given(n_rows), 1, most))
            else:
                fits.append((self._n_given(n_new), 1, 1))
        return _Fits(*np.array(fits, dtype=np.float64).T)

    def _n_given(self, n_rows: int) -> int:
        """Return how many rows a voter is given, at the most and as far as can be told."""
        # six standard deviations above the mean of the Poisson distribution that rows are drawn by
        return n_rows + (6 * (isqrt(n_rows) + 1) + 12) * self.repeats_rows

    def finish(self, training: Training, data: Rows, *, warm: bool) -> None:
        """Fit the representatives, the heaviest first, as far as the budget goes."""
        self._tell_held_increment(training)
        voters = training.graph.representatives
        heaviest_first = voters[(-training.graph.weights[voters]).argsort(kind="stable")]
        n_done = 0
        while n_done < len(voters):
            some = heaviest_first[n_done : n_done + _VOTERS_AT_ONCE]
            fits = self._fits(training.pool.estimators(some), len(data.y))
            left = self.visits_left(training)
            while len(some) and not fits.max_passes(left):
                some, fits = some[:-1], fits.first(len(some) - 1)
            if not len(some):
                told = f"left {n_done} of {len(voters)} representatives with a final fit"
                self._tell(training, told)
                return
            max_passes = fits.max_passes(left)
            training.record.final_fit_cost += training.pool.finish(
                some, *data[1:], warm=warm, max_passes=max_passes
            )
            if _are_held(training.pool.estimators(some), max_passes):
                told = f"held final fits from the {n_done + 1}. on to {max_passes} passes"
                self._tell(training, told)
            n_done += len(some)

    def conclude(self, training: Training) -> None:
        """Say so if more was spent than allowed, as some voters cannot be held to passes."""
        excess = -self._visits_within_cost(training)
        if excess > 0:
            limit = f"max_cost={self.max_cost}"
            self._write(training, f"{limit} was exceeded by {excess}: passes could not be limited")

    def _tell_held_increment(self, training: Training) -> None:
        max_passes, self._held_to = self._held_to, None
        if max_passes is None:
            return
        hold(training.pool, None)
        voters = training.pool.estimators(training.graph.representatives)
        if _are_held([each for each in voters if not learns_by_increments(each)], max_passes):
            t = training.record.n_increments
            self._tell(training, f"held fits at increment {t} to {max_passes} passes")

    def _tell(self, training: Training, what: str) -> None:
        """Write down what the limit that is nearest has cut short."""
        is_cost = self._visits_within_cost(training) <= self._visits_within_seconds(training)
        limit = f"max_cost={self.max_cost}" if is_cost else f"max_seconds={self.max_seconds}"
        self._write(training, f"{limit} {what}")

    def _write(self, training: Training, told: str) -> None:
        before = f"{training.record.stopped}; " if training.record.stopped else ""
        training.record.stopped = before + told

    def visits_left(self, training: Training) -> float:
        """Return how many more sample visits are allowed, by both limits."""
        return min(self._visits_within_cost(training), self._visits_within_seconds(training))

    def _visits_within_cost(self, training: Training) -> float:
        return inf if self.max_cost is None else self.max_cost - training.record.cost.total

    def _visits_within_seconds(self, training: Training) -> float:
        if self.max_seconds is None or not training.record:  # nothing is known before
            return inf
        passed = perf_counter() - self.started
        visits_a_second = training.record.cost.total / passed
        return (self.max_seconds - passed) * visits_a_second


def _are_held(estimators: Sequence[Any], max_passes: int) -> bool:
    """Return whether one of ``estimators`` took all passes it was allowed, and could take more."""
    return any(n_passes(each) == max_passes < most_passes(each) for each in estimators)
