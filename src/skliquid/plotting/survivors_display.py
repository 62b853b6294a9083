"""SurvivorsDisplay: the estimators, feature maps and hyperparameters that survived."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skliquid.plotting.display import RecordDisplay, arrange, blend, divide, quantity, small
from skliquid.plotting.fitted_record import estimators_of, record_of
from skliquid.plotting.traits import Trait, traits_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.text import Text

_MAX_COLUMNS, _WIDTH = 3, 2.35  # inches
_HEADER, _AROUND = 0.25, 0.42  # inches, above all panels and above and below each
_BAR_HEIGHT = 0.17  # inches
_DRAWN = 0.25  # shade of all drawn values


class SurvivorsDisplay(RecordDisplay):
    """Which estimators, feature maps and hyperparameters carry weight at the end.

    The display shows what the ensemble learned about the data. First come estimators, then feature
    maps, then the hyperparameters of each estimator. Properties that all voters share are left out.
    A wide grey bar is the share of voters that drew a value. A narrow bar is the share of the
    weight that voters with this value carry at the end. Both are shares among the voters with that
    estimator. Numbers from distributions are divided into four ranges with as many voters each.

    Use :meth:`from_estimator` or :meth:`from_record` rather than the constructor.

    Parameters
    ----------
    traits : sequence of Trait
        The properties in which voters differ.
    n_voters, n_representatives : int
        Number of voters, and of those with weight at the end.
    estimator : str, default=""
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
        self, traits: Sequence[Trait], n_voters: int, n_representatives: int, estimator: str = ""
    ):
        self.traits = traits
        self.n_voters = n_voters
        self.n_representatives = n_representatives
        self.estimator = estimator

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the survivors of a fitted ensemble.

        Parameters
        ----------
        estimator : LiquidEnsembleClassifier, PrunedEnsemble, Pipeline, search or TrainingRecord
            A fitted ensemble, an estimator that contains one, or its record.
        ax : matplotlib Axes, default=None
            Where to draw; it is divided into panels. None means a new figure.

        Returns
        -------
        display : SurvivorsDisplay
            The display, with the drawn artists as attributes.
        """
        record = record_of(estimator)
        graph, name = record[-1].graph, estimators_of(record)[0]
        return cls(traits_of(record), graph.n_voters, len(graph.representatives), name).plot(ax)

    def _plot(self, ax: Any) -> None:
        rows = _rows(self.traits)
        self.axes_: dict[str, Axes] = {}
        self.legend_: Legend | None = None
        with self._axes(ax, *_figure_size(rows)) as self.ax_:
            if rows:
                self._draw(self.ax_, rows)
            else:
                self.ax_.set_axis_off()
                arrange(self.ax_, [self.ax_.set_title(self._title())])

    def _draw(self, ax: "Axes", rows: list[list[Trait]]) -> None:
        heights = [_HEADER, *map(_row_height, rows)]
        grid = divide(ax, len(heights), max(map(len, rows)), height_ratios=heights)
        header = ax.figure.add_subplot(grid[0, :])
        self.legend_, titles = self._draw_header(header), []
        for i, row in enumerate(rows, start=1):
            n_bars = max(len(trait.categories) for trait in row)
            for j, trait in enumerate(row):
                panel = self.axes_[trait.title] = ax.figure.add_subplot(grid[i, j])
                titles.append(draw_trait(panel, trait, n_bars))
        arrange(ax)
        arrange(ax, [header.title, *titles])  # which are as wide as their panels

    def _draw_header(self, ax: "Axes") -> "Legend":
        from matplotlib.patches import Patch

        ax.set_axis_off()
        ax.set_title(self._title())
        drawn = Patch(color=blend(ax, _DRAWN), label="drawn: share of the voters")
        left = Patch(color="C0", label="at the end: share of the weight")
        return ax.legend(handles=[drawn, left], loc="center", ncols=2, handlelength=1.5)

    def _title(self) -> str:
        representatives = quantity(self.n_representatives, "representative")
        title = f"What survived: {quantity(self.n_voters, 'voter')}, {representatives}"
        if self.traits:
            return title
        if not self.estimator:
            return f"{title}\nThe record does not say what distinguishes its voters."
        return f"{title}\nAll are {self.estimator}, and differ in seeds, rows or features only."


def _rows(traits: Sequence[Trait]) -> list[list[Trait]]:
    """Return the rows of panels: estimators and feature maps, then a new row per estimator."""
    groups = [list(group) for _, group in groupby(traits, key=_group)]
    return [g[k : k + _MAX_COLUMNS] for g in groups for k in range(0, len(g), _MAX_COLUMNS)]


def _group(trait: Trait) -> str:
    is_first = trait.title == "estimator" or trait.name == "feature map"
    return "" if is_first else f"of {trait.estimator}"


def _row_height(row: Sequence[Trait]) -> float:
    return max(_BAR_HEIGHT * len(trait.categories) for trait in row) + _AROUND


def _figure_size(rows: Sequence[Sequence[Trait]]) -> tuple[float, float]:
    width = _WIDTH * max([2, *map(len, rows)])
    return width, max(_HEADER + 0.25 + sum(map(_row_height, rows)), 1.2)


def draw_trait(ax: "Axes", trait: Trait, n_bars: int) -> "Text":
    """Draw a trait; with room for ``n_bars``, bars of all panels in a row are equally wide."""
    labels, drawn, left = zip(*trait.categories, strict=True)
    places = np.arange(len(labels))
    ax.barh(places, drawn, height=0.76, color=blend(ax, _DRAWN))
    ax.barh(places, left, height=0.34, color="C0")
    for place, category in enumerate(trait.categories):
        end = max(category.drawn, category.left)
        text = f" {category.left:.0%}" if trait.weights.any() else ""
        ax.text(end, place, text, va="center", size=small())
    if not trait.weights.any():
        look: dict[str, Any] = {"ha": "right", "va": "center", "size": small()}
        ax.text(1.15, len(places) / 2 - 0.5, "none left", color=blend(ax, 0.6), **look)
    ax.set_yticks(places, labels)
    ax.set(xlim=(0, 1.2), ylim=(n_bars - 0.4, -0.6), xticks=[])
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    return ax.set_title(trait.title, loc="left", size="medium")
