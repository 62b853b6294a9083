"""Schedules: how many representatives delegate at each increment.

A rate is a number or a function from the increment (counted from 1) to the share of the
representatives that delegate. A schedule turns rates into numbers of delegators.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from skliquid.delegation.storable import Count, Positive, storable
from skliquid.validation.checks import check_count, check_number

Rate: TypeAlias = Callable[[int], float]

STREAM_RATE = 0.05
"""``"auto"`` where the end of the data is unknown: the paper's accuracy-maximizing rate."""


@runtime_checkable
class Schedule(Protocol):
    """How many representatives delegate."""

    def n_delegators(self, increment: int, n_representatives: int) -> int:
        """Return how many of ``n_representatives`` delegate at ``increment``."""


@storable
@dataclass(frozen=True)
class FixedCount:
    """The same number of delegators at every increment."""

    count: Count

    def __post_init__(self) -> None:
        check_count("count", self.count, least=0)

    def n_delegators(self, increment: int, n_representatives: int) -> int:
        """Return the count, or ``n_representatives`` when fewer are left."""
        return min(self.count, n_representatives)


@storable
@dataclass(frozen=True)
class Rounded:
    r"""A rate :math:`1 - r`, and how the number of delegators is rounded.

    Parameters
    ----------
    rate : float or callable
        The share that delegates, or a function from the increment to it.
    rounding : {"at_least_one", "floor"}
        ``"floor"`` rounds down, :math:`\lfloor (1 - r) n \rfloor`, as the paper's numbers show
        its authors did: at rate 0.05 delegation ends with 19 representatives, because a twentieth
        of 19 is less than one. With ``"at_least_one"`` a rate above zero makes one delegate then.

    Examples
    --------
    >>> Rounded(0.05, "floor").n_delegators(1, 19), Rounded(0.05).n_delegators(1, 19)
    (0, 1)
    """

    rate: float | Rate
    rounding: Literal["at_least_one", "floor"] = "at_least_one"

    def __post_init__(self) -> None:
        if not callable(self.rate):
            _check_share("rate", self.rate)
        if self.rounding not in ("at_least_one", "floor"):
            raise ValueError(
                f"rounding must be 'at_least_one' or 'floor': got {self.rounding!r}. Choose one."
            )

    def n_delegators(self, increment: int, n_representatives: int) -> int:
        """Return the share of ``n_representatives`` that the rate gives, rounded."""
        rate = self.rate(increment) if callable(self.rate) else self.rate
        _check_share(f"delegation_rate at increment {increment}", rate)
        # 0.29 * 100 is 28.999999999999996 in floating point, and means 29
        count = math.floor(rate * n_representatives + 1e-9)
        return max(count, 1) if self.rounding == "at_least_one" and rate > 0 else count


@storable
@dataclass(frozen=True)
class JustFastEnough:
    r"""The slowest constant rate that leaves ``n_final`` after ``n_increments``.

    The number of representatives after increment t of T follows the curve of the constant rate
    :math:`1 - (n^\text{final} / n)^{1 / T}`:

    .. math:: n_t = \left\lceil n \left(\frac{n^\text{final}}{n}\right)^{t / T} \right\rceil

    Sizes are rounded instead of steps, so rounding errors do not add up, and voters that had no
    better candidate are made up for at the next increment.

    Examples
    --------
    >>> n_left = 100
    >>> for increment in range(1, 5):
    ...     n_left -= JustFastEnough(100, 10, 4).n_delegators(increment, n_left)
    ...     print(n_left)
    57
    32
    18
    10
    """

    n_voters: Positive
    n_final: Positive
    n_increments: Positive

    def n_delegators(self, increment: int, n_representatives: int) -> int:
        """Return by how many representatives the ensemble is above the curve."""
        left = math.pow(self.n_final / self.n_voters, increment / self.n_increments)
        size = math.ceil(self.n_voters * left - 1e-9)
        return max(n_representatives - max(size, self.n_final), 0)


def as_schedule(
    delegation_rate: float | Rate | Schedule | Literal["auto"],
    *,
    n_voters: int,
    n_final: int,
    n_increments: int | None,
) -> Schedule:
    """Return the schedule that a number, a function, a schedule or ``"auto"`` stands for.

    ``n_increments`` is None when the end of the data is unknown.
    """
    if isinstance(delegation_rate, Schedule):
        return delegation_rate
    if delegation_rate == "auto":
        if n_increments is None:
            return Rounded(STREAM_RATE)
        return JustFastEnough(n_voters, n_final, n_increments)
    return Rounded(delegation_rate)


def n_asked(schedule: Schedule, increment: int, n_representatives: int, n_final: int) -> int:
    """Return how many are asked to delegate, such that at least ``n_final`` remain."""
    count = schedule.n_delegators(increment, n_representatives)
    if type(count) is not int or count < 0:  # a user's schedule may return anything
        name = f"delegation_rate, as a schedule, at increment {increment}"
        count = check_count(name, count, least=0)
    return max(min(count, n_representatives - n_final), 0)


def asks_again(schedule: Schedule, remaining: range, n_representatives: int, n_final: int) -> bool:
    """Return whether any voter will be asked to delegate in the ``remaining`` increments."""
    return n_representatives > n_final and any(
        n_asked(schedule, increment, n_representatives, n_final) for increment in remaining
    )


def _check_share(name: str, share: object) -> None:
    check_number(name, share, "a share between 0 and 1", lambda rate: 0 <= rate <= 1, like=0.05)
