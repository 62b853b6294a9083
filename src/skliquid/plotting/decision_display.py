"""DecisionDisplay: who decided one row, and by which columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skliquid.delegation.graph import DelegationGraph
from skliquid.explanation import Explanation, explain
from skliquid.plotting.display import Display, arrange, blend, divide, small
from skliquid.plotting.fitted_record import estimators_of
from skliquid.plotting.marks import marks_by_estimator
from skliquid.tables.frames import take_rows
from skliquid.validation.data_types import is_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MIN_COLUMNS = 8  # drawn one by one
_WIDTHS = (1.0, 0.8, 0.9)  # of the panels
_WIDTH, _LANE, _AROUND = 7.5, 0.36, 0.95  # inches
_SPREAD = 0.35  # of delegators around their representative
_LONGEST = 28  # letters of a column and its value


class DecisionDisplay(Display):
    """The delegation path of one prediction.

    The display reads from left to right. Each line of the first panel is a representative, with the
    delegators whose votes it carries on its left. The second panel shows the probability that it
    gives to a class, and its part of the vote; a line marks the probability of the ensemble. The
    third panel shows the contributions of the columns to this probability.

    Use :meth:`from_estimator` rather than the constructor.

    Parameters
    ----------
    explanation : Explanation
        What :func:`skliquid.explain` returns.
    graph : DelegationGraph
        All delegations.
    estimators : sequence of str
        The estimator of each voter.
    row : int, default=0
        The row of the explanation.
    label : object, default=None
        The class. None means the most probable.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that are divided into panels.
    axes_ : dict of str to matplotlib Axes
        The panels ``"path"``, ``"votes"`` and ``"columns"``.
    figure_ : matplotlib Figure
        The figure with the panels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skliquid import LiquidEnsembleClassifier
    >>> from skliquid.plotting import DecisionDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    >>> display = DecisionDisplay.from_estimator(ensemble, X, row=3)
    >>> display.axes_["votes"].get_xlabel()
    'probability of 0'
    """

    def __init__(
        self,
        explanation: Explanation,
        graph: DelegationGraph,
        estimators: Sequence[str],
        row: int = 0,
        label: Any = None,
    ):
        self.explanation = explanation
        self.graph = graph
        self.estimators = estimators
        self.row = row
        best = explanation.classes.tolist()[explanation.probabilities[row].argmax()]
        self.label = best if label is None else label

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        row: int = 0,
        background: Any = None,
        label: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw a prediction of a fitted ensemble.

        Parameters
        ----------
        estimator : LiquidEnsembleClassifier or PrunedEnsemble
            A fitted ensemble.
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows.
        row : int, default=0
            The row of ``X`` that is drawn; negative numbers count from the end.
        background : array-like, data frame or sparse matrix, default=None
            Rows to compare with, as in :func:`skliquid.explain`. None means ``X``.
        label : object, default=None
            The class. None means the most probable.
        ax : matplotlib Axes, default=None
            Where to draw; it is divided into panels. None means a new figure.

        Returns
        -------
        display : DecisionDisplay
            The display, with the drawn artists as attributes.
        """
        n_rows = len(X) if isinstance(X, list) or is_frame(X) else X.shape[0]
        if not -n_rows <= row < n_rows:
            raise ValueError(
                f"row must be from {-n_rows} to {n_rows - 1}, since X has {n_rows} rows: got "
                f"{row}. Give one of them."
            )
        explained = take_rows(X, np.array([row % n_rows]))
        explanation = explain(estimator, explained, X if background is None else background)
        names, graph = estimators_of(estimator.record_), estimator.delegation_graph_
        return cls(explanation, graph, names, 0, label).plot(ax)

    def _plot(self, ax: Any) -> None:
        n_lanes = max(len(self.explanation.representatives), 4)
        position = self.explanation.position_of(self.label)
        with self._axes(ax, _WIDTH, _LANE * n_lanes + _AROUND) as self.ax_:
            grid = divide(self.ax_, 2, 3, width_ratios=_WIDTHS, height_ratios=(0.02, 1))
            header = self.ax_.figure.add_subplot(grid[0, :])
            header.set_axis_off()
            probability = self.explanation.probabilities[self.row, position]
            title = header.set_title(
                f"Who decided: {self.label} with probability {probability:.1%}"
            )
            panels = [self.ax_.figure.add_subplot(grid[1, k]) for k in range(3)]
            self.axes_ = dict(zip(("path", "votes", "columns"), panels, strict=True))
            for panel in panels:
                panel.grid(visible=False)
                panel.spines[["left", "right", "top"]].set_visible(False)
                panel.tick_params(axis="y", length=0)
            self._draw_path(self.axes_["path"])
            self._draw_votes(self.axes_["votes"], position)
            self._draw_columns(self.axes_["columns"], position)
            arrange(self.ax_, [title])

    def _draw_path(self, ax: "Axes") -> None:
        """Draw the delegators of each representative, as many steps away as their vote took."""
        graph, names = self.graph, list(self.estimators)
        places = np.zeros((graph.n_voters, 2))
        places[:, 0] = -graph.distances
        for lane, representative in enumerate(self.explanation.representatives):
            places[representative.voter, 1] = lane
            behind = representative.delegators
            for distance in np.unique(graph.distances[behind]):
                own = behind[graph.distances[behind] == distance]
                ends = _SPREAD * (len(own) > 1)
                places[own, 1] = lane + np.linspace(-ends, ends, len(own))
        for voter in np.flatnonzero(graph.distances):
            both = places[[voter, graph.delegation[voter]]]
            ax.plot(*both.T, color=blend(ax, 0.4), lw=0.6, ls="-", marker="", zorder=2)
        is_left = graph.distances == 0
        sizes, colours = np.where(is_left, 70, 14), np.where(is_left[:, None], 0.0, 1.0)
        faces = colours * blend(ax, 0.35) + (1 - colours) * blend(ax, 1.0, "C0")
        for name, mark in marks_by_estimator(names).items():
            own = np.array([other == name for other in names])
            look: dict[str, Any] = {"s": sizes[own], "c": faces[own], "zorder": 3}
            ax.scatter(*places[own].T, marker=mark.marker, label=name, **look)
        n_lanes = len(self.explanation.representatives)
        labels = [_name_of(one) for one in self.explanation.representatives]
        ax.set_yticks(range(n_lanes), labels)
        ax.set(xticks=[], ylim=(n_lanes - 0.5, -0.5))
        ax.spines["bottom"].set_visible(False)
        ax.margins(x=0.12)
        if len(set(names)) > 1:
            below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0)}
            ax.legend(**below, ncols=3, handletextpad=0.1, columnspacing=0.8)
        else:
            ax.set_xlabel("delegators and representatives")

    def _draw_votes(self, ax: "Axes", position: int) -> None:
        """Draw the probability that each representative gives to the class."""
        for lane, one in enumerate(self.explanation.representatives):
            probability = one.probabilities[self.row, position]
            ax.barh(lane, probability, height=0.6, color=blend(ax, 0.25))
            text = f" {probability:.0%}, vote {one.vote:.0%}"
            ax.text(0, lane, text, va="center", size=small())
        mean = self.explanation.probabilities[self.row, position]
        ax.axvline(mean, color="C0", ls="--", marker="")
        n_lanes = len(self.explanation.representatives)
        ax.set(xlim=(0, 1), yticks=[], ylim=(n_lanes - 0.5, -0.5))
        ax.set_xlabel(f"probability of {self.label}")

    def _draw_columns(self, ax: "Axes", position: int) -> None:
        """Draw the largest contributions, and the sum of all others."""
        values = self.explanation.values[self.row, :, position]
        order = np.argsort(-np.abs(values), kind="stable")
        n_drawn = max(_MIN_COLUMNS, len(self.explanation.representatives) - 1)
        first, rest = order[:n_drawn], order[n_drawn:]
        labels = [self._label_of(column) for column in first.tolist()]
        sizes = values[first].tolist()
        if len(rest):
            labels.append(f"{len(rest)} other column" + "s" * (len(rest) > 1))
            sizes.append(values[rest].sum())
        colours = ["C0" if size > 0 else blend(ax, 0.45) for size in sizes]
        ax.barh(range(len(sizes)), sizes, height=0.7, color=colours)
        ax.axvline(0, color=blend(ax, 1.0), lw=0.6, ls="-", marker="")
        ax.set_yticks(range(len(sizes)), labels)
        ax.invert_yaxis()
        ax.margins(x=0.08)
        base = self.explanation.base_values[position]
        ax.set_xlabel(f"contributions to it, from {base:.1%}")

    def _label_of(self, column: int) -> str:
        value = self.explanation.data[self.row, column]
        is_number = isinstance(value, float | np.floating)
        text = (
            f"{self.explanation.feature_names[column]} = {f'{value:.4g}' if is_number else value}"
        )
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _name_of(representative: Any) -> str:
    return f"{representative.estimator or 'voter'} {representative.voter}"
