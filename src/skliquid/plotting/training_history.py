"""TrainingHistory: the numbers of a record by increment, for curves in displays and notebooks."""

from dataclasses import dataclass

import numpy as np

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.record import IncrementRecord, TrainingRecord
from skliquid.plotting.fitted_record import competence_unit


@dataclass(frozen=True, eq=False)
class TrainingHistory:
    """The changes from increment to increment; arrays have one entry per increment.

    Costs and accuracies on the evaluation set have one entry more, for the final fit. Costs are
    sample visits so far. ``cost_of_all`` is an estimate of the cost without delegation: it assumes
    that a delegator would have cost as much as the average of the voters that trained.
    """

    increments: Voters  # their numbers
    competence: Floats  # minimum, mean and maximum of the representatives left, one row each
    competence_unit: str
    accuracy: Floats  # mean of the representatives before the increment, on its rows
    is_prequential: bool  # whether this accuracy was measured before training on the rows
    eval_accuracy: Floats  # of the ensemble on the evaluation set; NaN without one
    representatives: Voters  # number of representatives left
    minimum_majority: Voters  # number of representatives with more than half of the weight
    cost: Floats
    cost_of_all: Floats
    n_voters: int

    @classmethod
    def from_record(cls, record: TrainingRecord) -> "TrainingHistory":
        """Return the history of a record."""
        n_voters, kept = record[-1].graph.n_voters, record.increments
        cost = np.array([increment.cost for increment in kept], dtype=float)
        ratios = np.array([n_voters / max(increment.n_trained, 1) for increment in kept])
        earlier = record.increments_cost - cost.sum()  # of increments that were not kept
        final, n_left = record.final_fit_cost, kept[-1].n_representatives
        scores = [increment.eval_accuracy for increment in kept]
        return cls(
            increments=np.array([increment.increment for increment in kept]),
            competence=np.array([_competence_range(increment) for increment in kept]),
            competence_unit=competence_unit(record),
            accuracy=np.array([np.mean(increment.accuracy) for increment in kept]),
            is_prequential=any(increment.n_trained < len(increment.voters) for increment in kept),
            eval_accuracy=np.array([*scores, record.final_eval_accuracy]),
            representatives=np.array([increment.n_representatives for increment in kept]),
            minimum_majority=np.array([increment.minimum_majority for increment in kept]),
            cost=_cumulative(cost, earlier, final),
            cost_of_all=_cumulative(cost * ratios, earlier, final * n_voters / n_left),
            n_voters=n_voters,
        )


def _cumulative(cost: Floats, earlier: float, final: float) -> Floats:
    return np.append(earlier + np.cumsum(cost), earlier + cost.sum() + final)


def _competence_range(increment: IncrementRecord) -> tuple[float, float, float]:
    """Return minimum, mean and maximum of the representatives left."""
    is_left = increment.graph.weights[increment.voters] > 0
    values = increment.competence[is_left & np.isfinite(increment.competence)]
    if not len(values):
        return (np.nan, np.nan, np.nan)
    return float(values.min()), float(values.mean()), float(values.max())
