"""Prediction: votes of linear voters, with scikit-learn's own bits.

The core computes scores in an order of its own. Where a score is so near zero, or two scores so
near each other, that rounding could decide, scikit-learn's own product is taken instead.
"""

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot

from skliquid import native
from skliquid.arrays import Floats, Votes
from skliquid.increments import slices
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

    if is_sparse and subspaces is None and X.nnz >= X.shape[1]:
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
    """Return votes by the very product that scikit-learn takes, on as many rows.

    Only on sparse rows may several voters vote at once: dense products are summed in an order that
    depends on how many there are.
    """
    coef = np.ascontiguousarray(coef[separators, : problem.n_features])
    rows: Any = X
    rows = rows.tocsr() if scipy.sparse.issparse(X) else rows
    scores: Any = safe_sparse_dot(rows, coef.T, dense_output=True)
    scores = scores + intercept[separators].astype(problem.intercept_dtype)
    by_voter = scores.reshape(len(scores), -1, problem.n_separators)
    is_binary = problem.n_separators == 1
    votes: Votes = by_voter[:, :, 0] > 0 if is_binary else by_voter.argmax(axis=2)
    return votes.T
