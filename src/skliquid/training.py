"""The algorithm, on one page: train, let the weakest delegate, train on, finish.

The comments give the lines of the paper's Algorithm 1.
"""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.random import Generator

from skliquid.competence import Competence, Estimate
from skliquid.delegation_graph import DelegationGraph
from skliquid.mechanisms import Knowledge, Mechanism
from skliquid.pools.pool import VoterPool
from skliquid.record import IncrementRecord, TrainingRecord
from skliquid.rows import Rows
from skliquid.schedules import FixedCount, Schedule, asks_again, n_asked


@dataclass(frozen=True)
class Rules:
    """How the ensemble delegates.

    ``last_increment`` is the last that may be trained on when a final fit follows: training then
    ends as soon as no voter will delegate any more. When it is None, no final fit follows, and the
    representatives train on every increment there is.
    """

    mechanism: Mechanism
    schedule: Schedule
    competence: Competence
    n_final: int
    last_increment: int | None = None

    def __post_init__(self) -> None:
        if self.mechanism.is_direct:
            object.__setattr__(self, "schedule", FixedCount(0))

    def are_settled(self, increment: int, n_representatives: int) -> bool:
        """Return whether nothing but the final fit is left to do after ``increment``."""
        if self.last_increment is None or self.mechanism.returns is not None:
            return False
        to_come = range(increment + 1, self.last_increment + 1)
        return not asks_again(self.schedule, to_come, n_representatives, self.n_final)


@dataclass
class Training:
    """The voters, and what one increment leaves to the next."""

    pool: VoterPool
    graph: DelegationGraph
    accuracy: Estimate
    record: TrainingRecord
    rng: Generator
    is_interrupted: bool = False
    """Whether an increment was begun and not completed: some voters have trained on its rows."""

    @classmethod
    def start(cls, pool: VoterPool, n_voters: int, rules: Rules, rng: Generator) -> "Training":
        """Return the training before the first increment."""
        graph = DelegationGraph.direct(n_voters)  # line 1
        accuracy = rules.competence.estimate(  # line 2
            n_voters, is_revocable=rules.mechanism.is_revocable
        )
        return cls(pool, graph, accuracy, TrainingRecord(rules.n_final), rng)

    def with_pool(self, pool: VoterPool, cost: int) -> "Training":
        """Return a copy with the voters of ``pool``, whose training so far took ``cost``."""
        record = replace(self.record, increments=[*self.record.increments])
        record.increments_cost += cost
        return replace(self, pool=pool, record=record, rng=copy.deepcopy(self.rng))


def train(
    training: Training,
    rules: Rules,
    increments: Iterable[Rows],  # line 3
    evaluate: Callable[[DelegationGraph], float] | None = None,
) -> None:
    """Train the voters on ``increments`` and let the weakest delegate after each."""
    training.record.n_final = rules.n_final
    for increment in increments:  # line 4
        t, before = training.record.n_increments + 1, training.graph
        voters, scored = before.representatives, rules.mechanism.scored(before)
        training.is_interrupted = True
        measured, cost = rules.competence(  # lines 5 to 10
            partial(training.pool.train, voters, increment),
            partial(training.pool.accuracy, scored, increment),
            has_trained=t > 1,
        )
        n_delegators, accuracy = 0, np.full(len(voters), np.nan)
        if measured is not None:
            training.accuracy = training.accuracy.update(scored, measured, len(increment.y))
            n_delegators = n_asked(rules.schedule, t, len(voters), rules.n_final)
            accuracy = measured[scored.searchsorted(voters)]
        mean = training.accuracy.mean
        knowledge = Knowledge(training.accuracy.n_answers, training.accuracy.slope)
        training.graph = rules.mechanism.delegate(  # lines 11 and 15 to 21
            before, mean, n_delegators, training.rng, knowledge=knowledge
        )
        training.record.append(
            IncrementRecord(
                increment=t,
                rows=increment.positions,
                voters=voters,
                accuracy=accuracy,
                mean_accuracy=mean[voters],
                before=before,
                graph=training.graph,
                cost=cost,
                eval_accuracy=evaluate(training.graph) if evaluate else np.nan,
            )
        )
        training.is_interrupted = False
        if rules.are_settled(t, len(training.graph.representatives)):  # lines 12 to 14
            break


def finish(training: Training, rows: Rows) -> None:
    """Refit the representatives from scratch on all of the data."""
    cost = training.pool.finish(training.graph.representatives, rows)  # lines 23 to 27
    training.record.final_fit_cost += cost
