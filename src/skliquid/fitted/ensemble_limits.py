"""Limits: representatives delegate until bytes and seconds are within them."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NoReturn

import numpy as np

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.running_averages import confidence_interval
from skliquid.fitted.fitted_votes import Fitted
from skliquid.fitted.reduced import delegate_one, n_bytes, reduced, seconds
from skliquid.mechanisms import Knowledge, as_mechanism
from skliquid.mechanisms.sizes import LEVEL
from skliquid.training import LAST_GROWTH, N_GROWERS, N_TRIALS, Training
from skliquid.validation.parameters import LIMITS

_SLACK = 300  # bytes: files hold the note, the limit, and the state of the generator
_SPARE = 0.01  # of pickles, whose size differs from copy to copy
_LAST_GROWTH = 1.05 * LAST_GROWTH  # some trees are larger


@dataclass(frozen=True, eq=False)
class Limits:
    """The limits of an ensemble in training, and 1,000 rows on which predictions are timed."""

    ensemble: Any
    rows: Any = None

    @property
    def is_unlimited(self) -> bool:
        """Whether there is no limit."""
        return all(getattr(self.ensemble, name) is None for name in LIMITS)

    def sizes(self, fitted: Fitted, sizes: Iterable[float], growers: Voters) -> Iterator[float]:
        """Yield the sizes to which voters may grow, so that they alone are within the limits.

        One voter grows instead of two if two would not be within them. If the first size is too
        large already, the voter is left to the final fit.
        """
        training: Any = fitted.training
        last, used_by_size = 0.0, dict[float, Floats]()  # by one voter alone
        for k, size in enumerate(sizes):
            if k and not self.is_unlimited:
                growing = growers[:1] if k <= N_TRIALS else training.grown.voters
                used = self._alone(fitted, growing)
                used_by_size[last] = used[0]
                fixed = _without_trees(used_by_size)
                trees = _LAST_GROWTH * (used - fixed).sum(axis=0)
                if k == N_TRIALS:
                    if _exceeds(both := fixed + N_GROWERS * trees * size / last):
                        training.n_growers = 1
                        training.record.note_stop(f"{self._binding(both)} let one voter grow")
                    trees *= training.n_growers
                if _exceeds(needed := fixed + trees * size / last):
                    has_grown = k > 1 or not _exceeds(fixed + trees)
                    ended = f"ended growth at {last:.3g} times the trees"
                    what = ended if has_grown else "left no growth"
                    training.record.note_stop(f"{self._binding(needed)} {what}")
                    training.grown = training.grown if has_grown else None
                    return
            last = size
            yield size

    def keep(self, fitted: Fitted) -> bool:
        """Let representatives delegate until the limits hold; return whether any did.

        Voters that alone exceed a limit go first. Then the weakest delegates, or of those that are
        as competent within chance the one that needs the most bytes or seconds.
        """
        training: Any = fitted.training
        if self.is_unlimited:
            return False
        graph, left_over, (competence, low) = training.graph, None, _competence(training)
        used, voters = self._used(self._reduced(fitted, graph, competence)), graph.representatives
        if not _exceeds(used):
            return False
        binding, needed = self._binding(used), np.zeros(graph.n_voters)
        needed[voters] = self._alone(fitted, voters).max(axis=1)
        if needed[voters].min() > 1:
            self._raise_impossible(fitted, voters[needed[voters].argmin()])
        while _exceeds(used) and len(left := graph.representatives) > 1:
            is_next = needed[left] > 1
            if not is_next.any():
                is_next = ~(low[left] > competence[left].min())
            among = left[is_next]
            weakest_last = np.lexsort((-competence[among], needed[among]))
            delegator = int(among[weakest_last[-1]])
            graph = delegate_one(
                graph,
                delegator,
                competence,
                as_mechanism(self.ensemble.mechanism),
                rng=training.rng,
                knowledge=Knowledge.of(training.competence_average),
            )
            n_left = len(graph.representatives)
            note = f"{binding} left {n_left} of {len(voters)} representatives"
            left_over = self._reduced(fitted, graph, competence, note)
            used = self._used(left_over)
        if left_over is not None:
            training.graph, training.record = graph, left_over.record_
        return left_over is not None

    def _reduced(
        self, fitted: Fitted, graph: DelegationGraph, competence: Floats, note: str = ""
    ) -> Any:
        """Return the ensemble that it would be with the representatives of ``graph``."""
        twin = copy.copy(self.ensemble)
        twin._fitted = fitted  # noqa: SLF001 (the ensemble's own is set at the end of training)
        return reduced(twin, graph, competence, note)

    def _with_one(self, fitted: Fitted, voter: int) -> Any:
        """Return the ensemble that it would be with one representative."""
        training: Any = fitted.training
        graph = DelegationGraph(np.full(training.graph.n_voters, voter))
        return self._reduced(fitted, graph, training.competence_average.mean)

    def _alone(self, fitted: Fitted, voters: Voters) -> Floats:
        """Return the use of each limit by each voter alone: one row per voter."""
        alone = (self._with_one(fitted, voter) for voter in voters.tolist())
        return np.array([self._used(one, slack=_SLACK) for one in alone])

    def _used(self, twin: Any, slack: int = 0) -> Floats:
        """Return bytes and seconds as shares of their limits; zero without a limit."""
        used = np.zeros(2)
        if (limit := self.ensemble.max_bytes) is not None:
            used[0] = (n_bytes(twin, _SPARE) + slack) / limit
        if (limit := self.ensemble.max_predict_seconds) is not None:
            used[1] = seconds(twin, self.rows, limit) / limit
        return used

    def _binding(self, used: Floats) -> str:
        """Return the limit that is exceeded the most, with its value."""
        name = LIMITS[int(np.argmax(used))]
        return f"{name}={getattr(self.ensemble, name)}"

    def _raise_impossible(self, fitted: Fitted, voter: int) -> NoReturn:
        """Raise an error that says what the smallest possible ensemble needs."""
        twin = self._with_one(fitted, voter)
        name = LIMITS[int(np.argmax(self._used(twin)))]
        limit = getattr(self.ensemble, name)
        if name == "max_bytes":
            least = f"{-(-(n_bytes(twin, _SPARE) + 2 * _SLACK) // 100) * 100} bytes"
        else:
            least = f"{1.2 * seconds(twin, self.rows):.2g} seconds per 1,000 rows"
        raise ValueError(
            f"{name} must allow one representative: the smallest possible ensemble needs {least}, "
            f"got {limit}. Raise {name}, or give smaller voters."
        )


def check_limits(ensemble: Any) -> None:
    """Raise when limits are set for a mechanism that cannot keep them."""
    mechanism = as_mechanism(ensemble.mechanism)
    for name in LIMITS:
        limit = getattr(ensemble, name)
        if limit is not None and mechanism.is_revocable:
            raise ValueError(
                f"{name} must be None with a revocable mechanism, which keeps all voters: got "
                f"{limit}. Choose another mechanism, such as 'proportional_weighted'."
            )


def _without_trees(used: Mapping[float, Floats]) -> Floats:
    """Return what an ensemble of a voter without trees would use, from its first two sizes."""
    if len(used) < 2:
        return np.zeros(2)
    (first, small), (second, large) = islice(used.items(), 2)
    return np.maximum(small - (large - small) * first / (second - first), 0.0)


def _exceeds(used: Floats) -> bool:
    return bool(used.max() > 1)


def _competence(training: Training) -> tuple[Floats, Floats]:
    """Return the competence of all voters, and the lower ends of confidence intervals.

    Where voters have grown, it is their contribution to the group on held-out rows.
    """
    average, voters = training.competence_average, training.graph.representatives
    grown = [one for one in training.record if np.isfinite(one.log_loss)]
    if grown:
        fresh = np.full(training.graph.n_voters, np.nan)
        fresh[grown[-1].voters] = grown[-1].competence
        if np.isfinite(fresh[voters]).all():
            return fresh, fresh
    mean, variance = average.mean, average.variance
    low, _ = confidence_interval(mean, average.n_answers, variance, LEVEL)
    unknown = np.isnan(mean)
    return np.where(unknown, -1.0, mean), np.where(unknown, -1.0, low)
