"""FreshAnswers: how good a group is on rows that it has not trained on, and each of its voters."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.calibration import Calibration, GroupAnswers
from skliquid.delegation.competence import contributions
from skliquid.delegation.rows import Rows
from skliquid.delegation.votes import LEAST_SHARE, mean_probabilities, most_probable


class FreshAnswers(NamedTuple):
    """The class probabilities of voters on rows, and the weights of their votes."""

    voters: Voters
    probabilities: Floats  # one row per voter, row and class
    weights: NDArray[np.float64]
    rows: Rows

    @property
    def shares(self) -> Floats:
        """The class probabilities of the group."""
        return mean_probabilities(self.probabilities, self.weights, self.probabilities.shape[2])

    @property
    def losses(self) -> Floats:
        """The log-loss of the group on each row."""
        own = self.shares[np.arange(self.rows.n_rows), self.rows.y]
        losses: Floats = -np.log(np.maximum(own, LEAST_SHARE))
        return losses

    @property
    def accuracy(self) -> Floats:
        """The accuracy of each voter."""
        is_right = most_probable(self.probabilities) == self.rows.y
        accuracy: Floats = np.average(is_right, axis=1, weights=self.rows.sample_weight)
        return accuracy

    @property
    def contributions(self) -> Floats:
        r"""Half of the rise of the group's Brier score without each voter, per unit of weight.

        .. math:: (p_i - S) \cdot (e - S) + \frac{w_i}{2 (W - w_i)} |p_i - S|^2

        averaged over the rows. It is :func:`contributions` where all of the voter's vote weight
        :math:`w_i` moves to the others; W is the sum of all weights. Where it is below zero, the
        group is better without the voter.
        """
        others = self.weights.sum() - self.weights
        share = -self.weights / np.where(others > 0, others, np.nan)  # NaN for one voter alone
        gains = contributions(self.probabilities, self.shares, self.rows.y, share=share[:, None])
        mean: Floats = np.average(gains, axis=1, weights=self.rows.sample_weight)
        return mean

    @property
    def log_loss(self) -> float:
        """The log-loss of the group."""
        return float(np.average(self.losses, weights=self.rows.sample_weight))

    def improve_on(self, before: "FreshAnswers", share: float, n_errors: float) -> bool:
        """Return whether the log-loss is lower by this share, and by some standard errors."""
        gains, weight = before.losses - self.losses, self.rows.sample_weight
        weight = np.ones(len(gains)) if weight is None else weight
        gain, total = np.average(gains, weights=weight), weight.sum()
        error = np.sqrt(np.sum((weight * (gains - gain)) ** 2)) / total
        return bool(gain > max(n_errors * error, share * before.log_loss))

    @property
    def calibration(self) -> Calibration:
        """The calibration of the group on these rows."""
        answers = GroupAnswers.of(self.shares, self.rows.y, self.rows.sample_weight, is_soft=True)
        return Calibration.empty().update(answers)
