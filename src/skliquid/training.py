"""The algorithm, on one page: train, let the weakest delegate, train on, finish.

The comments give the lines of the paper's Algorithm 1.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from skliquid.answers import Answers
from skliquid.arrays import Floats, Labels, Voters
from skliquid.competence import AccuracyEstimate, Competence
from skliquid.delegation_graph import DelegationGraph
from skliquid.increments import Rows
from skliquid.mechanisms import Candidates, Knowledge, Mechanism
from skliquid.pools.pool import VoterPool
from skliquid.record import IncrementRecord, TrainingRecord
from skliquid.schedules import Schedule, asks_again, n_asked


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
        return n_asked(self.schedule, increment, n_representatives, self.n_final)

    def are_settled(self, increment: int, n_representatives: int) -> bool:
        """Return whether nothing but the final fit is left to do after ``increment``."""
        if self.last_increment is None:
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
    accuracy: AccuracyEstimate
    record: TrainingRecord
    rng: Generator
    answers: Answers
    is_interrupted: bool = False

    @classmethod
    def of(cls, pool: VoterPool, n_voters: int, n_final: int, rng: Generator) -> "Training":
        """Return the start: everyone has weight 1, and nobody is known."""
        graph = DelegationGraph.direct(n_voters)  # line 1
        accuracy = AccuracyEstimate.of_nothing(n_voters)  # line 2
        answers = Answers.of_nothing(n_voters)
        return cls(pool, graph, accuracy, TrainingRecord(n_final), rng, answers)


def train(
    training: Training,
    rules: Rules,
    increments: Iterable[Rows],  # line 3
    evaluate: Callable[[DelegationGraph], float] | None = None,
) -> None:
    """Train the voters on ``increments`` and let the weakest delegate after each."""
    training.record.n_final = rules.n_final
    for increment in increments:  # line 4
        t, before = len(training.record) + 1, training.graph
        voters = before.representatives
        training.is_interrupted = True
        accuracy, cost = rules.competence(  # lines 5 to 10
            partial(training.pool.train, voters, *increment[1:]),
            partial(_measured, training, rules, voters, increment),
            t > 1,
        )
        n_delegators = 0
        if accuracy is not None:
            training.accuracy = training.accuracy.update(voters, accuracy, len(increment.y))
            n_delegators = rules.n_delegators(t, len(voters))
        training.graph = rules.mechanism.delegate(  # lines 11 and 15 to 21
            before,
            training.accuracy.mean,
            n_delegators,
            training.rng,
            rules.candidates,
            knowledge=Knowledge(training.accuracy.n_answers, training.answers.is_right),
        )
        eval_accuracy = evaluate(training.graph) if evaluate else np.nan
        training.record.increments.append(
            _recorded(
                t,
                increment,
                before=before,
                training=training,
                accuracy=accuracy,
                cost=cost,
                eval_accuracy=eval_accuracy,
            )
        )
        training.is_interrupted = False
        if rules.are_settled(t, len(training.graph.representatives)):  # lines 12 to 14
            break


def finish(
    training: Training, X: Any, y: Labels, sample_weight: Floats | None, *, warm: bool
) -> None:
    """Fit the representatives on all of the data."""
    representatives = training.graph.representatives
    cost = training.pool.finish(representatives, X, y, sample_weight, warm=warm)  # lines 23 to 27
    training.record.final_fit_cost = cost


def _measured(training: Training, rules: Rules, voters: Voters, increment: Rows) -> Floats:
    if not rules.mechanism.needs_votes:
        return training.pool.accuracy(voters, increment.X, increment.y)
    is_right = training.pool.vote(voters, increment.X) == increment.y
    training.answers = training.answers.after(voters, is_right)
    accuracy: Floats = is_right.mean(axis=1)
    return accuracy


def _recorded(
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
    return IncrementRecord(
        increment=t,
        rows=increment.rows,
        voters=voters,
        accuracy=np.full(len(voters), np.nan) if accuracy is None else accuracy,
        mean_accuracy=training.accuracy.mean[voters],
        delegators=delegators,
        delegates=graph.delegation[delegators],
        graph=graph,
        cost=cost,
        eval_accuracy=eval_accuracy,
    )
