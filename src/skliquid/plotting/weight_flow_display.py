"""WeightFlowDisplay: how weight gathers from increment to increment."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.graph import DelegationGraph
from skliquid.plotting.display import RecordDisplay, arrange, blend, quantity, small
from skliquid.plotting.fitted_record import record_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.text import Text

_NOTE = "Strong colours: representatives in the end. Light: voters that delegate to them."
_LIGHT, _GREYS = 0.4, (0.4, 0.6)  # shades
_MAX_HUES, _MAX_CURVES, _MAX_VECTORS = 6, 120, 400
_CURVE = np.linspace(0, 1, 12)  # places between two increments


class WeightFlowDisplay(RecordDisplay):
    """How weight gathers: from a band per voter to a few bands of representatives.

    The height of a band is the weight of a voter, over the increments; the first state is that
    before training. Where a voter delegates, its band ends beside the band that grows by its votes.
    Where it takes its votes back, it begins again. Colours are those of the representatives in the
    end: strong for their own bands, light for voters that delegate to them. The heaviest have the
    colours of the style, others are grey.

    Use :meth:`from_estimator` or :meth:`from_record` rather than the constructor.

    Parameters
    ----------
    weights : array of shape (n_increments + 1, n_voters)
        The weight of each voter before the first increment, and after each.
    graph : DelegationGraph
        All delegations in the end.
    increment : int, default=0
        The number of the increment before the first.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure with the axes.
    bands_ : matplotlib PolyCollection
        The bands, one per voter.
    labels_ : dict of int to matplotlib Text
        The labels of the heaviest representatives left, by voter, where there is room.

    See Also
    --------
    DelegationDisplay : Who delegated to whom.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skliquid import LiquidEnsembleClassifier
    >>> from skliquid.plotting import WeightFlowDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    >>> display = WeightFlowDisplay.from_estimator(ensemble)
    >>> print(display.ax_.get_title())
    How weight gathers: from 24 voters to 5 representatives
    """

    def __init__(self, weights: Voters, graph: DelegationGraph, increment: int = 0):
        self.weights = weights
        self.graph = graph
        self.increment = increment

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the weights of a fitted ensemble.

        Parameters
        ----------
        estimator : LiquidEnsembleClassifier, PrunedEnsemble, Pipeline, search or TrainingRecord
            A fitted ensemble, an estimator that contains one, or its record.
        ax : matplotlib Axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : WeightFlowDisplay
            The display, with the drawn artists as attributes.
        """
        record = record_of(estimator)
        weights = [record[0].before.weights, *(increment.graph.weights for increment in record)]
        return cls(np.array(weights), record[-1].graph, record[0].increment - 1).plot(ax)

    def _plot(self, ax: Any) -> None:
        height = float(np.clip(1.4 + 0.13 * len(self.graph.representatives), 3.6, 5.6))
        with self._axes(ax, 7.0, height) as self.ax_:
            self.bands_ = self._draw_bands(self.ax_)
            arrange(self.ax_, self._set_axes(self.ax_))
            self.labels_ = self._write_labels(self.ax_)
            arrange(self.ax_)

    def _draw_bands(self, ax: "Axes") -> "PolyCollection":
        from matplotlib.collections import PolyCollection

        order = _order(self.graph)
        x, heights = self._curves()
        ends = np.cumsum(heights[:, order], axis=1)[:, np.argsort(order)]
        edges, x = np.concatenate([ends - heights, ends[::-1]]), np.concatenate([x, x[::-1]])
        outlines = [np.column_stack([x, edge]) for edge in edges.T]
        look: dict[str, Any] = {"linewidths": 0.3, "edgecolors": [blend(ax, 0)]}
        look["rasterized"] = len(order) > _MAX_VECTORS  # as vectors, files would be large
        bands = PolyCollection(outlines, facecolors=self._colours(ax), **look)
        ax.add_collection(bands, autolim=False)
        return bands

    def _curves(self) -> tuple[Floats, Floats]:
        """Return weights along smooth curves from increment to increment, or straight if many."""
        x, weights = self.increment + np.arange(len(self.weights), dtype=float), self.weights
        if len(x) > _MAX_CURVES:
            return x, weights.astype(float)
        share = 3 * _CURVE**2 - 2 * _CURVE**3
        heights = weights[:-1, None] + share[:, None] * np.diff(weights, axis=0)[:, None]
        return np.add.outer(x[:-1], _CURVE).ravel(), heights.reshape(-1, weights.shape[1])

    def _colours(self, ax: "Axes") -> Floats:
        """Return the colour of each voter: that of its last representative, light for others."""
        import matplotlib

        n_hues = min(len(matplotlib.rcParams["axes.prop_cycle"]), _MAX_HUES)
        colours = np.zeros((self.graph.n_voters, 3))
        for k, guru in enumerate(_heaviest_first(self.graph)):
            colour = blend(ax, 1.0, f"C{k}") if k < n_hues else blend(ax, _GREYS[k % 2])
            colours[self.graph.gurus == guru] = blend(ax, _LIGHT, colour)
            colours[guru] = colour
        return colours

    def _set_axes(self, ax: "Axes") -> "tuple[Text, Text]":
        from matplotlib.ticker import MaxNLocator

        first, n_voters = self.increment, self.graph.n_voters
        last = first + len(self.weights) - 1
        ax.set(xlim=(first, last), ylim=(n_voters, 0), yticks=[])
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        ax.xaxis.set_major_locator(MaxNLocator(12, integer=True))
        top = ax.secondary_xaxis("top")
        ticks = [int(tick) for tick in ax.get_xticks() if first <= tick <= last]
        counts = np.count_nonzero(self.weights, axis=1)
        top.set_xticks(ticks, [f"{counts[tick - first]:,}" for tick in ticks])
        top.set_xlabel("Representatives")
        top.spines[:].set_visible(False)
        n_left = quantity(len(self.graph.representatives), "representative")
        title = f"How weight gathers: from {quantity(n_voters, 'voter')} to {n_left}"
        return ax.set_title(title), ax.set_xlabel(f"Increment\n{_NOTE}", size="medium")

    def _write_labels(self, ax: "Axes") -> "dict[int, Text]":
        """Write numbers and weights to the right, the heaviest first, until there is no room."""
        labels: dict[int, Text] = {}
        order = _heaviest_first(self.graph)
        weights = self.graph.weights[order]
        middles = np.cumsum(weights) - weights / 2
        votes_per_pixel = self.graph.n_voters / ax.get_window_extent().height
        line = 1.1 * small() * ax.figure.dpi / 72 * votes_per_pixel
        look: dict[str, Any] = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
        look |= {"size": small(), "annotation_clip": False}
        x = self.increment + len(self.weights) - 1
        for k, (voter, weight) in enumerate(zip(order.tolist(), weights.tolist(), strict=True)):
            if k and middles[k] - middles[k - 1] < line:
                rest = f"{len(order) - k} more, w \N{LESS-THAN OR EQUAL TO} {weight}"
                middle = (middles[k] + middles[-1]) / 2
                ax.annotate(rest, (x, middle), color=blend(ax, 0.6), **look)
                break
            labels[voter] = ax.annotate(f"{voter}, w = {weight}", (x, middles[k]), **look)
        return labels


def _heaviest_first(graph: DelegationGraph) -> Voters:
    return graph.representatives[np.argsort(-graph.weights[graph.representatives], kind="stable")]


def _order(graph: DelegationGraph) -> Voters:
    """Return all voters: representatives, each followed by its delegators, the nearest first."""
    ranks = np.argsort(_heaviest_first(graph))
    places = np.searchsorted(graph.representatives, graph.gurus)
    return np.lexsort([graph.distances, ranks[places]])
