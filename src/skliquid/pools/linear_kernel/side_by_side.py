"""Four machines side by side: every number is one of each.

No branch has to be guessed: who is right, or done, adds zero.
"""

import math
from typing import Any, NamedTuple

from numba import types
from numba.extending import overload

from skliquid.pools.linear_kernel.compiling import compiled
from skliquid.pools.linear_kernel.rows import (
    ROUNDING,
    SHORTEST,
    dot_in_order,
    is_single,
    once_rounded,
    rounded_like,
    rounding_of,
    slack_of,
    smallest_scale_of,
    squared_length,
)
from skliquid.pools.linear_kernel.steps import (
    HINGE,
    INVSCALING,
    LARGEST_GRADIENT,
    LOG_LOSS,
    LOWEST,
    OPTIMAL,
    SQUARED_HINGE,
    exponential,
    has_a_threshold,
    start_of,
    watches_objective,
)
from skliquid.pools.linear_kernel.vectors import (
    add_and_look_ahead,
    add_and_look_ahead_in_order,
    add_to_averages,
    alike,
    are_above,
    dots,
    fetch,
    four,
    parts,
    where_at_most,
)

_MOST_FACTORS = 512
"""Factors between 1 and 2, whose product is far from too large."""
N_LANES = 4
_ROWS_AHEAD = 3
_NEAR_AT_HAND = 2**18
"""Numbers that stay in a processor's second cache, where asking ahead costs more than it saves."""


class Step(NamedTuple):
    """Where machines stand within an epoch.

    The logarithm of ``product`` belongs to the objective, and is taken of many factors at once.
    ``reach`` times the length of a row bounds the error of a product in any order, and tells how
    long coefficients may be; ``squared`` is what they weigh in the penalty, and ``stretch`` the sum
    of all that went into it.
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
    is_idle: Any
    penalty: Any
    intercept_step: float
    slack: float
    tiny: float


def epoch_of_four(lanes, W, A, X, labels, weights, row_norms, settings, plan): ...


@overload(epoch_of_four)
def _(lanes, W, A, X, labels, weights, row_norms, settings, plan):
    if isinstance(X, types.Array):
        return _dense_epoch_of_four.py_func

    def never(lanes, W, A, X, labels, weights, row_norms, settings, plan):
        return

    return never


@compiled()
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
    step, has_threshold = _first(lanes, W, rule), has_a_threshold(settings)
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
            pull = (0.0 - rounded_like(W, step.update)) / visit.next_scale
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


@compiled()
def _dots_in_order(W, machines, X, rows):
    return four(
        dot_in_order(W, machines[0], X, rows[0]),
        dot_in_order(W, machines[1], X, rows[1]),
        dot_in_order(W, machines[2], X, rows[2]),
        dot_in_order(W, machines[3], X, rows[3]),
    )


@compiled()
def _are_planned(lanes, planned, n_rows):
    """Return whether the last plan is theirs too, as of those who begin together."""
    are_alike = True
    for k in range(N_LANES):
        a, b = lanes[k], planned[k]
        are_alike &= a.alpha == b.alpha and a.eta0 == b.eta0 and a.scale == b.scale
        are_alike &= a.steps + a.epoch * n_rows == b.steps + b.epoch * n_rows
    return are_alike


@compiled()
def plan_steps(lanes, W, settings, eta, shrink, scale, planned):
    """Fill in step sizes and scales of the next epoch; return whether no scale is too small."""
    n_rows, smallest = eta.shape[0], smallest_scale_of(W)
    if _are_planned(lanes, planned, n_rows):
        return scale[n_rows].min() > smallest
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    zero, by = alike(0.0), alike(1.0)
    alpha, eta0 = four(a.alpha, b.alpha, c.alpha, d.alpha), four(a.eta0, b.eta0, c.eta0, d.eta0)
    start = four(start_of(a.alpha), start_of(b.alpha), start_of(c.alpha), start_of(d.alpha))
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
            by = rounded_like(W, where_at_most(by, zero, zero, by))
            now *= by
        t += 1.0
        eta[i, 0], eta[i, 1], eta[i, 2], eta[i, 3] = parts(step_size)
        shrink[i, 0], shrink[i, 1], shrink[i, 2], shrink[i, 3] = parts(rounded_like(W, by * by))
        scale[i + 1, 0], scale[i + 1, 1], scale[i + 1, 2], scale[i + 1, 3] = parts(now)
    for k in range(N_LANES):
        planned[k].alpha, planned[k].eta0 = lanes[k].alpha, lanes[k].eta0
        planned[k].steps, planned[k].epoch = lanes[k].steps, lanes[k].epoch
        planned[k].scale = lanes[k].scale
    return are_above(now, zero + smallest)


@compiled()
def plan_averages(lanes, W, settings, scale, part):
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
        share = 1.0 / rounded_like(W, n_averaged)
        grown = unit / (1.0 - share)  # which is infinite for the first, and not used
        unit = where_at_most(two, n_averaged, grown, unit)
        now = four(scale[i + 1, 0], scale[i + 1, 1], scale[i + 1, 2], scale[i + 1, 3])
        total += share * unit * now
        n_averaged += 1.0
        part[i + 1, 0], part[i + 1, 1], part[i + 1, 2], part[i + 1, 3] = parts(total)
    a.average_a, b.average_a, c.average_a, d.average_a = parts(total)
    a.average_b, b.average_b, c.average_b, d.average_b = parts(unit)
    return True


@compiled()
def _n_averaged(lanes, settings, n_rows):
    """Return how many steps will have gone into each average after the next."""
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    t = four(a.steps, b.steps, c.steps, d.steps)
    t += four(a.epoch * n_rows, b.epoch * n_rows, c.epoch * n_rows, d.epoch * n_rows)
    return t - settings.average_from + 1.0


@compiled()
def _rule(lanes, W, settings):
    threshold = 1.0 if settings.loss == HINGE else 0.0
    half = 0.5 if watches_objective(settings) and settings.penalty_counts else 0.0
    return Rule(
        alike(threshold),
        four(lanes[0].is_idle, lanes[1].is_idle, lanes[2].is_idle, lanes[3].is_idle),
        four(lanes[0].alpha, lanes[1].alpha, lanes[2].alpha, lanes[3].alpha) * half,
        settings.intercept_step,
        slack_of(W),
        rounding_of(W),
    )


@compiled()
def _first(lanes, W, rule):
    """Return where machines stand when an epoch begins."""
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    sa, sb = squared_length(W, a.machine), squared_length(W, b.machine)
    sc, sd = squared_length(W, c.machine), squared_length(W, d.machine)
    length = four(math.sqrt(sa), math.sqrt(sb), math.sqrt(sc), math.sqrt(sd))
    intercept = four(a.intercept, b.intercept, c.intercept, d.intercept)
    zero, squared = alike(0.0), four(a.squared, b.squared, c.squared, d.squared)
    reach = (length + SHORTEST) * rule.slack
    return Step(intercept, zero, alike(1.0), zero, squared, squared, reach, zero, zero)


@compiled()
def _near(step, dot, visit, W):
    """Return how far predictions may be from their values."""
    score = dot * visit.scale
    rounding = (abs(score) + 2.0 * abs(step.intercept)) * (4 * ROUNDING)
    return once_rounded(W, score, step.reach * visit.row_norm * visit.scale + rounding)


@compiled()
def _are_clear(step, dot, visit, rule, W):
    """Return whether no prediction might be on the other side of the threshold."""
    margin = (rounded_like(W, dot * visit.scale) + step.intercept) * visit.y
    return are_above(abs(margin - rule.threshold), _near(step, dot, visit, W))


@compiled()
def _next(step, dot, visit, rule, W):
    """Return where machines stand after one more row each, their coefficients excepted."""
    margin = (rounded_like(W, dot * visit.scale) + step.intercept) * visit.y
    zero = alike(0.0)
    loss = where_at_most(margin, rule.threshold, rule.threshold - margin, zero)
    full_step = visit.eta * visit.y * visit.importance
    full_factor = rounded_like(W, rounded_like(W, full_step) / rounded_like(W, visit.next_scale))
    update = where_at_most(margin, rule.threshold, full_step, zero)
    factor = where_at_most(margin, rule.threshold, full_factor, zero)
    doubt = _near(step, dot, visit, W)
    return _moved(step, visit, rule, update, factor, loss, alike(1.0), doubt)


@compiled()
def _next_of_smooth(step, dot, visit, rule, W, settings):
    """Do as ``_next``, for losses without a threshold."""
    p = rounded_like(W, dot * visit.scale) + step.intercept
    slope, loss, factor_of_product = _slope_and_loss(settings.loss, visit.y, p)
    most, least = alike(LARGEST_GRADIENT), alike(-LARGEST_GRADIENT)
    slope = where_at_most(most, slope, most, where_at_most(slope, least, least, slope))
    update = (0.0 - visit.eta * slope) * visit.importance
    update = where_at_most(rule.is_idle, alike(0.0), update, alike(0.0))  # not a number, say
    factor = rounded_like(W, rounded_like(W, update) / rounded_like(W, visit.next_scale))
    doubt = (1.0 + abs(p)) * (8 * ROUNDING)
    return _moved(step, visit, rule, update, factor, loss, factor_of_product, doubt)


@compiled()
def _moved(step, visit, rule, update, factor, loss, factor_of_product, doubt):
    """Return where machines stand that are moved by ``update``."""
    return Step(
        step.intercept + update * rule.intercept_step,
        step.objective + (loss + rule.penalty * step.squared),
        step.product * factor_of_product,
        step.doubt + doubt,
        step.squared,
        step.stretch,
        step.reach + abs(factor) * visit.row_norm * rule.slack,
        update,
        factor,
    )


@compiled()
def _slope_and_loss(kind, y, p):
    """Return ``slope_of`` for four, and ``loss_of`` as a number and the exponential of another.

    What is not a number takes the same side as there.
    """
    zero, one = alike(0.0), alike(1.0)
    if kind == LOG_LOSS:
        a, b, c, d = parts(p)
        power = four(exponential(a), exponential(b), exponential(c), exponential(d))
        slope = ((1.0 - y) - y * power) / (1.0 + power)
        slope = where_at_most(p, alike(LOWEST), power - y, slope)
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


@compiled()
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


@compiled()
def _weighed(step, dot, squares, visit, W):
    """Return where machines stand once it is known what their coefficients weigh.

    In double precision the square of a sum, of which all parts are known, will do. In single
    precision it would miss how sums were rounded, and squares have to be added up.
    """
    squared, stretch = step.squared * visit.shrink, step.stretch
    if is_single(W):
        new = squares * (visit.next_scale * visit.next_scale)
        squared = where_at_most(abs(step.update), alike(0.0), squared, new)
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


@compiled()
def _last(lanes, step, mean, scale, rule, W):
    """Write where machines stand when an epoch ends."""
    n_rows, step = scale.shape[0] - 1, _folded(step)
    intercept, mean, squared = parts(step.intercept), parts(mean), parts(step.squared)
    of_squared = step.stretch * (2 * n_rows * (rule.slack + 16 * ROUNDING))
    doubt = step.doubt + rule.penalty * of_squared + step.objective * (rule.slack + 8 * rule.tiny)
    objective, doubt, reach = parts(step.objective), parts(doubt), parts(step.reach)
    for k in range(N_LANES):
        lane = lanes[k]
        lane.reach = reach[k]
        lane.intercept, lane.average_intercept = intercept[k], mean[k]
        lane.scale = 1.0 if lane.is_idle else scale[n_rows, k]
        lane.objective, lane.doubt, lane.squared = objective[k], doubt[k], squared[k]
        if not is_single(W):
            lane.squared = squared_length(W, lane.machine) * (lane.scale * lane.scale)
