"""Style: the look of all figures, and the axes that displays create."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from skliquid.validation.checks import missing_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

FINAL_COLOUR, DRAWN_COLOUR = "#0072B2", "0.78"  # of values left at the end, and of all drawn values
MIN_FONT_SIZE = 6.5  # points


def style() -> AbstractContextManager[None]:
    """Return a context in which matplotlib draws in the style of all figures."""
    import matplotlib.style

    return matplotlib.style.context("skliquid.plotting.skliquid", after_reset=True)


def line_style(k: int) -> dict[str, Any]:
    """Return colour, dashes and marker of the k-th line, inside the style."""
    import matplotlib

    lines = list(matplotlib.rcParams["axes.prop_cycle"])
    return {"markerfacecolor": "white", **lines[k % len(lines)]}


def show_plainly(*logarithmic: "Axis") -> None:
    """Label axes with plain numbers at 1, 2 and 5 times the powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    for axis in logarithmic:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_locator(NullLocator())


def check_matplotlib(display: object) -> None:
    """Raise an error that names the extra, if matplotlib is missing."""
    try:
        import matplotlib.pyplot  # noqa: F401 (only to see whether it is there)
    except ImportError as error:
        raise missing_extra(type(display).__name__, "matplotlib", "plot") from error


def get_axes(ax: Any, width: float, height: float) -> "tuple[Axes, Figure]":
    """Return ``ax`` with its figure; for None, new ones of this size in inches, in the style."""
    import matplotlib.pyplot as plt

    if ax is None:
        ax = plt.figure(figsize=(width, height), layout="constrained").add_subplot()
    return ax, ax.figure


def settle(ax: "Axes") -> None:
    """Give all artists of the figure their final size and place, inside the style."""
    ax.figure.canvas.figure.draw_without_rendering()


def quantity(number: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> quantity(1, "voter"), quantity(1200, "voter")
    ('1 voter', '1,200 voters')
    """
    return f"{number:,} {noun}" + "s" * (number != 1)
