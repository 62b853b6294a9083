"""Prediction: votes, margins and probabilities of linear voters, with scikit-learn's own bits.

For votes the core computes scores in an order of its own. Where a score is so near zero, or two
scores so near each other, that rounding could decide, scikit-learn's own product is taken instead.
Margins and probabilities always come from that product.
"""

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.extmath import safe_sparse_dot

from skliquid import native
from skliquid.arrays import Floats, Votes
from skliquid.increments import slices
from skliquid.pools.answers import of_two, sharing
from skliquid.pools.linear.layout import core_rows, over_all_features
from skliquid.pools.linear.problem import LinearProblem
from skliquid.pools.linear.state import SeparatorState

_ROWS_THAT_PAY_A_PRODUCT = 128
_SCORES_AT_ONCE = 150_000  # they stay in the cache until they are counted
_COLUMNS_AT_ONCE = 16  # a sparse row's number is multiplied with a cache line or two


def votes_of(
    problem: LinearProblem,
    state: SeparatorState,
    separators: NDArray[np.intp],
    X: Any,
    *,
    subspaces: NDArray[np.intp] | None,
    kept_rows: tuple[Any, Floats] | None,
) -> Votes:
    """Return the votes of voters on ``X``, who have these ``separators`` and ``subspaces``.

    ``kept_rows`` are the rows as the core takes them, if they are there already.
    """
    n = problem.n_separators
    n_voters, n_rows = len(separators) // n, X.shape[0]
    votes: Votes = np.empty((n_voters, n_rows), dtype=problem.votes_dtype)
    shown = coef, intercept = state.shown()
    is_sparse = scipy.sparse.issparse(X)

    def take_exact_votes(block: slice) -> None:
        seen = X if subspaces is None else X[:, subspaces[block.start]]
        chosen = separators[block.start * n : block.stop * n]
        votes[block] = _exact_votes(problem, seen, *shown, chosen)

    if is_sparse and subspaces is None and X.nnz >= problem.n_features:
        X = X.tocsr()
        for block in slices(n_voters, -(-_COLUMNS_AT_ONCE // n)):
            take_exact_votes(block)
        return votes
    if subspaces is not None:
        coef = over_all_features(coef[separators], np.repeat(subspaces, n, axis=0), X.shape[1])
        intercept, chosen = intercept[separators], np.arange(len(separators))
    else:
        chosen = separators
    by_product = not is_sparse and n_rows >= _ROWS_THAT_PAY_A_PRODUCT
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
        take_exact_votes(slice(k, k + 1))
    return votes


def _exact_votes(
    problem: LinearProblem,
    X: Any,
    coef: NDArray[Any],
    intercept: Floats,
    separators: NDArray[np.intp],
) -> Votes:
    """Return votes by the very product that scikit-learn takes, on as many rows."""
    scores = _margins(problem, X, coef, intercept, separators)
    if problem.n_separators == 1:
        return (scores[:, :, 0] > 0).view(np.uint8)
    votes: Votes = scores.argmax(axis=2)
    return votes


def margins_of(
    problem: LinearProblem,
    state: SeparatorState,
    separators: NDArray[np.intp],
    X: Any,
    *,
    subspaces: NDArray[np.intp] | None,
) -> NDArray[Any]:
    """Return the decision function of voters on ``X``: one row per voter, sample and separator."""
    shown = state.shown()
    if subspaces is None:
        return _margins(problem, X, *shown, separators)
    by_voter = separators.reshape(len(subspaces), -1)
    return np.concatenate(
        [
            _margins(problem, X[:, subspace], *shown, own)
            for subspace, own in zip(subspaces, by_voter, strict=True)
        ]
    )


def _margins(
    problem: LinearProblem,
    X: Any,
    coef: NDArray[Any],
    intercept: Floats,
    separators: NDArray[np.intp],
) -> NDArray[Any]:
    """Return margins by the very product that scikit-learn takes, on as many rows.

    Dense products are summed in an order that depends on how many separators there are, so numpy
    repeats the product for each voter; on sparse rows one product serves all.
    """
    n, width = problem.n_separators, X.shape[1]
    coef = np.ascontiguousarray(coef[separators, :width])
    intercept = intercept[separators].astype(problem.intercept_dtype).reshape(-1, 1, n)
    rows: Any = X
    if scipy.sparse.issparse(X):
        product: Any = safe_sparse_dot(rows.tocsr(), coef.T, dense_output=True)
        scores = product.reshape(len(product), -1, n).transpose(1, 0, 2)
    else:
        scores = np.matmul(rows, coef.reshape(-1, n, width).transpose(0, 2, 1))
    margins: NDArray[Any] = np.ascontiguousarray(scores + intercept)
    return margins


def probabilities_from(problem: LinearProblem, margins: NDArray[Any]) -> NDArray[Any]:
    """Return class probabilities of voters with these ``margins``, as scikit-learn computes them.

    Losses for which scikit-learn has none get those of ``log_loss``; see
    :func:`~skliquid.pools.answers.logistic`.
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
    found = of_two(positive) if is_binary else sharing(positive)
    if np.isnan(found.sum()):  # some products overflowed: all classes are equally probable there
        found[np.isnan(found).any(axis=-1)] = 1 / found.shape[-1]
    return found
