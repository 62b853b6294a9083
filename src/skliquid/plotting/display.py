"""Display: the interface of all displays, and the axes, texts and colours that they share."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skliquid.delegation.arrays import Floats
from skliquid.delegation.record import TrainingRecord
from skliquid.plotting.fitted_record import record_of
from skliquid.validation.checks import missing_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.gridspec import GridSpecBase
    from matplotlib.text import Text

_SMALL = 0.82  # relative to the font size of the display
_FONT_SIZE = 8  # points, for which displays say their size in inches
_MIN_SCALE = 0.7  # of texts in small axes


class Display(ABC):
    """A picture of a fitted ensemble, in the current style of matplotlib."""

    @classmethod
    @abstractmethod
    def from_estimator(cls, *args: Any, **options: Any) -> Self:
        """Draw a fitted ensemble."""

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; displays of several panels divide it. None means a new figure.
        **options
            Those of ``from_estimator`` about the look, such as ``cmap``.

        Returns
        -------
        self : Display
            The display, with the drawn artists as attributes.
        """
        self._plot(ax, **options)
        return self

    @abstractmethod
    def _plot(self, ax: Any) -> None:
        """Draw all artists."""

    @contextmanager
    def _axes(self, ax: Any, width: float, height: float) -> Iterator["Axes"]:
        """Yield ``ax``, or new axes of this size in inches, where texts have the size to fit.

        Texts shrink in given axes that are smaller. New figures grow with the font size.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise missing_extra(type(self).__name__, "matplotlib", "plot") from error
        font_size = plt.rcParams["font.size"]
        size = np.array([width, height]) * font_size / _FONT_SIZE
        if ax is None:
            ax = plt.figure(figsize=size.tolist(), layout="constrained").add_subplot()
        share = np.min(ax.get_window_extent().size / ax.figure.dpi / size) / 0.75  # without margins
        scaled = font_size * float(np.clip(share, _MIN_SCALE, 1))
        sizes = dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), _SMALL * scaled)
        sizes |= dict.fromkeys(("font.size", "axes.labelsize", "legend.fontsize"), scaled)
        with plt.rc_context({**sizes, "axes.titlesize": 1.1 * scaled, "legend.frameon": False}):
            self.figure_ = ax.figure
            ax.tick_params(labelsize=sizes["xtick.labelsize"])
            yield ax


class RecordDisplay(Display):
    """A picture of a training: its record is enough to draw it."""

    @classmethod
    def from_record(cls, record: TrainingRecord, **options: Any) -> Self:
        """Draw the record of a training.

        Parameters
        ----------
        record : TrainingRecord
            The record, with at least one increment.
        **options
            Those of ``from_estimator``.

        Returns
        -------
        display : Display
            The display, with the drawn artists as attributes.
        """
        return cls.from_estimator(record_of(record, "record"), **options)


def small() -> float:
    """Return the size of small texts, in points."""
    import matplotlib

    return float(_SMALL * matplotlib.rcParams["font.size"])


def blend(ax: "Axes", share: float, colour: Any = None) -> Any:
    """Return a mix of the background of ``ax`` (0) and a colour (1), by default that of texts."""
    import matplotlib
    from matplotlib.colors import to_rgb, to_rgba

    ink = np.array(to_rgb(matplotlib.rcParams["text.color"]))
    *background, opacity = to_rgba(ax.get_facecolor())
    paper = np.array(background) if opacity else np.full(3, float(ink.mean() < 0.5))
    mixed: Floats = paper + share * ((ink if colour is None else to_rgb(colour)) - paper)
    return mixed


def arrange(ax: "Axes", texts: Sequence["Text"] = ()) -> None:
    """Give all artists their final place, and break lines of texts that are wider than their axes.

    A figure without a layout engine is arranged once, so that no title or caption is cut off.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = ax.figure.canvas.figure
    for text in texts:
        _break_lines(text, (text.axes or ax).get_window_extent().width)
    if figure.get_layout_engine() is None and ax.get_subplotspec() is not None:
        ConstrainedLayoutEngine().execute(figure)
    figure.draw_without_rendering()


def _break_lines(text: "Text", width: float) -> None:
    lines = text.get_text().splitlines()
    letter = text.get_window_extent().width / max(map(len, lines))
    n_letters = max(int(width / letter), 8)
    broken = "\n".join(fill(line, n_letters, break_long_words=False) for line in lines)
    longest = max(map(len, broken.splitlines()))  # one word may be wider than the axes
    text.set(text=broken, size=float(text.get_fontsize()) * min(n_letters / longest, 1))


def divide(ax: "Axes", n_rows: int, n_columns: int, **ratios: Any) -> "GridSpecBase":
    """Return a grid for panels in the place of ``ax``, and hide ``ax``."""
    from matplotlib.gridspec import GridSpec

    ax.set_axis_off()
    if (place := ax.get_subplotspec()) is not None:
        return place.subgridspec(n_rows, n_columns, **ratios)
    box = ax.get_position()
    sides = {"left": box.x0, "right": box.x1, "bottom": box.y0, "top": box.y1}
    gaps = {"wspace": 0.5, "hspace": 0.9}
    return GridSpec(n_rows, n_columns, ax.figure.canvas.figure, **sides, **gaps, **ratios)


def quantity(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}" + "s" * (number != 1)
