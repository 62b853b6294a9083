"""The one style of all figures, and the figures that displays make for themselves."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

SURVIVES, FADES = "#0072B2", "0.78"
"""Colours of what is left at the end, and of what there was to choose from."""


def style() -> AbstractContextManager[None]:
    """Return a context in which matplotlib draws in the one style of all figures."""
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
        raise ImportError(
            f"{type(display).__name__} needs matplotlib, which is not installed: "
            "pip install 'skliquid[plot]'."
        ) from error


def new_figure(width: float, height: float) -> "Figure":
    """Return a figure of pyplot of a size in inches, inside the style."""
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(width, height), layout="constrained")


def figure_of(ax: Any) -> "Figure":
    """Return the figure or subfigure with the axes."""
    figure: Figure = ax.figure
    return figure


def settle(ax: "Axes") -> None:
    """Give all artists of the figure their final size and place, inside the style."""
    ax.figure.canvas.figure.draw_without_rendering()


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "voter"), counted(1200, "voter")
    ('1 voter', '1,200 voters')
    """
    return f"{number:,} {noun}" + "s" * (number != 1)
