"""FrontDisplay: a score of ensembles against what they cost, and the Pareto front."""

from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from skliquid.pareto import Front, front
from skliquid.plotting.display import Display, arrange, blend, small

if TYPE_CHECKING:
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

_LABELS = {
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "bytes": "kilobytes of the file",
    "milliseconds": "milliseconds per 1,000 rows",
}
_FACTORS = {"bytes": 1e-3, "milliseconds": 1.0}


class FrontDisplay(Display):
    """A score against a cost, while the representatives of an ensemble delegate one by one.

    Each point is an ensemble, with the number of its representatives beside it. Those on the Pareto
    front are filled and joined by a line: no other costs as little and scores as well.

    Use :meth:`from_estimator` rather than the constructor.

    Parameters
    ----------
    front : Front
        The ensembles, as :func:`skliquid.front` returns them.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure with the axes.
    points_ : matplotlib PathCollection
        All ensembles.
    line_ : matplotlib Line2D
        The front.
    texts_ : list of matplotlib Text
        The numbers of representatives.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from skliquid import LiquidEnsembleClassifier
    >>> from skliquid.plotting import FrontDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> ensemble = LiquidEnsembleClassifier(random_state=0).fit(X_train, y_train)
    >>> display = FrontDisplay.from_estimator(ensemble, X_test, y_test)
    >>> len(display.points_.get_offsets())
    5
    """

    def __init__(self, front: Front):
        self.front = front

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        score: str = "accuracy",
        cost: str = "bytes",
        ax: Any = None,
    ) -> Self:
        """Draw the front of a fitted ensemble.

        Parameters
        ----------
        estimator : LiquidEnsembleClassifier or PrunedEnsemble
            A fitted ensemble.
        X, y, score, cost
            As in :func:`skliquid.front`.
        ax : matplotlib Axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : FrontDisplay
            The display, with the drawn artists as attributes.
        """
        return cls(front(estimator, X, y, score=score, cost=cost)).plot(ax)

    @classmethod
    def from_record(cls, *_: Any, **__: Any) -> NoReturn:
        """Raise an error: a record has no voters to score."""
        raise TypeError(
            "record must be a fitted ensemble: a front needs voters, and rows to score them on. "
            "Call from_estimator."
        )

    def _plot(self, ax: Any) -> None:
        score, cost = self.front.score, self.front.cost
        factor = _FACTORS[cost]
        places = [(factor * getattr(one, cost), getattr(one, score)) for one in self.front]
        best = [(factor * getattr(one, cost), getattr(one, score)) for one in self.front.best]
        self.line_: Line2D
        self.points_: PathCollection
        self.texts_: list[Text]
        with self._axes(ax, 4.6, 3.2) as self.ax_:
            (self.line_,) = self.ax_.plot(*np.transpose(best), color="C0", zorder=2)
            paper = blend(self.ax_, 0.0)
            fills = ["C0" if one.is_best else paper for one in self.front]
            costs, scores = np.transpose(places)
            self.points_ = self.ax_.scatter(costs, scores, s=22, c=fills, zorder=3)
            self.points_.set_edgecolor("C0")
            self.texts_ = [
                self.ax_.annotate(
                    str(one.n_representatives), place, (4, 4), textcoords="offset points",
                    size=small(),
                )
                for one, place in zip(self.front, places, strict=True)
            ]  # fmt: skip
            self.ax_.set(xlabel=_LABELS[cost], ylabel=_LABELS[score], xscale="log")
            self.ax_.margins(0.12)
            title = "Pareto front: number of representatives"
            arrange(self.ax_, [self.ax_.set_title(title)])
