"""The inner loop of linear voters, compiled. The only importer of numba.

One *machine* is one linear separator: a voter has one, or one for each class when there are more
than two. ``linear_reference`` is the same loop, readable. Its steps are those of scikit-learn's
``SGDClassifier``, and so are its bits, by these rules:

- sums that weights depend on are taken in order; additions to weights are element by element;
- hinge and perceptron steps depend on a prediction only through a threshold, so a sum in any order
  will do unless it comes near, in which case it is taken again in order;
- the stopping rule depends on the objective only through a comparison, so sums in any order will do
  unless it comes near, in which case the verdict is ``DOUBTFUL`` and the caller asks scikit-learn.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload


def _compiled(fastmath=False):
    """Return a decorator that compiles a function, and keeps it on disk where it can."""

    def decorate(function):
        options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # there is no folder that may be written to
            return njit(**options)(function)

    return decorate


HINGE, PERCEPTRON, SQUARED_HINGE, MODIFIED_HUBER, LOG_LOSS = range(5)
CONSTANT, OPTIMAL, INVSCALING = range(3)
SETTLED, DOUBTFUL, OVERFLOWN = range(3)

_LARGEST_GRADIENT = 1e12
_ROUNDING = 2.0**-52


class SparseRows(NamedTuple):
    """Rows of a CSR matrix."""

    data: Any
    indices: Any
    indptr: Any


class Settings(NamedTuple):
    """What all machines of a call have in common."""

    loss: int
    learning_rate: int
    power_t: float
    penalized: bool
    penalty_counts: bool
    intercept_step: float
    average_from: int
    max_iter: int
    tol: float
    n_iter_no_change: int


class Machines(NamedTuple):
    """What differs from machine to machine, one entry each.

    ``average`` and ``average_intercept`` are used when ``average_from`` is above zero. The caller
    then has to finish them with the same BLAS as scikit-learn: ``ends`` has the two factors, the
    scale of the coefficients and the new intercept.
    """

    coef: Any
    intercept: Any
    average: Any
    average_intercept: Any
    ends: Any
    alpha: Any
    eta0: Any
    steps: Any
    problem: Any
    order: Any
    n_iter: Any
    verdict: Any


# Rows, dense or sparse: numba chooses by type. ``W`` holds coefficients, a row a machine.


def _n_rows(X): ...
def _dot(W, m, X, row): ...
def _dot_in_any_order(W, m, X, row): ...
def _add(W, m, X, row, factor): ...
def _add_to_average(A, m, X, row, factor, pull): ...
def _is_dense(X): ...
def _squares_of_row(W, m, X, row): ...
def _rounded_like(W, value): ...
def _tiny(W): ...
def _smallest_scale(W): ...


@overload(_n_rows)
def _(X):
    if isinstance(X, types.Array):
        return lambda X: X.shape[0]
    return lambda X: X.indptr.shape[0] - 1


@overload(_dot)
def _(W, m, X, row):
    if isinstance(X, types.Array):

        def dense(W, m, X, row):
            total = 0.0
            for j in range(X.shape[1]):
                total += W[m, j] * X[row, j]
            return total

        return dense

    def sparse(W, m, X, row):
        total = 0.0
        for k in range(X.indptr[row], X.indptr[row + 1]):
            total += W[m, X.indices[k]] * X.data[k]
        return total

    return sparse


@_compiled(fastmath={"reassoc", "nsz", "contract"})
def _inner(W, m, X, row):
    total = 0.0
    for j in range(X.shape[1]):
        total += W[m, j] * X[row, j]
    return total


@overload(_dot_in_any_order)
def _(W, m, X, row):
    if isinstance(X, types.Array):
        return lambda W, m, X, row: _inner(W, m, X, row)
    return lambda W, m, X, row: _dot(W, m, X, row)


@overload(_add)
def _(W, m, X, row, factor):
    if isinstance(X, types.Array):

        def dense(W, m, X, row, factor):
            for j in range(X.shape[1]):
                W[m, j] += np.float64(X[row, j]) * factor

        return dense

    def sparse(W, m, X, row, factor):
        for k in range(X.indptr[row], X.indptr[row + 1]):
            W[m, X.indices[k]] += np.float64(X.data[k]) * factor

    return sparse


@overload(_add_to_average)
def _(A, m, X, row, factor, pull):
    if isinstance(X, types.Array):

        def dense(A, m, X, row, factor, pull):
            for j in range(X.shape[1]):
                A[m, j] += factor * X[row, j] * pull

        return dense

    def sparse(A, m, X, row, factor, pull):
        for k in range(X.indptr[row], X.indptr[row + 1]):
            A[m, X.indices[k]] += factor * X.data[k] * pull

    return sparse


@overload(_is_dense)
def _(X):
    is_dense = isinstance(X, types.Array)
    return lambda X: is_dense


@overload(_squares_of_row)
def _(W, m, X, row):
    if isinstance(X, types.Array):
        return lambda W, m, X, row: 0.0

    def sparse(W, m, X, row):
        total = 0.0
        for k in range(X.indptr[row], X.indptr[row + 1]):
            total += W[m, X.indices[k]] * W[m, X.indices[k]]
        return total

    return sparse


@overload(_rounded_like)
def _(W, value):
    if W.dtype == types.float32:
        return lambda W, value: np.float32(value)
    return lambda W, value: value


@overload(_tiny)
def _(W):
    rounding = 2.0**-23 if W.dtype == types.float32 else 2.0**-52
    return lambda W: rounding


@overload(_smallest_scale)
def _(W):
    smallest = 1e-6 if W.dtype == types.float32 else 1e-9
    return lambda W: smallest


# Smooth losses of a prediction p for a label y: -1 and 1, or 0 and 1 for log_loss


@_compiled()
def _loss(kind, y, p):
    if kind == LOG_LOSS:
        return _log_one_plus_exp(p) - y * p
    z = p * y
    if kind == SQUARED_HINGE:
        return (1.0 - z) * (1.0 - z) if 1.0 - z > 0 else 0.0
    if z >= 1.0:
        return 0.0
    return (1.0 - z) * (1.0 - z) if z >= -1.0 else -4.0 * z


@_compiled()
def _gradient(kind, y, p):
    if kind == LOG_LOSS:
        if p > -37:
            small = math.exp(-p)
            return ((1 - y) - y * small) / (1 + small)
        return math.exp(p) - y
    z = p * y
    if kind == SQUARED_HINGE:
        return -2 * y * (1.0 - z) if 1.0 - z > 0 else 0.0
    if z >= 1.0:
        return 0.0
    return 2.0 * (1.0 - z) * -y if z >= -1.0 else -4.0 * y


@_compiled()
def _log_one_plus_exp(x):
    if x <= -37:
        return math.exp(x)
    if x <= -2:
        return math.log1p(math.exp(x))
    if x <= 18:
        return math.log(1.0 + math.exp(x))
    if x <= 33.3:
        return x + math.exp(-x)
    return x


# Orders


@_compiled()
def shuffled(seeds, n_rows):
    """Return, for each seed, the order in which scikit-learn's shuffle leaves ``n_rows`` rows."""
    orders = np.empty((seeds.shape[0], n_rows), dtype=np.int32)
    for k in range(seeds.shape[0]):
        order = orders[k]
        for i in range(n_rows):
            order[i] = i
        state = np.uint32(seeds[k])
        for i in range(n_rows - 1):
            state = np.uint32(1) if state == 0 else state
            state ^= np.uint32(state << np.uint32(13))
            state ^= np.uint32(state >> np.uint32(17))
            state ^= np.uint32(state << np.uint32(5))
            j = i + np.int64((state & np.uint32(0x7FFFFFFF)) % np.uint32(n_rows - i))
            order[i], order[j] = order[j], order[i]
    return orders


@_compiled()
def legacy_draws(seeds, n_draws):
    """Return the first draws of ``RandomState(seed).randint(2**31 - 1)`` for each seed.

    This is the start of a Mersenne twister; the few numbers wanted need not twist all of it. A draw
    that numpy would reject, one in a thousand million, is returned as -1.
    """
    draws = np.empty((seeds.shape[0], n_draws), dtype=np.int64)
    words = np.empty(398 + n_draws, dtype=np.uint32)
    for k in range(seeds.shape[0]):
        words[0] = np.uint32(seeds[k])
        for i in range(1, words.shape[0]):
            last = np.uint64(words[i - 1] ^ (words[i - 1] >> np.uint32(30)))
            words[i] = np.uint32((np.uint64(1812433253) * last + np.uint64(i)) & 0xFFFFFFFF)
        for i in range(n_draws):
            mixed = (words[i] & np.uint32(0x80000000)) | (words[i + 1] & np.uint32(0x7FFFFFFF))
            y = words[i + 397] ^ (mixed >> np.uint32(1))
            if mixed & np.uint32(1):
                y ^= np.uint32(0x9908B0DF)
            y ^= y >> np.uint32(11)
            y ^= (y << np.uint32(7)) & np.uint32(0x9D2C5680)
            y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
            y ^= y >> np.uint32(18)
            value = np.int64(y & np.uint32(0x7FFFFFFF))
            draws[k, i] = value if value < 2147483646 else -1
    return draws


# Training


@_compiled()
def take_epochs(machines, chosen, X, labels, importance, row_norms, settings):
    """Train the ``chosen`` machines on the rows, for as many epochs as scikit-learn would."""
    for k in range(chosen.shape[0]):
        problem = machines.problem[chosen[k]]
        label, weight = labels[problem], importance[problem]
        _train(machines, chosen[k], X, label, weight, row_norms, settings)


@_compiled()
def _train(machines, m, X, label, importance, row_norms, settings):
    W, A, n_rows, kind = machines.coef, machines.average, label.shape[0], settings.loss
    order = machines.order[m]
    watches = settings.tol > -np.inf and settings.max_iter > 1
    weighs = watches and settings.penalty_counts
    by_threshold = kind == HINGE or kind == PERCEPTRON
    threshold = 1.0 if kind == HINGE else 0.0
    tiny, smallest_scale, slack = _tiny(W), _smallest_scale(W), (W.shape[1] + 32) * _ROUNDING

    alpha, eta0, t = machines.alpha[m], machines.eta0[m], machines.steps[m]
    start = 1.0 / (math.sqrt(1.0 / math.sqrt(alpha)) * alpha) if alpha > 0 else 0.0
    intercept, scale, squared = machines.intercept[m], 1.0, _inner(W, m, W, m)
    average_intercept, average_a, average_b = machines.average_intercept[m], 0.0, 1.0
    best, best_doubt, n_worse = np.inf, 0.0, 0
    machines.verdict[m] = SETTLED
    for epoch in range(settings.max_iter):
        if epoch > 0:
            order = order[machines.order[m]]
        length = math.sqrt(_inner(W, m, W, m))
        reach, objective, doubt = slack * length, 0.0, 0.0
        if _is_dense(X):
            squared = (length * scale) ** 2
        squared_doubt = squared * (slack + 8 * tiny)
        for i in range(n_rows):
            row = order[i]
            y = label[row]
            eta = eta0
            if settings.learning_rate == OPTIMAL:
                eta = 1.0 / (alpha * (start + t - 1))
            elif settings.learning_rate == INVSCALING:
                eta = eta0 / math.pow(t, settings.power_t)
            if by_threshold:
                score = _rounded_like(W, _dot_in_any_order(W, m, X, row) * scale)
                p = score + intercept
                near = reach * row_norms[row] * scale + 4 * tiny * (abs(p) + abs(intercept))
                if not abs(p * y - threshold) > near:
                    score = _rounded_like(W, _dot(W, m, X, row) * scale)
                    p = score + intercept
                is_wrong = p * y <= threshold
                update = eta * y * importance[row] if is_wrong else 0.0
                if watches and is_wrong:
                    objective += threshold - p * y
                if watches:
                    doubt += near
            else:
                score = _rounded_like(W, _dot(W, m, X, row) * scale)
                p = score + intercept
                slope = _gradient(kind, y, p)
                update = -eta * min(max(slope, -_LARGEST_GRADIENT), _LARGEST_GRADIENT)
                update *= importance[row]
                if watches:
                    objective += _loss(kind, y, p)
            if weighs:
                objective += alpha * (0.5 * squared)
                doubt += alpha * squared_doubt
            if settings.penalized:
                shrink = _rounded_like(W, max(0.0, 1.0 - eta * alpha))
                scale *= np.float64(shrink)
                squared *= shrink * shrink
                squared_doubt += 8 * tiny * squared
                if scale < smallest_scale:
                    if average_a != 0.0:
                        machines.verdict[m] = DOUBTFUL
                        return
                    _shrink(W, m, scale)
                    reach *= scale
                    scale = 1.0
            if update != 0.0:
                factor = np.float64(_rounded_like(W, update) / _rounded_like(W, scale))
                _add(W, m, X, row, factor)
                if weighs and _is_dense(X):  # the square of a sum, of which all parts are known
                    pull, push = 2 * score * shrink * update, (update * row_norms[row]) ** 2
                    squared += pull + push
                    squared_doubt += (slack + 8 * tiny) * (abs(pull) + push + squared)
                elif weighs:  # of sparse rows scikit-learn counts the features of the row alone
                    squared = _squares_of_row(W, m, X, row) * (scale * scale)
                    squared_doubt = squared * (slack + 8 * tiny)
                reach += slack * abs(factor) * row_norms[row]
                intercept += update * settings.intercept_step
            if 0 < settings.average_from <= t:
                _add_to_average(A, m, X, row, average_a, -_rounded_like(W, update) / scale)
                n_averaged = t - settings.average_from + 1
                share = 1.0 / _rounded_like(W, n_averaged)
                if n_averaged > 1:
                    average_b /= 1.0 - share
                average_a += share * average_b * scale
                average_intercept += (intercept - average_intercept) / n_averaged
            t += 1

        machines.n_iter[m] = epoch + 1
        if not (math.isfinite(intercept) and _all_finite(W, m)):
            machines.verdict[m] = OVERFLOWN
            return
        if watches:
            objective /= n_rows
            doubt = doubt / n_rows + 4 * n_rows * _ROUNDING * abs(objective)
            if abs(objective - (best - settings.tol)) <= doubt + best_doubt:
                machines.verdict[m] = DOUBTFUL
                return
            n_worse = n_worse + 1 if objective > best - settings.tol else 0
            if objective < best:
                best, best_doubt = objective, doubt
            if n_worse >= settings.n_iter_no_change:
                break

    if settings.average_from > 0:
        ends = machines.ends[m]
        ends[0], ends[1], ends[2], ends[3] = average_a, average_b, scale, intercept
        machines.average_intercept[m] = average_intercept
    else:
        _shrink(W, m, scale)
        machines.intercept[m] = intercept


@_compiled()
def _shrink(W, m, scale):
    for j in range(W.shape[1]):
        W[m, j] *= _rounded_like(W, scale)


@_compiled()
def _all_finite(W, m):
    for j in range(W.shape[1]):
        if not math.isfinite(W[m, j]):
            return False
    return True


# Voting


@_compiled()
def scores_of(coef, machines, X, scores):
    """Fill in the product of coefficients and rows, for few rows or sparse ones."""
    for k in range(machines.shape[0]):
        for row in range(scores.shape[1]):
            scores[k, row] = _dot_in_any_order(coef, machines[k], X, row)


@_compiled()
def judge(scores, coef, intercept, machines, n_machines, row_norms, votes, doubtful):
    """Fill in votes from scores; mark voters that the order of a sum might have swayed."""
    slack = 2 * (coef.shape[1] + 16) * _tiny(coef)
    for v in range(votes.shape[0]):
        first, reach = v * n_machines, 0.0
        for k in range(first, first + n_machines):
            m = machines[k]
            length = math.sqrt(_inner(coef, m, coef, m)) + abs(intercept[m])
            reach = max(reach, slack * length)
        n_near = 0
        for row in range(votes.shape[1]):
            near = reach * (row_norms[row] + 1)
            if n_machines == 1:
                score = scores[first, row] + intercept[machines[first]]
                votes[v, row] = 1 if score > 0 else 0
                n_near += 0 if abs(score) > near else 1
            else:
                best, second, winner = -np.inf, -np.inf, 0
                for k in range(n_machines):
                    score = scores[first + k, row] + intercept[machines[first + k]]
                    if score > best:
                        best, second, winner = score, best, k
                    elif score > second:
                        second = score
                votes[v, row] = winner
                n_near += 0 if best - second > near else 1
        doubtful[v] = n_near > 0
