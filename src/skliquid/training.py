"""Algorithm 1 of the paper, on one page. The comments give its lines.

``train`` takes the increments one by one, each in three steps and in one of two orders: the paper's
(train, measure, delegate), or the default (measure, delegate, train), in which voters are measured
on rows that they have not trained on. ``grow`` continues with more trees on more rows, where that
pays. ``finish`` refits the representatives at the end.
"""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.calibration import Calibration, GroupAnswers
from skliquid.delegation.competence import (
    CompetenceMeasure,
    Evaluation,
    Panel,
    sample_of_rows,
)
from skliquid.delegation.fresh_answers import FreshAnswers
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.record import IncrementRecord, TrainingRecord
from skliquid.delegation.rows import Rows
from skliquid.delegation.running_averages import RunningAverage
from skliquid.delegation.voter_pool import VoterPool
from skliquid.delegation.votes import Voting
from skliquid.mechanisms import Knowledge, Mechanism, Sizes

N_GROWERS, N_TRIALS, LAST_GROWTH = 2, 2, 1.125
"""Two voters grow, one of them alone at the first two sizes. In the end they grow by an eighth."""


@dataclass(frozen=True)
class Rules:
    """How the ensemble delegates.

    With a final fit, ``last_increment`` is the last that may be trained on, and training ends as
    soon as no voter will delegate any more. None: no final fit follows, and the representatives
    train on every increment.
    """

    mechanism: Mechanism
    sizes: Sizes
    measure: CompetenceMeasure
    voting: Voting
    n_classes: int
    last_increment: int | None = None
    sharpens: bool = True  # whether calibration may make probabilities more certain

    def __post_init__(self) -> None:
        if self.mechanism.is_direct:
            object.__setattr__(self, "sizes", self.sizes.unchanging())

    @property
    def may_grow(self) -> bool:
        """Whether voters may grow: before a final fit, where they are measured on fresh rows."""
        is_final = self.last_increment is not None and self.measure.before_training
        is_fixed = self.mechanism.is_direct or self.mechanism.is_revocable
        return is_final and self.voting.is_soft and not is_fixed

    def are_settled(self, increment: int, n_representatives: int) -> bool:
        """Return whether only the final fit is left to do after ``increment``."""
        if self.last_increment is None or self.mechanism.is_revocable:
            return False
        remaining = range(increment + 1, self.last_increment + 1)
        return not self.sizes.ask_again(remaining, n_representatives)


@dataclass
class Training:
    """The voters, and the state that one increment passes on to the next."""

    pool: VoterPool
    graph: DelegationGraph
    competence_average: RunningAverage
    accuracy_average: RunningAverage
    calibration: Calibration
    group: GroupAnswers | None
    record: TrainingRecord
    rng: Generator
    is_interrupted: bool = False
    """Whether an increment was left unfinished: some voters have trained on its rows."""
    n_growers: int = N_GROWERS
    """How many voters grow after the trials; limits of the ensemble may allow only one."""
    grown: "Grown | None" = None
    """The voters that have grown, until the final fit."""

    @classmethod
    def start(cls, pool: VoterPool, n_voters: int, rules: Rules, rng: Generator) -> "Training":
        """Return the training before the first increment."""
        graph = DelegationGraph.direct(n_voters)  # line 1
        is_revocable = rules.mechanism.is_revocable
        average = rules.measure.new_average(n_voters, is_revocable=is_revocable)  # line 2
        record = TrainingRecord(rules.sizes.n_final)
        calibration = Calibration.empty(sharpens=rules.sharpens)
        return cls(pool, graph, average, average, calibration, None, record, rng)

    def update(self, voters: Voters, found: Evaluation) -> None:
        """Add the measurements of ``voters`` and the group on one more increment."""
        is_accuracy = found.measured is found.accuracy
        self.competence_average = self.competence_average.update(voters, found.measured)
        self.accuracy_average = (
            self.competence_average
            if is_accuracy
            else self.accuracy_average.update(voters, found.accuracy)
        )
        if found.group is not None:
            self.calibration = self.calibration.update(found.group)
            self.group = found.group if self.group is None else self.group + found.group

    def with_pool(self, pool: VoterPool, cost: int) -> "Training":
        """Return a copy with a ``pool`` for more classes, whose training took ``cost``."""
        record = replace(self.record, increments=[*self.record.increments])
        record.increments_cost += cost
        return replace(self, pool=pool, record=record, group=None, rng=copy.deepcopy(self.rng))


class Step(NamedTuple):
    """One increment: accuracy of the representatives before it, who trained, and the cost."""

    accuracy: Floats
    n_trained: int
    cost: int


def train(
    training: Training,
    rules: Rules,
    increments: Iterable[Rows],  # line 3
    score: Callable[[], float] | None = None,
) -> None:
    """Train the voters on ``increments``, and let the weakest delegate at each."""
    take_step = measure_delegate_train if rules.measure.before_training else train_measure_delegate
    training.record.n_final = rules.sizes.n_final
    training.record.competence_measure = rules.measure.measured
    for rows in increments:  # line 4
        t, before = training.record.n_increments + 1, training.graph
        training.is_interrupted = True
        training.pool.expect(rows)
        step = take_step(training, rules, rows, t)
        competence = training.competence_average.mean
        training.record.append(
            IncrementRecord(
                increment=t,
                rows=rows.positions,
                voters=before.representatives,
                accuracy=step.accuracy,
                competence=competence[before.representatives],
                before=before,
                graph=training.graph,
                n_trained=step.n_trained,
                cost=step.cost,
                eval_accuracy=score() if score else np.nan,
            )
        )
        training.is_interrupted = False
        if rules.are_settled(t, len(training.graph.representatives)):  # lines 12 to 14
            break


def train_measure_delegate(training: Training, rules: Rules, rows: Rows, t: int) -> Step:
    """Train all voters, measure them on the same rows, let the weakest delegate (the paper)."""
    voters = training.graph.representatives
    cost = training.pool.train(voters, rows)  # lines 5 to 7
    accuracy = _measure(training, rules, rows)  # lines 8 to 10
    _delegate(training, rules, t)  # lines 11 and 15 to 21
    return Step(accuracy, len(voters), cost)


def measure_delegate_train(training: Training, rules: Rules, rows: Rows, t: int) -> Step:
    """Measure voters on rows that are new to them, then delegate, then train who is left.

    At the first increment there is nothing to measure. The last before a final fit trains nobody.
    """
    accuracy = np.full(len(training.graph.representatives), np.nan)
    if t > 1 or training.pool.is_fitted:
        accuracy = _measure(training, rules, rows)
    _delegate(training, rules, t)
    voters = training.graph.representatives
    if training.record and rules.are_settled(t, len(voters)):
        return Step(accuracy, 0, 0)
    return Step(accuracy, len(voters), training.pool.train(voters, rows))


def _measure(training: Training, rules: Rules, rows: Rows) -> Floats:
    """Update the running averages, and return the accuracy of the representatives on ``rows``."""
    graph = training.graph
    voters = rules.mechanism.measured_voters(graph)
    weights = graph.weights[voters]
    if rules.mechanism.votes_equally(is_soft=rules.voting.is_soft):
        weights = np.minimum(weights, 1)
    found = rules.measure.evaluate(
        Panel(training.pool, voters, weights, rules.voting, rules.n_classes, rows)
    )
    training.update(voters, found)
    return found.accuracy.values[voters.searchsorted(graph.representatives)]


def _delegate(training: Training, rules: Rules, t: int) -> None:
    """Let the weakest representatives delegate, by their average competence."""
    graph, average = training.graph, training.competence_average
    n_delegators = rules.sizes.n_delegators(t, graph, average)
    knowledge = Knowledge.of(average)
    training.graph = rules.mechanism.delegate(
        graph, average.mean, n_delegators, training.rng, knowledge=knowledge
    )


class Growth(NamedTuple):
    """The rows on which voters grow, and fresh rows, which are held out until the final fit."""

    rows: Rows
    fresh: Rows
    all_rows: Rows  # both


class Grown(NamedTuple):
    """Voters that have grown, and those that were refitted meanwhile."""

    voters: Voters
    size: float  # their trees, in multiples of those of a final fit
    refitted: Voters
    all_rows: Rows  # to train on in the final fit


PROOF, PROGRESS = (0.004, 2.0), (0.006, 1.0)
"""How much lower the log-loss must be, as a share and in standard errors: from the first trial to
the second, so that growth begins, and afterwards, so that it goes on."""


def grow(
    training: Training,
    rules: Rules,
    growth: Growth,
    sizes: Iterable[float],
    score: Callable[[], float] | None = None,
) -> None:
    """Let voters grow, and the weakest delegate, while the group improves on fresh rows.

    At each increment voters train until they have one of the ``sizes``, on all rows. First one
    tries alone. If it gains, another grows with it, and each representative stays only as long as
    it contributes to the group. Those that do not grow and stay are refitted once.
    """
    growers = choose_growers(training)
    refitted, last = growers[:0], None
    for k, size in enumerate(sizes):
        before, cost, is_trial = training.graph, 0, k < N_TRIALS
        if k == N_TRIALS:
            growers = growers[: training.n_growers]
            training.graph = before.revoke(np.setdiff1d(growers, before.representatives))
        voters = growers[:1] if is_trial else training.graph.representatives
        trained = np.intersect1d(voters, growers)
        cost += training.pool.grow(trained, growth.rows, size)
        answers = measured = _answer(training, rules, voters, growth.fresh)
        if not is_trial:
            answers = _delegate_harmful(training, rules, measured)
        voters_left = training.graph.representatives
        if k == N_TRIALS and len(refitted := np.setdiff1d(voters_left, growers)):
            cost += training.pool.finish(refitted, growth.rows)
            answers = _answer(training, rules, voters_left, growth.fresh)
        if not is_trial:
            training.calibration = answers.calibration
        left = np.intersect1d(trained, voters_left)
        training.grown = Grown(left, size, refitted, growth.all_rows)
        training.record.append(
            IncrementRecord(
                increment=training.record.n_increments + 1,
                rows=range(growth.all_rows.n_rows),
                voters=before.representatives,
                accuracy=_of_representatives(before, measured, measured.accuracy),
                competence=_of_representatives(before, measured, measured.contributions),
                before=before,
                graph=training.graph,
                n_trained=len(trained) + (len(refitted) if k == N_TRIALS else 0),
                cost=cost,
                eval_accuracy=score() if score else np.nan,
                log_loss=answers.log_loss,
            )
        )
        needed = PROOF if is_trial else PROGRESS
        if last is not None and not answers.improve_on(last, *needed):
            break
        if not (is_trial or len(left)):
            break
        last = answers


def choose_growers(training: Training) -> Voters:
    """Return the most competent voters that can grow: representatives first, then delegators."""
    able = np.flatnonzero(training.pool.can_grow(np.arange(training.graph.n_voters)))
    competence = np.nan_to_num(training.competence_average.mean[able], nan=-np.inf)
    has_delegated = training.graph.weights[able] == 0
    return able[np.lexsort((-competence, has_delegated))][:N_GROWERS]


def _answer(training: Training, rules: Rules, voters: Voters, fresh: Rows) -> FreshAnswers:
    """Return the answers of a voter that tries alone, or of the representatives."""
    is_group = np.array_equal(voters, training.graph.representatives)
    weights = _vote_weights(training, rules) if is_group else np.ones(len(voters))
    fresh = sample_of_rows(fresh, rules.n_classes)
    return FreshAnswers(voters, training.pool.probabilities(voters, fresh.X), weights, fresh)


def _vote_weights(training: Training, rules: Rules) -> Floats:
    graph, average = training.graph, training.accuracy_average
    weights = rules.mechanism.weigh_votes(graph, average, rules.n_classes, is_soft=True)
    return weights.astype(np.float64)


def _delegate_harmful(training: Training, rules: Rules, answers: FreshAnswers) -> FreshAnswers:
    """Let the weakest delegate while the group is better without it; return the others' answers."""
    while len(answers.voters) > 1 and answers.contributions.min() < 0:
        before, competence = training.graph, np.zeros(training.graph.n_voters)
        competence[answers.voters] = answers.contributions
        competence = competence[before.gurus]  # a delegator is as good as its guru
        training.graph = rules.mechanism.delegate(before, competence, 1, training.rng)
        if training.graph is before:
            break
        is_left = np.isin(answers.voters, training.graph.representatives)
        answers = answers._replace(
            voters=answers.voters[is_left],
            probabilities=answers.probabilities[is_left],
            weights=_vote_weights(training, rules),
        )
    return answers


def _of_representatives(graph: DelegationGraph, answers: FreshAnswers, values: Floats) -> Floats:
    """Return the values of those that answered, and NaN for other representatives."""
    all_values = np.full(graph.n_voters, np.nan)
    all_values[answers.voters] = values
    return all_values[graph.representatives]


def finish(training: Training, rows: Rows) -> None:
    """Refit the representatives from scratch on all of the data, except those that have grown."""
    voters = finish_growth(training)
    if len(voters):
        training.record.final_fit_cost += training.pool.finish(voters, rows)  # lines 23 to 27
    training.record.final_eval_accuracy = np.nan  # until the ensemble is scored again


def finish_growth(training: Training, *, is_affordable: bool = True) -> Voters:
    """Train voters that have grown on held-out rows, too; return those that are left to refit."""
    voters, grown = training.graph.representatives, training.grown
    training.grown = None
    if grown is None:
        return voters
    if len(grown.voters) and is_affordable:
        cost = training.pool.grow(grown.voters, grown.all_rows, grown.size * LAST_GROWTH)
        training.record.final_fit_cost += cost
    return np.setdiff1d(voters, np.concatenate([grown.voters, grown.refitted]))
