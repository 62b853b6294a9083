"""SurvivorsDisplay: which kinds, feature maps and hyperparameters have survived."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from skliquid.plotting.fitted_record import checked_record, record_of
from skliquid.plotting.panels import grid_within, settle_panels
from skliquid.plotting.style import (
    FADES,
    SURVIVES,
    check_matplotlib,
    counted,
    new_figure,
    settle,
    style,
)
from skliquid.plotting.trait_panels import draw_trait, height_of
from skliquid.plotting.traits import Trait, traits_of
from skliquid.record import TrainingRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

_COLUMNS, _WIDTH = 3, 2.35  # inches
_HEADER, _AROUND = 0.25, 0.42  # inches, above all panels and above and below each


class SurvivorsDisplay:
    """What survived: kinds, feature maps and hyperparameters of the voters with weight at the end.

    This is the answer to the question what was learned about the data. First come the kinds of
    voters, then feature maps, then the hyperparameters of each kind; what all voters have in common
    is left out. A wide grey bar is the share of voters that have drawn a value, and a narrow blue
    bar the share of the weight that voters with this value carry at the end, both among the voters
    of that kind. Numbers from distributions are drawn on an axis instead: a grey line for each
    voter, and a blue circle for each representative, with its weight as area.

    Use :meth:`from_estimator` or :meth:`from_record` rather than the constructor.

    Parameters
    ----------
    traits : sequence of Trait
        In what the voters differ.
    n_voters, n_representatives : int
        Number of voters, and of those with weight at the end.
    kind : str, default=""
        The kind of all voters, if there is only one; empty if it is not known.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that are divided into panels.
    axes_ : dict of str to matplotlib Axes
        The panels by their titles, such as ``"linear: alpha"``; none if voters do not differ.
    figure_ : matplotlib Figure
        The figure with the panels.
    legend_ : matplotlib Legend or None
        What the bars are; None if voters do not differ.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skliquid import LiquidEnsembleClassifier
    >>> from skliquid.plotting import SurvivorsDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    >>> display = SurvivorsDisplay.from_estimator(ensemble)
    >>> list(display.axes_)[:4]
    ['kind', 'linear: feature map', 'linear: alpha', 'linear: eta0']
    >>> [category.label for category in display.traits[0].categories]
    ['linear', 'forest', 'boosted']
    """

    ax_: "Axes"
    axes_: "dict[str, Axes]"
    figure_: "Figure"
    legend_: "Legend | None"

    def __init__(
        self, traits: Sequence[Trait], n_voters: int, n_representatives: int, kind: str = ""
    ):
        self.traits = traits
        self.n_voters = n_voters
        self.n_representatives = n_representatives
        self.kind = kind

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw what survived in a fitted ensemble.

        Parameters
        ----------
        estimator : LiquidEnsembleClassifier, PrunedEnsemble, Pipeline or search
            A fitted ensemble, or what leads to one.
        ax : matplotlib Axes, default=None
            Where to draw; it is divided into panels. None means a new figure.

        Returns
        -------
        display : SurvivorsDisplay
            The display, with what was drawn as attributes.
        """
        return cls.from_record(record_of(estimator), ax=ax)

    @classmethod
    def from_record(cls, record: TrainingRecord, *, ax: Any = None) -> Self:
        """Draw what survived according to a record.

        Parameters
        ----------
        record : TrainingRecord
            The record of a training.
        ax : matplotlib Axes, default=None
            Where to draw; it is divided into panels. None means a new figure.

        Returns
        -------
        display : SurvivorsDisplay
            The display, with what was drawn as attributes.
        """
        graph = checked_record(record)[-1].graph
        kind = record.voters[0].kind if record.voters else ""
        n_left = len(graph.representatives)
        return cls(traits_of(record), graph.n_voters, n_left, kind).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; it is divided into panels. None means a new figure.

        Returns
        -------
        self : SurvivorsDisplay
            The display, with what was drawn as attributes.
        """
        check_matplotlib(self)
        rows = _rows(self.traits)
        with style():
            ax = new_figure(*_figure_size(rows)).add_subplot() if ax is None else ax
            self.ax_, self.figure_, self.axes_, self.legend_ = ax, ax.figure, {}, None
            if rows:
                self._draw(ax, rows)
            else:
                self._say_that_voters_are_alike(ax)
        return self

    def _draw(self, ax: "Axes", rows: list[list[Trait]]) -> None:
        heights = [_HEADER, *map(_height, rows)]
        n_columns = max(map(len, rows))
        grid = grid_within(
            ax, len(heights), n_columns, apart=(0.75, _AROUND), height_ratios=heights
        )
        self.legend_ = self._draw_header(ax.figure.add_subplot(grid[0, :]))
        for i, row in enumerate(rows, start=1):
            n_lines = max(len(trait.categories) for trait in row)
            for j, trait in enumerate(row):
                panel = self.axes_[trait.title] = ax.figure.add_subplot(grid[i, j])
                draw_trait(panel, trait, n_lines)
        settle_panels(list(self.axes_.values()), loc="left")

    def _draw_header(self, ax: "Axes") -> "Legend":
        from matplotlib.patches import Patch

        ax.set_axis_off()
        ax.set_title(self._title())
        drawn = Patch(color=FADES, label="drawn: share of the voters")
        left = Patch(color=SURVIVES, label="at the end: share of the weight")
        return ax.legend(handles=[drawn, left], loc="center", ncols=2, handlelength=1.5)

    def _title(self) -> str:
        return (
            f"What survived: {counted(self.n_voters, 'voter')}, "
            f"{counted(self.n_representatives, 'representative')}"
        )

    def _say_that_voters_are_alike(self, ax: "Axes") -> None:
        why = (
            f"All voters are of one kind, {self.kind}, and have drawn no hyperparameters:\n"
            "they differ only in their seeds, and perhaps in their rows and features."
            if self.kind
            else "The record does not say what distinguishes its voters."
        )
        ax.set_axis_off()
        ax.set_title(self._title())
        ax.text(0.5, 0.5, why, transform=ax.transAxes, ha="center", va="center", color="0.3")
        settle(ax)


def _rows(traits: Sequence[Trait]) -> list[list[Trait]]:
    """Return the rows of panels: kinds and feature maps, and then each kind from the left."""
    rows: list[list[Trait]] = []
    previous = None
    for trait in traits:
        group = "" if trait.name in ("kind", "feature map") else f"of {trait.kind}"
        if group != previous or len(rows[-1]) == _COLUMNS:
            rows.append([])
        rows[-1].append(trait)
        previous = group
    return rows


def _height(row: Sequence[Trait]) -> float:
    """Return the height of a row of panels in inches, with titles."""
    return max(map(height_of, row)) + _AROUND


def _figure_size(rows: Sequence[Sequence[Trait]]) -> tuple[float, float]:
    if not rows:
        return 2 * _WIDTH, 1.2
    width = max(max(map(len, rows)) * _WIDTH, 2 * _WIDTH)
    return width, _HEADER + 0.25 + sum(map(_height, rows))
