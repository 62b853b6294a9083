"""The panels of a TrainingDisplay: what each shows of a history, and how."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skliquid.arrays import Floats
from skliquid.plotting.style import show_plainly
from skliquid.plotting.training_history import TrainingHistory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

NAMES = ("competence", "accuracy", "representatives", "cost", "minimum_majority")
"""In the order in which they are drawn."""

_MANY = 50
"""From so many voters on, their number is drawn on a logarithmic axis."""

Look = dict[str, Any]


class Panel(NamedTuple):
    """What is drawn in one panel."""

    title: str
    draw: Callable[["Axes", TrainingHistory, Look], "Line2D"]
    set_axis: Callable[["Axes"], None] = lambda ax: None  # noqa: ARG005 (nothing to set)


def panels_for(histories: Sequence[TrainingHistory]) -> dict[str, Panel]:
    """Return the panels by name; what they show depends on what all histories have."""
    final = " and final fit" if any(one.has_final_fit for one in histories) else ""
    count = _logarithmic if max(one.n_voters for one in histories) >= _MANY else _from_zero
    costs_nothing = all(one.cost[-1] == 0 for one in histories)
    return {
        "competence": Panel("Competence: mean and range", _draw_competence),
        "accuracy": _accuracy_panel(histories),
        "representatives": Panel("Representatives", _draw_representatives, count),
        "cost": Panel(f"Sample visits{final}", _draw_cost, _no_cost if costs_nothing else _costs),
        "minimum_majority": Panel("Minimum majority", _draw_minimum_majority, count),
    }


def _accuracy_panel(histories: Sequence[TrainingHistory]) -> Panel:
    if all(np.isfinite(one.eval_accuracy).any() for one in histories):
        return Panel("Accuracy on evaluation set", _draw_eval_accuracy)
    rows = "new rows" if all(one.is_prequential for one in histories) else "increments"
    return Panel(f"Voters' accuracy on {rows}", _draw_accuracy)


def _line(ax: "Axes", x: Any, y: Any, look: Look) -> "Line2D":
    (line,) = ax.plot(x, y, zorder=3, **look)
    return line


def _draw_competence(ax: "Axes", history: TrainingHistory, look: Look) -> "Line2D":
    lowest, mean, highest = history.competence.T
    band = {"color": look["color"], "alpha": 0.12, "linewidth": 0}
    ax.fill_between(history.increments, lowest, highest, **band)
    return _line(ax, history.increments, mean, look)


def _draw_eval_accuracy(ax: "Axes", history: TrainingHistory, look: Look) -> "Line2D":
    return _line(ax, history.increments, history.eval_accuracy, look)


def _draw_accuracy(ax: "Axes", history: TrainingHistory, look: Look) -> "Line2D":
    return _line(ax, history.increments, history.accuracy, look)


def _draw_representatives(ax: "Axes", history: TrainingHistory, look: Look) -> "Line2D":
    return _line(ax, history.increments, history.representatives, look)


def _draw_minimum_majority(ax: "Axes", history: TrainingHistory, look: Look) -> "Line2D":
    return _line(ax, history.increments, history.minimum_majority, look)


def _draw_cost(ax: "Axes", history: TrainingHistory, look: Look) -> "Line2D":
    """Draw what training cost, and in a thin line what it would have cost, the final fit last."""
    x = np.append(history.increments, history.increments[-1])
    thin = look | {"linewidth": 0.7, "alpha": 0.6, "marker": ""}
    _line(ax, x, _positive(history.cost_of_all), thin)
    return _line(ax, x, _positive(history.cost), look)


def _positive(cost: Floats) -> Floats:
    """Return the costs with NaN for those that a logarithmic axis cannot show."""
    return np.where(cost > 0, cost, np.nan)


def _from_zero(ax: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.set_ylim(bottom=0)


def _logarithmic(ax: "Axes") -> None:
    ax.set_yscale("log")
    show_plainly(ax.yaxis)


def _costs(ax: "Axes") -> None:
    from matplotlib.lines import Line2D
    from matplotlib.ticker import EngFormatter, LogLocator, NullLocator

    ax.set_yscale("log")
    low, high = ax.get_ylim()
    ax.set_ylim(low, high * (high / low) ** 0.45)  # room for the legend
    subs = (1, 2, 5) if high < 100 * low else (1,)
    ax.yaxis.set_major_locator(LogLocator(subs=subs))
    ax.yaxis.set_major_formatter(EngFormatter(sep="\N{THIN SPACE}"))
    ax.yaxis.set_minor_locator(NullLocator())
    lines = [Line2D([], [], color="0.3"), Line2D([], [], color="0.3", linewidth=0.7, alpha=0.6)]
    ax.legend(lines, ["as trained", "without delegation"], loc="upper left", handlelength=1.6)


def _no_cost(ax: "Axes") -> None:
    ax.set(xticks=[], yticks=[], xlabel="")
    ax.spines[:].set_visible(False)
    text = "nothing was trained:\nvoters were fitted before"
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color="0.4")
