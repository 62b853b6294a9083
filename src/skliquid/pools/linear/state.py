"""State: coefficients, intercepts and counters of all separators, in arrays.

A separator is one binary linear classifier: a voter has one, or with more than two classes one per
class, against all others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid import native
from skliquid.arrays import Floats
from skliquid.pools.linear.layout import aligned_zeros, padded

_FROM_ZERO = ("intercept", "average_intercept", "shows_average")
_LEARNED = (*_FROM_ZERO, "steps", "n_iter")
_LARGEST_INT = 2**31 - 1


@dataclass
class SeparatorState:
    """One row per separator in each array; ``average`` has no columns without averaging."""

    coef: NDArray[Any]
    average: NDArray[Any]
    scalars: NDArray[Any]

    @classmethod
    def zeros(cls, n: int, n_features: int, dtype: Any, *, averages: bool) -> "SeparatorState":
        """Return the state before training."""
        width = padded(n_features)
        return cls(
            aligned_zeros(n, width, dtype),
            aligned_zeros(n, width if averages else 0, dtype),
            np.zeros(n, dtype=native.SEPARATOR),
        )

    def __post_init__(self) -> None:
        # as the core takes them, to be changed in place
        self.arrays = self.coef, self.average, self.scalars.view(np.uint8)

    def __reduce__(self) -> tuple[Any, ...]:
        return SeparatorState, (self.coef, self.average, self.scalars)  # a view stays a view

    def at(self, separators: NDArray[np.intp]) -> "SeparatorState":
        """Return a copy of the state of ``separators``."""
        parts = (self.coef, self.average, self.scalars)
        return SeparatorState(*(values[separators] for values in parts))

    def over(self, whole: Callable[[NDArray[Any]], NDArray[Any]] | None) -> "SeparatorState":
        """Return the state with coefficients as ``whole`` makes them, or None: as they are."""
        if whole is None:
            return self
        average = whole(self.average) if self.average.shape[1] else self.average
        return SeparatorState(whole(self.coef), average, self.scalars)

    def with_room_for(self, n_features: int) -> "SeparatorState":
        """Return the state with at least so many coefficients of each separator.

        There is room for twice as many as were needed, so that they are not copied each time.
        """
        if n_features <= self.coef.shape[1]:
            return self
        averages = self.average.shape[1] > 0
        wider = SeparatorState.zeros(
            len(self.coef), 2 * n_features, self.coef.dtype, averages=averages
        )
        wider.coef[:, : self.coef.shape[1]] = self.coef
        wider.average[:, : self.average.shape[1]] = self.average
        wider.scalars[:] = self.scalars
        return wider

    def copied(self) -> "SeparatorState":
        """Return a copy."""
        return SeparatorState(self.coef.copy(), self.average.copy(), self.scalars.copy())

    def restore(self, separators: NDArray[np.intp], state: "SeparatorState") -> None:
        """Set ``separators`` to an earlier state."""
        self.coef[separators] = state.coef
        self.average[separators] = state.average
        self.scalars[separators] = state.scalars

    def learned(self, separators: NDArray[np.intp], width: int) -> dict[str, NDArray[Any]]:
        """Return what ``separators`` have learned, coefficients of the first ``width`` columns."""
        scalars = {name: self.scalars[name][separators] for name in _LEARNED}
        average = self.average[separators, :width]
        return {"coef": self.coef[separators, :width], "average": average} | scalars

    def relearn(
        self,
        separators: NDArray[np.intp],
        learned: dict[str, NDArray[Any]],
        places: NDArray[np.intp],
    ) -> None:
        """Set ``separators`` to what :meth:`learned` returned, coefficients at these ``places``."""
        for name in ("coef", "average"):
            values = learned[name]
            if values.shape[1]:
                getattr(self, name)[np.ix_(separators, places)] = values
        for name in _LEARNED:
            self.scalars[name][separators] = learned[name]

    def reset(self, separators: NDArray[np.intp]) -> None:
        """Let ``separators`` start from zero."""
        self.coef[separators] = self.average[separators] = 0
        for name in _FROM_ZERO:
            self.scalars[name][separators] = 0
        self.scalars["steps"][separators] = 1

    def shown(self) -> tuple[NDArray[Any], Floats]:
        """Return the coefficients and intercepts that separators predict by."""
        scalars = self.scalars
        if self.average.shape[1] == 0:
            return self.coef, scalars["intercept"].copy()
        shows = scalars["shows_average"] != 0
        if shows.all():
            return self.average, scalars["average_intercept"].copy()
        return (
            np.where(shows[:, None], self.average, self.coef),
            np.where(shows, scalars["average_intercept"], scalars["intercept"]),
        )


def shuffle_seeds(seeds: NDArray[np.int64], n_separators: int) -> NDArray[np.int64]:
    """Return the seed with which scikit-learn would shuffle rows for each separator."""
    if n_separators > 1:
        seeds = _draws(seeds, n_separators).ravel()
    return _draws(seeds, 2)[:, 1]


def _draws(seeds: NDArray[np.int64], n_draws: int) -> NDArray[np.int64]:
    """Return the first draws of ``RandomState(seed).randint(2**31 - 1)`` for each seed."""
    draws: NDArray[np.int64] = np.full((len(seeds), n_draws), -1)
    if n_draws <= native.MOST_DRAWS:
        native.draw_seeds(seeds, draws)
    for k in np.flatnonzero((draws < 0).any(axis=1)):
        draws[k] = np.random.RandomState(seeds[k]).randint(_LARGEST_INT, size=n_draws)
    return draws
