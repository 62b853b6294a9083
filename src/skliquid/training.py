"""The algorithm, on one page: train, let the weakest delegate, train on, finish.

The comments give the lines of the paper's Algorithm 1.
"""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from skliquid.arrays import Voters
from skliquid.calibration import Calibration, GroupAnswers
from skliquid.competence import Competence, Evaluation, Panel
from skliquid.delegation_graph import DelegationGraph
from skliquid.estimates import Estimate
from skliquid.mechanisms import Knowledge, Mechanism
from skliquid.pools.pool import VoterPool
from skliquid.record import IncrementRecord, TrainingRecord
from skliquid.rows import Rows
from skliquid.sizes import Sizes
from skliquid.voting import Voting


@dataclass(frozen=True)
class Rules:
    """How the ensemble delegates.

    ``last_increment`` is the last that may be trained on when a final fit follows: training then
    ends as soon as no voter will delegate any more. When it is None, no final fit follows, and the
    representatives train on every increment there is.
    """

    mechanism: Mechanism
    sizes: Sizes
    competence: Competence
    voting: Voting
    n_classes: int
    last_increment: int | None = None
    sharpens: bool = True  # whether calibration may make probabilities more certain

    def __post_init__(self) -> None:
        if self.mechanism.is_direct:
            object.__setattr__(self, "sizes", self.sizes.unchanging())

    @property
    def measures_contribution(self) -> bool:
        """Whether voters are compared by their contribution, not by their accuracy."""
        return self.competence.measure.by_contribution

    def are_settled(self, increment: int, n_representatives: int) -> bool:
        """Return whether nothing but the final fit is left to do after ``increment``."""
        if self.last_increment is None or self.mechanism.returns is not None:
            return False
        to_come = range(increment + 1, self.last_increment + 1)
        return not self.sizes.ask_again(to_come, n_representatives)


@dataclass
class Training:
    """The voters, and what one increment leaves to the next."""

    pool: VoterPool
    graph: DelegationGraph
    competence: Estimate
    accuracy: Estimate
    calibration: Calibration
    group: GroupAnswers | None
    record: TrainingRecord
    rng: Generator
    is_interrupted: bool = False
    """Whether an increment was begun and not completed: some voters have trained on its rows."""

    @classmethod
    def start(cls, pool: VoterPool, n_voters: int, rules: Rules, rng: Generator) -> "Training":
        """Return the training before the first increment."""
        graph = DelegationGraph.direct(n_voters)  # line 1
        nothing = rules.competence.estimate(  # line 2
            n_voters, is_revocable=rules.mechanism.is_revocable
        )
        record = TrainingRecord(rules.sizes.most)
        calibration = Calibration.empty(sharpens=rules.sharpens)
        return cls(pool, graph, nothing, nothing, calibration, None, record, rng)

    def update(self, voters: Voters, found: Evaluation) -> None:
        """Take note of how ``voters`` and the group did on one more increment."""
        is_accuracy = found.competence is found.accuracy
        self.competence = self.competence.update(voters, found.competence)
        self.accuracy = (
            self.competence if is_accuracy else self.accuracy.update(voters, found.accuracy)
        )
        if found.group is not None:
            self.calibration = self.calibration.update(found.group)
            self.group = found.group if self.group is None else self.group + found.group

    def with_pool(self, pool: VoterPool, cost: int) -> "Training":
        """Return a copy with the voters of ``pool``, which know more classes.

        Their training so far took ``cost``.
        """
        record = replace(self.record, increments=[*self.record.increments])
        record.increments_cost += cost
        return replace(self, pool=pool, record=record, group=None, rng=copy.deepcopy(self.rng))


def train(
    training: Training,
    rules: Rules,
    increments: Iterable[Rows],  # line 3
    evaluate: Callable[[DelegationGraph], float] | None = None,
) -> None:
    """Train the voters on ``increments`` and let the weakest delegate after each."""
    training.record.n_final = rules.sizes.most
    for increment in increments:  # line 4
        t, before, pool = training.record.n_increments + 1, training.graph, training.pool
        voters, scored = before.representatives, rules.mechanism.scored(before)
        training.is_interrupted = True
        pool.expect(increment)
        weights = before.weights[scored]
        panel = Panel(pool, scored, weights, rules.voting, rules.n_classes, increment)
        measures_first = rules.competence.measure.before_training
        trained = voters[:0] if measures_first else voters
        cost = pool.train(trained, increment) if len(trained) else 0  # lines 5 to 7
        can_answer = t > 1 or pool.is_fitted or not measures_first
        found = rules.competence.evaluation(panel) if can_answer else None  # lines 8 to 10
        n_delegators, accuracy = 0, np.full(len(voters), np.nan)
        if found is not None:
            training.update(scored, found)
            n_delegators = rules.sizes.n_delegators(t, before, training.competence)
            accuracy = found.accuracy.values[scored.searchsorted(voters)]
        mean, knowledge = training.competence.mean, Knowledge.of(training.competence)
        training.graph = rules.mechanism.delegate(  # lines 11 and 15 to 21
            before, mean, n_delegators, training.rng, knowledge=knowledge
        )
        is_settled = rules.are_settled(t, len(training.graph.representatives))
        if measures_first and not (is_settled and training.record):
            trained = training.graph.representatives
            cost = pool.train(trained, increment)
        training.record.append(
            IncrementRecord(
                increment=t,
                rows=increment.positions,
                voters=voters,
                accuracy=accuracy,
                competence=mean[voters],
                before=before,
                graph=training.graph,
                n_trained=len(trained),
                cost=cost,
                eval_accuracy=evaluate(training.graph) if evaluate else np.nan,
            )
        )
        training.is_interrupted = False
        if is_settled:  # lines 12 to 14
            break


def finish(training: Training, rows: Rows) -> None:
    """Refit the representatives from scratch on all of the data."""
    cost = training.pool.finish(training.graph.representatives, rows)  # lines 23 to 27
    training.record.final_fit_cost += cost
