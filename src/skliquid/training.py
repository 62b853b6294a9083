"""The algorithm, on one page: train, let the weakest delegate, train on, finish.

The comments give the lines of the paper's Algorithm 1.
"""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from skliquid.accuracy_estimate import Estimate
from skliquid.arrays import Floats, Labels
from skliquid.competence import Competence
from skliquid.delegation_graph import DelegationGraph
from skliquid.increments import Rows
from skliquid.mechanisms import AnyMechanism, Knowledge
from skliquid.pools.pool import VoterPool
from skliquid.record import IncrementRecord, TrainingRecord
from skliquid.schedules import Schedule, asks_again, n_asked


@dataclass(frozen=True)
class Rules:
    """How the ensemble delegates.

    ``last_increment`` is the last that may be trained on when a final fit follows: training then
    ends as soon as no voter will delegate any more. When it is None, no final fit follows, and the
    representatives train on every increment there is.
    """

    mechanism: AnyMechanism
    schedule: Schedule
    competence: Competence
    n_final: int
    last_increment: int | None = None

    def are_settled(self, increment: int, n_representatives: int) -> bool:
        """Return whether nothing but the final fit is left to do after ``increment``."""
        if self.last_increment is None or self.mechanism.is_revocable:
            return False
        to_come = range(increment + 1, self.last_increment + 1)
        return self.mechanism.is_direct or not asks_again(
            self.schedule, to_come, n_representatives, self.n_final
        )


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
        is_revocable = rules.mechanism.is_revocable
        accuracy = rules.competence.estimate(n_voters, is_revocable=is_revocable)  # line 2
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
            partial(training.pool.train, voters, *increment[1:]),
            partial(training.pool.accuracy, scored, increment.X, increment.y),
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
                rows=increment.rows,
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


def finish(training: Training, X: Any, y: Labels, sample_weight: Floats | None) -> None:
    """Refit the representatives from scratch on all of the data."""
    representatives = training.graph.representatives
    cost = training.pool.finish(representatives, X, y, sample_weight)  # lines 23 to 27
    training.record.final_fit_cost = cost
