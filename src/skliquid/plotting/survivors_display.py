"""SurvivorsDisplay: the estimators, feature maps and hyperparameters that survived."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

from skliquid.delegation.record import TrainingRecord
from skliquid.plotting.fitted_record import check_record, estimators_of, record_of
from skliquid.plotting.panel_grid import divide_axes, settle_panels
from skliquid.plotting.style import (
    DRAWN_COLOUR,
    FINAL_COLOUR,
    check_matplotlib,
    get_axes,
    quantity,
    settle,
    style,
)
from skliquid.plotting.trait_panels import draw_trait, panel_height
from skliquid.plotting.traits import Trait, traits_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

_MAX_COLUMNS, _WIDTH = 3, 2.35  # inches
_HEADER, _AROUND = 0.25, 0.42  # inches, above all panels and above and below each


class SurvivorsDisplay:
    """Which estimators, feature maps and hyperparameters carry weight at the end.

    The display shows what the ensemble learned about the data. First come estimators, then feature
    maps, then the hyperparameters of each estimator. Properties that all voters share are left out.
    A wide grey bar is the share of voters that drew a value. A narrow blue bar is the share of the
    weight that voters with this value carry at the end. Both are shares among the voters with that
    estimator. Numbers from distributions are drawn on an axis instead: a grey line for each voter,
    and a blue circle for each representative, with its weight as area.

    Use :meth:`from_estimator` or :meth:`from_record` rather than the constructor.

    Parameters
    ----------
    traits : sequence of Trait
        The properties in which voters differ.
    n_voters, n_representatives : int
        Number of voters, and of those with weight at the end.
    kind : str, default=""
        The estimator of all voters, if there is only one; empty if it is not known.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that are divided into panels.
    axes_ : dict of str to matplotlib Axes
        The panels by their titles, such as ``"linear: alpha"``; none if voters do not differ.
    figure_ : matplotlib Figure
        The figure with the panels.
    legend_ : matplotlib Legend or None
        The meaning of the bars; None if voters do not differ.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skliquid import LiquidEnsembleClassifier
    >>> from skliquid.plotting import SurvivorsDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    >>> display = SurvivorsDisplay.from_estimator(ensemble)
    >>> list(display.axes_)[:4]
    ['estimator', 'linear: feature map', 'linear: alpha', 'linear: eta0']
    >>> [category.label for category in display.traits[0].categories]
    ['linear', 'forest', 'boosted']
    """

    def __init__(
        self, traits: Sequence[Trait], n_voters: int, n_representatives: int, kind: str = ""
    ):
        self.traits = traits
        self.n_voters = n_voters
        self.n_representatives = n_representatives
        self.kind = kind

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the survivors of a fitted ensemble.

        Parameters
        ----------
        estimator : LiquidEnsembleClassifier, PrunedEnsemble, Pipeline or search
            A fitted ensemble, or an estimator that contains one.
        ax : matplotlib Axes, default=None
            Where to draw; it is divided into panels. None means a new figure.

        Returns
        -------
        display : SurvivorsDisplay
            The display, with the drawn artists as attributes.
        """
        return cls.from_record(record_of(estimator), ax=ax)

    @classmethod
    def from_record(cls, record: TrainingRecord, *, ax: Any = None) -> Self:
        """Draw the survivors in a record.

        Parameters
        ----------
        record : TrainingRecord
            The record of a training.
        ax : matplotlib Axes, default=None
            Where to draw; it is divided into panels. None means a new figure.

        Returns
        -------
        display : SurvivorsDisplay
            The display, with the drawn artists as attributes.
        """
        graph = check_record(record)[-1].graph
        n_left, estimator = len(graph.representatives), estimators_of(record)[0]
        return cls(traits_of(record), graph.n_voters, n_left, estimator).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; it is divided into panels. None means a new figure.

        Returns
        -------
        self : SurvivorsDisplay
            The display, with the drawn artists as attributes.
        """
        check_matplotlib(self)
        rows = _rows(self.traits)
        self.axes_: dict[str, Axes] = {}
        self.legend_: Legend | None = None
        with style():
            self.ax_, self.figure_ = get_axes(ax, *_figure_size(rows))
            if rows:
                self._draw(self.ax_, rows)
            else:
                self._write_note(self.ax_)
        return self

    def _draw(self, ax: "Axes", rows: list[list[Trait]]) -> None:
        heights = [_HEADER, *map(_row_height, rows)]
        n_columns = max(map(len, rows))
        grid = divide_axes(ax, len(heights), n_columns, gaps=(0.75, _AROUND), height_ratios=heights)
        self.legend_ = self._draw_header(ax.figure.add_subplot(grid[0, :]))
        for i, row in enumerate(rows, start=1):
            n_bars = max(len(trait.categories) for trait in row)
            for j, trait in enumerate(row):
                panel = self.axes_[trait.title] = ax.figure.add_subplot(grid[i, j])
                draw_trait(panel, trait, n_bars)
        settle_panels(list(self.axes_.values()), loc="left")

    def _draw_header(self, ax: "Axes") -> "Legend":
        from matplotlib.patches import Patch

        ax.set_axis_off()
        ax.set_title(self._title())
        drawn = Patch(color=DRAWN_COLOUR, label="drawn: share of the voters")
        left = Patch(color=FINAL_COLOUR, label="at the end: share of the weight")
        return ax.legend(handles=[drawn, left], loc="center", ncols=2, handlelength=1.5)

    def _title(self) -> str:
        representatives = quantity(self.n_representatives, "representative")
        return f"What survived: {quantity(self.n_voters, 'voter')}, {representatives}"

    def _write_note(self, ax: "Axes") -> None:
        """Write why there are no panels."""
        note = (
            f"All voters have the same estimator, {self.kind}, and drew no hyperparameters:\n"
            "they differ only in their seeds, and perhaps in their rows and features."
            if self.kind
            else "The record does not say what distinguishes its voters."
        )
        ax.set_axis_off()
        ax.set_title(self._title())
        ax.text(0.5, 0.5, note, transform=ax.transAxes, ha="center", va="center", color="0.3")
        settle(ax)


def _rows(traits: Sequence[Trait]) -> list[list[Trait]]:
    """Return the rows of panels: estimators and feature maps, then a new row per estimator."""
    groups = [list(group) for _, group in groupby(traits, key=_group)]
    return [g[k : k + _MAX_COLUMNS] for g in groups for k in range(0, len(g), _MAX_COLUMNS)]


def _group(trait: Trait) -> str:
    is_first = trait.title == "estimator" or trait.name == "feature map"
    return "" if is_first else f"of {trait.estimator}"


def _row_height(row: Sequence[Trait]) -> float:
    return max(map(panel_height, row)) + _AROUND


def _figure_size(rows: Sequence[Sequence[Trait]]) -> tuple[float, float]:
    if not rows:
        return 2 * _WIDTH, 1.2
    width = max(2, *map(len, rows)) * _WIDTH
    return width, _HEADER + 0.25 + sum(map(_row_height, rows))
