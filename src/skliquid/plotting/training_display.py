"""TrainingDisplay: competence, accuracy, size and cost of ensembles over the increments."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, cast

from skliquid.delegation.record import TrainingRecord
from skliquid.plotting.fitted_record import check_record, record_of
from skliquid.plotting.panel_grid import divide_axes, settle_panels, user_panels
from skliquid.plotting.style import FINAL_COLOUR, check_matplotlib, get_axes, line_style, style
from skliquid.plotting.training_history import TrainingHistory
from skliquid.plotting.training_panels import NAMES, Panel, panels_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

_MAX_MARKERS = 12  # for more increments, only some have a marker


class TrainingDisplay:
    """Competence, accuracy, size and cost over the increments, for one ensemble or several.

    Five panels: the competence of the representatives left; the accuracy of the ensemble on the
    evaluation set, or without one the mean accuracy of the voters on the rows of each increment;
    the number of representatives; the sample visits so far, with the final fit as the last point;
    and the minimum majority: the smallest number of representatives that hold more than half of the
    weight. A thin line estimates the cost without delegation: a delegator would have cost as much
    as the average of the voters that trained.

    Use :meth:`from_estimator`, :meth:`from_estimators`, :meth:`from_record` or
    :meth:`from_records` rather than the constructor.

    Parameters
    ----------
    histories : dict of str to TrainingHistory
        The numbers to draw, by the names of the ensembles.

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

    def __init__(self, histories: Mapping[str, TrainingHistory]):
        self.histories = histories

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str = "", ax: Any = None) -> Self:
        """Draw the training of a fitted ensemble.

        Parameters
        ----------
        estimator : LiquidEnsembleClassifier, PrunedEnsemble, Pipeline or search
            A fitted ensemble, or an estimator that contains one.
        name : str, default=""
            The name of the ensemble in the legend.
        ax : matplotlib Axes or sequence of five Axes, default=None
            Axes to divide into panels, or one Axes per panel. None means a new figure.

        Returns
        -------
        display : TrainingDisplay
            The display, with the drawn artists as attributes.
        """
        return cls.from_records({name: record_of(estimator)}, ax=ax)

    @classmethod
    def from_estimators(cls, estimators: Mapping[str, Any], *, ax: Any = None) -> Self:
        """Draw the training of several fitted ensembles in the same panels.

        Parameters
        ----------
        estimators : dict of str to estimator
            Fitted ensembles, or estimators that contain one, by their names in the legend.
        ax : matplotlib Axes or sequence of five Axes, default=None
            Axes to divide into panels, or one Axes per panel. None means a new figure.

        Returns
        -------
        display : TrainingDisplay
            The display, with the drawn artists as attributes.
        """
        records = {name: record_of(estimator) for name, estimator in estimators.items()}
        return cls.from_records(records, ax=ax)

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
            Axes to divide into panels, or one Axes per panel. None means a new figure.

        Returns
        -------
        display : TrainingDisplay
            The display, with the drawn artists as attributes.
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
            Axes to divide into panels, or one Axes per panel. None means a new figure.

        Returns
        -------
        display : TrainingDisplay
            The display, with the drawn artists as attributes.
        """
        if not records:
            raise ValueError("records must name at least one ensemble: got none. Add one.")
        checked = {name: check_record(record) for name, record in records.items()}
        histories = {name: TrainingHistory.from_record(checked[name]) for name in checked}
        return cls(histories).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of five Axes, default=None
            Axes to divide into panels, or one Axes per panel. None means a new figure.

        Returns
        -------
        self : TrainingDisplay
            The display, with the drawn artists as attributes.
        """
        check_matplotlib(self)
        panels = panels_for(list(self.histories.values()))
        with style():
            given = user_panels(ax, len(NAMES), ", ".join(NAMES))
            *axes, beside = [*given, given[0]] if given else _new_panels(ax)
            self.axes_ = dict(zip(NAMES, axes, strict=True))
            self.figure_ = cast("Figure", beside.figure)
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
        plain = {"color": FINAL_COLOUR, "linestyle": "-", "markerfacecolor": "white"}
        look = plain | {"marker": "o" if n <= _MAX_MARKERS else ""} if is_only else line_style(k)
        if n == 1:
            look["marker"] = "o"
        return look | {"markevery": 1 if n <= _MAX_MARKERS else (k % 3 * n // 20, n // 7)}

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


def _new_panels(ax: Any) -> "list[Axes]":
    """Return five panels, and axes for the legend."""
    ax, _ = get_axes(ax, 7.0, 4.2)
    grid = divide_axes(ax, 2, 3, gaps=(0.55, 0.7))
    axes = [ax.figure.add_subplot(grid[k]) for k in range(6)]
    axes[-1].set_axis_off()
    return axes


def _summary(name: str, history: TrainingHistory) -> str:
    text = f"{history.n_voters:,} voters, {history.representatives[-1]:,} left"
    if history.cost_of_all[-1]:
        text += f", cost {history.cost[-1] / history.cost_of_all[-1]:.0%}"
    return f"{name}\n{text}" if name else text
