"""Schedules: how many representatives delegate at increment t.

A rate is a number or a function from the increment (counted from 1) to the share of the
representatives that delegate. A schedule turns rates into whole delegators.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal, Protocol, TypeAlias, runtime_checkable

Rate: TypeAlias = Callable[[int], float]

RATE_OF_A_STREAM = 0.05
"""The paper's accuracy-maximising rate, for ``"auto"`` where the end of the data is unknown."""


@runtime_checkable
class Schedule(Protocol):
    """Says how many delegate."""

    def n_delegators(self, increment: int, n_representatives: int) -> int:
        """Return how many of ``n_representatives`` delegate at ``increment``."""
        ...


@dataclass(frozen=True)
class Constant:
    """The same rate at every increment: the paper's 1 - r."""

    rate: float

    def __post_init__(self) -> None:
        _check_share("rate", self.rate)

    def __call__(self, increment: int) -> float:
        """Return the rate."""
        return self.rate


@dataclass(frozen=True)
class Linear:
    """A rate that moves from ``first`` to ``last`` in equal steps, and stays there.

    Examples
    --------
    >>> rate = Linear(0.3, 0.1, n_increments=3)
    >>> [round(rate(increment), 2) for increment in (1, 2, 3, 4)]
    [0.3, 0.2, 0.1, 0.1]
    """

    first: float
    last: float
    n_increments: int

    def __post_init__(self) -> None:
        _check_share("first", self.first)
        _check_share("last", self.last)
        _check_count("n_increments", self.n_increments, least=2)

    def __call__(self, increment: int) -> float:
        """Return the rate at ``increment``."""
        way = min((increment - 1) / (self.n_increments - 1), 1)
        return (1 - way) * self.first + way * self.last


@dataclass(frozen=True)
class Geometric:
    """A rate that starts at ``first`` and is multiplied by ``factor`` at each increment."""

    first: float
    factor: float

    def __post_init__(self) -> None:
        _check_share("first", self.first)
        _check_share("factor", self.factor)

    def __call__(self, increment: int) -> float:
        """Return the rate at ``increment``."""
        return self.first * self.factor ** (increment - 1)


@dataclass(frozen=True)
class Annealed:
    """A rate that falls from ``first`` to zero along half a wave, and stays there.

    Examples
    --------
    >>> rate = Annealed(0.4, n_increments=4)
    >>> [round(rate(increment), 2) for increment in (1, 2, 3, 4, 5)]
    [0.4, 0.34, 0.2, 0.06, 0.0]
    """

    first: float
    n_increments: int

    def __post_init__(self) -> None:
        _check_share("first", self.first)
        _check_count("n_increments", self.n_increments, least=1)

    def __call__(self, increment: int) -> float:
        """Return the rate at ``increment``."""
        way = min((increment - 1) / self.n_increments, 1)
        return self.first * (1 + math.cos(math.pi * way)) / 2


@dataclass(frozen=True)
class SuccessiveHalving:
    """All but one in ``factor`` delegate, after 1, ``factor``, ``factor`` squared increments.

    Those left see ``factor`` times as many rows before the next cut, so that every round costs the
    same, as in the search of that name.

    Examples
    --------
    >>> [SuccessiveHalving(2).n_delegators(increment, 9) for increment in (1, 2, 3, 4, 5)]
    [4, 4, 0, 4, 0]
    """

    factor: int = 2

    def __post_init__(self) -> None:
        _check_count("factor", self.factor, least=2)

    def n_delegators(self, increment: int, n_representatives: int) -> int:
        """Return how many go in this round, none between rounds."""
        round_end = 1
        while round_end < increment:
            round_end *= self.factor
        kept = -(-n_representatives // self.factor)
        return n_representatives - kept if round_end == increment else 0


@dataclass(frozen=True)
class Everyone:
    """All are asked at every increment, and the mechanism decides who delegates.

    With ``mechanism="confident"``, those do who are worse than another beyond chance.
    """

    def n_delegators(self, increment: int, n_representatives: int) -> int:
        """Return the number of representatives."""
        return n_representatives


@dataclass(frozen=True)
class FixedCount:
    """The same number of delegators at every increment."""

    count: int

    def __post_init__(self) -> None:
        _check_count("count", self.count, least=0)

    def n_delegators(self, increment: int, n_representatives: int) -> int:
        """Return the count, or everyone when fewer are left."""
        return min(self.count, n_representatives)


@dataclass(frozen=True)
class Rounded:
    """A rate, and how the number of delegators is made whole.

    Parameters
    ----------
    rate : float or callable
        The share that delegates, or a function from the increment to it.
    rounding : {"at_least_one", "floor"}
        ``"floor"`` cuts, as the paper's numbers show its authors did: at rate 0.05 delegation
        ends with 19 representatives, because a twentieth of 19 is less than one. With
        ``"at_least_one"`` a rate above zero makes one delegate where the cut would leave none.

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
                f"rounding must be 'at_least_one' or 'floor': {self.rounding!r} is neither. "
                "Choose one of them."
            )

    def n_delegators(self, increment: int, n_representatives: int) -> int:
        """Return the share of ``n_representatives`` that the rate gives, made whole."""
        rate = self.rate(increment) if callable(self.rate) else self.rate
        _check_share(f"delegation_rate at increment {increment}", rate)
        # 0.29 * 100 is 28.999999999999996 in floating point, and means 29
        cut = math.floor(rate * n_representatives + 1e-9)
        return max(cut, 1) if self.rounding == "at_least_one" and rate > 0 else cut


@dataclass(frozen=True)
class JustFastEnough:
    """The slowest constant rate that leaves ``n_final`` after ``n_increments``.

    The number of representatives follows n (n_final / n)^(t / T), the curve of the constant rate
    1 - (n_final / n)^(1 / T). Sizes are rounded instead of steps, so nothing adds up, and voters
    that had no better candidate are made up for at the next increment.

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

    n_voters: int
    n_final: int
    n_increments: int

    def n_delegators(self, increment: int, n_representatives: int) -> int:
        """Return how many are still above the curve."""
        way = min(increment / self.n_increments, 1)
        size = math.ceil(self.n_voters * math.pow(self.n_final / self.n_voters, way) - 1e-9)
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
            return Rounded(RATE_OF_A_STREAM)
        return JustFastEnough(n_voters, n_final, n_increments)
    return Rounded(delegation_rate)


def n_asked(schedule: Schedule, increment: int, n_representatives: int, n_final: int) -> int:
    """Return how many are asked to delegate, so that ``n_final`` remain at least."""
    count = schedule.n_delegators(increment, n_representatives)
    _check_count(f"delegation_rate, as a schedule, at increment {increment}", count, least=0)
    return max(min(int(count), n_representatives - n_final), 0)


def asks_again(schedule: Schedule, to_come: range, n_representatives: int, n_final: int) -> bool:
    """Return whether anyone will be asked to delegate in the increments ``to_come``."""
    return n_representatives > n_final and any(
        n_asked(schedule, increment, n_representatives, n_final) for increment in to_come
    )


def _check_share(name: str, share: object) -> None:
    if not isinstance(share, Real) or not 0 <= float(share) <= 1:
        raise ValueError(
            f"{name} must be a share between 0 and 1: {share!r} is none. Give a number like 0.05."
        )


def _check_count(name: str, count: object, *, least: int) -> None:
    if not isinstance(count, Integral) or int(count) < least:
        raise ValueError(
            f"{name} must be a whole number of {least} or more: {count!r} is none. "
            "Give a number like 5."
        )
