"""DelegationDisplay: who delegated to whom."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from skliquid.delegation.arrays import Floats
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.record import IncrementRecord, TrainingRecord
from skliquid.plotting.delegation_drawing import DelegationDrawing
from skliquid.plotting.display import RecordDisplay, arrange, quantity
from skliquid.plotting.fitted_record import competence_unit, estimators_of, record_of
from skliquid.plotting.forest_layout import WIDTH_TO_HEIGHT, ForestLayout
from skliquid.plotting.marks import marks_by_estimator

_POINTS_PER_UNIT = 20
_WIDTHS, _HEIGHTS = (3.6, 6.9), (2.4, 4.6)  # minimum and maximum, in inches
_NOTE = "Area: votes carried or passed on. Strong outline: representative."


class DelegationDisplay(RecordDisplay):
    """Who delegated to whom: a tree of voters around each representative.

    Each mark is a voter, and each line a delegation, from the outside to the representative. The
    area of a mark is the number of votes that the voter carries or passes on, its own included. Its
    colour is the competence by which delegations were decided, and its shape the estimator of the
    voter. The longer the chain of delegations to the representative, the further away a voter is.

    Use :meth:`from_estimator` or :meth:`from_record` rather than the constructor.

    Parameters
    ----------
    graph : DelegationGraph
        All delegations.
    competence : array of shape (n_voters,)
        The competence of each voter when it was last a representative; NaN if it was not measured.
    estimators : sequence of str
        The name of each voter's estimator.
    increment : int
        The number of the increment after which delegations are shown.
    competence_unit : str, default=""
        What the numbers of competence are, for the colour bar.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the voters.
    figure_ : matplotlib Figure
        The figure with the axes.
    layout_ : ForestLayout
        The places of the voters: ``positions`` and ``radii``.
    voters_ : matplotlib PolyCollection
        The marks, one per voter.
    delegations_ : matplotlib LineCollection
        The lines, one per delegator in ascending order.
    labels_ : dict of int to matplotlib Text
        The labels by voter, where marks have room: numbers, and weights of representatives.
    colorbar_ : matplotlib Colorbar or None
        The colours of competence; None if no competence was measured.
    legend_ : matplotlib Legend or None
        The marks of estimators; None if there is only one.

    See Also
    --------
    WeightFlowDisplay : How weight gathers from increment to increment.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skliquid import LiquidEnsembleClassifier
    >>> from skliquid.plotting import DelegationDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    >>> display = DelegationDisplay.from_estimator(ensemble)
    >>> print(display.ax_.get_title())
    Who delegated to whom, after increment 3
    24 voters, 5 representatives, chains of up to 2 delegations
    """

    def __init__(
        self,
        graph: DelegationGraph,
        competence: Floats,
        estimators: Sequence[str],
        increment: int,
        competence_unit: str = "",
    ):
        self.graph = graph
        self.competence = competence
        self.estimators = estimators
        self.increment = increment
        self.competence_unit = competence_unit

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, increment: int | None = None, ax: Any = None, cmap: Any = None
    ) -> Self:
        """Draw the delegations of a fitted ensemble.

        Parameters
        ----------
        estimator : LiquidEnsembleClassifier, PrunedEnsemble, Pipeline, search or TrainingRecord
            A fitted ensemble, an estimator that contains one, or its record.
        increment : int, default=None
            The number of the increment after which delegations are shown. None means the last.
        ax : matplotlib Axes, default=None
            Where to draw. None means a new figure.
        cmap : str or matplotlib Colormap, default=None
            Colours of competence. None means shades of the first colour of the style.

        Returns
        -------
        display : DelegationDisplay
            The display, with the drawn artists as attributes.
        """
        record = record_of(estimator)
        increments = _increments_until(record, increment)
        last = increments[-1]
        competence = np.full(last.graph.n_voters, np.nan)
        for measured in increments:
            competence[measured.voters] = measured.competence
        unit = competence_unit(record)
        display = cls(last.graph, competence, estimators_of(record), last.increment, unit)
        return display.plot(ax, cmap=cmap)

    def _plot(self, ax: Any, *, cmap: Any = None) -> None:
        by_name = marks_by_estimator(self.estimators)
        marks = [by_name[name] for name in self.estimators]
        self.layout_ = ForestLayout.from_graph(self.graph, marks, _proportions(ax))
        with self._axes(ax, *self._figure_size()) as self.ax_:
            drawing = DelegationDrawing(self.ax_, self.graph, self.layout_, marks)
            x, y = self.layout_.limits
            self.ax_.set(xlim=x, ylim=y, aspect="equal", xticks=[], yticks=[])
            self.ax_.grid(visible=False)
            self.ax_.spines[:].set_visible(False)
            self.delegations_ = drawing.draw_delegations()
            self.voters_ = drawing.draw_voters(self.competence, cmap)
            self.colorbar_ = drawing.draw_colour_bar(self.voters_, self.competence)
            self.legend_ = drawing.draw_legend(by_name)
            self._write_texts()
            self.labels_ = drawing.write_labels(np.asarray(self.voters_.get_facecolor()))

    def _write_texts(self) -> None:
        legend = self.legend_.get_window_extent().height if self.legend_ else 0
        title = self.ax_.set_title(self._title(), pad=6 + legend * 72 / self.ax_.figure.dpi)
        caption = self.ax_.set_xlabel(_NOTE, size="medium")
        if self.colorbar_ is not None:
            unit = f":\n{self.competence_unit}" if self.competence_unit else ""
            self.colorbar_.set_label(f"Competence when last measured{unit}")
        arrange(self.ax_, [title, caption])

    def _figure_size(self) -> tuple[float, float]:
        """Return a size in inches, with room for the title and the colour bar."""
        width, height = np.diff(self.layout_.limits)[:, 0] * _POINTS_PER_UNIT / 72
        return float(np.clip(width, *_WIDTHS)) + 1.0, float(np.clip(height, *_HEIGHTS)) + 0.8

    def _title(self) -> str:
        voters = quantity(self.graph.n_voters, "voter")
        representatives = quantity(len(self.graph.representatives), "representative")
        longest = int(self.graph.distances.max())
        chains = f"chains of up to {quantity(longest, 'delegation')}"
        return (
            f"Who delegated to whom, after increment {self.increment}\n"
            f"{voters}, {representatives}, {chains if longest else 'no delegations'}"
        )


def _increments_until(record: TrainingRecord, increment: int | None) -> Sequence[IncrementRecord]:
    first, last = record[0].increment, record[-1].increment
    if increment is None:
        return record.increments
    if not first <= increment <= last:
        raise ValueError(
            f"increment must be in the record, from {first} to {last}: got {increment!r}. Choose "
            "one of these, or None for the last."
        )
    return [kept for kept in record if kept.increment <= increment]


def _proportions(ax: Any) -> float:
    """Return width divided by height of the area for voters."""
    if ax is None:
        return WIDTH_TO_HEIGHT
    area = ax.get_window_extent()
    return float(np.clip(0.85 * area.width / area.height, 0.2, 5))
