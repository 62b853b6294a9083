"""WeightFlowDisplay: how weight gathers from increment to increment."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skliquid.arrays import Floats
from skliquid.plotting.fitted_record import checked_record, record_of
from skliquid.plotting.labels import SMALLEST
from skliquid.plotting.style import check_matplotlib, counted, new_figure, settle, style
from skliquid.plotting.weight_flow import Ribbons, WeightFlow
from skliquid.record import TrainingRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure
    from matplotlib.text import Text

_HUES = ("#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7")
"""Of the heaviest representatives: neighbours differ in brightness."""

_GREYS, _TINT = ("0.42", "0.58"), 0.42
_NOTE = "Colour: who carries the votes in the end. Light: not yet."
_MOST_TICKS, _MOST_VECTORS = 16, 2000
_FLAT = 0.15
"""Half of the width of the level part of a band, relative to the distance of columns."""


class WeightFlowDisplay:
    """How weight gathers: from a band per voter to a few bands of representatives.

    Each column shows the state after an increment, the first the state before training. The height
    of a band is the weight of a representative. Where a voter delegates, its band flows into that
    of the voter which carries its votes from then on; where it takes its votes back, they flow
    out again. Colours are those of the representatives that carry the votes in the end: dark when
    these carry them already, light before. The heaviest representatives have hues, others are grey.

    Use :meth:`from_estimator` or :meth:`from_record` rather than the constructor.

    Parameters
    ----------
    flow : WeightFlow
        Who carries the vote of each voter, at the increments that are drawn.
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
        The labels of the representatives that are left, the heaviest, as far as there is room.

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

    ax_: "Axes"
    figure_: "Figure"
    bands_: "PathCollection"
    labels_: "dict[int, Text]"

    def __init__(self, flow: WeightFlow, n_increments: int):
        self.flow = flow
        self.n_increments = n_increments

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_columns: int = 60, ax: Any = None) -> Self:
        """Draw the weights of a fitted ensemble.

        Parameters
        ----------
        estimator : LiquidEnsembleClassifier, PrunedEnsemble, Pipeline or search
            A fitted ensemble, or what leads to one.
        max_columns : int, default=60
            How many columns are drawn at most. If there are more increments, those at which no
            votes move are left out, and if need be others at regular intervals.
        ax : matplotlib Axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : WeightFlowDisplay
            The display, with what was drawn as attributes.
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
            How many columns are drawn at most. If there are more increments, those at which no
            votes move are left out, and if need be others at regular intervals.
        ax : matplotlib Axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : WeightFlowDisplay
            The display, with what was drawn as attributes.
        """
        if max_columns < 2:
            raise ValueError(
                f"max_columns must be 2 or more, for the first state and the last: got "
                f"{max_columns!r}. Raise it."
            )
        n_increments = len(checked_record(record))
        return cls(WeightFlow.of(record, max_columns), n_increments).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        self : WeightFlowDisplay
            The display, with what was drawn as attributes.
        """
        check_matplotlib(self)
        with style():
            height = float(np.clip(1.4 + 0.13 * len(self.flow.orders[-1]), 3.6, 5.6))
            ax = new_figure(7.0, height).add_subplot() if ax is None else ax
            self.ax_, self.figure_ = ax, ax.figure
            self.bands_ = self._draw_bands(ax)
            self._set_axes(ax)
            settle(ax)
            self.labels_ = self._write_labels(ax)
            settle(ax)
        return self

    def _draw_bands(self, ax: "Axes") -> "PathCollection":
        from matplotlib.collections import PathCollection

        flow, paths, colours = self.flow, [], []
        for column in range(flow.n_columns):
            ribbons = flow.ribbons(column)
            is_last = column == flow.n_columns - 1
            paths += [
                _level(column, top, weight) if is_last else _curve(column, top, end, weight)
                for (top, end), weight in zip(
                    ribbons.tops.tolist(), ribbons.weights.tolist(), strict=True
                )
            ]
            colours.append(self._colours(ribbons))
        is_large = len(paths) > _MOST_VECTORS  # a file of vectors would be large as well
        bands = PathCollection(paths, linewidths=0.15, rasterized=is_large)
        bands.set_color(np.concatenate(colours).tolist())
        bands.set_snap(False)  # level pieces would be moved to whole pixels, and curves not
        ax.add_collection(bands, autolim=False)
        return bands

    def _colours(self, ribbons: Ribbons) -> Floats:
        """Return a colour per ribbon: that of its last representative, light before it is there."""
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
        sizes = [f"{len(flow.orders[tick]):,}" for tick in ticks]
        top = ax.secondary_xaxis("top")
        top.set_xticks(ticks, sizes)
        top.set_xlabel("Representatives")
        top.spines[:].set_visible(False)
        size = matplotlib.rcParams["axes.labelsize"]
        ax.set_xlabel(f"{self._name_of_columns()}\n{_NOTE}", size=size)
        ax.tick_params(labelsize=matplotlib.rcParams["xtick.labelsize"])
        n_left = len(flow.orders[-1])
        ax.set_title(
            f"How weight gathers: from {counted(flow.n_voters, 'voter')} to "
            f"{counted(n_left, 'representative')}"
        )

    def _name_of_columns(self) -> str:
        n_drawn = self.flow.n_columns - 1
        if n_drawn == self.n_increments:
            return "Increment"
        return f"Increment ({n_drawn} of {self.n_increments:,}, where votes move)"

    def _write_labels(self, ax: "Axes") -> "dict[int, Text]":
        """Write numbers and weights to the right, from the heaviest on as long as there is room."""
        flow = self.flow
        labels: dict[int, Text] = {}
        order, weights, tops = flow.orders[-1], flow.weights(-1), flow.tops(-1)
        line = 1.1 * SMALLEST * ax.figure.dpi / 72 * flow.height / ax.get_window_extent().height
        middles, x = tops + weights / 2, flow.n_columns - 1 + _FLAT
        look: dict[str, Any] = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
        look |= {"size": SMALLEST, "annotation_clip": False}
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
    step = next(step for step in steps if last / step <= _MOST_TICKS)
    return [*range(0, last - step // 2, step), last]


def _curve(column: int, top: float, next_top: float, weight: float) -> Any:
    """Return the outline of a band from the beginning of a column to that of the next."""
    from matplotlib.path import Path

    start, bend, end = column - _FLAT, column + _FLAT, column + 1 - _FLAT
    middle = (bend + end) / 2
    overlap = end + _FLAT / 3  # below the next piece, so that no seam is seen
    upper = [(start, top), (bend, top), (middle, top), (middle, next_top), (end, next_top)]
    lower = [(x, y + weight) for x, y in [*upper, (overlap, next_top)]]
    codes = [Path.MOVETO, Path.LINETO, *[Path.CURVE4] * 3, Path.LINETO]
    back = [Path.LINETO, Path.LINETO, *[Path.CURVE4] * 3, Path.LINETO]
    return Path([*upper, (overlap, next_top), *lower[::-1]], [*codes, *back])


def _level(column: int, top: float, weight: float) -> Any:
    """Return the outline of a band in the last column."""
    from matplotlib.path import Path

    left, right = column - _FLAT, column + _FLAT
    bottom = top + weight
    return Path([(left, top), (right, top), (right, bottom), (left, bottom)])
