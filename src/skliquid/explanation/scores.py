"""Scores: exact Shapley values of what one voter adds up, its trees or its linear terms.

The players are the columns of the table. A column that is not in a coalition is drawn from the
background, independently of all others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import log_expit, softmax
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import BaseDecisionTree

from skliquid import native
from skliquid.delegation.arrays import Floats, compact
from skliquid.delegation.increments import slices
from skliquid.explanation.shares import logs_from_logistic, shares_from_logs
from skliquid.pools.importances import is_fourier, is_one_to_one, is_view, steps_of
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier
from skliquid.voters.grown_trees import IS_LEAF

MAX_POINTS = 32
"""The most points of quadrature: exact for 64 columns in one path of a tree, or in one wave."""

_MISSING_RIGHT = np.uint32(1 << 29)  # a part of a node's "feature"
_NUMBERS_AT_ONCE = 2**23
_TOLERANCE = 1e-3  # of probabilities: linear voters may compute in single precision


class Scores(NamedTuple):
    """The scores of a voter: ``base`` and the sum of ``values`` over columns.

    They are shares of rows for forests, else log-odds, with two classes of the second class alone.
    """

    values: Floats  # Shapley values of each row, column and output
    base: Floats  # means over the background, one for each output
    are_shares: bool = False

    @property
    def of_rows(self) -> Floats:
        """The scores of each row and output."""
        sums: Floats = self.base + self.values.sum(axis=1)
        return sums


@dataclass(frozen=True)
class Game:
    """Rows and background as a voter sees them, and the table's column of each of their columns."""

    X: Any
    background: Any
    players: NDArray[np.int32]
    n_players: int
    n_threads: int = 1

    def through(self, step: Any) -> "Game":
        """Return the game behind a feature map that keeps columns apart."""
        players = self.players[step.sources_] if is_view(step) else self.players
        X, background = step.transform(self.X), step.transform(self.background)
        return replace(self, X=X, background=background, players=players)


def scores_of(voter: Any, game: Game) -> Scores | None:
    """Return the scores of ``voter``, or None if it is neither of trees nor linear."""
    *maps, last = steps_of(voter)
    waves = maps.pop() if maps and is_fourier(maps[-1]) else None
    if not all(is_one_to_one(step) or is_view(step) for step in maps):
        return None
    for step in maps:
        game = game.through(step)
    if waves is None and (scores := _tree_scores(last, game)) is not None:
        return scores
    if not (hasattr(last, "coef_") and hasattr(last, "decision_function")):
        return None
    coef = np.atleast_2d(_dense(last.coef_))
    game = replace(game, X=_numbers(game.X), background=_numbers(game.background))
    values, base = _linear(coef, game) if waves is None else _waves(coef, waves, game)
    return Scores(values, base + last.intercept_)


def contributions(scores: Scores, probabilities: Floats) -> Scores | None:
    """Return contributions to probabilities, or None if these do not follow from the scores.

    They may be the softmax of the scores, or logistic functions divided by their sum.
    """
    values, base, of_rows = scores.values, scores.base, scores.of_rows
    if scores.are_shares:
        return scores
    if len(base) == 1:  # the score of the first of two classes is zero
        parts = ((np.zeros_like(own), own) for own in (values, base, of_rows))
        values, base, of_rows = (np.concatenate(both, axis=-1) for both in parts)
    if len(base) != probabilities.shape[1]:
        return None
    if _is_softmax(of_rows, probabilities):
        return Scores(shares_from_logs(values, of_rows, base), softmax(base), are_shares=True)
    logs, base_logs = log_expit(of_rows), log_expit(base)
    if not _is_softmax(logs, probabilities):
        return None
    values = logs_from_logistic(values, of_rows, base)
    return Scores(shares_from_logs(values, logs, base_logs), softmax(base_logs), are_shares=True)


def _is_softmax(logs: Floats, probabilities: Floats) -> bool:
    return np.allclose(softmax(logs, axis=1), probabilities, rtol=0, atol=_TOLERANCE)


# Trees


def _tree_scores(classifier: Any, game: Game) -> Scores | None:
    """Return the scores of a classifier made of trees, or None of another."""
    if isinstance(classifier, BoostedTreesClassifier | RandomizedForestClassifier):
        X, background = classifier.check_X(game.X), classifier.check_X(game.background)
        game = replace(game, X=X, background=background)
        sums = _sum_of_trees(classifier.trees_.handle, classifier.trees_.n_outputs, game)
        if isinstance(classifier, RandomizedForestClassifier):
            return _mean(*sums)
        return Scores(sums[0], sums[1] + classifier.base_scores_)
    if isinstance(classifier, ExtraTreesClassifier | RandomForestClassifier):
        trees = [one.tree_ for one in classifier.estimators_]
    elif isinstance(classifier, BaseDecisionTree):
        trees = [classifier.tree_]
    else:
        return None
    n_outputs, n_columns = trees[0].value.shape[2], trees[0].n_features
    handle = native.Trees(list(map(_converted, trees)), n_outputs, n_columns)
    X, background = _in_single_precision(game.X), _in_single_precision(game.background)
    return _mean(*_sum_of_trees(handle, n_outputs, replace(game, X=X, background=background)))


def _mean(values: Floats, base: Floats) -> Scores:
    """Return shares of rows from their sums over trees."""
    return Scores(values / base.sum(), base / base.sum(), are_shares=True)


def _sum_of_trees(handle: Any, n_outputs: int, game: Game) -> tuple[Floats, Floats]:
    values, base = np.zeros((game.X.shape[0], game.n_players, n_outputs)), np.zeros(n_outputs)
    columns = compact(_dense(game.background).T)
    for block in _blocks(game, game.X.shape[1]):
        own = np.ascontiguousarray(_dense(game.X[block]))
        rest = game.players, game.n_players, _quadratures(), values[block], base, game.n_threads
        native.explain_trees(handle, own, columns, *rest)
    return values, base


def _converted(tree: Any) -> tuple[bytes, bytes]:
    """Return a tree of scikit-learn in our form: level by level, with siblings side by side."""
    level, order = np.zeros(1, dtype=np.intp), []
    while len(level):
        order.append(level)
        inner = level[tree.children_left[level] >= 0]
        level = np.stack([tree.children_left[inner], tree.children_right[inner]], axis=1).ravel()
    places = np.concatenate(order)
    is_leaf = tree.children_left[places] < 0
    nodes = np.zeros(len(places), dtype=native.NODE)
    n_before = np.cumsum(~is_leaf) - 1  # children follow each other in the order of their parents
    nodes["next"] = np.where(is_leaf, np.cumsum(is_leaf) - 1, 1 + 2 * n_before)
    missing = np.where(tree.missing_go_to_left[places], np.uint32(0), _MISSING_RIGHT)
    nodes["feature"] = np.where(is_leaf, IS_LEAF, tree.feature[places].astype(np.uint32) | missing)
    nodes["cut"] = np.where(is_leaf, 0.0, tree.threshold[places]).view(np.uint64)
    shares = tree.value[places[is_leaf], 0, :]
    shares = shares / shares.sum(axis=1, keepdims=True)
    return nodes.tobytes(), shares.astype(np.float32).tobytes()


# Linear voters


def _linear(coef: Floats, game: Game) -> tuple[Floats, Floats]:
    r"""Return :math:`c_j (x_j - \bar x_j)`, summed over the columns of each player."""
    mean = np.asarray(game.background.mean(axis=0), dtype=np.float64).ravel()
    places: Any = (np.ones(len(mean)), (np.arange(len(mean)), game.players))
    owners: Any = scipy.sparse.csr_array(places, shape=(len(mean), game.n_players))
    values = np.empty((game.X.shape[0], game.n_players, len(coef)))
    for block in _blocks(game, game.X.shape[1]):
        changes = _dense(game.X[block]) - mean
        for output, own in enumerate(coef):
            values[block, :, output] = (changes * own) @ owners
    return values, coef @ mean


def _waves(coef: Floats, fourier: Any, game: Game) -> tuple[Floats, Floats]:
    """Return the Shapley values of a linear function of random Fourier features."""
    sampler = getattr(fourier, "sampler_", fourier)
    coef = coef * np.sqrt(2.0 / sampler.n_components)
    directions = compact(sampler.random_weights_.T, np.float64)
    offsets = compact(sampler.random_offset_, np.float64)
    values, base = np.empty((game.X.shape[0], game.n_players, len(coef))), np.empty(len(offsets))
    background = compact(_dense(game.background))
    for block in _blocks(game, game.n_players * len(offsets)):
        own = compact(_dense(game.X[block]))
        waves = np.empty((len(own), game.n_players, len(offsets)))
        rest = game.players, game.n_players, _quadratures(), waves, base, game.n_threads
        native.explain_waves(directions, offsets, own, background, *rest)
        values[block] = waves @ coef.T
    return values, coef @ base


def _dense(rows: Any) -> Floats:
    dense: Floats = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
    return dense.astype(np.float64, copy=False)


def _numbers(rows: Any) -> Any:
    """Return rows, such as those of a data frame, as an array, or as they are if sparse."""
    return rows if hasattr(rows, "toarray") else np.asarray(rows, dtype=np.float64)


def _in_single_precision(rows: Any) -> Any:
    """Return rows as scikit-learn's trees see them."""
    own = rows.tocsr() if hasattr(rows, "tocsr") else np.asarray(rows)
    return own.astype(np.float32)


def _blocks(game: Game, n_per_row: int) -> Sequence[slice]:
    return slices(game.X.shape[0], max(_NUMBERS_AT_ONCE // n_per_row, 32))


@cache
def _quadratures() -> Floats:
    """Return points in [0, 1] and weights of Gauss-Legendre quadratures with 1 to 32 points."""
    found = np.zeros((MAX_POINTS, 2, MAX_POINTS))
    for n in range(1, MAX_POINTS + 1):
        points, weights = np.polynomial.legendre.leggauss(n)
        found[n - 1, 0, :n], found[n - 1, 1, :n] = (1 + points) / 2, weights / 2
    return found
