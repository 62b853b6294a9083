"""The style of all figures: sizes, lines, axes, legends and files."""

from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.style
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from reproduction.output_files import write_whole

COLUMN, PAGE = 3.4, 7.0  # widths in inches
BLUE, ORANGE = "#0072B2", "#D55E00"


def style() -> AbstractContextManager[None]:
    """Return a context in which matplotlib draws in skliquid's style."""
    return matplotlib.style.context("skliquid.plotting.skliquid", after_reset=True)


def line_style(k: int) -> dict[str, Any]:
    """Return colour, dashes and marker of the k-th line, inside the style."""
    lines = list(matplotlib.rcParams["axes.prop_cycle"])
    return {"markerfacecolor": "white", **lines[k % len(lines)]}


def show_plain_numbers(*logarithmic: Axis) -> None:
    """Label axes with plain numbers at 1, 2 and 5 times the powers of ten."""
    for axis in logarithmic:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_locator(NullLocator())


def draw_legend(figure: Figure, n_columns: int) -> None:
    """Draw the legend of the first panel above all panels."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=n_columns)


def save_figure(figure: Figure, folder: Path, stem: str) -> list[Path]:
    """Write a figure as PNG and as SVG, to the same bytes each time, and return the files."""
    options: dict[str, dict[str, Any]] = {
        "png": {"dpi": 200, "metadata": {"Software": None}},
        "svg": {"metadata": {"Date": None, "Creator": None}},
    }
    paths = []
    for ending, more in options.items():
        content = BytesIO()
        with style():
            figure.savefig(content, format=ending, **more)
        paths.append(folder / f"{stem}.{ending}")
        write_whole(paths[-1], content.getvalue())
    return paths
