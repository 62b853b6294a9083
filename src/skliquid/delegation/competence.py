"""Competence: how voters are measured, each alone or by what it adds to the group."""

import operator
from dataclasses import dataclass
from functools import reduce
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np

from skliquid.delegation.arrays import Floats, Labels, Voters, Votes
from skliquid.delegation.calibration import MANY_CLASSES, GroupAnswers
from skliquid.delegation.increments import slices
from skliquid.delegation.rows import Rows
from skliquid.delegation.running_averages import (
    DecayedAverage,
    Measurement,
    OverallAverage,
    RecentAverage,
    RunningAverage,
)
from skliquid.delegation.storable import storable
from skliquid.delegation.votes import Voting

CONTRIBUTION_SHARE = 0.5
"""The share of all weight for which contributions are measured."""

MEMORY_WHEN_REVOCABLE = 20
"""``memory="auto"``: the number of increments averaged over where delegations are revocable."""

_NUMBERS_AT_ONCE = 4_000_000
_NUMBERS_PER_VOTER = 2**21
_MIN_ROWS_FOR_VARIANCE = 2


class Panel(NamedTuple):
    """Voters, and the rows of an increment on which they are measured."""

    pool: Any
    voters: Voters
    weights: Voters  # the votes that each carries
    voting: Voting
    n_classes: int
    rows: Rows


class Evaluation(NamedTuple):
    """Measurements of voters on one increment, and the group's answers before training on it."""

    measured: Measurement
    accuracy: Measurement
    group: GroupAnswers | None = None


def contributions(
    probabilities: Floats, shares: Floats, y: Labels, share: float | Floats = 0.0
) -> Floats:
    r"""Return the contribution of each voter to the group: one row per voter, one column per row.

    .. math:: (p_i - S) \cdot (e - S) - \tfrac{\delta}{2} |p_i - S|^2

    for the voter's class probabilities :math:`p_i`, the group's :math:`S` and the label as a vector
    :math:`e`. It is half of the decrease of the group's Brier score :math:`|e - S|^2`, per unit of
    weight, when a ``share`` :math:`\delta` of all weight moves from the group to voter i. With
    :math:`\delta = 0` it is the first-order effect, and with :math:`\delta = 1` the voter's own
    Brier score counts. Training uses one half: since few voters remain, each gets a large share.
    The difference between two voters is the gain of the mechanisms.

    Examples
    --------
    Two voters of weight 1, and a row of the second class. The group gives it 0.6, so it is 0.4 off
    in both classes; the first voter is 0.2 better than the group, the second 0.2 worse:

    >>> probabilities = np.array([[[0.2, 0.8]], [[0.6, 0.4]]])
    >>> contributions(probabilities, np.array([[0.4, 0.6]]), np.array([1])).round(2).tolist()
    [[0.16], [-0.16]]
    """
    error = -shares
    error[np.arange(len(y)), y] += 1
    gains: Floats = np.einsum("vnc,nc->vn", probabilities, error)
    gains -= np.einsum("nc,nc->n", shares, error)
    apart = probabilities - shares
    gains -= 0.5 * share * np.einsum("vnc,vnc->vn", apart, apart)
    return gains


def sample_of_rows(rows: Rows, n_classes: int) -> Rows:
    """Return all rows, or with many classes a sample of them at equal distances.

    The sample limits the probabilities per voter to about two million: 2,097 rows of 1,000 classes,
    or 209 rows of 10,000. Otherwise predicting would take longer than training.

    Examples
    --------
    >>> rows = Rows(np.zeros((5_000, 1)), np.zeros(5_000))
    >>> [sample_of_rows(rows, n).n_rows for n in (2, 256, 1_000, 10_000)]
    [5000, 5000, 1667, 209]
    """
    step = -(-rows.n_rows // max(_NUMBERS_PER_VOTER // n_classes, 1))
    return rows if n_classes <= MANY_CLASSES or step <= 1 else rows.at(slice(None, None, step))


def evaluate(panel: Panel, *, by_contribution: bool = False, asks_group: bool = True) -> Evaluation:
    """Measure the voters of a panel on its rows, block by block; rows count by their weights."""
    panel = panel._replace(rows=sample_of_rows(panel.rows, panel.n_classes))
    n_rows, weight = panel.rows.n_rows, panel.rows.sample_weight
    cuts = slices(n_rows, max(_NUMBERS_AT_ONCE // (len(panel.weights) * panel.n_classes), 1))
    blocks = [panel.rows] if len(cuts) == 1 else map(panel.rows.at, cuts)
    parts = [_evaluate_block(panel, block, by_contribution, asks_group) for block in blocks]
    sums: Floats = np.sum([part[0] for part in parts], axis=0)
    group = reduce(operator.add, [part[1] for part in parts]) if asks_group else None
    total = float(n_rows) if weight is None else float(weight.sum())
    squares = total if weight is None else float(np.square(weight).sum())
    n_effective = total * total / squares
    right, gain, gain_by_weight, gain_squared = sums
    accuracy = Measurement(right / total, n_effective, is_count=weight is None)
    if not by_contribution:
        return Evaluation(accuracy, accuracy, group)
    mean = gain / total
    if n_effective < _MIN_ROWS_FOR_VARIANCE:  # one row has no variance: use the square
        variance = gain_squared / total**2
    else:
        deviations = gain_squared - 2 * mean * gain_by_weight + squares * mean**2
        variance = np.maximum(deviations, 0) / total**2 * n_effective / (n_effective - 1)
    return Evaluation(Measurement(mean, n_effective, variance), accuracy, group)


def _evaluate_block(
    panel: Panel, rows: Rows, by_contribution: bool, asks_group: bool
) -> tuple[Floats, Any]:
    """Return sums over rows per voter, and the group's answers.

    The four sums are correct answers, contributions, and the first two moments of contributions
    weighted by squared row weights. The last three are zero unless ``by_contribution``.
    """
    y, weight, voting = rows.y, rows.sample_weight, panel.voting
    answers = getattr(panel.pool, voting.method)(panel.voters, rows.X)
    sums = np.zeros((4, len(panel.weights)))
    sums[0] = _over_rows(voting.votes(answers) == y, weight)
    if not asks_group:
        return sums, None
    shares = voting.shares(answers, panel.weights, panel.n_classes)
    if by_contribution:
        probabilities = voting.probabilities(answers, panel.n_classes)
        gains = contributions(probabilities, shares, y, share=CONTRIBUTION_SHARE)
        by_weight = gains if weight is None else gains * weight
        sums[1] = _over_rows(gains, weight)
        sums[2] = _over_rows(by_weight, weight)
        sums[3] = np.einsum("vn,vn->v", by_weight, by_weight)
    return sums, GroupAnswers.of(shares, y, weight, is_soft=voting.is_soft)


def _over_rows(values: Votes | Floats, weight: Floats | None) -> Floats:
    """Return the sum of ``values`` over rows, by their weights."""
    sums: Floats = (values if weight is None else values * weight).sum(axis=1)
    return sums


MEASURES = ("contribution", "prequential", "training")


@storable
@dataclass(frozen=True)
class CompetenceMeasure:
    """How the competence of voters is measured and averaged.

    Parameters
    ----------
    measured : {"contribution", "prequential", "training"}
        The quantity, and when it is measured. ``"contribution"``: how much the voter improves the
        group's answer, on each increment before training on it; see :func:`contributions`. The
        group are the representatives, with one vote each, or weighted by the votes they carry.
        ``"prequential"``: the voter's own accuracy, also before training, which does not favour
        voters that overfit, such as trees. Both leave the first increment without a measurement.
        ``"training"``: its own accuracy on the increment just trained on, as in the paper. Rows
        count by their ``sample_weight`` and class weight.
    memory : int, float, None or "auto"
        The increments that competence is averaged over: all (None), the last ones (an integer), or
        all with weights that decay by a factor below 1 per increment. ``"auto"``: the last 20
        where delegations are revocable, else all.

    Examples
    --------
    >>> CompetenceMeasure("training", memory=5).new_average(3, is_revocable=False).window
    5
    """

    measured: str = "contribution"
    memory: int | float | Literal["auto"] | None = "auto"

    def __post_init__(self) -> None:
        if self.measured not in MEASURES:
            raise ValueError(
                f"competence must be measured as one of {', '.join(MEASURES)}: got "
                f"{self.measured!r}. Choose one of these names."
            )
        memory: object = self.memory
        is_count = isinstance(memory, Integral) and int(memory) >= 1
        is_factor = isinstance(memory, float) and 0 < memory < 1
        is_auto = isinstance(memory, str) and memory == "auto"
        if not (is_count or is_factor or is_auto or memory is None):
            raise ValueError(
                "memory must be an integer of 1 or more, a factor between 0 and 1, None or 'auto': "
                f"got {memory!r}. Give a number of increments like 20."
            )

    @property
    def by_contribution(self) -> bool:
        """Whether voters are compared by their contribution, not by their own accuracy."""
        return self.measured == "contribution"

    @property
    def before_training(self) -> bool:
        """Whether voters are measured on an increment before they train on it."""
        return self.measured != "training"

    def evaluate(self, panel: Panel) -> Evaluation:
        """Measure the voters of the panel and, before training, the group."""
        return evaluate(
            panel, by_contribution=self.by_contribution, asks_group=self.before_training
        )

    def new_average(self, n_voters: int, *, is_revocable: bool) -> RunningAverage:
        """Return the running average of each voter, before any measurement."""
        memory = self.memory
        if isinstance(memory, str):
            memory = MEMORY_WHEN_REVOCABLE if is_revocable else None
        if memory is None:
            return OverallAverage.empty(n_voters)
        if isinstance(memory, float):
            return DecayedAverage.empty(n_voters, memory)
        return RecentAverage.empty(n_voters, memory)


def as_measure(competence: str | CompetenceMeasure) -> CompetenceMeasure:
    """Return the measure that a name or an object stands for."""
    return (
        competence if isinstance(competence, CompetenceMeasure) else CompetenceMeasure(competence)
    )
