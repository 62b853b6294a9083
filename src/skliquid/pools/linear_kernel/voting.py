"""Votes of linear voters, and whether the order of a sum might have swayed one."""

import math

import numpy as np
from numba import types
from numba.extending import overload

from skliquid.pools.linear_kernel.compiling import compiled
from skliquid.pools.linear_kernel.rows import (
    SHORTEST,
    fills_vectors,
    inner,
    places_of,
    rounding_of,
    squared_length,
)
from skliquid.pools.linear_kernel.vectors import parts, scores_of_four


def _scores_of_four(W, m, X, start): ...
def _fill_scores(W, m, X, start, scores): ...


@overload(_scores_of_four)
def _(W, m, X, start):
    if not isinstance(X, types.Array):
        return lambda W, m, X, start: (0.0, 0.0, 0.0, 0.0)  # which nobody asks for

    def dense(W, m, X, start):
        return parts(scores_of_four(W, (m,), X, (start, start + 1, start + 2, start + 3)))

    return dense


@overload(_fill_scores)
def _(W, m, X, start, scores):
    if isinstance(X, types.Array):

        def dense(W, m, X, start, scores):
            for row in range(start, scores.shape[0]):
                scores[row] = inner(W, m, X, row)

        return dense
    return lambda W, m, X, start, scores: _sparse_scores(W[m], X.data, X.indices, X.indptr, scores)


@compiled(fastmath={"reassoc", "nsz", "contract"})
def _sparse_scores(w, data, indices, indptr, scores):
    for row in range(scores.shape[0]):
        total = 0.0
        for k in places_of(indptr, row):
            total += w[np.uint32(indices[k])] * data[k]
        scores[row] = total


@compiled()
def scores_of(coef, machines, X, scores):
    """Fill in the product of coefficients and rows, for few rows or sparse ones."""
    n_rows = scores.shape[1]
    n_by_four = n_rows // 4 * 4 if fills_vectors(X) else 0
    for k in range(machines.shape[0]):
        for row in range(0, n_by_four, 4):
            scores[k, row], scores[k, row + 1], scores[k, row + 2], scores[k, row + 3] = (
                _scores_of_four(coef, machines[k], X, row)
            )
        _fill_scores(coef, machines[k], X, n_by_four, scores[k])


@compiled()
def fill_votes(coef, intercept, machines, n_machines, n_terms, X, row_norms, votes, doubtful):
    """Fill in votes on few rows, or sparse ones; mark voters in doubt."""
    scores = np.empty((machines.shape[0], row_norms.shape[0]), dtype=coef.dtype)
    scores_of(coef, machines, X, scores)
    judge(scores, 0, coef, intercept, machines, n_machines, n_terms, row_norms, votes, doubtful)


@compiled()
def judge(
    scores, start, coef, intercept, machines, n_machines, n_terms, row_norms, votes, doubtful
):
    """Fill in votes from the scores of the rows from ``start`` on; mark voters in doubt.

    A voter is in doubt when the order of a sum, of up to ``n_terms``, might have swayed its vote on
    a row, as it does where sums are too large for a number.
    """
    slack = 2 * (n_terms + 16) * rounding_of(coef)
    for v in range(votes.shape[0]):
        mine, reach = machines[v * n_machines : (v + 1) * n_machines], 0.0
        for m in mine:
            length = math.sqrt(squared_length(coef, m)) + abs(intercept[m])
            reach = max(reach, slack * (length + SHORTEST))
        some, to_fill, norms = scores[v * n_machines :], votes[v, start:], row_norms[start:]
        if n_machines == 1:
            n_near = _judge_of_two(some[0], intercept[mine[0]], reach, norms, to_fill)
        else:
            n_near = _judge_of_many(some, intercept[mine], reach, norms, to_fill)
        doubtful[v] |= n_near > 0


@compiled()
def _judge_of_two(scores, intercept, reach, row_norms, votes):
    """Fill in whether the second class wins; return how often it is near."""
    n_near = 0
    for i in range(scores.shape[0]):
        score = scores[i] + intercept
        votes[i] = score > 0
        n_near += not reach * (row_norms[i] + 1) < abs(score) < np.inf
    return n_near


@compiled()
def _judge_of_many(scores, intercept, reach, row_norms, votes):
    """Fill in the class that wins; return how often the second is near."""
    n_near = 0
    for i in range(scores.shape[1]):
        best, second, winner, nothing = -np.inf, -np.inf, 0, 0.0
        for k in range(intercept.shape[0]):
            score = scores[k, i] + intercept[k]
            nothing += 0.0 * score  # which is not a number for those that are not finite
            if score > best:
                best, second, winner = score, best, k
            elif score > second:
                second = score
        votes[i] = winner
        n_near += not best - second > reach * (row_norms[i] + 1) + nothing
    return n_near
