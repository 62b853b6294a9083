"""Running averages of the competence of each voter over the increments."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.storable import Array, Positive, Range, Share, storable

RESOLUTION = 2**36
"""Measurements other than counts are rounded to multiples of 1 / RESOLUTION."""

_EXACT_IN_A_FLOAT = 2**53
_FINEST = 2**256
_GRID = 2.0**20  # sums over rows are rounded to multiples of its inverse

_PerVoter = Annotated[NDArray[np.int64], Array("n_voters")]


class Measurement(NamedTuple):
    """The competence of some voters on one increment.

    ``n_rows`` is the effective number of rows if rows have weights. ``variance`` is that of each
    value as a mean over rows; None for accuracies, whose variance follows from the value.
    """

    values: Floats
    n_rows: float
    variance: Floats | None = None
    is_count: bool = False  # whether values are counts of correct answers, over the rows


class RunningAverage(Protocol):
    """The average competence of each voter so far; arrays have one value per voter."""

    @property
    def mean(self) -> Floats:
        """Average competence; NaN where nothing was measured."""

    @property
    def n_answers(self) -> NDArray[np.int64]:
        """Number of rows behind the average."""

    @property
    def variance(self) -> Floats | None:
        """Variance of the average; None for accuracies, where it follows from the average."""

    @property
    def slope(self) -> Floats | None:
        """Growth of competence per increment; None if it is unknown."""

    def update(self, voters: Voters, measured: Measurement) -> "RunningAverage":
        """Return the average after one more measurement of ``voters``."""


def confidence_interval(
    mean: Floats, n_answers: NDArray[np.int64], variance: Floats | None, level: float
) -> tuple[Floats, Floats]:
    r"""Return an interval that misses each voter's competence with probability ``level``.

    It is Wilson's for accuracies, else :math:`q \pm z \sigma` for the standard error
    :math:`\sigma` and :math:`z = \Phi^{-1}(1 - \text{level} / 2)`.
    """
    if variance is None:
        return wilson(mean, n_answers, level)
    reach = float(ndtri(1 - level / 2)) * np.sqrt(variance)
    return mean - reach, mean + reach


def wilson(accuracy: Floats, n: NDArray[np.int64], level: float) -> tuple[Floats, Floats]:
    r"""Return the ends of Wilson's score interval for each accuracy on ``n`` rows.

    .. math::

        \frac{q n + \frac{z^2}{2}}{n + z^2} \pm
        \frac{z \sqrt{q (1 - q) n + \frac{z^2}{4}}}{n + z^2}, \quad
        z = \Phi^{-1}\left(1 - \frac{\text{level}}{2}\right)

    It misses an accuracy with probability ``level``, approximately. Without rows it is [0, 1].
    """
    z2 = float(ndtri(1 - level / 2)) ** 2
    with np.errstate(invalid="ignore"):  # at level 1 there is no interval on no rows
        middle = (accuracy * n + z2 / 2) / (n + z2)
        reach = np.sqrt(z2 * (accuracy * (1 - accuracy) * n + z2 / 4)) / (n + z2)
    return middle - reach, middle + reach


@storable
@dataclass(frozen=True, eq=False)
class OverallAverage:
    r"""Each voter's competence averaged over the increments it was measured on: the paper's Q.

    .. math:: q_{t, i} = \frac{1}{t} \sum_{s \leq t} a_{s, i}

    Ties decide who delegates, so equal averages must have equal bits. Sums are therefore integers
    over a common denominator, and divided once. Accuracies are counts of correct answers; other
    measurements are rounded to a fine grid. If increments of many sizes have no common denominator
    below 2**256, each measurement is rounded to that one.

    Examples
    --------
    >>> average = OverallAverage.empty(2)
    >>> half_and_all = Measurement(np.array([0.5, 1.0]), 10, is_count=True)
    >>> average = average.update(np.array([0, 1]), half_and_all)
    >>> average = average.update(np.array([0]), Measurement(np.array([2 / 3]), 3, is_count=True))
    >>> average.mean.tolist() == [7 / 12, 1.0]
    True
    """

    numerators: Annotated[NDArray[Any], Array("n_voters")]
    denominator: Annotated[int, Range(1)]
    n_measured: _PerVoter
    n_answers: _PerVoter
    variances: Annotated[Floats | None, Array("n_voters", low=0)] = None  # of the sums
    slope: None = None

    @classmethod
    def empty(cls, n_voters: int) -> "OverallAverage":
        """Return the average before any measurement."""
        zeros = np.zeros(n_voters, dtype=np.int64)
        return cls(zeros, 1, zeros, zeros)

    def update(self, voters: Voters, measured: Measurement) -> "OverallAverage":
        """Return the average after one more measurement of ``voters``."""
        values, n_rows, variance, is_count = measured
        resolution = int(n_rows) if is_count else RESOLUTION
        denominator = min(math.lcm(self.denominator, resolution), _FINEST)
        n_measured, n_answers = self.n_measured.copy(), self.n_answers.copy()
        n_measured[voters] += 1
        n_answers[voters] += round(n_rows)
        largest = denominator * int(n_measured.max())
        dtype = np.int64 if largest < _EXACT_IN_A_FLOAT else object
        added = np.rint(values * resolution).astype(np.int64).astype(dtype)
        numerators = _rescaled(self.numerators.astype(dtype), self.denominator, denominator)
        numerators[voters] += _rescaled(added, resolution, denominator)
        return OverallAverage(
            numerators,
            denominator,
            n_measured,
            n_answers,
            None if variance is None else _plus(self.variances, voters, variance, len(numerators)),
        )

    @cached_property
    def mean(self) -> Floats:
        """The average of each voter; NaN where nothing was measured."""
        n_measured = np.maximum(self.n_measured, 1).astype(self.numerators.dtype)
        mean = (self.numerators / (n_measured * self.denominator)).astype(np.float64)
        return np.where(self.n_measured > 0, mean, np.nan)

    @property
    def variance(self) -> Floats | None:
        """Variance of the average."""
        return None if self.variances is None else self.variances / self.n_measured.clip(1) ** 2


def _rescaled(numerators: NDArray[Any], denominator: int, new: int) -> NDArray[Any]:
    """Return numerators over the ``new`` denominator, rounded if necessary."""
    if new % denominator == 0:
        return numerators * (new // denominator)
    return (numerators.astype(object) * (2 * new) + denominator) // (2 * denominator)


def _plus(sums: Floats | None, voters: Voters, added: Floats, n_voters: int) -> Floats:
    """Return the sums after ``added`` for ``voters``."""
    sums = np.zeros(n_voters) if sums is None else sums.copy()
    sums[voters] += added
    return sums


@storable
@dataclass(frozen=True, eq=False)
class RecentAverage:
    """Each voter's mean competence on the rows of the last increments.

    A voter without a measurement among these keeps its last average.

    Examples
    --------
    >>> average, voters = RecentAverage.empty(2, window=2), np.array([0, 1])
    >>> for accuracy in ([0.0, 0.5], [0.5, 0.5], [1.0, 0.5]):
    ...     average = average.update(voters, Measurement(np.array(accuracy), n_rows=10))
    >>> average.mean.tolist(), average.slope.tolist(), average.n_answers.tolist()
    ([0.75, 0.5], [0.5, 0.0], [20, 20])
    """

    window: Positive
    # per increment: competence, rows and variance of each voter, over rows
    sums: Annotated[Floats, Array("n_increments", 3, "n_voters")]
    mean: Annotated[Floats, Array("n_voters", may_be_nan=True)]
    has_variance: bool = False

    @classmethod
    def empty(cls, n_voters: int, window: int) -> "RecentAverage":
        """Return the average before any measurement."""
        return cls(window, np.zeros((0, 3, n_voters)), np.full(n_voters, np.nan))

    def update(self, voters: Voters, measured: Measurement) -> "RecentAverage":
        """Return the average after one more measurement of ``voters``."""
        latest = np.zeros((1, *self.sums.shape[1:]))
        latest[0][:, voters] = _over_rows(measured)
        sums = np.concatenate([self.sums, latest])[-self.window :]
        (total, n_rows, _), mean = sums.sum(axis=0), self.mean.copy()
        np.divide(total, n_rows, out=mean, where=n_rows > 0)
        return RecentAverage(self.window, sums, mean, measured.variance is not None)

    @cached_property
    def n_answers(self) -> NDArray[np.int64]:
        """The number of rows behind each voter's average."""
        n_answers: NDArray[np.int64] = np.rint(self.sums[:, 1].sum(axis=0)).astype(np.int64)
        return n_answers

    @property
    def variance(self) -> Floats | None:
        """Variance of the average."""
        _, n_rows, variance = self.sums.sum(axis=0)
        return variance / n_rows.clip(1) ** 2 if self.has_variance else None

    @cached_property
    def slope(self) -> Floats | None:
        r"""Growth of each voter's competence per increment, by least squares.

        .. math:: \frac{\sum_s (s - \bar{s}) \, a_{s, i}}{\sum_s (s - \bar{s})^2}

        over the increments s in the window at which voter i was measured; NaN with fewer than two
        measurements, and None where the window is too short for two.
        """
        if self.window < 2:
            return None
        total, n_rows = self.sums[:, 0], self.sums[:, 1]
        is_measured, value = n_rows > 0, total / np.where(n_rows > 0, n_rows, 1)
        position = np.arange(len(is_measured))[:, None] * is_measured
        n = np.maximum(is_measured.sum(axis=0), 1)
        centred = (position - position.sum(axis=0) / n) * is_measured
        with np.errstate(invalid="ignore"):
            slope: Floats = (centred * value).sum(axis=0) / (centred**2).sum(axis=0)
        return slope


@storable
@dataclass(frozen=True, eq=False)
class DecayedAverage:
    r"""Each voter's mean competence, in which older increments count less.

    A row that is s increments old has the weight :math:`\gamma^s`, for a factor :math:`\gamma`.

    Examples
    --------
    >>> average, voters = DecayedAverage.empty(2, factor=0.5), np.array([0, 1])
    >>> for accuracy in ([0.0, 0.5], [0.6, 0.5]):
    ...     average = average.update(voters, Measurement(np.array(accuracy), n_rows=10))
    >>> average.mean.tolist(), average.n_answers.tolist()
    ([0.4, 0.5], [15, 15])
    """

    factor: Share
    sums: Annotated[Floats, Array(3, "n_voters")]  # competence, rows and variance, over rows
    has_variance: bool = False
    slope: None = None

    @classmethod
    def empty(cls, n_voters: int, factor: float) -> "DecayedAverage":
        """Return the average before any measurement."""
        return cls(factor, np.zeros((3, n_voters)))

    def update(self, voters: Voters, measured: Measurement) -> "DecayedAverage":
        """Return the average after one more measurement of ``voters``."""
        sums, factor = self.sums.copy(), self.factor
        decay = np.array([[factor], [factor], [factor**2]])
        sums[:, voters] = decay * sums[:, voters] + _over_rows(measured)
        return DecayedAverage(factor, sums, measured.variance is not None)

    @cached_property
    def mean(self) -> Floats:
        """The average of each voter; NaN where nothing was measured."""
        with np.errstate(invalid="ignore"):
            mean: Floats = self.sums[0] / self.sums[1]
        return mean

    @cached_property
    def n_answers(self) -> NDArray[np.int64]:
        """The decayed number of rows behind each voter's average."""
        n_answers: NDArray[np.int64] = np.rint(self.sums[1]).astype(np.int64)
        return n_answers

    @property
    def variance(self) -> Floats | None:
        """Variance of the average."""
        if not self.has_variance:
            return None
        variance: Floats = self.sums[2] / np.where(self.sums[1] > 0, self.sums[1], 1) ** 2
        return variance


def _over_rows(measured: Measurement) -> Floats:
    """Return a measurement as sums over its rows: of competence, of rows, and the variance.

    Sums are rounded to a grid on which counts of correct answers lie, so that they add up exactly.
    """
    values, n_rows, variance, _ = measured
    total = np.rint(values * n_rows * _GRID) / _GRID
    spread = np.zeros(len(values)) if variance is None else variance * n_rows**2
    return np.stack([total, np.full(len(values), float(n_rows)), spread])
