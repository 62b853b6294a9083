"""The algorithm, on one page: train, let the weakest delegate, train on, finish.

The comments give the lines of the paper's Algorithm 1.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from skliquid.arrays import Floats, Labels, RowNumbers, Voters
from skliquid.competence import AccuracyEstimate, Competence
from skliquid.delegation_graph import DelegationGraph
from skliquid.mechanisms import Candidates, Mechanism
from skliquid.pools import VoterPool
from skliquid.record import IncrementRecord, TrainingRecord
from skliquid.schedules import Schedule, delegates_again
from skliquid.voting import gini, largest_share, minimum_majority

MOST_INCREMENTS = 50
FEWEST_ROWS = 25


def increment_size_for(n_rows: int) -> int:
    """Return the increment size that ``"auto"`` stands for.

    It makes 50 increments, or as many as leave each with 25 rows: few enough that the work of
    an increment outweighs its overhead at ten million rows, large enough that accuracy on one means
    something at a hundred.

    Examples
    --------
    >>> increment_size_for(100), increment_size_for(1_250), increment_size_for(10_000_000)
    (25, 25, 200000)
    """
    n_increments = min(max(n_rows // FEWEST_ROWS, 1), MOST_INCREMENTS)
    return math.ceil(n_rows / n_increments)


def slices(n_rows: int, size: int) -> list[slice]:
    """Return the cut of ``n_rows`` into increments of ``size``, of which the last may be shorter.

    Examples
    --------
    >>> slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


class Rows(NamedTuple):
    """Data to learn from, and which rows of the whole they are."""

    rows: RowNumbers
    X: Any
    y: Labels
    sample_weight: Floats | None

    def at(self, positions: slice | Voters) -> "Rows":
        """Return the data at ``positions``."""
        rows = (
            self.rows[positions]
            if isinstance(positions, slice)
            else np.asarray(self.rows, dtype=np.intp)[positions]
        )
        weights = None if self.sample_weight is None else self.sample_weight[positions]
        return Rows(rows, self.X[positions], self.y[positions], weights)

    def without_zero_weights(self) -> "Rows":
        """Return the data that count."""
        if self.sample_weight is None or self.sample_weight.all():
            return self
        return self.at(np.flatnonzero(self.sample_weight))


@dataclass(frozen=True)
class Rules:
    """How the ensemble delegates.

    ``last_increment`` is the last that may be trained on when a final fit follows: training then
    ends as soon as nobody will delegate any more. When it is None, no final fit follows, and the
    representatives learn from every increment there is.
    """

    mechanism: Mechanism
    schedule: Schedule
    competence: Competence
    candidates: Candidates
    n_final: int
    last_increment: int | None = None

    def n_delegators(self, increment: int, n_representatives: int) -> int:
        """Return how many delegate, so that ``n_final`` remain at least."""
        asked = self.schedule.n_delegators(increment, n_representatives)
        return max(min(asked, n_representatives - self.n_final), 0)

    def are_settled(self, increment: int, n_representatives: int) -> bool:
        """Return whether nothing but the final fit is left to do after ``increment``."""
        if self.last_increment is None:
            return False
        if self.mechanism.is_direct or n_representatives <= self.n_final:
            return True
        to_come = range(increment + 1, self.last_increment + 1)
        return not delegates_again(self.schedule, n_representatives, to_come)


@dataclass
class Training:
    """The voters, and what one increment leaves to the next."""

    pool: VoterPool
    graph: DelegationGraph
    accuracy: AccuracyEstimate
    record: TrainingRecord
    rng: Generator

    @classmethod
    def of(cls, pool: VoterPool, n_voters: int, n_final: int, rng: Generator) -> "Training":
        """Return the start: everyone has weight 1, and nobody is known."""
        graph = DelegationGraph.direct(n_voters)  # line 1
        accuracy = AccuracyEstimate.of_nothing(n_voters)  # line 2
        return cls(pool, graph, accuracy, TrainingRecord(n_final), rng)


def train(
    training: Training,
    rules: Rules,
    increments: Iterable[Rows],  # line 3
    evaluate: Callable[[DelegationGraph], float] | None = None,
) -> None:
    """Train the voters on ``increments`` and let the weakest delegate after each."""
    for increment in increments:  # line 4
        t, before = len(training.record) + 1, training.graph
        voters = before.representatives
        accuracy, cost = rules.competence(  # lines 5 to 10
            partial(training.pool.train, voters, *increment[1:]),
            partial(training.pool.accuracy, voters, increment.X, increment.y),
            t > 1,
        )
        n_delegators = 0
        if accuracy is not None:
            training.accuracy = training.accuracy.update(voters, accuracy, len(increment.y))
            n_delegators = rules.n_delegators(t, len(voters))
        training.graph = rules.mechanism.delegate(  # lines 11 and 15 to 21
            before, training.accuracy.mean, n_delegators, training.rng, rules.candidates
        )
        eval_accuracy = evaluate(training.graph) if evaluate else np.nan
        training.record.increments.append(
            _seen(
                t,
                increment,
                before=before,
                training=training,
                accuracy=accuracy,
                cost=cost,
                eval_accuracy=eval_accuracy,
            )
        )
        if rules.are_settled(t, len(training.graph.representatives)):  # lines 12 to 14
            break


def finish(
    training: Training, X: Any, y: Labels, sample_weight: Floats | None, *, warm: bool
) -> None:
    """Fit the representatives on all of the data."""
    representatives = training.graph.representatives
    cost = training.pool.finish(representatives, X, y, sample_weight, warm=warm)  # lines 23 to 27
    training.record.final_fit_cost = cost


def _seen(
    t: int,
    increment: Rows,
    *,
    before: DelegationGraph,
    training: Training,
    accuracy: Floats | None,
    cost: int,
    eval_accuracy: float,
) -> IncrementRecord:
    voters, graph = before.representatives, training.graph
    delegators = np.flatnonzero(before.delegation != graph.delegation)
    weights = graph.weights[graph.representatives]
    return IncrementRecord(
        increment=t,
        rows=increment.rows,
        voters=voters,
        accuracy=np.full(len(voters), np.nan) if accuracy is None else accuracy,
        mean_accuracy=training.accuracy.mean[voters],
        delegators=delegators,
        delegates=graph.delegation[delegators],
        graph=graph,
        minimum_majority=minimum_majority(weights),
        largest_share=largest_share(weights),
        gini=gini(weights),
        cost=cost,
        eval_accuracy=eval_accuracy,
    )
