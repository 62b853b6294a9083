"""The readable twin of ``native/linear/epoch.hpp``: one linear separator, learned row by row.

It computes the numbers of scikit-learn's ``SGDClassifier`` in plain Python. It is part of the
package, unlike other readable twins, since the pool needs it: where rounding decides when a voter
stops, scikit-learn itself has the last word, but only under its own stopping rule. Under the rule
of another version, as in the reproduction of the paper, this loop takes its place.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

Row = Sequence[tuple[int, float]]  # its stored features, in order: index and value


class Separator(NamedTuple):
    """A linear separator, and the number of its epochs."""

    coef: list[float]
    intercept: float
    n_iter: int


def _hinge(y: float, p: float, threshold: float = 1.0) -> tuple[float, float]:
    return (threshold - p * y, -y) if p * y <= threshold else (0.0, 0.0)


def _perceptron(y: float, p: float) -> tuple[float, float]:
    return _hinge(y, p, threshold=0.0)


def _squared_hinge(y: float, p: float) -> tuple[float, float]:
    z = 1.0 - p * y
    return (z * z, -2 * y * z) if z > 0 else (0.0, 0.0)


def _modified_huber(y: float, p: float) -> tuple[float, float]:
    z = p * y
    if z >= 1.0:
        return 0.0, 0.0
    if z >= -1.0:
        return (1.0 - z) * (1.0 - z), 2.0 * (1.0 - z) * -y
    return -4.0 * z, -4.0 * y


def _log_loss(y: float, p: float) -> tuple[float, float]:  # labels are 0 and 1
    if p <= -37:
        softplus = math.exp(p)
    elif p <= -2:
        softplus = math.log1p(math.exp(p))
    elif p <= 18:
        softplus = math.log(1.0 + math.exp(p))
    else:
        softplus = p + math.exp(-p) if p <= 33.3 else p
    if p > -37:
        small = math.exp(-p)
        return softplus - y * p, ((1 - y) - y * small) / (1 + small)
    return softplus - y * p, math.exp(p) - y


LOSSES: dict[str, Callable[[float, float], tuple[float, float]]] = {  # loss and gradient
    "hinge": _hinge,
    "perceptron": _perceptron,
    "squared_hinge": _squared_hinge,
    "modified_huber": _modified_huber,
    "log_loss": _log_loss,
}


def shuffle(order: list[int], seed: int) -> list[int]:
    """Return ``order`` after a Fisher-Yates shuffle driven by a 32-bit xorshift."""
    order, state = order.copy(), seed
    for i in range(len(order) - 1):
        state = state or 1
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        j = i + (state & 0x7FFFFFFF) % (len(order) - i)
        order[i], order[j] = order[j], order[i]
    return order


def step_size(learning_rate: str, alpha: float, eta0: float, power_t: float, t: float) -> float:
    """Return the step size at step ``t``, counted from 1."""
    if learning_rate == "optimal":
        first = math.sqrt(1.0 / math.sqrt(alpha))
        return 1.0 / (alpha * (1.0 / (first * alpha) + t - 1))
    return eta0 / math.pow(t, power_t) if learning_rate == "invscaling" else eta0


def train(
    coef: Sequence[float],
    intercept: float,
    rows: Sequence[Row],
    labels: Sequence[float],
    importance: Sequence[float],
    *,
    seed: int,
    loss: str = "hinge",
    alpha: float = 1e-4,
    penalized: bool = True,
    learning_rate: str = "optimal",
    eta0: float = 0.01,
    power_t: float = 0.5,
    intercept_step: float = 1.0,
    t: float = 1.0,
    max_iter: int = 1,
    tol: float = -math.inf,
    n_iter_no_change: int = 5,
    penalty_counts: bool = True,
) -> Separator:
    """Return the separator after training it on ``rows``."""
    w, scale = list(coef), 1.0
    squared_norm = sum(value * value for value in w)
    order = list(range(len(rows)))
    best, n_worse, epoch = math.inf, 0, 0
    for epoch in range(1, max_iter + 1):
        order = shuffle(order, seed)
        objective = 0.0
        for row in order:
            total = 0.0
            for j, value in rows[row]:
                total += w[j] * value
            p = total * scale + intercept
            eta = step_size(learning_rate, alpha, eta0, power_t, t)
            cost, gradient = LOSSES[loss](labels[row], p)
            objective += cost
            if penalized and penalty_counts:
                objective += alpha * (0.5 * math.sqrt(squared_norm) ** 2)
            update = -eta * min(max(gradient, -1e12), 1e12) * importance[row]
            if penalized:
                shrink = max(0.0, 1.0 - eta * alpha)
                scale *= shrink
                squared_norm *= shrink * shrink
                if scale < 1e-9:
                    w, scale = [value * scale for value in w], 1.0
            if update != 0.0:
                squared_norm = 0.0
                for j, value in rows[row]:
                    w[j] += value * (update / scale)
                    squared_norm += w[j] * w[j]
                squared_norm *= scale * scale
                intercept += update * intercept_step
            t += 1
        n_worse = n_worse + 1 if objective / len(rows) > best - tol else 0
        best = min(best, objective / len(rows))
        if tol > -math.inf and n_worse >= n_iter_no_change:
            break
    return Separator([value * scale for value in w], intercept, epoch)
