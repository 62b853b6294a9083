"""Training panels: the title, lines and axis of each panel of a TrainingDisplay."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skliquid.delegation.arrays import Floats
from skliquid.plotting.style import show_plainly
from skliquid.plotting.training_history import TrainingHistory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

NAMES = ("competence", "accuracy", "representatives", "cost", "minimum_majority")  # in this order
_MIN_LOG_VOTERS = 50  # at which their number is drawn on a logarithmic axis

Look = dict[str, Any]


class Panel(NamedTuple):
    """A title, a function that draws a line, and one that sets the axis."""

    title: str
    draw: Callable[["Axes", TrainingHistory, Look], "Line2D"]
    set_axis: Callable[["Axes"], None] = lambda ax: None  # noqa: ARG005 (nothing to set)


def panels_for(histories: Sequence[TrainingHistory]) -> dict[str, Panel]:
    """Return the panels by name, for the numbers that all histories have."""
    final = " and final fit" if any(history.has_final_fit for history in histories) else ""
    max_voters = max(history.n_voters for history in histories)
    scale = _set_logarithmic if max_voters >= _MIN_LOG_VOTERS else _start_at_zero
    set_cost = _set_costs if any(history.cost[-1] for history in histories) else _write_no_cost
    return {
        "competence": Panel("Competence: mean and range", _draw_competence),
        "accuracy": _accuracy_panel(histories),
        "representatives": Panel("Representatives", partial(_draw, "representatives"), scale),
        "cost": Panel(f"Sample visits{final}", _draw_cost, set_cost),
        "minimum_majority": Panel("Minimum majority", partial(_draw, "minimum_majority"), scale),
    }


def _accuracy_panel(histories: Sequence[TrainingHistory]) -> Panel:
    if all(np.isfinite(history.eval_accuracy).any() for history in histories):
        return Panel("Accuracy on evaluation set", partial(_draw, "eval_accuracy"))
    rows = "new rows" if all(history.is_prequential for history in histories) else "increments"
    return Panel(f"Voters' accuracy on {rows}", partial(_draw, "accuracy"))


def _line(ax: "Axes", x: Any, y: Any, look: Look) -> "Line2D":
    (line,) = ax.plot(x, y, zorder=3, **look)
    return line


def _draw_competence(ax: "Axes", history: TrainingHistory, look: Look) -> "Line2D":
    lowest, mean, highest = history.competence.T
    band = {"color": look["color"], "alpha": 0.12, "linewidth": 0}
    ax.fill_between(history.increments, lowest, highest, **band)
    return _line(ax, history.increments, mean, look)


def _draw(name: str, ax: "Axes", history: TrainingHistory, look: Look) -> "Line2D":
    return _line(ax, history.increments, getattr(history, name), look)


def _draw_cost(ax: "Axes", history: TrainingHistory, look: Look) -> "Line2D":
    """Draw the cost of training, and in a thin line the estimate without delegation."""
    x = np.append(history.increments, history.increments[-1])
    thin = look | {"linewidth": 0.7, "alpha": 0.6, "marker": ""}
    _line(ax, x, _positive(history.cost_of_all), thin)
    return _line(ax, x, _positive(history.cost), look)


def _positive(cost: Floats) -> Floats:
    """Return the costs, with NaN where a logarithmic axis cannot show them."""
    return np.where(cost > 0, cost, np.nan)


def _start_at_zero(ax: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.set_ylim(bottom=0)


def _set_logarithmic(ax: "Axes") -> None:
    ax.set_yscale("log")
    show_plainly(ax.yaxis)


def _set_costs(ax: "Axes") -> None:
    from matplotlib.lines import Line2D
    from matplotlib.ticker import EngFormatter, LogLocator, NullLocator

    ax.set_yscale("log")
    low, high = ax.get_ylim()
    ax.set_ylim(low, high * (high / low) ** 0.45)  # room for the legend
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
    ax.yaxis.set_major_formatter(EngFormatter(sep="\N{THIN SPACE}"))
    ax.yaxis.set_minor_locator(NullLocator())
    lines = [Line2D([], [], color="0.3"), Line2D([], [], color="0.3", linewidth=0.7, alpha=0.6)]
    ax.legend(lines, ["as trained", "without delegation"], loc="upper left", handlelength=1.6)


def _write_no_cost(ax: "Axes") -> None:
    ax.set(xticks=[], yticks=[], xlabel="")
    ax.spines[:].set_visible(False)
    text = "nothing was trained:\nvoters were fitted before"
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color="0.4")
