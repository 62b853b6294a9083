"""What steps depend on, as in scikit-learn: settings, losses, and step sizes."""

import math
from typing import NamedTuple

import numpy as np

from skliquid.pools.linear_kernel.compiling import compiled

HINGE, PERCEPTRON, SQUARED_HINGE, MODIFIED_HUBER, LOG_LOSS = range(5)
CONSTANT, OPTIMAL, INVSCALING = range(3)

LARGEST_GRADIENT = 1e12
LOWEST = -37.0
"""Of predictions below this, scikit-learn's log_loss sees the exponential alone."""


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


@compiled()
def has_a_threshold(settings):
    return settings.loss == HINGE or settings.loss == PERCEPTRON


@compiled()
def watches_objective(settings):
    return settings.tol > -np.inf and settings.max_iter > 1


@compiled()
def step_size(settings, alpha, eta0, start, t):
    if settings.learning_rate == OPTIMAL:
        return 1.0 / (alpha * (start + t - 1))
    if settings.learning_rate == INVSCALING:
        return eta0 / math.pow(t, settings.power_t)
    return eta0


@compiled()
def start_of(alpha):
    return 1.0 / (math.sqrt(1.0 / math.sqrt(alpha)) * alpha) if alpha > 0 else 0.0


# Smooth losses of a prediction p for a label y: -1 and 1, or 0 and 1 for log_loss


@compiled()
def loss_of(kind, y, p):
    if kind == LOG_LOSS:
        return _log_one_plus_exp(p) - y * p
    z = p * y
    if kind == SQUARED_HINGE:
        return (1.0 - z) * (1.0 - z) if 1.0 - z > 0 else 0.0
    if z >= 1.0:
        return 0.0
    return (1.0 - z) * (1.0 - z) if z >= -1.0 else -4.0 * z


@compiled()
def slope_of(kind, y, p):
    if kind == LOG_LOSS:
        power = exponential(p)
        return ((1 - y) - y * power) / (1 + power) if p > LOWEST else power - y
    z = p * y
    if kind == SQUARED_HINGE:
        return -2 * y * (1.0 - z) if 1.0 - z > 0 else 0.0
    if z >= 1.0:
        return 0.0
    return 2.0 * (1.0 - z) * -y if z >= -1.0 else -4.0 * y


@compiled()
def exponential(p):
    """Return the exponential that the gradient of log_loss is made of."""
    return math.exp(-p if p > LOWEST else p)


@compiled()
def _log_one_plus_exp(x):
    if x <= LOWEST:
        return math.exp(x)
    if x <= -2:
        return math.log1p(math.exp(x))
    if x <= 18:
        return math.log(1.0 + math.exp(x))
    if x <= 33.3:
        return x + math.exp(-x)
    return x
