"""TrainingDisplay: competence, accuracy, size and cost of ensembles over the increments."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from skliquid.plotting.fitted_record import checked_record, record_of
from skliquid.plotting.panels import given_panels, grid_within, settle_panels
from skliquid.plotting.style import (
    SURVIVES,
    check_matplotlib,
    figure_of,
    line_style,
    new_figure,
    style,
)
from skliquid.plotting.training_history import TrainingHistory
from skliquid.plotting.training_panels import NAMES, Panel, panels_for
from skliquid.record import TrainingRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

_FEW = 12
"""Up to so many increments, each has a marker."""


class TrainingDisplay:
    """What changed from increment to increment, for one ensemble or several.

    Five panels: the competence of the representatives that are left; the accuracy of the ensemble
    on the evaluation set, or without one the mean accuracy of the voters on the rows of each
    increment; the number of representatives; the sample visits so far, the final fit at last; and
    the minimum majority, which is the smallest number of representatives that hold more than half
    of the weight. A thin line shows what training would have cost without delegation: it is an
    estimate, in which a delegator costs as much as the average of the voters that trained.

    Use :meth:`from_estimator`, :meth:`from_estimators`, :meth:`from_record` or
    :meth:`from_records` rather than the constructor.

    Parameters
    ----------
    histories : dict of str to TrainingHistory
        What is drawn, by the names of the ensembles.

    Attributes
    ----------
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

    axes_: "dict[str, Axes]"
    figure_: "Figure"
    lines_: "dict[str, dict[str, Line2D]]"
    legend_: "Legend"

    def __init__(self, histories: Mapping[str, TrainingHistory]):
        self.histories = histories

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str = "", ax: Any = None) -> Self:
        """Draw the training of a fitted ensemble.

        Parameters
        ----------
        estimator : LiquidEnsembleClassifier, PrunedEnsemble, Pipeline or search
            A fitted ensemble, or what leads to one.
        name : str, default=""
            The name of the ensemble in the legend.
        ax : matplotlib Axes or sequence of five Axes, default=None
            Where to draw: axes that are divided into panels, or one for each panel. None means a
            new figure.

        Returns
        -------
        display : TrainingDisplay
            The display, with what was drawn as attributes.
        """
        return cls.from_records({name: record_of(estimator)}, ax=ax)

    @classmethod
    def from_estimators(cls, estimators: Mapping[str, Any], *, ax: Any = None) -> Self:
        """Draw the training of several fitted ensembles in the same panels.

        Parameters
        ----------
        estimators : dict of str to estimator
            Fitted ensembles, or what leads to them, by their names in the legend.
        ax : matplotlib Axes or sequence of five Axes, default=None
            Where to draw: axes that are divided into panels, or one for each panel. None means a
            new figure.

        Returns
        -------
        display : TrainingDisplay
            The display, with what was drawn as attributes.
        """
        return cls.from_records({name: record_of(one) for name, one in estimators.items()}, ax=ax)

    @classmethod
    def from_record(cls, record: TrainingRecord, *, name: str = "", ax: Any = None) -> Self:
        """Draw the training in a record.

        Parameters
        ----------
        record : TrainingRecord
            The record of a training.
        name : str, default=""
            The name of the ensemble in the legend.
        ax : matplotlib Axes or sequence of five Axes, default=None
            Where to draw: axes that are divided into panels, or one for each panel. None means a
            new figure.

        Returns
        -------
        display : TrainingDisplay
            The display, with what was drawn as attributes.
        """
        return cls.from_records({name: record}, ax=ax)

    @classmethod
    def from_records(cls, records: Mapping[str, TrainingRecord], *, ax: Any = None) -> Self:
        """Draw the training in several records in the same panels.

        Parameters
        ----------
        records : dict of str to TrainingRecord
            Records by the names of their ensembles in the legend.
        ax : matplotlib Axes or sequence of five Axes, default=None
            Where to draw: axes that are divided into panels, or one for each panel. None means a
            new figure.

        Returns
        -------
        display : TrainingDisplay
            The display, with what was drawn as attributes.
        """
        if not records:
            raise ValueError("records must name at least one ensemble: got none. Add one.")
        histories = {name: TrainingHistory.of(checked_record(one)) for name, one in records.items()}
        return cls(histories).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of five Axes, default=None
            Where to draw: axes that are divided into panels, or one for each panel. None means a
            new figure.

        Returns
        -------
        self : TrainingDisplay
            The display, with what was drawn as attributes.
        """
        check_matplotlib(self)
        panels = panels_for(list(self.histories.values()))
        with style():
            given = given_panels(ax, len(NAMES), ", ".join(NAMES))
            *axes, beside = [*given, given[0]] if given else _divided(ax)
            self.axes_, self.figure_ = dict(zip(NAMES, axes, strict=True)), figure_of(beside)
            self.lines_ = {
                name: {
                    panel: panels[panel].draw(self.axes_[panel], history, self._look(k, history))
                    for panel in NAMES
                }
                for k, (name, history) in enumerate(self.histories.items())
            }
            for name in NAMES:
                self._set_axes(self.axes_[name], panels[name])
            self.legend_ = self._draw_legend(beside, is_divided=given is None)
            settle_panels(axes)
        return self

    def _look(self, k: int, history: TrainingHistory) -> dict[str, Any]:
        """Return the look of the k-th line; the only one needs no dashes."""
        n, is_only = len(history.increments), len(self.histories) == 1
        plain = {"color": SURVIVES, "linestyle": "-", "markerfacecolor": "white"}
        look = plain | {"marker": "o" if n <= _FEW else ""} if is_only else line_style(k)
        if n == 1:
            look["marker"] = "o"
        return look | {"markevery": 1 if n <= _FEW else (k % 3 * n // 20, n // 7)}

    def _set_axes(self, ax: "Axes", panel: Panel) -> None:
        from matplotlib.ticker import MaxNLocator

        first = min(history.increments[0] for history in self.histories.values())
        last = max(history.increments[-1] for history in self.histories.values())
        margin = 0.04 * (last - first) or 0.5
        ax.set_title(panel.title)
        ax.set_xlim(first - margin, last + margin)
        ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        ax.set_xlabel("Increment")
        panel.set_axis(ax)

    def _draw_legend(self, ax: "Axes", *, is_divided: bool) -> "Legend":
        handles = [lines["competence"] for lines in self.lines_.values()]
        labels = [_summary(name, history) for name, history in self.histories.items()]
        look: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (-0.08, 0.5)}
        if any(history.cost_of_all[-1] for history in self.histories.values()):
            look |= {"title": "cost: relative to no delegation", "alignment": "left"}
        return ax.legend(handles, labels, **look if is_divided else {})


def _divided(ax: Any) -> "list[Axes]":
    """Return five panels, and axes for the legend."""
    ax = new_figure(7.0, 4.2).add_subplot() if ax is None else ax
    grid = grid_within(ax, 2, 3, apart=(0.55, 0.7))
    axes = [ax.figure.add_subplot(grid[k]) for k in range(6)]
    axes[-1].set_axis_off()
    return axes


def _summary(name: str, history: TrainingHistory) -> str:
    n_left = int(history.representatives[-1])
    text = f"{history.n_voters:,} voters, {n_left:,} left"
    if history.cost_of_all[-1]:
        text += f", cost {history.cost[-1] / history.cost_of_all[-1]:.0%}"
    return f"{name}\n{text}" if name else text
