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

from skliquid.pools.linear_reference import FARTHEST_BY_POLYNOMIAL, PI_IN_THREE, SINE
from skliquid.pools.vector_kernel import (
    WIDTH,
    FourType,
    add_and_look_ahead,
    add_and_look_ahead_in_order,
    add_to_averages,
    alike,
    are_above,
    as_single,
    dots,
    fetch,
    four,
    parts,
    scores_of_four,
    take,
    where_at_most,
)


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
_ONE_OVER_PI = 1 / math.pi
_PI_1, _PI_2, _PI_3 = PI_IN_THREE
_SINE = SINE
_FARTHEST = FARTHEST_BY_POLYNOMIAL
_ROUNDING = 2.0**-52
_SAFE_LENGTH = 1e18
"""Squares of this, and sums of many, are far from too large for single precision."""
SHORTEST = 1e-145
"""Added to every length: squares of less may be lost, and bounds would then rest on nothing."""
_LOWEST = -37.0
"""Of predictions below this, scikit-learn's log_loss sees the exponential alone."""
_MOST_FACTORS = 512
"""Factors between 1 and 2, whose product is far from too large."""
_N_LANES = 4
_FEWEST_SIDE_BY_SIDE = 3
_ROWS_AHEAD = 3
_NEAR_AT_HAND = 2**18
"""Numbers that stay in a processor's second cache, where asking ahead costs more than it saves."""


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
    shuffles: bool
    average_from: int
    max_iter: int
    tol: float
    n_iter_no_change: int


MACHINE = np.dtype(
    [
        ("alpha", np.float64),
        ("eta0", np.float64),
        ("seed", np.int64),
        ("problem", np.int64),
        ("weights", np.int64),
        ("first_row", np.int64),
        ("steps", np.float64),
        ("n_iter", np.int64),
        ("verdict", np.int64),
        ("intercept", np.float64),
        ("average_intercept", np.float64),
        ("shows_average", np.int64),
        ("average_a", np.float64),
        ("average_b", np.float64),
        ("scale", np.float64),
        ("new_intercept", np.float64),
    ]
)
"""A machine, but for its coefficients.

``problem`` and ``weights`` say which rows of the labels and of their importance are a machine's,
``first_row`` where in X its rows begin: machines may look at other features.

What follows ``shows_average`` is used when ``average_from`` is above zero. The caller then has to
add to the averages with the same BLAS as scikit-learn; ``average_a`` and ``average_b`` are the two
factors, ``scale`` that of the coefficients. ``count_steps`` does the rest.
"""


class Machines(NamedTuple):
    """All machines: a row each of coefficients and of their averages, and one of ``MACHINE``.

    One array of records instead of one array a field: each array that a compiled function is
    handed is counted in and out, which took as long as many rows.
    """

    coef: Any
    average: Any
    each: Any


# Rows, dense or sparse: numba chooses by type. ``W`` holds coefficients, a row a machine.


def _n_rows(X): ...
def _dot(W, m, X, row): ...
def _dot_in_any_order(W, m, X, row): ...
def _add(W, m, X, row, factor): ...
def _add_to_average(A, m, X, row, factor, pull): ...
def _rounded_like(W, value): ...
def _tiny(W): ...
def _is_single(W): ...
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
        total, data, indices = 0.0, X.data, X.indices
        for k in _places(X.indptr, row):
            total += W[m, np.uint32(indices[k])] * data[k]
        return total

    return sparse


@_compiled()
def _places(indptr, row):
    """Return where the numbers of a sparse row are; not below zero, which need not be looked at."""
    return range(np.uint64(indptr[row]), np.uint64(indptr[row + 1]))


@_compiled(fastmath={"reassoc", "nsz", "contract"})
def _inner(W, m, X, row):
    total = 0.0
    for j in range(X.shape[1]):
        total += W[m, j] * X[row, j]
    return total


@_compiled(fastmath={"reassoc", "nsz", "contract"})
def _squared_length(W, m):
    total = 0.0
    for j in range(W.shape[1]):
        total += np.float64(W[m, j]) * np.float64(W[m, j])
    return total


@overload(_dot_in_any_order)
def _(W, m, X, row):
    if isinstance(X, types.Array):
        return lambda W, m, X, row: _inner(W, m, X, row)
    return lambda W, m, X, row: _sparse_inner(W, m, X.data, X.indices, X.indptr, row)


@_compiled(fastmath={"reassoc", "nsz", "contract"})
def _sparse_inner(W, m, data, indices, indptr, row):
    total = 0.0
    for k in _places(indptr, row):
        total += W[m, np.uint32(indices[k])] * data[k]
    return total


@_compiled(fastmath={"reassoc"})
def _added(W, m, X, row, factor):
    squares = 0.0
    for j in range(X.shape[1]):
        W[m, j] += np.float64(X[row, j]) * factor
        squares += W[m, j] * W[m, j]  # in single precision this may become infinite, as theirs do
    return squares


@overload(_add)
def _(W, m, X, row, factor):
    if isinstance(X, types.Array):
        return lambda W, m, X, row, factor: _added(W, m, X, row, factor)

    def sparse(W, m, X, row, factor):
        squares, data, indices = 0.0, X.data, X.indices
        for k in _places(X.indptr, row):
            j = np.uint32(indices[k])
            W[m, j] += np.float64(data[k]) * factor
            squares += W[m, j] * W[m, j]  # at once: a feature may come twice in a row
        return squares

    return sparse


@overload(_add_to_average)
def _(A, m, X, row, factor, pull):
    if isinstance(X, types.Array):

        def dense(A, m, X, row, factor, pull):
            for j in range(X.shape[1]):
                A[m, j] += factor * X[row, j] * pull

        return dense

    def sparse(A, m, X, row, factor, pull):
        data, indices = X.data, X.indices
        for k in _places(X.indptr, row):
            A[m, np.uint32(indices[k])] += factor * data[k] * pull

    return sparse


@overload(_rounded_like)
def _(W, value):
    if W.dtype != types.float32:
        return lambda W, value: value
    if isinstance(value, FourType):
        return lambda W, value: as_single(value)
    return lambda W, value: np.float32(value)


@overload(_tiny)
def _(W):
    rounding = 2.0**-23 if W.dtype == types.float32 else 2.0**-52
    return lambda W: rounding


@overload(_is_single)
def _(W):
    is_single = W.dtype == types.float32
    return lambda W: is_single


@overload(_smallest_scale)
def _(W):
    smallest = 1e-6 if W.dtype == types.float32 else 1e-9
    return lambda W: smallest


@_compiled()
def _slack(W):
    """Return by what part of its length a sum in any order may differ from one in order."""
    return (W.shape[1] + 32) * _ROUNDING


@_compiled()
def _once_rounded(W, score, error):
    """Return how far a score is off once it is rounded, if it is off by ``error`` before."""
    if not _is_single(W):
        return error
    return error + (_rounded_like(W, score + error) - _rounded_like(W, score - error))


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
        power = _power(p)
        return ((1 - y) - y * power) / (1 + power) if p > _LOWEST else power - y
    z = p * y
    if kind == SQUARED_HINGE:
        return -2 * y * (1.0 - z) if 1.0 - z > 0 else 0.0
    if z >= 1.0:
        return 0.0
    return 2.0 * (1.0 - z) * -y if z >= -1.0 else -4.0 * y


@_compiled()
def _power(p):
    """Return the exponential that the gradient of log_loss is made of."""
    return math.exp(-p if p > _LOWEST else p)


@_compiled()
def _log_one_plus_exp(x):
    if x <= _LOWEST:
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
def shuffle(seed, order):
    """Shuffle ``order`` as scikit-learn does with ``seed``."""
    n_rows = order.shape[0]
    state = np.uint32(seed)
    for i in range(n_rows - 1):
        state = np.uint32(1) if state == 0 else state
        state ^= np.uint32(state << np.uint32(13))
        state ^= np.uint32(state >> np.uint32(17))
        state ^= np.uint32(state << np.uint32(5))
        j = i + np.int64((state & np.uint32(0x7FFFFFFF)) % np.uint32(n_rows - i))
        order[i], order[j] = order[j], order[i]


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


LANE = np.dtype(
    [
        ("machine", np.int64),
        ("verdict", np.int64),
        ("problem", np.int64),
        ("weights", np.int64),
        ("first_row", np.int64),
        ("epoch", np.int64),
        ("n_worse", np.int64),
        ("alpha", np.float64),
        ("eta0", np.float64),
        ("steps", np.float64),
        ("intercept", np.float64),
        ("average_intercept", np.float64),
        ("scale", np.float64),
        ("squared", np.float64),
        ("average_a", np.float64),
        ("average_b", np.float64),
        ("objective", np.float64),
        ("doubt", np.float64),
        ("blur", np.float64),
        ("reach", np.float64),
        ("best", np.float64),
        ("best_doubt", np.float64),
    ]
)
"""A machine in training: where it stands between two epochs.

``blur`` is what scikit-learn may have rounded off the square of coefficients that a machine comes
with, in single precision; ``reach``, as in ``Step``, is the farthest of the last epoch.
"""


@_compiled()
def n_side_by_side(machines, X, settings):
    """Return how many machines ``take_epochs`` runs at a time: four, or one."""
    converts = settings.average_from > 0 and _is_single(machines.coef)
    # to convert four averages takes longer than to wait for sums, unless these are in order
    is_quicker = not (converts and _has_threshold(settings))
    return _N_LANES if is_quicker and _fills_vectors(X) else 1


@_compiled()
def _has_threshold(settings):
    return settings.loss == HINGE or settings.loss == PERCEPTRON


@_compiled()
def take_epochs(machines, chosen, queue, X, labels, importance, row_norms, settings, orders):
    """Train the ``chosen`` machines on the rows, for as many epochs as scikit-learn would.

    Machines run four at a time where they can: while one waits for a sum, others go on. One that is
    done leaves its lane to the next. When no next is there, its rows weigh nothing from then on,
    and the last two run alone.

    ``queue`` holds how many of the ``chosen`` are taken care of. Threads that share it train what
    the others leave, so that none has much to do when the others are done.

    The last row of ``importance`` holds zeros. ``orders`` has a row for each machine, to be filled
    in when it begins with -1, or none at all: a machine shuffles as many rows in the same way again
    and again.
    """
    n_rows, n_lanes = labels.shape[1], n_side_by_side(machines, X, settings)
    start = take(queue, n_lanes)
    n_lanes = max(min(n_lanes, chosen.shape[0] - start), 0)
    W, A, each = machines.coef, machines.average, machines.each
    lanes, busy, n_busy = np.zeros(n_lanes, LANE), np.arange(n_lanes), n_lanes
    nothing = importance.shape[0] - 1
    base = np.empty((n_lanes, n_rows), dtype=np.int32)
    order = np.empty((n_lanes, n_rows), dtype=np.int32)
    eta, shrink = np.empty((n_rows, n_lanes)), np.empty((n_rows, n_lanes))
    scale = np.empty((n_rows + 1, n_lanes))
    planned = np.zeros(n_lanes, LANE)
    part = np.empty((n_rows + 1 if settings.average_from > 0 else 0, n_lanes))
    for k in range(n_lanes):
        m = chosen[start + k]
        _enter(lanes[k], m, each[m], W)
        _lay_out(base[k], order[k], each[m].seed, settings.shuffles, orders, m)
    while n_busy > 0:
        is_side_by_side = n_lanes == _N_LANES and n_busy >= _FEWEST_SIDE_BY_SIDE
        if (
            is_side_by_side
            and _plan(lanes, W, settings, eta, shrink, scale, planned)
            and _plan_averages(lanes, W, settings, scale, part)
        ):
            plan = Plan(order, eta, shrink, scale, part)
            _epoch_of_four(lanes, W, A, X, labels, importance, row_norms, settings, plan)
        else:
            for k in busy[:n_busy]:
                label, weight = labels[lanes[k].problem], importance[lanes[k].weights]
                _epoch(lanes[k], W, A, X, label, weight, row_norms, settings, order[k])
        for i in range(n_busy - 1, -1, -1):
            k = busy[i]
            if not _is_over(lanes[k], W, n_rows, settings):
                _compose(order[k], base[k])
                continue
            _leave(lanes[k], each[lanes[k].machine], W, settings)
            following = take(queue, 1)
            if following < chosen.shape[0]:
                m = chosen[following]
                _enter(lanes[k], m, each[m], W)
                _lay_out(base[k], order[k], each[m].seed, settings.shuffles, orders, m)
            else:
                lanes[k].weights = nothing
                n_busy -= 1
                busy[i] = busy[n_busy]


@_compiled()
def _lay_out(base, order, seed, shuffles, orders, m):
    """Fill in the order of a machine's rows in every epoch, and in the first."""
    n_rows, is_kept = base.shape[0], m < orders.shape[0]
    if is_kept and orders[m, 0] >= 0:
        for i in range(n_rows):
            base[i] = order[i] = orders[m, i]
        return
    for i in range(n_rows):
        base[i] = i
    if shuffles:
        shuffle(seed, base)
    for i in range(n_rows):
        order[i] = base[i]
        if is_kept:
            orders[m, i] = base[i]


@_compiled()
def _compose(order, base):
    """Shuffle once more, in the same way."""
    last = order.copy()
    for i in range(order.shape[0]):
        order[i] = last[base[i]]


@_compiled()
def _enter(lane, m, machine, W):
    """Let machine ``m`` take a lane."""
    lane.machine, lane.verdict = m, SETTLED
    lane.problem, lane.weights = machine.problem, machine.weights
    lane.first_row = machine.first_row
    lane.epoch, lane.n_worse = 0, 0
    lane.alpha, lane.eta0, lane.steps = machine.alpha, machine.eta0, machine.steps
    lane.intercept, lane.average_intercept = machine.intercept, machine.average_intercept
    lane.scale, lane.average_a, lane.average_b = 1.0, 0.0, 1.0
    lane.squared = _squared_length(W, m)
    lane.blur = W.shape[1] * _tiny(W) if lane.squared > 0 else 0.0
    lane.best, lane.best_doubt = np.inf, 0.0


@_compiled()
def _is_over(lane, W, n_rows, settings):
    """Return whether the machine in ``lane`` has taken its last epoch."""
    if lane.verdict == DOUBTFUL:
        return True
    lane.epoch += 1
    if not (math.isfinite(lane.intercept) and _all_finite(W, lane.machine)):
        lane.verdict = OVERFLOWN
        return True
    if _watches(settings):
        objective = lane.objective / n_rows
        blur = (4 + 2 * lane.epoch) * n_rows * _ROUNDING + lane.blur
        doubt = lane.doubt / n_rows + blur * abs(objective) + SHORTEST
        goal = lane.best - settings.tol
        # in single precision, a square that is too large would be infinite
        is_safe = lane.reach <= _slack(W) * _SAFE_LENGTH
        is_sure = is_safe or not (_is_single(W) and settings.penalty_counts)
        if not (is_sure and abs(objective - goal) > doubt + lane.best_doubt):  # or not a number
            lane.verdict = DOUBTFUL
            return True
        lane.n_worse = lane.n_worse + 1 if objective > goal else 0
        if objective < lane.best:
            lane.best, lane.best_doubt = objective, doubt
        if lane.n_worse >= settings.n_iter_no_change:
            return True
    return lane.epoch == settings.max_iter


@_compiled()
def _leave(lane, machine, W, settings):
    """Write what the machine in ``lane`` has learned."""
    machine.n_iter, machine.verdict = lane.epoch, lane.verdict
    if settings.average_from > 0:
        machine.average_a, machine.average_b = lane.average_a, lane.average_b
        machine.scale, machine.new_intercept = lane.scale, lane.intercept
        machine.average_intercept = lane.average_intercept
    else:
        _shrink(W, lane.machine, lane.scale)
        machine.intercept = lane.intercept


@_compiled()
def _watches(settings):
    return settings.tol > -np.inf and settings.max_iter > 1


@_compiled()
def _eta(settings, alpha, eta0, start, t):
    if settings.learning_rate == OPTIMAL:
        return 1.0 / (alpha * (start + t - 1))
    if settings.learning_rate == INVSCALING:
        return eta0 / math.pow(t, settings.power_t)
    return eta0


@_compiled()
def _start(alpha):
    return 1.0 / (math.sqrt(1.0 / math.sqrt(alpha)) * alpha) if alpha > 0 else 0.0


@_compiled()
def _epoch(lane, W, A, X, label, importance, row_norms, settings, order):
    """Take the machine in ``lane`` through the rows, whatever its loss."""
    m, kind = lane.machine, settings.loss
    n_rows, first, watches = order.shape[0], lane.first_row, _watches(settings)
    weighs = watches and settings.penalty_counts
    has_threshold = _has_threshold(settings)
    threshold = 1.0 if kind == HINGE else 0.0
    tiny, smallest_scale, slack = _tiny(W), _smallest_scale(W), _slack(W)

    alpha, eta0 = lane.alpha, lane.eta0
    start, t = _start(alpha), lane.steps + lane.epoch * n_rows
    intercept, scale, squared = lane.intercept, lane.scale, lane.squared
    average_a, average_b = lane.average_a, lane.average_b
    average_intercept = lane.average_intercept
    reach = slack * (math.sqrt(_squared_length(W, m)) + SHORTEST)
    objective, doubt, farthest = 0.0, 0.0, 0.0
    for i in range(n_rows):
        row = first + order[i]
        y, weight, norm = label[order[i]], importance[order[i]], row_norms[row]
        eta = _eta(settings, alpha, eta0, start, t)
        if has_threshold:
            score = _dot_in_any_order(W, m, X, row) * scale
            p = _rounded_like(W, score) + intercept
            rounding = 4 * _ROUNDING * (abs(p) + 2 * abs(intercept))
            near = _once_rounded(W, score, reach * norm * scale + rounding)
            if not abs(p * y - threshold) > near:
                p = _rounded_like(W, _dot(W, m, X, row) * scale) + intercept
            is_wrong = p * y <= threshold
            update = eta * y * weight if is_wrong else 0.0
            if watches and is_wrong:
                objective += threshold - p * y
            if watches:
                doubt += near
        else:
            p = _rounded_like(W, _dot(W, m, X, row) * scale) + intercept
            slope = _gradient(kind, y, p)
            update = -eta * min(max(slope, -_LARGEST_GRADIENT), _LARGEST_GRADIENT)
            update *= weight
            if watches:
                objective += _loss(kind, y, p)
        if weighs:
            objective += alpha * (0.5 * squared)
            doubt += alpha * squared * (slack + 8 * tiny)
        if settings.penalized:
            shrink = _rounded_like(W, max(0.0, 1.0 - eta * alpha))
            scale *= np.float64(shrink)
            squared *= shrink * shrink
            if scale < smallest_scale:
                if average_a != 0.0:
                    lane.verdict = DOUBTFUL
                    return
                _shrink(W, m, scale)
                farthest = max(farthest, reach)
                reach *= scale
                scale = 1.0
        if update != 0.0:
            factor = np.float64(_rounded_like(W, update) / _rounded_like(W, scale))
            # for sparse rows scikit-learn counts the features of the row alone
            squared = _add(W, m, X, row, factor) * (scale * scale)
            reach += slack * abs(factor) * norm
            intercept += update * settings.intercept_step
        if 0 < settings.average_from <= t:
            if update != 0.0:
                _add_to_average(A, m, X, row, average_a, -_rounded_like(W, update) / scale)
            n_averaged = t - settings.average_from + 1
            share = 1.0 / _rounded_like(W, n_averaged)
            if n_averaged > 1:
                average_b /= 1.0 - share
            average_a += share * average_b * scale
            average_intercept += (intercept - average_intercept) / n_averaged
        t += 1

    lane.intercept, lane.scale, lane.squared = intercept, scale, squared
    lane.average_a, lane.average_b = average_a, average_b
    lane.average_intercept = average_intercept
    lane.objective, lane.doubt, lane.reach = objective, doubt, max(farthest, reach)


@_compiled()
def count_steps(machines, chosen, n_machines, n_rows, average_from):
    """Count the steps just taken by the ``chosen``, and fold what was left open into averages.

    Once an average is shown, scikit-learn starts later calls from the intercept it had before;
    with several classes it writes the new one over the averaged. We do as it does.
    """
    W, A, each = machines.coef, machines.average, machines.each
    for first in range(0, chosen.shape[0], n_machines):
        mine = chosen[first : first + n_machines]
        n_iter = 0
        for m in mine:
            n_iter = max(n_iter, each[m].n_iter)
        for m in mine:
            each[m].steps += n_iter * n_rows
            if average_from > 0:
                _shrink(A, m, 1.0 / each[m].average_b)
                _shrink(W, m, each[m].scale)
                _show(each[m], W, average_from <= each[m].steps - 1, n_machines == 1)


@_compiled()
def _show(machine, W, shows, is_alone):
    """Write the intercepts, and whether it is the averages that the machine shows."""
    new = machine.new_intercept
    machine.average_intercept = np.float64(_rounded_like(W, machine.average_intercept))
    if is_alone:
        if not shows:
            machine.intercept = new
    elif machine.shows_average:
        machine.average_intercept = np.float64(_rounded_like(W, new))
    else:
        machine.intercept = np.float64(_rounded_like(W, new))
    machine.shows_average = shows


# Four machines side by side: every number below is one of each. No branch has to be guessed,
# since who is right adds zero.


class Step(NamedTuple):
    """Where machines stand within an epoch.

    The logarithm of ``product`` belongs to the objective, and is taken of many factors at once.
    ``reach`` times the length of a row bounds the error of a product in any order; ``squared`` is
    what coefficients weigh in the penalty, and ``stretch`` the sum of all that went into it.
    """

    intercept: Any
    objective: Any
    product: Any
    doubt: Any
    squared: Any
    stretch: Any
    reach: Any
    update: Any
    factor: Any


class Visit(NamedTuple):
    """What a step meets: rows, and a place in the schedule."""

    y: Any
    importance: Any
    row_norm: Any
    eta: Any
    scale: Any
    next_scale: Any
    shrink: Any


class Plan(NamedTuple):
    """What is known of an epoch before it begins, a column a machine.

    ``shrink`` is by what a step shrinks the square of coefficients that it does not change, and
    ``part`` what a row that pulls at them pulls at their average.
    """

    order: Any
    eta: Any
    shrink: Any
    scale: Any
    part: Any


class Rule(NamedTuple):
    """What all steps have in common."""

    threshold: Any
    penalty: Any
    intercept_step: float
    slack: float
    tiny: float


def _epoch_of_four(lanes, W, A, X, labels, weights, row_norms, settings, plan): ...
def _fills_vectors(X): ...


@overload(_fills_vectors)
def _(X):
    if isinstance(X, types.Array):
        return lambda X: X.shape[1] % WIDTH == 0
    return lambda X: False


@overload(_epoch_of_four)
def _(lanes, W, A, X, labels, weights, row_norms, settings, plan):
    if isinstance(X, types.Array):
        return _dense_epoch_of_four.py_func

    def never(lanes, W, A, X, labels, weights, row_norms, settings, plan):
        return

    return never


@_compiled()
def _dense_epoch_of_four(lanes, W, A, X, labels, weights, row_norms, settings, plan):
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    each = (a.machine, b.machine, c.machine, d.machine)
    order, eta, shrink, scale, part = plan.order, plan.eta, plan.shrink, plan.scale, plan.part
    averages, n_averaged = settings.average_from > 0, _n_averaged(lanes, settings, eta.shape[0])
    mean = four(a.average_intercept, b.average_intercept, c.average_intercept, d.average_intercept)
    ya, yb, yc, yd = labels[a.problem], labels[b.problem], labels[c.problem], labels[d.problem]
    ia, ib, ic, id_ = weights[a.weights], weights[b.weights], weights[c.weights], weights[d.weights]
    first = (a.first_row, b.first_row, c.first_row, d.first_row)
    rule = _rule(lanes, W, settings)
    step, has_threshold = _first(lanes, W, rule), _has_threshold(settings)
    last, is_far = order.shape[1] - 1, X.size > _NEAR_AT_HAND
    p, q, r, s = order[0, 0], order[1, 0], order[2, 0], order[3, 0]
    rows = (first[0] + p, first[1] + q, first[2] + r, first[3] + s)
    dot = dots(W, each, X, rows) if has_threshold else _dots_in_order(W, each, X, rows)
    for i in range(last + 1):
        visit = Visit(
            four(ya[p], yb[q], yc[r], yd[s]),
            four(ia[p], ib[q], ic[r], id_[s]),
            four(row_norms[rows[0]], row_norms[rows[1]], row_norms[rows[2]], row_norms[rows[3]]),
            four(eta[i, 0], eta[i, 1], eta[i, 2], eta[i, 3]),
            four(scale[i, 0], scale[i, 1], scale[i, 2], scale[i, 3]),
            four(scale[i + 1, 0], scale[i + 1, 1], scale[i + 1, 2], scale[i + 1, 3]),
            four(shrink[i, 0], shrink[i, 1], shrink[i, 2], shrink[i, 3]),
        )
        if has_threshold:
            if not _are_clear(step, dot, visit, rule, W):
                dot = _dots_in_order(W, each, X, rows)
            step = _next(step, dot, visit, rule, W)
        else:
            step = _next_of_smooth(step, dot, visit, rule, W, settings)
        if averages:
            pull = (0.0 - _rounded_like(W, step.update)) / visit.next_scale
            so_far = four(part[i, 0], part[i, 1], part[i, 2], part[i, 3])
            add_to_averages(A, each, X, rows, so_far, pull)
            mean += (step.intercept - mean) / n_averaged
            n_averaged += 1.0
        n, soon, trained_on = min(i + 1, last), min(i + _ROWS_AHEAD, last), rows
        if is_far:
            fetch(
                X,
                (
                    first[0] + order[0, soon],
                    first[1] + order[1, soon],
                    first[2] + order[2, soon],
                    first[3] + order[3, soon],
                ),
            )
        p, q, r, s = order[0, n], order[1, n], order[2, n], order[3, n]
        rows = (first[0] + p, first[1] + q, first[2] + r, first[3] + s)
        if has_threshold:
            following, squares = add_and_look_ahead(W, each, X, trained_on, step.factor, rows)
        else:
            following, squares = add_and_look_ahead_in_order(
                W, each, X, trained_on, step.factor, rows
            )
        step, dot = _weighed(step, dot, squares, visit, W), following
        if i % _MOST_FACTORS == _MOST_FACTORS - 1:
            step = _folded(step)
    _last(lanes, step, mean, scale, rule, W)


@_compiled()
def _dots_in_order(W, machines, X, rows):
    return four(
        _dot(W, machines[0], X, rows[0]),
        _dot(W, machines[1], X, rows[1]),
        _dot(W, machines[2], X, rows[2]),
        _dot(W, machines[3], X, rows[3]),
    )


@_compiled()
def _are_planned(lanes, planned, n_rows):
    """Return whether the last plan is theirs too, as of those who begin together."""
    are_alike = True
    for k in range(_N_LANES):
        a, b = lanes[k], planned[k]
        are_alike &= a.alpha == b.alpha and a.eta0 == b.eta0 and a.scale == b.scale
        are_alike &= a.steps + a.epoch * n_rows == b.steps + b.epoch * n_rows
    return are_alike


@_compiled()
def _plan(lanes, W, settings, eta, shrink, scale, planned):
    """Fill in step sizes and scales of the next epoch; return whether no scale is too small."""
    n_rows, smallest = eta.shape[0], _smallest_scale(W)
    if _are_planned(lanes, planned, n_rows):
        return scale[n_rows].min() > smallest
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    zero, by = alike(0.0), alike(1.0)
    alpha, eta0 = four(a.alpha, b.alpha, c.alpha, d.alpha), four(a.eta0, b.eta0, c.eta0, d.eta0)
    start = four(_start(a.alpha), _start(b.alpha), _start(c.alpha), _start(d.alpha))
    t = four(a.steps, b.steps, c.steps, d.steps)
    t += four(a.epoch * n_rows, b.epoch * n_rows, c.epoch * n_rows, d.epoch * n_rows)
    now = four(a.scale, b.scale, c.scale, d.scale)
    scale[0, 0], scale[0, 1], scale[0, 2], scale[0, 3] = parts(now)
    for i in range(n_rows):
        step_size = eta0
        if settings.learning_rate == OPTIMAL:
            step_size = 1.0 / (alpha * (start + t - 1.0))
        elif settings.learning_rate == INVSCALING:
            ta, tb, tc, td = parts(t)
            power = settings.power_t
            step_size = eta0 / four(
                math.pow(ta, power), math.pow(tb, power), math.pow(tc, power), math.pow(td, power)
            )
        if settings.penalized:
            by = 1.0 - step_size * alpha
            by = _rounded_like(W, where_at_most(by, zero, zero, by))
            now *= by
        t += 1.0
        eta[i, 0], eta[i, 1], eta[i, 2], eta[i, 3] = parts(step_size)
        shrink[i, 0], shrink[i, 1], shrink[i, 2], shrink[i, 3] = parts(_rounded_like(W, by * by))
        scale[i + 1, 0], scale[i + 1, 1], scale[i + 1, 2], scale[i + 1, 3] = parts(now)
    for k in range(_N_LANES):
        planned[k].alpha, planned[k].eta0 = lanes[k].alpha, lanes[k].eta0
        planned[k].steps, planned[k].epoch = lanes[k].steps, lanes[k].epoch
        planned[k].scale = lanes[k].scale
    return are_above(now, zero + smallest)


@_compiled()
def _plan_averages(lanes, W, settings, scale, part):
    """Fill in what part of an average each step is; return whether all machines average.

    The lanes are then told where these parts end: they depend on nothing but the schedule.
    """
    if settings.average_from == 0:
        return True
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    n_rows, two = part.shape[0] - 1, alike(2.0)
    n_averaged = _n_averaged(lanes, settings, n_rows)
    if not are_above(n_averaged, alike(0.0)):
        return False
    total = four(a.average_a, b.average_a, c.average_a, d.average_a)
    unit = four(a.average_b, b.average_b, c.average_b, d.average_b)
    part[0, 0], part[0, 1], part[0, 2], part[0, 3] = parts(total)
    for i in range(n_rows):
        share = 1.0 / _rounded_like(W, n_averaged)
        grown = unit / (1.0 - share)  # which is infinite for the first, and not used
        unit = where_at_most(two, n_averaged, grown, unit)
        now = four(scale[i + 1, 0], scale[i + 1, 1], scale[i + 1, 2], scale[i + 1, 3])
        total += share * unit * now
        n_averaged += 1.0
        part[i + 1, 0], part[i + 1, 1], part[i + 1, 2], part[i + 1, 3] = parts(total)
    a.average_a, b.average_a, c.average_a, d.average_a = parts(total)
    a.average_b, b.average_b, c.average_b, d.average_b = parts(unit)
    return True


@_compiled()
def _n_averaged(lanes, settings, n_rows):
    """Return how many steps will have gone into each average after the next."""
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    t = four(a.steps, b.steps, c.steps, d.steps)
    t += four(a.epoch * n_rows, b.epoch * n_rows, c.epoch * n_rows, d.epoch * n_rows)
    return t - settings.average_from + 1.0


@_compiled()
def _rule(lanes, W, settings):
    threshold = 1.0 if settings.loss == HINGE else 0.0
    half = 0.5 if _watches(settings) and settings.penalty_counts else 0.0
    return Rule(
        alike(threshold),
        four(lanes[0].alpha, lanes[1].alpha, lanes[2].alpha, lanes[3].alpha) * half,
        settings.intercept_step,
        _slack(W),
        _tiny(W),
    )


@_compiled()
def _first(lanes, W, rule):
    """Return where machines stand when an epoch begins."""
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    sa, sb = _squared_length(W, a.machine), _squared_length(W, b.machine)
    sc, sd = _squared_length(W, c.machine), _squared_length(W, d.machine)
    length = four(math.sqrt(sa), math.sqrt(sb), math.sqrt(sc), math.sqrt(sd))
    intercept = four(a.intercept, b.intercept, c.intercept, d.intercept)
    zero, squared = alike(0.0), four(a.squared, b.squared, c.squared, d.squared)
    reach = (length + SHORTEST) * rule.slack
    return Step(intercept, zero, alike(1.0), zero, squared, squared, reach, zero, zero)


@_compiled()
def _near(step, dot, visit, W):
    """Return how far predictions may be from their values."""
    score = dot * visit.scale
    rounding = (abs(score) + 2.0 * abs(step.intercept)) * (4 * _ROUNDING)
    return _once_rounded(W, score, step.reach * visit.row_norm * visit.scale + rounding)


@_compiled()
def _are_clear(step, dot, visit, rule, W):
    """Return whether no prediction might be on the other side of the threshold."""
    margin = (_rounded_like(W, dot * visit.scale) + step.intercept) * visit.y
    return are_above(abs(margin - rule.threshold), _near(step, dot, visit, W))


@_compiled()
def _next(step, dot, visit, rule, W):
    """Return where machines stand after one more row each, their coefficients excepted."""
    margin = (_rounded_like(W, dot * visit.scale) + step.intercept) * visit.y
    zero = alike(0.0)
    loss = where_at_most(margin, rule.threshold, rule.threshold - margin, zero)
    full_step = visit.eta * visit.y * visit.importance
    full_factor = _rounded_like(W, _rounded_like(W, full_step) / _rounded_like(W, visit.next_scale))
    update = where_at_most(margin, rule.threshold, full_step, zero)
    factor = where_at_most(margin, rule.threshold, full_factor, zero)
    return Step(
        step.intercept + update * rule.intercept_step,
        step.objective + (loss + rule.penalty * step.squared),
        step.product,
        step.doubt + _near(step, dot, visit, W),
        step.squared,
        step.stretch,
        step.reach + abs(factor) * visit.row_norm * rule.slack,
        update,
        factor,
    )


@_compiled()
def _next_of_smooth(step, dot, visit, rule, W, settings):
    """Do as ``_next``, for losses without a threshold."""
    p = _rounded_like(W, dot * visit.scale) + step.intercept
    slope, loss, factor_of_product = _slope_and_loss(settings.loss, visit.y, p)
    most, least = alike(_LARGEST_GRADIENT), alike(-_LARGEST_GRADIENT)
    slope = where_at_most(most, slope, most, where_at_most(slope, least, least, slope))
    update = (0.0 - visit.eta * slope) * visit.importance
    factor = _rounded_like(W, _rounded_like(W, update) / _rounded_like(W, visit.next_scale))
    return Step(
        step.intercept + update * rule.intercept_step,
        step.objective + (loss + rule.penalty * step.squared),
        step.product * factor_of_product,
        step.doubt + (1.0 + abs(p)) * (8 * _ROUNDING),
        step.squared,
        step.stretch,
        step.reach + abs(factor) * visit.row_norm * rule.slack,
        update,
        factor,
    )


@_compiled()
def _slope_and_loss(kind, y, p):
    """Return ``_gradient`` for four, and ``_loss`` as a number and the exponential of another.

    What is not a number takes the same side as there.
    """
    zero, one = alike(0.0), alike(1.0)
    if kind == LOG_LOSS:
        a, b, c, d = parts(p)
        power = four(_power(a), _power(b), _power(c), _power(d))
        slope = ((1.0 - y) - y * power) / (1.0 + power)
        slope = where_at_most(p, alike(_LOWEST), power - y, slope)
        below_one = where_at_most(power, one, power, 1.0 / power)
        return slope, where_at_most(p, zero, zero, p) - y * p, 1.0 + below_one
    z = p * y
    gap, above_zero, far = 1.0 - z, alike(5e-324), alike(-1.0)
    slope, loss = -2.0 * y * gap, gap * gap
    if kind == SQUARED_HINGE:
        loss = where_at_most(above_zero, gap, loss, zero)
        return where_at_most(above_zero, gap, slope, zero), loss, one
    slope = where_at_most(far, z, slope, -4.0 * y)
    loss = where_at_most(far, z, loss, -4.0 * z)
    return where_at_most(one, z, zero, slope), where_at_most(one, z, zero, loss), one


@_compiled()
def _folded(step):
    """Return the same with the logarithm of the product in the objective."""
    a, b, c, d = parts(step.product)
    logarithm = four(math.log(a), math.log(b), math.log(c), math.log(d))
    return Step(
        step.intercept,
        step.objective + logarithm,
        alike(1.0),
        step.doubt,
        step.squared,
        step.stretch,
        step.reach,
        step.update,
        step.factor,
    )


@_compiled()
def _weighed(step, dot, squares, visit, W):
    """Return where machines stand once it is known what their coefficients weigh.

    In double precision the square of a sum, of which all parts are known, will do. In single
    precision it would miss how sums were rounded, and squares have to be added up.
    """
    squared, stretch = step.squared * visit.shrink, step.stretch
    if _is_single(W):
        new = squares * (visit.next_scale * visit.next_scale)
        squared = where_at_most(abs(step.factor), alike(0.0), squared, new)
    else:
        pull = 2.0 * (dot * visit.next_scale) * step.update
        push = (step.update * visit.row_norm) * (step.update * visit.row_norm)
        squared += pull + push
        stretch += abs(pull) + push + squared
    return Step(
        step.intercept,
        step.objective,
        step.product,
        step.doubt,
        squared,
        stretch,
        step.reach,
        step.update,
        step.factor,
    )


@_compiled()
def _last(lanes, step, mean, scale, rule, W):
    """Write where machines stand when an epoch ends."""
    n_rows, step = scale.shape[0] - 1, _folded(step)
    intercept, mean, squared = parts(step.intercept), parts(mean), parts(step.squared)
    of_squared = step.stretch * (2 * n_rows * (rule.slack + 16 * _ROUNDING))
    doubt = step.doubt + rule.penalty * of_squared + step.objective * (rule.slack + 8 * rule.tiny)
    objective, doubt, reach = parts(step.objective), parts(doubt), parts(step.reach)
    for k in range(_N_LANES):
        lane = lanes[k]
        lane.reach = reach[k]
        lane.intercept, lane.scale, lane.average_intercept = intercept[k], scale[n_rows, k], mean[k]
        lane.objective, lane.doubt, lane.squared = objective[k], doubt[k], squared[k]
        if not _is_single(W):
            lane.squared = _squared_length(W, lane.machine) * (lane.scale * lane.scale)


@_compiled()
def _shrink(W, m, scale):
    for j in range(W.shape[1]):
        W[m, j] *= _rounded_like(W, scale)


@_compiled(fastmath={"reassoc", "nsz"})
def _all_finite(W, m):
    total = 0.0
    for j in range(W.shape[1]):
        total += 0.0 * W[m, j]  # which is not a number for those that are not finite
    return total == 0.0


# Voting


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
                scores[row] = _inner(W, m, X, row)

        return dense
    return lambda W, m, X, start, scores: _sparse_scores(W[m], X.data, X.indices, X.indptr, scores)


@_compiled(fastmath={"reassoc", "nsz", "contract"})
def _sparse_scores(w, data, indices, indptr, scores):
    for row in range(scores.shape[0]):
        total = 0.0
        for k in _places(indptr, row):
            total += w[np.uint32(indices[k])] * data[k]
        scores[row] = total


@_compiled()
def scores_of(coef, machines, X, scores):
    """Fill in the product of coefficients and rows, for few rows or sparse ones."""
    n_rows = scores.shape[1]
    n_by_four = n_rows // 4 * 4 if _fills_vectors(X) else 0
    for k in range(machines.shape[0]):
        for row in range(0, n_by_four, 4):
            scores[k, row], scores[k, row + 1], scores[k, row + 2], scores[k, row + 3] = (
                _scores_of_four(coef, machines[k], X, row)
            )
        _fill_scores(coef, machines[k], X, n_by_four, scores[k])


@_compiled()
def fill_votes(coef, intercept, machines, n_machines, n_terms, X, row_norms, votes, doubtful):
    """Fill in votes on few rows, or sparse ones; mark voters in doubt."""
    scores = np.empty((machines.shape[0], row_norms.shape[0]), dtype=coef.dtype)
    scores_of(coef, machines, X, scores)
    judge(scores, 0, coef, intercept, machines, n_machines, n_terms, row_norms, votes, doubtful)


@_compiled()
def judge(
    scores, start, coef, intercept, machines, n_machines, n_terms, row_norms, votes, doubtful
):
    """Fill in votes from the scores of the rows from ``start`` on; mark voters in doubt.

    A voter is in doubt when the order of a sum, of up to ``n_terms``, might have swayed its vote on
    a row.
    """
    slack = 2 * (n_terms + 16) * _tiny(coef)
    for v in range(votes.shape[0]):
        mine, reach = machines[v * n_machines : (v + 1) * n_machines], 0.0
        for m in mine:
            length = math.sqrt(_squared_length(coef, m)) + abs(intercept[m])
            reach = max(reach, slack * (length + SHORTEST))
        some, to_fill, norms = scores[v * n_machines :], votes[v, start:], row_norms[start:]
        if n_machines == 1:
            n_near = _judge_of_two(some[0], intercept[mine[0]], reach, norms, to_fill)
        else:
            n_near = _judge_of_many(some, intercept[mine], reach, norms, to_fill)
        doubtful[v] |= n_near > 0


@_compiled()
def _judge_of_two(scores, intercept, reach, row_norms, votes):
    """Fill in whether the second class wins; return how often it is near."""
    n_near = 0
    for i in range(scores.shape[0]):
        score = scores[i] + intercept
        votes[i] = score > 0
        n_near += not abs(score) > reach * (row_norms[i] + 1)
    return n_near


@_compiled()
def _judge_of_many(scores, intercept, reach, row_norms, votes):
    """Fill in the class that wins; return how often the second is near."""
    n_near = 0
    for i in range(scores.shape[1]):
        best, second, winner = -np.inf, -np.inf, 0
        for k in range(intercept.shape[0]):
            score = scores[k, i] + intercept[k]
            if score > best:
                best, second, winner = score, best, k
            elif score > second:
                second = score
        votes[i] = winner
        n_near += not best - second > reach * (row_norms[i] + 1)
    return n_near


@_compiled()
def turn_into_cosines(values, factor):
    """Turn each number into ``factor`` times its cosine.

    ``cosine`` in ``linear_reference`` is the same for one number, readable.
    """
    n_far = 0
    for i in range(values.shape[0]):
        n_far += not abs(values[i]) <= _FARTHEST
    if n_far == 0:  # the loop without a choice in it takes several at a time
        for i in range(values.shape[0]):
            values[i] = factor * _cosine(values[i])
    else:
        for i in range(values.shape[0]):
            is_near = abs(values[i]) <= _FARTHEST
            values[i] = factor * (_cosine(values[i]) if is_near else math.cos(values[i]))


@_compiled()
def _cosine(x):
    half = 0.5 * x
    turns = math.floor(half * _ONE_OVER_PI + 0.5)
    half = ((half - turns * _PI_1) - turns * _PI_2) - turns * _PI_3
    square = half * half
    tail = 0.0
    for factor in _SINE:
        tail = tail * square + factor
    sine = half + half * (square * tail)
    return 1.0 - 2.0 * (sine * sine)
