"""Budget: training within a limit of sample visits or seconds."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.dummy import DummyClassifier

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.rows import Rows
from skliquid.diversity import VoterSpec
from skliquid.pools.capabilities import (
    grows_trees,
    learns_by_increments,
    n_passes,
    pass_limit,
    sees_rows_once,
)
from skliquid.training import (
    LAST_GROWTH,
    N_GROWERS,
    N_TRIALS,
    Training,
    finish,
    finish_growth,
)
from skliquid.validation.input import takes_sample_weight

_VOTERS_AT_ONCE = 4
_MANY = 10**9


class _Fits(NamedTuple):
    """Planned fits: one number per voter in each array."""

    rows: Floats  # per pass
    least: Floats  # passes of the voter's last fit; with fewer, it would get worse
    most: Floats  # passes of a voter without a limit

    def visits(self, max_passes: float) -> float:
        """Return the most visits of voters that are limited to ``max_passes``."""
        return float(np.sum(self.rows * np.minimum(self.most, max_passes)))

    def max_passes(self, visits: float) -> int:
        """Return to how many passes ``visits`` limit the voters; 0 if they do not suffice."""
        passes = bisect_right(range(_MANY + 1), visits, key=self.visits) - 1
        return passes if passes >= self.least.max() else 0


@dataclass
class Budget:
    """Limits of training in sample visits, seconds, or both; None means no limit.

    Nothing is started that would exceed the visits or, judged by the time taken so far, the
    seconds. Voters that are refitted at each increment are limited to the passes within the budget,
    if they have ``max_iter``.
    """

    max_cost: int | None = None
    max_seconds: float | None = None
    started: float = field(default_factory=perf_counter)
    sees_rows_once: bool = field(default=False, init=False)
    """Whether every voter is sure to see each row of an increment once."""
    repeats_rows: bool = field(default=False, init=False)
    """Whether rows that a voter drew twice are repeated, because it takes no weights."""
    _spec: VoterSpec | None = field(default=None, init=False)
    _pass_limit: int | None = field(default=None, init=False)
    _fewer_trees: bool = field(default=False, init=False)  # than are due at the increment

    @property
    def is_unlimited(self) -> bool:
        """Whether there is no limit."""
        return self.max_cost is None and self.max_seconds is None

    def plan_for(self, spec: VoterSpec) -> None:
        """Prepare for voters of this specification."""
        if not self.is_unlimited:
            is_bootstrap = spec.sample is not None and spec.sample.bootstrap
            self._spec = spec
            self.sees_rows_once = sees_rows_once(spec)
            self.repeats_rows = is_bootstrap and not all(map(takes_sample_weight, spec.estimators))

    def increments(self, training: Training, increments: Iterable[Rows]) -> Iterable[Rows]:
        """Return the increments that are within the budget."""
        return increments if self.is_unlimited else self._affordable(training, increments)

    def sizes(self, training: Training, sizes: Iterable[float], n_rows: int) -> Iterator[float]:
        """Yield the sizes to which voters may grow, so that the final fit is within the budget."""
        last = 0.0
        for k, size in enumerate(sizes):
            if not self.is_unlimited:
                voters = training.graph.representatives
                n_new = [size - last] if k <= N_TRIALS else [size - last] * N_GROWERS
                needed = self._growth_visits(n_new + [size] * (k == N_TRIALS), n_rows)
                if k <= N_TRIALS:  # the final fit is still to come
                    needed += self._fits(training, voters, n_rows).visits(inf)
                if needed > self._visits_left(training):
                    ended = f"ended growth at {last:.3g} times the trees"
                    self._note(training, ended if last else "left no growth")
                    return
            last = size
            yield size

    def _growth_visits(self, sizes: Sequence[float], n_rows: int) -> float:
        """Return the most visits of voters that grow by ``sizes``."""
        spec: Any = self._spec
        able = [voter for voter in spec.voters() if grows_trees(voter) and voter.can_grow]
        n_trees = max(voter.n_trees for voter in able)
        return float(sum(n_trees * size + 1 for size in sizes) * n_rows)

    def _affordable(self, training: Training, increments: Iterable[Rows]) -> Iterator[Rows]:
        n_so_far = 0
        for t, increment in enumerate(increments):
            n_so_far += increment.n_rows
            voters = training.graph.representatives
            fits = self._fits(training, voters, n_so_far, increment.n_rows)
            max_passes = fits.max_passes(self._visits_left(training))
            if max_passes == 0 and t == 0:
                raise ValueError(
                    "max_cost must allow all voters one pass over the first increment, which may "
                    f"take {fits.visits(1):.0f} visits of {len(voters)} voters: got "
                    f"{self.max_cost}. Raise max_cost, or lower n_estimators or increment_size."
                )
            if max_passes == 0:
                what = f"ended delegation after {t} increments with {len(voters)} representatives"
                self._note(training, what)
                return
            self._pass_limit = max_passes if max_passes < fits.most.max() else None
            learners = [] if self.sees_rows_once else self._learners(training, voters)
            n_trees = (_n_trees(voter, increment.n_rows) for voter in learners)
            self._fewer_trees = any(n > max_passes for n in n_trees)
            training.pool.limit_passes(self._pass_limit)
            yield increment
            self._note_limited_increment(training)

    def _fits(
        self, training: Training, voters: Voters, n_rows: int, n_new: int | None = None
    ) -> _Fits:
        """Return fits to ``n_rows``, or to ``n_new`` of them for voters with ``partial_fit``."""
        if n_new is not None and (self.sees_rows_once or not training.record):
            planned: tuple[float, float, float] = (n_new, 1, 1 if self.sees_rows_once else inf)
            fits = [planned] * len(voters)
        else:
            fits = [_fit(voter, n_rows, n_new) for voter in self._learners(training, voters)]
        rows, least, most = np.array(fits, dtype=np.float64).T
        if self.repeats_rows:  # six standard deviations above the mean of a Poisson distribution
            rows += 6 * (np.floor(np.sqrt(rows)) + 1) + 12
        return _Fits(rows, least, most)

    def _learners(self, training: Training, voters: Voters) -> list[Any]:
        """Return the voters without their feature maps, not fitted before the first increment."""
        spec: Any = self._spec
        if not training.record:
            unfitted = spec.voters()
            return [unfitted[voter] for voter in voters.tolist()]
        maps = spec.maps_of(voters.tolist())
        fitted = zip(training.pool.estimators(voters), maps, strict=True)
        return [voter if place is None else voter.steps[-1][1] for voter, place in fitted]

    def finish(self, training: Training, rows: Rows) -> None:
        """Refit the representatives within the budget, the heaviest first."""
        if self.is_unlimited:
            finish(training, rows)
            return
        self._note_limited_increment(training)
        pool, grown, is_affordable = training.pool, training.grown, True
        if grown is not None:
            sizes = [grown.size * (LAST_GROWTH - 1)] * len(grown.voters)
            needed = self._growth_visits(sizes, grown.all_rows.n_rows)
            is_affordable = needed <= self._visits_left(training)
            if not is_affordable:
                self._note(training, "left voters that have grown without the held-out rows")
        voters = finish_growth(training, is_affordable=is_affordable)
        heaviest_first = voters[(-training.graph.weights[voters]).argsort(kind="stable")]
        n_done = 0
        while n_done < len(voters):
            part, max_passes = self._affordable_part(training, heaviest_first[n_done:], rows.n_rows)
            if not len(part):
                what = f"left {n_done} of {len(voters)} representatives with a final fit"
                self._note(training, what)
                return
            training.record.final_fit_cost += pool.finish(part, rows, max_passes)
            if _are_limited(self._learners(training, part), max_passes):
                what = f"limited final fits from no. {n_done + 1} to {max_passes} passes"
                self._note(training, what)
            n_done += len(part)

    def _affordable_part(
        self, training: Training, voters: Voters, n_rows: int
    ) -> tuple[Voters, int]:
        """Return the first of ``voters`` whose final fits are within the budget, and the passes."""
        left = self._visits_left(training)
        for n_voters in range(min(_VOTERS_AT_ONCE, len(voters)), 0, -1):
            max_passes = self._fits(training, voters[:n_voters], n_rows).max_passes(left)
            if max_passes:
                return voters[:n_voters], max_passes
        return voters[:0], 0

    def conclude(self, training: Training) -> None:
        """Record if more was spent than allowed, as some voters cannot be limited."""
        excess = training.record.cost.total - (inf if self.max_cost is None else self.max_cost)
        if excess > 0:
            what = f"was exceeded by {excess}: passes could not be limited"
            training.record.note_stop(f"max_cost={self.max_cost} {what}")

    def _note_limited_increment(self, training: Training) -> None:
        max_passes, self._pass_limit = self._pass_limit, None
        if max_passes is None:
            return
        training.pool.limit_passes(None)
        voters = self._learners(training, training.graph.representatives)
        refitted = [voter for voter in voters if not learns_by_increments(voter)]
        if self._fewer_trees or _are_limited(refitted, max_passes):
            t = training.record.n_increments
            self._note(training, f"limited fits at increment {t} to {max_passes} passes")

    def _note(self, training: Training, what: str) -> None:
        """Record what the nearest limit has cut short."""
        left = self._visits_by_limit(training)
        training.record.note_stop(f"{min(left, key=left.__getitem__)} {what}")

    def _visits_left(self, training: Training) -> float:
        return min(self._visits_by_limit(training).values(), default=inf)

    def _visits_by_limit(self, training: Training) -> dict[str, float]:
        """Return how many more sample visits each limit allows."""
        left, spent = {}, training.record.cost.total
        if self.max_cost is not None:
            left[f"max_cost={self.max_cost}"] = float(self.max_cost - spent)
        if self.max_seconds is not None and training.record:
            seconds = perf_counter() - self.started
            left[f"max_seconds={self.max_seconds}"] = (self.max_seconds - seconds) * spent / seconds
        return left


def _fit(voter: Any, n_rows: int, n_new: int | None) -> tuple[float, float, float]:
    """Return the rows of a planned fit, and its fewest and most passes."""
    # a dummy takes the place of a voter until there is a second class
    most = inf if isinstance(voter, DummyClassifier) else pass_limit(voter)
    if grows_trees(voter):
        n_kept = min(n_rows if n_new is None else voter.n_seen_ + n_new, voter.max_rows)
        n_drawn = max(int(getattr(voter, "subsample", 1.0) * n_kept), 1)
        n_due = _n_trees(voter, n_new)
        return n_drawn, len(voter.trees_) if n_new is None else min(n_due, 1), n_due
    if not learns_by_increments(voter):
        return n_rows, min(n_passes(voter), most), most
    return (n_rows, 1, most) if n_new is None else (n_new, 1, 1)


def _n_trees(voter: Any, n_new: int | None) -> int:
    """Return how many of our trees the voter grows on ``n_new`` more rows, or from scratch."""
    if not grows_trees(voter):
        return 0
    if not hasattr(voter, "classes_"):
        voter.start(np.arange(2), 1)
    return int(voter.n_trees if n_new is None else voter.trees_due(n_new)[0])


def _are_limited(voters: Sequence[Any], max_passes: int) -> bool:
    """Return whether one of ``voters`` took all passes it was allowed, and could take more."""
    return any(n_passes(voter) == max_passes < pass_limit(voter) for voter in voters)
