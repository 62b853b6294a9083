"""TrainingDisplay: competence, accuracy, size and cost of ensembles over the increments."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skliquid.plotting.display import RecordDisplay, arrange, blend, divide, small
from skliquid.plotting.fitted_record import record_of
from skliquid.plotting.training_history import TrainingHistory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

NAMES = ("competence", "accuracy", "representatives", "cost", "minimum_majority")  # in this order
_MIN_LOG_VOTERS = 50  # at which their number is drawn on a logarithmic axis
_MAX_MARKERS = 12  # for more increments, only some have a marker
_DASHES = ("-", (0, (1, 1.2)), (0, (5, 1.5)), (0, (5, 1.2, 1, 1.2)), (0, (3, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "v", "s", "^", "D", "P", "X")


class TrainingDisplay(RecordDisplay):
    """Competence, accuracy, size and cost over the increments, for one ensemble or several.

    Five panels: the competence of the representatives left; the accuracy of the ensemble on the
    evaluation set, or without one the mean accuracy of the voters on the rows of each increment;
    the number of representatives; the sample visits so far, with the final fit as the last point;
    and the minimum majority: the smallest number of representatives that hold more than half of the
    weight. A thin line estimates the cost without delegation: a delegator would have cost as much
    as the average of the voters that trained.

    Use :meth:`from_estimator`, :meth:`from_estimators` or :meth:`from_record` rather than the
    constructor.

    Parameters
    ----------
    histories : dict of str to TrainingHistory
        The numbers to draw, by the names of the ensembles.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that are divided into panels.
    axes_ : dict of str to matplotlib Axes
        The panels: ``"competence"``, ``"accuracy"``, ``"representatives"``, ``"cost"`` and
        ``"minimum_majority"``.
    figure_ : matplotlib Figure
        The figure with the panels.
    lines_ : dict of str to dict of str to matplotlib Line2D
        The lines, by ensemble and panel.
    legend_ : matplotlib Legend
        The names of the ensembles, with the number of voters at the start and at the end, and the
        cost as a share of that without delegation.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skliquid import LiquidEnsembleClassifier
    >>> from skliquid.plotting import TrainingDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ensembles = {
    ...     mechanism: LiquidEnsembleClassifier(mechanism=mechanism, random_state=0).fit(X, y)
    ...     for mechanism in ("max", "random")
    ... }
    >>> display = TrainingDisplay.from_estimators(ensembles)
    >>> display.lines_["max"]["representatives"].get_ydata().tolist()
    [24, 9, 5]
    """

    def __init__(self, histories: Mapping[str, TrainingHistory]):
        self.histories = histories

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str = "", ax: Any = None) -> Self:
        """Draw the training of a fitted ensemble.

        Parameters
        ----------
        estimator : LiquidEnsembleClassifier, PrunedEnsemble, Pipeline, search or TrainingRecord
            A fitted ensemble, an estimator that contains one, or its record.
        name : str, default=""
            The name of the ensemble in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; it is divided into panels. None means a new figure.

        Returns
        -------
        display : TrainingDisplay
            The display, with the drawn artists as attributes.
        """
        return cls.from_estimators({name: estimator}, ax=ax)

    @classmethod
    def from_estimators(cls, estimators: Mapping[str, Any], *, ax: Any = None) -> Self:
        """Draw the training of several fitted ensembles in the same panels.

        Parameters
        ----------
        estimators : dict of str to estimator or TrainingRecord
            Fitted ensembles, estimators that contain one, or records, by their names in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; it is divided into panels. None means a new figure.

        Returns
        -------
        display : TrainingDisplay
            The display, with the drawn artists as attributes.
        """
        if not estimators:
            raise ValueError("estimators must name at least one ensemble: got none. Add one.")
        records = {name: record_of(estimator) for name, estimator in estimators.items()}
        histories = {name: TrainingHistory.from_record(record) for name, record in records.items()}
        return cls(histories).plot(ax)

    def _plot(self, ax: Any) -> None:
        with self._axes(ax, 7.0, 4.4) as self.ax_:
            *axes, beside = _new_panels(self.ax_)
            self.axes_ = dict(zip(NAMES, axes, strict=True))
            self.lines_ = {
                name: self._draw_history(history, self._look(k, history))
                for k, (name, history) in enumerate(self.histories.items())
            }
            self._set_axes()
            titles = [
                ax.set_title(title, size="medium")
                for ax, title in zip(axes, self._titles(), strict=True)
            ]
            self.legend_ = self._draw_legend(beside)
            arrange(self.ax_)
            arrange(self.ax_, titles)  # which are as wide as their panels

    @property
    def _have_eval_set(self) -> bool:
        return all(np.isfinite(one.eval_accuracy).any() for one in self.histories.values())

    def _titles(self) -> tuple[str, ...]:
        """Return the titles of the panels, for the numbers that all histories have."""
        histories = self.histories.values()
        units = {history.competence_unit for history in histories}
        unit = f"{units.pop()}; " if len(units) == 1 and all(units) else ""
        rows = "new rows" if all(one.is_prequential for one in histories) else "increments"
        accuracy = f"Voters' accuracy on {rows}"
        if self._have_eval_set:
            accuracy = "Accuracy on evaluation set, filled: after the final fit"
        visits = "Sample visits: none, voters were fitted before"
        if any(history.cost[-1] for history in histories):
            visits = "Sample visits, final fit included; thin: without delegation"
        majority = "Minimum majority: fewest representatives with over half of the votes"
        return f"Competence: {unit}mean and range", accuracy, "Representatives", visits, majority

    def _look(self, k: int, history: TrainingHistory) -> dict[str, Any]:
        """Return the look of the k-th line: lines differ in dashes and markers, too."""
        n = len(history.increments)
        has_marker = n <= _MAX_MARKERS or len(self.histories) > 1
        return {
            "color": tuple(blend(self.ax_, 1.0, f"C{k}")),  # also when drawn later
            "linestyle": _DASHES[k % len(_DASHES)],
            "marker": _MARKERS[k % len(_MARKERS)] if has_marker else "",
            "markersize": small() / 1.6,
            "markerfacecolor": blend(self.ax_, 0),
            "markevery": 1 if n <= _MAX_MARKERS else (k % 3 * n // 20, n // 7),
        }

    def _draw_history(self, history: TrainingHistory, look: dict[str, Any]) -> "dict[str, Line2D]":
        """Draw the lines of an ensemble; costs and accuracies end with the final fit."""
        x = np.append(history.increments, history.increments[-1])
        lowest, mean, highest = history.competence.T
        band = {"color": look["color"], "alpha": 0.15, "linewidth": 0}
        self.axes_["competence"].fill_between(x[:-1], lowest, highest, **band)
        if self._have_eval_set:
            filled = look | {"marker": "o", "markerfacecolor": look["color"], "markevery": 1}
            self.axes_["accuracy"].plot(x[-1:], history.eval_accuracy[-1:], zorder=4, **filled)
        cost, of_all = (np.where(c > 0, c, np.nan) for c in (history.cost, history.cost_of_all))
        self.axes_["cost"].plot(x, of_all, **look | {"linewidth": 0.7, "alpha": 0.6, "marker": ""})
        accuracy = history.eval_accuracy if self._have_eval_set else history.accuracy
        curves = (mean, accuracy, history.representatives, cost, history.minimum_majority)
        return {
            name: self.axes_[name].plot(x[: len(y)], y, zorder=3, **look)[0]
            for name, y in zip(NAMES, curves, strict=True)
        }

    def _set_axes(self) -> None:
        from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullLocator

        histories = self.histories.values()
        first = min(history.increments[0] for history in histories)
        last = max(history.increments[-1] for history in histories)
        margin = 0.04 * (last - first) or 0.5
        logarithmic = ["cost"] if any(history.cost[-1] for history in histories) else []
        counts = ["representatives", "minimum_majority"]
        if max(history.n_voters for history in histories) >= _MIN_LOG_VOTERS:
            logarithmic += counts
        for name, ax in self.axes_.items():
            ax.set_xlim(first - margin, last + margin)
            ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            ax.set_xlabel("Increment")
            if name in logarithmic:
                ax.set_yscale("log")
                low, high = ax.get_ylim()
                ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
                ax.yaxis.set_major_formatter(EngFormatter(sep="\N{THIN SPACE}"))
                ax.yaxis.set_minor_locator(NullLocator())
            elif name in counts:
                ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
                ax.set_ylim(bottom=0)

    def _draw_legend(self, ax: "Axes") -> "Legend":
        lines = [lines["competence"] for lines in self.lines_.values()]
        labels = [_summary(name, history) for name, history in self.histories.items()]
        return ax.legend(lines, labels, loc="center")


def _new_panels(ax: "Axes") -> "list[Axes]":
    """Return five panels, and axes for the legend, in the place of ``ax``."""
    width, height = ax.get_window_extent().size
    grid = divide(ax, 2, 3) if width > 1.4 * height else divide(ax, 3, 2)
    axes = [ax.figure.add_subplot(grid[k]) for k in range(6)]
    axes[-1].set_axis_off()
    return axes


def _summary(name: str, history: TrainingHistory) -> str:
    text = f"{history.n_voters:,} voters,\n{history.representatives[-1]:,} left"
    if history.cost_of_all[-1]:
        text += f", cost {history.cost[-1] / history.cost_of_all[-1]:.0%}\nof no delegation"
    return f"{name}\n{text}" if name else text
