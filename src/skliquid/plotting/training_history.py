"""TrainingHistory: the numbers of a record that a TrainingDisplay draws, by increment."""

from dataclasses import dataclass

import numpy as np

from skliquid.arrays import Floats, Voters
from skliquid.record import IncrementRecord, TrainingRecord


@dataclass(frozen=True, eq=False)
class TrainingHistory:
    """What changed from increment to increment.

    Attributes
    ----------
    increments : array of int
        Numbers of the increments.
    competence : array of shape (n_increments, 3)
        The lowest, mean and highest competence of the representatives that are left after each.
    accuracy : array of float
        The mean accuracy of the representatives before it, on the rows of the increment.
    is_prequential : bool
        Whether this accuracy was measured before training on the rows.
    eval_accuracy : array of float
        The accuracy of the ensemble on the evaluation set; NaN without one.
    representatives, minimum_majority : array of int
        How many representatives are left, and how many of them hold more than half of the weight.
    cost : array of float
        Sample visits so far; the last number includes the final fit.
    cost_of_all : array of float
        The same if no voter had delegated. It is an estimate: a delegator would have cost as much
        as the average of the voters that trained.
    n_voters : int
        Number of voters.
    has_final_fit : bool
        Whether the representatives were refitted in the end.
    """

    increments: Voters
    competence: Floats
    accuracy: Floats
    is_prequential: bool
    eval_accuracy: Floats
    representatives: Voters
    minimum_majority: Voters
    cost: Floats
    cost_of_all: Floats
    n_voters: int
    has_final_fit: bool

    @classmethod
    def of(cls, record: TrainingRecord) -> "TrainingHistory":
        """Return the history of a record."""
        n_voters, kept = record[-1].graph.n_voters, record.increments
        cost = np.array([one.cost for one in kept], dtype=float)
        times = np.array([n_voters / max(one.n_trained, 1) for one in kept])
        earlier = record.increments_cost - cost.sum()  # of increments that were not kept
        final, n_left = record.final_fit_cost, kept[-1].n_representatives
        return cls(
            increments=np.array([one.increment for one in kept]),
            competence=np.array([_lowest_mean_highest(one) for one in kept]),
            accuracy=np.array([np.mean(one.accuracy) for one in kept]),
            is_prequential=any(one.n_trained < len(one.voters) for one in kept),
            eval_accuracy=np.array([one.eval_accuracy for one in kept]),
            representatives=np.array([one.n_representatives for one in kept]),
            minimum_majority=np.array([one.minimum_majority for one in kept]),
            cost=_summed(cost, earlier, final),
            cost_of_all=_summed(cost * times, earlier, final * n_voters / n_left),
            n_voters=n_voters,
            has_final_fit=final > 0,
        )


def _summed(cost: Floats, earlier: float, final: float) -> Floats:
    return np.append(earlier + np.cumsum(cost), earlier + cost.sum() + final)


def _lowest_mean_highest(increment: IncrementRecord) -> tuple[float, float, float]:
    is_left = increment.graph.weights[increment.voters] > 0
    values = increment.competence[is_left & np.isfinite(increment.competence)]
    if not len(values):
        return (np.nan, np.nan, np.nan)
    return float(values.min()), float(values.mean()), float(values.max())
