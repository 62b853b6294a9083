"""Machines in training, alone or four at a time, with scikit-learn's orders and stopping rule."""

import math
from typing import Any, NamedTuple

import numpy as np

from skliquid.pools.linear_kernel.compiling import compiled
from skliquid.pools.linear_kernel.rows import (
    ROUNDING,
    SHORTEST,
    add_row,
    add_row_to_average,
    all_finite,
    dot_in_any_order,
    dot_in_order,
    fills_vectors,
    is_single,
    once_rounded,
    rounded_like,
    rounding_of,
    shrink_row,
    slack_of,
    smallest_scale_of,
    squared_length,
)
from skliquid.pools.linear_kernel.side_by_side import (
    N_LANES,
    Plan,
    epoch_of_four,
    plan_averages,
    plan_steps,
)
from skliquid.pools.linear_kernel.steps import (
    HINGE,
    LARGEST_GRADIENT,
    has_a_threshold,
    loss_of,
    slope_of,
    start_of,
    step_size,
    watches_objective,
)
from skliquid.pools.linear_kernel.vectors import take

SETTLED, DOUBTFUL, OVERFLOWN = range(3)

_SAFE_LENGTH = 1e18
"""Squares of this, and sums of many, are far from too large for single precision."""
_FEWEST_SIDE_BY_SIDE = 3


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


# Orders


@compiled()
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


@compiled()
def legacy_draws(seeds, n_draws):
    """Return the first draws of ``RandomState(seed).randint(2**31 - 1)`` for each seed.

    This is the start of a Mersenne twister: the first 227 numbers do not depend on those before. A
    draw that numpy would reject, one in a thousand million, is returned as -1.
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
        ("is_idle", np.int64),
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


@compiled()
def n_side_by_side(machines, X, settings):
    """Return how many machines ``take_epochs`` runs at a time: four, or one."""
    converts = settings.average_from > 0 and is_single(machines.coef)
    # to convert four averages takes longer than to wait for sums, unless these are in order
    is_quicker = not (converts and has_a_threshold(settings))
    return N_LANES if is_quicker and fills_vectors(X) else 1


@compiled()
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
        is_side_by_side = n_lanes == N_LANES and n_busy >= _FEWEST_SIDE_BY_SIDE
        if (
            is_side_by_side
            and plan_steps(lanes, W, settings, eta, shrink, scale, planned)
            and plan_averages(lanes, W, settings, scale, part)
        ):
            plan = Plan(order, eta, shrink, scale, part)
            epoch_of_four(lanes, W, A, X, labels, importance, row_norms, settings, plan)
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
                lanes[k].weights, lanes[k].is_idle = nothing, 1
                n_busy -= 1
                busy[i] = busy[n_busy]


@compiled()
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


@compiled()
def _compose(order, base):
    """Shuffle once more, in the same way."""
    last = order.copy()
    for i in range(order.shape[0]):
        order[i] = last[base[i]]


@compiled()
def _enter(lane, m, machine, W):
    """Let machine ``m`` take a lane."""
    lane.machine, lane.verdict = m, SETTLED
    lane.problem, lane.weights = machine.problem, machine.weights
    lane.first_row = machine.first_row
    lane.epoch, lane.n_worse, lane.is_idle = 0, 0, 0
    lane.alpha, lane.eta0, lane.steps = machine.alpha, machine.eta0, machine.steps
    lane.intercept, lane.average_intercept = machine.intercept, machine.average_intercept
    lane.scale, lane.average_a, lane.average_b = 1.0, 0.0, 1.0
    lane.squared = squared_length(W, m)
    lane.blur = W.shape[1] * rounding_of(W) if lane.squared > 0 else 0.0
    lane.best, lane.best_doubt = np.inf, 0.0


@compiled()
def _is_over(lane, W, n_rows, settings):
    """Return whether the machine in ``lane`` has taken its last epoch."""
    if lane.verdict == DOUBTFUL:
        return True
    lane.epoch += 1
    if not (math.isfinite(lane.intercept) and all_finite(W, lane.machine)):
        lane.verdict = OVERFLOWN
        return True
    if watches_objective(settings):
        objective = lane.objective / n_rows
        blur = (4 + 2 * lane.epoch) * n_rows * ROUNDING + lane.blur
        doubt = lane.doubt / n_rows + blur * abs(objective) + SHORTEST
        goal = lane.best - settings.tol
        # in single precision, a square that is too large would be infinite
        is_safe = lane.reach <= slack_of(W) * _SAFE_LENGTH
        is_sure = is_safe or not (is_single(W) and settings.penalty_counts)
        if not (is_sure and abs(objective - goal) > doubt + lane.best_doubt):  # or not a number
            lane.verdict = DOUBTFUL
            return True
        lane.n_worse = lane.n_worse + 1 if objective > goal else 0
        gap, together = objective - lane.best, doubt + lane.best_doubt
        if gap < -together:
            lane.best_doubt = doubt
        elif gap <= together:  # either may be scikit-learn's best
            lane.best_doubt = max(doubt, lane.best_doubt)
        lane.best = min(objective, lane.best)
        if lane.n_worse >= settings.n_iter_no_change:
            return True
    return lane.epoch == settings.max_iter


@compiled()
def _leave(lane, machine, W, settings):
    """Write what the machine in ``lane`` has learned."""
    machine.n_iter, machine.verdict = lane.epoch, lane.verdict
    if settings.average_from > 0:
        machine.average_a, machine.average_b = lane.average_a, lane.average_b
        machine.scale, machine.new_intercept = lane.scale, lane.intercept
        machine.average_intercept = lane.average_intercept
    else:
        shrink_row(W, lane.machine, lane.scale)
        machine.intercept = lane.intercept


@compiled()
def _epoch(lane, W, A, X, label, importance, row_norms, settings, order):
    """Take the machine in ``lane`` through the rows, whatever its loss."""
    m, kind = lane.machine, settings.loss
    n_rows, first, watches = order.shape[0], lane.first_row, watches_objective(settings)
    weighs = watches and settings.penalty_counts
    has_threshold = has_a_threshold(settings)
    threshold = 1.0 if kind == HINGE else 0.0
    tiny, smallest_scale, slack = rounding_of(W), smallest_scale_of(W), slack_of(W)

    alpha, eta0 = lane.alpha, lane.eta0
    start, t = start_of(alpha), lane.steps + lane.epoch * n_rows
    intercept, scale, squared = lane.intercept, lane.scale, lane.squared
    average_a, average_b = lane.average_a, lane.average_b
    average_intercept = lane.average_intercept
    reach = slack * (math.sqrt(squared_length(W, m)) + SHORTEST)
    objective, doubt, farthest = 0.0, 0.0, 0.0
    for i in range(n_rows):
        row = first + order[i]
        y, weight, norm = label[order[i]], importance[order[i]], row_norms[row]
        eta = step_size(settings, alpha, eta0, start, t)
        if has_threshold:
            score = dot_in_any_order(W, m, X, row) * scale
            p = rounded_like(W, score) + intercept
            rounding = 4 * ROUNDING * (abs(p) + 2 * abs(intercept))
            near = once_rounded(W, score, reach * norm * scale + rounding)
            if not abs(p * y - threshold) > near:
                p = rounded_like(W, dot_in_order(W, m, X, row) * scale) + intercept
            is_wrong = p * y <= threshold
            update = eta * y * weight if is_wrong else 0.0
            if watches and is_wrong:
                objective += threshold - p * y
            if watches:
                doubt += near
        else:
            p = rounded_like(W, dot_in_order(W, m, X, row) * scale) + intercept
            slope = slope_of(kind, y, p)
            update = -eta * min(max(slope, -LARGEST_GRADIENT), LARGEST_GRADIENT)
            update *= weight
            if watches:
                objective += loss_of(kind, y, p)
        if weighs:
            objective += alpha * (0.5 * squared)
            doubt += alpha * squared * (slack + 8 * tiny)
        if settings.penalized:
            shrink = rounded_like(W, max(0.0, 1.0 - eta * alpha))
            scale *= np.float64(shrink)
            squared *= shrink * shrink
            if scale < smallest_scale:
                if average_a != 0.0:
                    lane.verdict = DOUBTFUL
                    return
                shrink_row(W, m, scale)
                farthest = max(farthest, reach)
                reach *= scale
                scale = 1.0
        if update != 0.0:
            factor = np.float64(rounded_like(W, update) / rounded_like(W, scale))
            # for sparse rows scikit-learn counts the features of the row alone
            squared = add_row(W, m, X, row, factor) * (scale * scale)
            reach += slack * abs(factor) * norm
            intercept += update * settings.intercept_step
        if 0 < settings.average_from <= t:
            if update != 0.0:
                add_row_to_average(A, m, X, row, average_a, -rounded_like(W, update) / scale)
            n_averaged = t - settings.average_from + 1
            share = 1.0 / rounded_like(W, n_averaged)
            if n_averaged > 1:
                average_b /= 1.0 - share
            average_a += share * average_b * scale
            average_intercept += (intercept - average_intercept) / n_averaged
        t += 1

    lane.intercept, lane.scale, lane.squared = intercept, scale, squared
    lane.average_a, lane.average_b = average_a, average_b
    lane.average_intercept = average_intercept
    lane.objective, lane.doubt, lane.reach = objective, doubt, max(farthest, reach)


@compiled()
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
                shrink_row(A, m, 1.0 / each[m].average_b)
                shrink_row(W, m, each[m].scale)
                _show(each[m], W, average_from <= each[m].steps - 1, n_machines == 1)


@compiled()
def _show(machine, W, shows, is_alone):
    """Write the intercepts, and whether it is the averages that the machine shows."""
    new = machine.new_intercept
    machine.average_intercept = np.float64(rounded_like(W, machine.average_intercept))
    if is_alone:
        if not shows:
            machine.intercept = new
    elif machine.shows_average:
        machine.average_intercept = np.float64(rounded_like(W, new))
    else:
        machine.intercept = np.float64(rounded_like(W, new))
    machine.shows_average = shows
