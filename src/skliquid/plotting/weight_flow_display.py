"""WeightFlowDisplay: how weight gathers from increment to increment."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skliquid.delegation.arrays import Floats
from skliquid.delegation.record import TrainingRecord
from skliquid.plotting.fitted_record import check_record, record_of
from skliquid.plotting.style import (
    MIN_FONT_SIZE,
    check_matplotlib,
    get_axes,
    quantity,
    settle,
    style,
)
from skliquid.plotting.weight_flow import Ribbons, WeightFlow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.text import Text

# The heaviest representatives have hues; neighbours differ in brightness.
_HUES = ("#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7")
_GREYS, _TINT = ("0.42", "0.58"), 0.42
_NOTE = "Colour: who carries the votes in the end. Light: not yet."
_MAX_TICKS, _MAX_VECTORS = 16, 2000
_FLAT = 0.15  # half the width of the level part of a band, relative to the distance of columns


class WeightFlowDisplay:
    """How weight gathers: from a band per voter to a few bands of representatives.

    Each column shows the state after an increment, the first the state before training. The height
    of a band is the weight of a representative. Where a voter delegates, its band flows into the
    band of the voter that carries its votes from then on. Where it takes its votes back, they flow
    out again. Colours are those of the representatives that carry the votes in the end: dark when
    these carry them already, light before. The heaviest representatives have hues, others are grey.

    Use :meth:`from_estimator` or :meth:`from_record` rather than the constructor.

    Parameters
    ----------
    flow : WeightFlow
        The carrier of each vote, at the increments that are drawn.
    n_increments : int
        The number of increments, drawn or not.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure with the axes.
    bands_ : matplotlib PathCollection
        The bands, in pieces from each column to the next.
    labels_ : dict of int to matplotlib Text
        The labels of the heaviest representatives left, by voter, where there is room.

    See Also
    --------
    DelegationDisplay : Who delegated to whom.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skliquid import LiquidEnsembleClassifier
    >>> from skliquid.plotting import WeightFlowDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    >>> display = WeightFlowDisplay.from_estimator(ensemble)
    >>> print(display.ax_.get_title())
    How weight gathers: from 24 voters to 5 representatives
    """

    def __init__(self, flow: WeightFlow, n_increments: int):
        self.flow = flow
        self.n_increments = n_increments

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_columns: int = 60, ax: Any = None) -> Self:
        """Draw the weights of a fitted ensemble.

        Parameters
        ----------
        estimator : LiquidEnsembleClassifier, PrunedEnsemble, Pipeline or search
            A fitted ensemble, or an estimator that contains one.
        max_columns : int, default=60
            The maximum number of columns. If there are more increments, those at which no votes
            move are left out, and if necessary others at regular intervals.
        ax : matplotlib Axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : WeightFlowDisplay
            The display, with the drawn artists as attributes.
        """
        return cls.from_record(record_of(estimator), max_columns=max_columns, ax=ax)

    @classmethod
    def from_record(cls, record: TrainingRecord, *, max_columns: int = 60, ax: Any = None) -> Self:
        """Draw the weights in a record.

        Parameters
        ----------
        record : TrainingRecord
            The record of a training.
        max_columns : int, default=60
            The maximum number of columns. If there are more increments, those at which no votes
            move are left out, and if necessary others at regular intervals.
        ax : matplotlib Axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : WeightFlowDisplay
            The display, with the drawn artists as attributes.
        """
        if max_columns < 2:
            raise ValueError(
                "max_columns must be 2 or more, for the first state and the last: got "
                f"{max_columns!r}. Raise it."
            )
        n_increments = len(check_record(record))
        return cls(WeightFlow.from_record(record, max_columns), n_increments).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        self : WeightFlowDisplay
            The display, with the drawn artists as attributes.
        """
        check_matplotlib(self)
        with style():
            height = float(np.clip(1.4 + 0.13 * len(self.flow.orders[-1]), 3.6, 5.6))
            self.ax_, self.figure_ = get_axes(ax, 7.0, height)
            self.bands_ = self._draw_bands(self.ax_)
            self._set_axes(self.ax_)
            settle(self.ax_)
            self.labels_ = self._write_labels(self.ax_)
            settle(self.ax_)
        return self

    def _draw_bands(self, ax: "Axes") -> "PathCollection":
        from matplotlib.collections import PathCollection

        flow, paths, colours = self.flow, [], []
        for column in range(flow.n_columns):
            ribbons = flow.ribbons(column)
            ends = zip(ribbons.tops.tolist(), ribbons.weights.tolist(), strict=True)
            draw = _level if column == flow.n_columns - 1 else _curve
            paths += [draw(column, top, next_top, weight) for (top, next_top), weight in ends]
            colours.append(self._colours(ribbons))
        is_large = len(paths) > _MAX_VECTORS  # as vectors, its files would be large
        bands = PathCollection(paths, linewidths=0.15, rasterized=is_large)
        bands.set_color(np.concatenate(colours).tolist())
        bands.set_snap(False)  # else level pieces, but not curves, are moved to whole pixels
        ax.add_collection(bands, autolim=False)
        return bands

    def _colours(self, ribbons: Ribbons) -> Floats:
        """Return the colour of each ribbon's last representative, light before it arrives there."""
        from matplotlib.colors import to_rgb

        n_left = len(self.flow.orders[-1])
        names = [*_HUES, *(_GREYS[k % 2] for k in range(n_left))][:n_left]
        palette = np.zeros((self.flow.n_voters, 3))
        palette[self.flow.orders[-1]] = [to_rgb(name) for name in names]
        strength = np.where(ribbons.before == ribbons.final, 1.0, _TINT)[:, None]
        return 1 - strength * (1 - palette[ribbons.final])

    def _set_axes(self, ax: "Axes") -> None:
        import matplotlib

        flow, last = self.flow, self.flow.n_columns - 1
        ax.set(xlim=(-_FLAT, last + _FLAT), ylim=(flow.height, 0), yticks=[])
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        ticks = _ticks(last)
        ax.set_xticks(ticks, [f"{flow.increments[tick]:,}" for tick in ticks])
        top = ax.secondary_xaxis("top")
        top.set_xticks(ticks, [f"{len(flow.orders[tick]):,}" for tick in ticks])
        top.set_xlabel("Representatives")
        top.spines[:].set_visible(False)
        ax.set_xlabel(f"{self._x_label()}\n{_NOTE}", size=matplotlib.rcParams["axes.labelsize"])
        ax.tick_params(labelsize=matplotlib.rcParams["xtick.labelsize"])
        n_left = quantity(len(flow.orders[-1]), "representative")
        ax.set_title(f"How weight gathers: from {quantity(flow.n_voters, 'voter')} to {n_left}")

    def _x_label(self) -> str:
        n_drawn = self.flow.n_columns - 1
        if n_drawn == self.n_increments:
            return "Increment"
        return f"Increment ({n_drawn} of {self.n_increments:,}, where votes move)"

    def _write_labels(self, ax: "Axes") -> "dict[int, Text]":
        """Write numbers and weights to the right, the heaviest first, until there is no room."""
        flow = self.flow
        labels: dict[int, Text] = {}
        order, weights = flow.orders[-1], flow.weights(-1)
        middles, x = flow.tops(-1) + weights / 2, flow.n_columns - 1 + _FLAT
        pixels = 1.1 * MIN_FONT_SIZE * ax.figure.dpi / 72
        line = pixels * flow.height / ax.get_window_extent().height
        look: dict[str, Any] = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
        look |= {"size": MIN_FONT_SIZE, "annotation_clip": False}
        for k, (voter, weight) in enumerate(zip(order.tolist(), weights.tolist(), strict=True)):
            if k and middles[k] - middles[k - 1] < line:
                rest = f"{len(order) - k} more, w \N{LESS-THAN OR EQUAL TO} {weight}"
                ax.annotate(rest, (x, (middles[k] + middles[-1]) / 2), color="0.4", **look)
                break
            labels[voter] = ax.annotate(f"{voter}, w = {weight}", (x, middles[k]), **look)
        return labels


def _ticks(last: int) -> list[int]:
    """Return columns from the first to the last, a round number apart."""
    steps = (step for scale in (1, 10, 100, 1000) for step in (scale, 2 * scale, 5 * scale))
    step = next(step for step in steps if last / step <= _MAX_TICKS)
    return [*range(0, last - step // 2, step), last]


def _curve(column: int, top: float, next_top: float, weight: float) -> Any:
    """Return the outline of a band from the start of a column to the start of the next."""
    from matplotlib.path import Path

    start, bend, end = column - _FLAT, column + _FLAT, column + 1 - _FLAT
    middle = (bend + end) / 2
    overlap = end + _FLAT / 3  # below the next piece, to hide the seam
    upper = [(start, top), (bend, top), (middle, top), (middle, next_top), (end, next_top)]
    lower = [(x, y + weight) for x, y in [*upper, (overlap, next_top)]]
    codes = [Path.MOVETO, Path.LINETO, *[Path.CURVE4] * 3, Path.LINETO]
    back = [Path.LINETO, Path.LINETO, *[Path.CURVE4] * 3, Path.LINETO]
    return Path([*upper, (overlap, next_top), *lower[::-1]], [*codes, *back])


def _level(column: int, top: float, _: float, weight: float) -> Any:
    """Return the outline of a band in the last column."""
    from matplotlib.path import Path

    left, right, bottom = column - _FLAT, column + _FLAT, top + weight
    return Path([(left, top), (right, top), (right, bottom), (left, bottom)])
