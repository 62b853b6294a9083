"""Cosines of many numbers, for random Fourier features."""

import math

from skliquid.pools.linear_kernel.compiling import compiled
from skliquid.pools.linear_reference import FARTHEST_BY_POLYNOMIAL, PI_IN_THREE, SINE

_ONE_OVER_PI = 1 / math.pi
_PI_1, _PI_2, _PI_3 = PI_IN_THREE
_SINE = SINE
_FARTHEST = FARTHEST_BY_POLYNOMIAL


@compiled()
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


@compiled()
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
