"""State: coefficients, intercepts and counters of all separators, in arrays.

A separator is one binary linear classifier: a voter has one, or with more than two classes one per
class, against all others.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg.blas
from numpy.typing import NDArray

from skliquid import native
from skliquid.delegation.arrays import Floats
from skliquid.delegation.increments import slices
from skliquid.pools.linear.layout import aligned_zeros, padded_width
from skliquid.pools.linear.seen_columns import SeenColumns

_FROM_ZERO = ("intercept", "average_intercept", "shows_average")
_LEARNED_SCALARS = (*_FROM_ZERO, "steps", "n_iter")
_LARGEST_INT = 2**31 - 1
_BLAS_BLOCK = 64  # a multiple of the numbers that BLAS takes at once
_SUMS_IN_ONE_THREAD = 8192  # for more, BLAS waits for threads longer than it computes
Separators: TypeAlias = NDArray[np.intp]  # their indices


@dataclass
class SeparatorState:
    """One row per separator in each array; ``average`` has no columns without averaging."""

    coef: NDArray[Any]
    average: NDArray[Any]
    scalars: NDArray[Any]

    @classmethod
    def zeros(cls, n: int, n_features: int, dtype: Any, *, averages: bool) -> "SeparatorState":
        """Return the state before training."""
        width = padded_width(n_features)
        average = aligned_zeros(n, width if averages else 0, dtype)
        return cls(aligned_zeros(n, width, dtype), average, np.zeros(n, dtype=native.SEPARATOR))

    @property
    def arrays(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.uint8]]:
        """The arrays as the core takes them, to be changed in place."""
        return self.coef, self.average, self.scalars.view(np.uint8)

    def select(self, separators: Separators) -> "SeparatorState":
        """Return a copy of the state of ``separators``."""
        parts = (self.coef, self.average, self.scalars)
        return SeparatorState(*(values[separators] for values in parts))

    def with_all_columns(self, columns: SeenColumns | None) -> "SeparatorState":
        """Return the state with coefficients of all columns, not only of those seen."""
        if columns is None:
            return self
        average = columns.restore_all(self.average) if self.average.shape[1] else self.average
        return SeparatorState(columns.restore_all(self.coef), average, self.scalars)

    def widen(self, n_features: int) -> "SeparatorState":
        """Return the state with at least ``n_features`` coefficients per separator.

        A wider state has room for twice as many, so that it is not copied each time.
        """
        n_now, averages = self.coef.shape[1], self.average.shape[1] > 0
        if n_features <= n_now:
            return self
        dtype = self.coef.dtype
        wider = SeparatorState.zeros(len(self.coef), 2 * n_features, dtype, averages=averages)
        wider.coef[:, :n_now] = self.coef
        wider.average[:, : self.average.shape[1]] = self.average
        wider.scalars[:] = self.scalars
        return wider

    def restore(self, separators: Separators, state: "SeparatorState") -> None:
        """Set ``separators`` to an earlier state."""
        for name, values in vars(state).items():
            getattr(self, name)[separators] = values

    def values(self, separators: Separators, width: int) -> dict[str, NDArray[Any]]:
        """Return the learned values of ``separators``, for the first ``width`` columns."""
        scalars = {name: self.scalars[name][separators] for name in _LEARNED_SCALARS}
        average = self.average[separators, :width]
        return {"coef": self.coef[separators, :width], "average": average} | scalars

    def set_values(
        self, separators: Separators, values: dict[str, NDArray[Any]], places: NDArray[np.intp]
    ) -> None:
        """Set the learned values of ``separators``, with coefficients at these ``places``."""
        for name in ("coef", "average"):
            if values[name].shape[1]:
                getattr(self, name)[np.ix_(separators, places)] = values[name]
        for name in _LEARNED_SCALARS:
            self.scalars[name][separators] = values[name]

    def add_to_averages(
        self, separators: Separators, n_features: int, columns: SeenColumns | None
    ) -> None:
        """Add coefficients times ``average_a`` to the averages, with the bits of scikit-learn.

        It calls BLAS with all features. On some processors the last numbers of a vector, if they
        do not fill a block, are rounded differently from the others. So each number must be at the
        same place of its block, even if only some ``columns`` have coefficients.
        """
        axpy = _axpy(self.coef.dtype)
        factors = self.scalars["average_a"][separators].tolist()
        if columns is None:
            cuts = slices(n_features, _SUMS_IN_ONE_THREAD)
            for s, a in zip(separators.tolist(), factors, strict=True):
                for cut in cuts:
                    axpy(self.coef[s, cut], self.average[s, cut], a=a)
            return
        numbers, end = columns.numbers, n_features - n_features % _BLAS_BLOCK
        in_blocks, in_rest = np.flatnonzero(numbers < end), np.flatnonzero(numbers >= end)
        width = -(-len(in_blocks) // _BLAS_BLOCK) * _BLAS_BLOCK
        parts = (
            (in_blocks, np.arange(len(in_blocks)), width),
            (in_rest, numbers[in_rest] - end, n_features - end),
        )
        for s, a in zip(separators.tolist(), factors, strict=True):
            for own, places, length in parts:
                x, y = np.zeros((2, length), dtype=self.coef.dtype)
                x[places], y[places] = self.coef[s, own], self.average[s, own]
                for cut in slices(length, _SUMS_IN_ONE_THREAD):
                    axpy(x[cut], y[cut], a=a)
                self.average[s, own] = y[places]

    def reset(self, separators: Separators) -> None:
        """Let ``separators`` start from zero."""
        self.coef[separators] = self.average[separators] = 0
        for name in _FROM_ZERO:
            self.scalars[name][separators] = 0
        self.scalars["steps"][separators] = 1

    def prediction_arrays(self) -> tuple[NDArray[Any], Floats]:
        """Return the coefficients and intercepts that predictions use: averages or the last."""
        scalars = self.scalars
        if self.average.shape[1] == 0:
            return self.coef, scalars["intercept"].copy()
        shows = scalars["shows_average"] != 0
        if shows.all():
            return self.average, scalars["average_intercept"].copy()
        intercept = np.where(shows, scalars["average_intercept"], scalars["intercept"])
        return np.where(shows[:, None], self.average, self.coef), intercept


@cache
def _axpy(dtype: Any) -> Any:
    """Return BLAS's a x + y, as scikit-learn calls it; it changes its y."""
    return scipy.linalg.blas.get_blas_funcs("axpy", dtype=dtype)


def shuffle_seeds(seeds: NDArray[np.int64], n_separators: int) -> NDArray[np.int64]:
    """Return the seed that scikit-learn would use to shuffle the rows of each separator."""
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
