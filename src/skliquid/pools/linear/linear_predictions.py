"""Predictions of linear voters: votes, margins and probabilities, with scikit-learn's own bits.

For votes the core computes scores in an order of its own. Where a score is so near zero, or two
scores so near each other, that rounding could decide, scikit-learn's own product is taken instead.
Margins and probabilities always come from that product.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.extmath import safe_sparse_dot

from skliquid import native
from skliquid.delegation.arrays import Floats, Votes
from skliquid.delegation.increments import slices
from skliquid.pools.linear.layout import core_rows, expand_subspaces
from skliquid.pools.linear.problem import LinearProblem
from skliquid.pools.linear.state import Separators
from skliquid.pools.predictions import binary_probabilities, normalize

_MIN_ROWS_FOR_PRODUCT = 128
_SCORES_AT_ONCE = 150_000  # they stay in the cache until they are counted
_COLUMNS_AT_ONCE = 16  # a sparse row's number is multiplied with a cache line or two


class LinearPredictor(NamedTuple):
    """Some voters of a linear pool, as predictions need them."""

    problem: LinearProblem
    coef: NDArray[Any]  # of all separators of the pool
    intercept: Floats
    separators: Separators  # of these voters
    subspaces: NDArray[np.intp] | None  # features of each voter; None means all

    def votes(self, X: Any, kept_rows: tuple[Any, Floats] | None = None) -> Votes:
        """Return votes on ``X``; ``kept_rows`` are the rows as the core takes them, if known."""
        problem, coef, intercept, chosen, subspaces = self
        n = problem.n_separators
        n_voters, n_rows = len(chosen) // n, X.shape[0]
        votes: Votes = np.empty((n_voters, n_rows), dtype=problem.votes_dtype)
        is_sparse = scipy.sparse.issparse(X)
        if is_sparse and subspaces is None and X.nnz >= problem.n_features:
            X = X.tocsr()
            for block in slices(n_voters, -(-_COLUMNS_AT_ONCE // n)):
                votes[block] = self.exact_votes(X, block)
            return votes
        if subspaces is not None:
            coef = expand_subspaces(coef[chosen], np.repeat(subspaces, n, axis=0), X.shape[1])
            intercept, chosen = intercept[chosen], np.arange(len(chosen))
        by_product = not is_sparse and n_rows >= _MIN_ROWS_FOR_PRODUCT
        rows, norms = kept_rows or core_rows(X, coef, pad=not by_product)
        is_doubtful = np.zeros(n_voters, dtype=np.bool_)
        voting, filled = (coef, intercept, chosen, n), (norms, votes, is_doubtful)
        if by_product:
            weights = coef[chosen, : rows.shape[1]]
            for block in slices(n_rows, max(_SCORES_AT_ONCE // len(chosen), 1)):
                native.vote_by_scores(weights @ rows[block].T, block.start, *voting, *filled)
        else:
            native.vote(*voting, rows, *filled)
        for k in np.flatnonzero(is_doubtful).tolist():
            votes[k : k + 1] = self.exact_votes(X, slice(k, k + 1))
        return votes

    def exact_votes(self, X: Any, voters: slice) -> Votes:
        """Return the votes of some voters by scikit-learn's own product; see :meth:`margins`."""
        n = self.problem.n_separators
        seen = X if self.subspaces is None else X[:, self.subspaces[voters.start]]
        scores = self._margins(seen, self.separators[voters.start * n : voters.stop * n])
        if n == 1:
            return (scores[:, :, 0] > 0).view(np.uint8)
        votes: Votes = scores.argmax(axis=2)
        return votes

    def margins(self, X: Any) -> NDArray[Any]:
        """Return the decision function on ``X``: one row per voter, sample and separator."""
        if self.subspaces is None:
            return self._margins(X, self.separators)
        by_voter = self.separators.reshape(len(self.subspaces), -1)
        parts = zip(self.subspaces, by_voter, strict=True)
        return np.concatenate([self._margins(X[:, subspace], own) for subspace, own in parts])

    def _margins(self, X: Any, separators: Separators) -> NDArray[Any]:
        """Return margins by the very product that scikit-learn takes, on as many rows.

        Dense products are summed in an order that depends on how many separators there are, so
        numpy repeats the product for each voter; on sparse rows one product serves all.
        """
        n, width = self.problem.n_separators, X.shape[1]
        coef = np.ascontiguousarray(self.coef[separators, :width])
        intercept = self.intercept[separators].astype(self.problem.intercept_dtype)
        if scipy.sparse.issparse(X):
            rows: Any = X
            product: Any = safe_sparse_dot(rows.tocsr(), coef.T, dense_output=True)
            scores = product.reshape(len(product), -1, n).transpose(1, 0, 2)
        else:
            scores = np.matmul(X, coef.reshape(-1, n, width).transpose(0, 2, 1))
        return np.ascontiguousarray(scores + intercept.reshape(-1, 1, n))


def probabilities_from(problem: LinearProblem, margins: NDArray[Any]) -> NDArray[Any]:
    """Return class probabilities of voters with these ``margins``, as scikit-learn computes them.

    Losses for which scikit-learn has none get those of ``log_loss``; see
    :func:`~skliquid.pools.predictions.logistic`.
    """
    is_binary = problem.n_separators == 1
    margins = margins[:, :, 0] if is_binary else margins
    if problem.params["loss"] != "modified_huber":
        positive = expit(margins)
    else:
        positive = margins.astype(np.float64) if is_binary else margins.copy()
        np.clip(positive, -1, 1, positive)
        positive += 1.0
        positive /= 2.0
    found = binary_probabilities(positive) if is_binary else normalize(positive)
    if np.isnan(found.sum()):  # some products overflowed: all classes are equally probable there
        found[np.isnan(found).any(axis=-1)] = 1 / found.shape[-1]
    return found
